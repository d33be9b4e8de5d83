"""Last Call: who still calls a tool that is gone."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("lastcall")
except PackageNotFoundError:  # running from a bare checkout
    __version__ = "0+unknown"
