"""Pages and reports: results of `service.answers` as HTML. Nothing is computed here."""
