"""Configurations of log shippers, as they lie in `examples/shippers`, and how they are filled in."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from service.errors import BadParameter

NO_TOKEN: Final = "none"  # noqa: S105 - a word, and no secret
"""Stands for a token while nobody is asked for one."""
_SERVER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]+")
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\]")
_VISIBLE: Final = re.compile(r"[!-~]+")
_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
_PLACES: Final = re.compile(r"LASTCALL_(?:ADDRESS|SCHEME|HOST|PORT|PATH|TLS|SERVER|TOKEN)")
_PORTS: Final = {"http": 80, "https": 443}


_GREETING: Final = (
    """{"time":"'$(date -u +%FT%TZ)'","msg":"Client initialized","data":{"client":"set-up"}}"""
)
"""In the quotes of a shell, which puts in the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipper:
    """
    A shipper: `use` says where its file goes, `before` and `after` are commands around that, `first` is how a first line is logged, `token` how its token
    travels, `keeps` what becomes of lines while the service is away, and `checked` how the file is known to work.
    """

    key: str
    title: str
    file: str
    use: str
    first: str
    token: str
    keeps: str
    checked: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """Its file, with words in capitals where something is to be filled in."""
        return (folder() / self.file).read_text(encoding="utf-8")


@cache
def shippers() -> dict[str, Shipper]:
    """Every shipper by its key, in the order in which they are offered."""
    listed = tomllib.loads((folder() / "shippers.toml").read_text(encoding="utf-8"))["shipper"]
    return {each["key"]: Shipper(**each) for each in listed}


def folder() -> Traversable:
    """Where the files lie: inside the package where it was installed, in `examples` of a checkout."""
    packed = files("dashboards") / "shippers"
    return packed if packed.is_dir() else Path(__file__).parents[1] / "examples" / "shippers"


def filled(text: str, *, address: str, server: str, token: str = NO_TOKEN) -> str:
    """
    Fill in where the service is, whose log is sent, and the token.

    What is filled in stands in shells and configurations of many kinds that people copy, so nothing enters that
    could mean anything there.

    >>> filled("LASTCALL_ADDRESS/to/LASTCALL_SERVER", address="http://127.0.0.1:8420", server="maps")
    'http://127.0.0.1:8420/to/maps'

    Raises:
        BadParameter: The address, the server or the token holds anything but plain letters.
    """
    parts, host, port = _taken_apart(address)
    if not _TOKEN.fullmatch(token):
        raise BadParameter("token", "is none that this service made")
    words = {
        "ADDRESS": address,
        "SCHEME": parts.scheme,
        "HOST": host,
        "PORT": str(port or _PORTS[parts.scheme]),
        "PATH": parts.path,
        "TLS": "on" if parts.scheme == "https" else "off",
        "SERVER": server_name(server),
        "TOKEN": token,
    }
    return _PLACES.sub(lambda found: words[found[0].removeprefix("LASTCALL_")], text)


def host_of(address: str) -> str:
    """The host of an address, in lower case and without brackets. Raises BadParameter where it is no address."""
    return _taken_apart(address)[1].strip("[]").lower()


def _taken_apart(address: str) -> tuple[SplitResult, str, int | None]:
    """An address with its host as it is written, and its port where it names one. Raises BadParameter."""
    wrong = BadParameter("address", "must be such as https://lastcall.example.net, or with a path")
    if not _VISIBLE.fullmatch(address):
        raise wrong  # what takes it apart drops tabs, line ends and what stands before it
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise wrong from None
    host = parts.netloc.rpartition(":")[0] if port else parts.netloc
    plain = parts.scheme in _PORTS and _HOST.fullmatch(host) and _PATH.fullmatch(parts.path)
    if not plain or parts.query or parts.fragment:
        raise wrong
    return parts, host, port


def may_be_written(server: str) -> bool:
    """Whether a server's name can stand in any configuration as it is."""
    return _SERVER.fullmatch(server) is not None


def server_name(text: str) -> str:
    """
    A server's name that can stand in any configuration as it is.

    Raises:
        BadParameter: It cannot.
    """
    if not may_be_written(text):
        raise BadParameter(
            "server",
            "for a configuration take up to 64 of the letters a to z, digits, and . _ - between them, such as maps",
        )
    return text


def first_line(shipper: Shipper) -> str | None:
    """A command that logs a greeting by way of a shipper; None where the server itself must log."""
    module = shipper.file.rpartition(".")[0]
    greeting = f"echo '{_GREETING}'"
    commands = {
        "file": f"{greeting} >> /var/log/mcp/server.log",
        "once": f"{greeting} >> /var/log/mcp/server.log && sh {shipper.file}",
        "logger": f"{greeting} | logger --server 127.0.0.1 --port 5514 --tcp --octet-count --size 64KiB --tag mcp",
        "journal": f"{greeting} | systemd-cat --identifier=mcp",
        "pipe": f"{greeting} | python3 {shipper.file}",
        "python": f"""python3 -c 'import {module} as made; made.log("Client initialized", client="set-up")'""",
        "pino": f'node --input-type=module -e \'import {{ logger }} from "./{shipper.file}"; '
        'logger.info({ data: { client: "set-up" } }, "Client initialized")\'',
        "winston": f'node --input-type=module -e \'import {{ logger }} from "./{shipper.file}"; '
        'logger.info("Client initialized", { data: { client: "set-up" } })\'',
    }
    return commands.get(shipper.first)
