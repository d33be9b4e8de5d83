"""One file a step. Frozen: they import nothing of ours."""
