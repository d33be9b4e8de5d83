"""Last Call: who still calls a tool that is gone."""

__version__ = "0.1.0"
"""As in pyproject.toml: to ask what is installed takes longer than to start."""
