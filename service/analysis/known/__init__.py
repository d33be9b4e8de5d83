"""
Known clients: which product a client's name stands for, and what that product does when a server's
list of tools changes. They are data, `clients.toml`; a file of the same form goes before it.

>>> known = load_clients()
>>> known.find("Claude-Code").product
'Claude Code'
>>> known.find("gemini-cli-mcp-client-myserver").product
'Gemini CLI'
>>> known.find("nobody-has-heard-of-it") is None
True
"""

from service.analysis.known.behaviour import Behaviour, Expected, expected
from service.analysis.known.clients import Client, Clients
from service.analysis.known.read import BadClients, load_clients, read_clients

__all__ = [
    "BadClients",
    "Behaviour",
    "Client",
    "Clients",
    "Expected",
    "expected",
    "load_clients",
    "read_clients",
]
