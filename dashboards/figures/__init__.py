"""Figures: results of `service.answers` in, `plotly.graph_objects.Figure` out; one file a figure."""
