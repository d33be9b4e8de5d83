"""
Every setting, once: typed, bounded, built at the edge and handed in. Nothing else reads the environment.

A dataclass does here what a library of settings would: those take longer to import than a short log
takes to read.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_args

from service.errors import LastCallError

PREFIX = "LASTCALL_"


def default_database_url() -> str:
    """A SQLite file in the user's data folder."""
    from platformdirs import user_data_path  # slow to import, and most runs name a database

    return f"sqlite:///{user_data_path('lastcall') / 'lastcall.db'}"


def url_of(database: str) -> str:
    """Read what names a database: a URL stands as it is, anything else is a SQLite file's path."""
    return database if "://" in database else f"sqlite:///{Path(database).expanduser().absolute()}"


def host_names(text: str) -> str:
    """
    Check a list of host names.

    Raises:
        ValueError: One of them is an address of something, not a name.
    """
    for name in text.split(","):
        if "/" in name or " " in name.strip():
            raise ValueError(f"write host names alone, separated by commas, not {name.strip()!r}")
    return text


LOOPBACK = "127.0.0.1,::1"


def path_before(text: str) -> str:
    """
    Check a path that stands before all others, kept with a slash before it and none behind.

    >>> path_before("lastcall/"), path_before("/")
    ('/lastcall', '')

    Raises:
        ValueError: It is no path alone.
    """
    path = text.strip().removeprefix("/").removesuffix("/")
    if path and not re.fullmatch(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*", path):
        raise ValueError("write a path of letters, digits and . _ ~ -, such as /lastcall")
    return f"/{path}" if path else ""


def addresses(text: str) -> str:
    """
    Check a list of addresses or ranges of them.

    Raises:
        ValueError: One of them is neither.
    """
    if text == LOOPBACK:
        return text  # as nearly always, without loading what reads it
    from ipaddress import ip_network

    for each in filter(None, (part.strip() for part in text.split(","))):
        try:
            ip_network(each)
        except ValueError:
            raise ValueError(
                f"write addresses or ranges such as 10.0.0.0/8, separated by commas, not {each!r}"
            ) from None
    return text


def sqlite_path(url: str) -> Path | None:
    """Return the file of a SQLite URL; None for other databases."""
    scheme, _, path = url.partition(":///")
    return Path(path.partition("?")[0]) if scheme.startswith("sqlite") else None


def _truth(value: object) -> bool:
    """Read the usual words for true and false."""
    word = str(value).strip().lower()
    if word in {"true", "t", "yes", "y", "on", "1"}:
        return True
    if word in {"false", "f", "no", "n", "off", "0"}:
        return False
    raise ValueError("write true or false")


def _whole(value: Any) -> int:
    """Read a whole number."""
    try:
        return int(value)
    except ValueError:
        raise ValueError("write a whole number") from None


def _path(value: str | Path | None) -> Path | None:
    """Read a path; None where there is none."""
    return None if value is None else Path(value)


_READERS: dict[object, Callable[[Any], Any]] = {
    str: str,
    int: _whole,
    bool: _truth,
    Path | None: _path,
}
"""By a setting's type: its value out of text. What is a value already stays as it is."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a setting means, and which values of its type it takes."""

    description: str
    least: int | None = None
    most: int | None = None
    check: Callable[[str], str] | None = None
    """Returns the text as it is kept. Raises ValueError."""

    def admit(self, value: Any) -> Any:
        """
        Return a value of the setting's type as it is kept.

        Raises:
            ValueError: It cannot be used; the text says what could.
        """
        if self.least is not None and value < self.least:
            raise ValueError(f"write at least {self.least}")
        if self.most is not None and value > self.most:
            raise ValueError(f"write at most {self.most}")
        return value if self.check is None else self.check(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    Settings of the product, each also `LASTCALL_…` in the environment. A value may be given as text.

    Raises:
        BadSetting: One of them cannot be used; all such are named.
    """

    database_url: Annotated[str, Meaning("URL, or path of a SQLite file", check=url_of)] = field(
        default_factory=default_database_url
    )
    host: Annotated[str, Meaning("address that `serve` listens on")] = "127.0.0.1"
    port: Annotated[int, Meaning("port that `serve` listens on", least=0, most=65_535)] = 8420
    allowed_hosts: Annotated[
        str,
        Meaning(
            "names by which `serve` may be asked for beside this machine's own, separated by commas",
            check=host_names,
        ),
    ] = ""
    root_path: Annotated[
        str,
        Meaning(
            "path under which a reverse proxy shows `serve`, such as /lastcall", check=path_before
        ),
    ] = ""
    forwarded_allow_ips: Annotated[
        str,
        Meaning(
            "addresses of reverse proxies whose X-Forwarded-For and -Proto are believed, separated by commas",
            check=addresses,
        ),
    ] = LOOPBACK
    auto_upgrade: Annotated[
        bool, Meaning("upgrade a PostgreSQL schema at start (SQLite always is)")
    ] = False
    max_line_bytes: Annotated[int, Meaning("longest line", least=1024)] = 1024 * 1024
    max_body_bytes: Annotated[int, Meaning("largest decompressed body", least=1024)] = (
        8 * 1024 * 1024
    )
    held_bytes: Annotated[
        int, Meaning("request bodies in memory at once; more wait, or get 503", least=1024)
    ] = 8 * 1024 * 1024
    body_wait_s: Annotated[
        int, Meaning("seconds that a body waits for room, and may keep it unused", least=1)
    ] = 10
    max_depth: Annotated[int, Meaning("deepest JSON nesting", least=2, most=900)] = 100
    future_skew_s: Annotated[
        int, Meaning("how far ahead of the clock a line's time may be, in seconds", least=0)
    ] = 86_400
    refresh_window_s: Annotated[
        int,
        Meaning(
            "seconds within which notifications are one episode and a listing answers it",
            least=0,
            most=86_400,
        ),
    ] = 60
    compare_window_s: Annotated[
        int,
        Meaning(
            "seconds before and after an episode whose stale calls are compared",
            least=1,
            most=2_592_000,
        ),
    ] = 3_600
    commit_records: Annotated[
        int,
        Meaning(
            "events and rejected records of a file that one transaction holds; ignored ones are a twentieth",
            least=1,
        ),
    ] = 50_000
    profile_dir: Annotated[
        Path | None, Meaning("folder of your own profiles (*.toml), asked before ours")
    ] = None
    clients_file: Annotated[
        Path | None, Meaning("file of clients that you know (TOML), asked before ours")
    ] = None
    quarantine_days: Annotated[int, Meaning("days that a rejected record is kept", least=1)] = 14

    def __post_init__(self) -> None:
        wrong = []
        for name, (kind, meaning) in KINDS.items():
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, meaning.admit(_READERS[kind](value)))
            except ValueError as error:
                wrong.append(f"{variable(name)}: {error} (it is {value!r})")
        if wrong:
            raise BadSetting("; ".join(wrong))


KINDS: dict[str, tuple[Any, Meaning]] = {
    each.name: get_args(each.type) for each in fields(Settings)
}
"""The type and the meaning of each setting, in the order in which they are documented."""


class BadSetting(LastCallError):
    """A setting has a value that cannot be used."""

    title = "Setting cannot be used"


def variable(name: str) -> str:
    """
    Return the variable of a setting.

    >>> variable("port")
    'LASTCALL_PORT'
    """
    return f"{PREFIX}{name.upper()}"


def settings_from_environment(**given: Any) -> Settings:
    """
    Read the settings; *given* ones go before the environment, where names are of any case.

    Raises:
        BadSetting: One of them cannot be used; all such are named.
    """
    names = {variable(name): name for name in KINDS}
    said = {names[key.upper()]: text for key, text in os.environ.items() if key.upper() in names}
    return Settings(**{**said, **given})


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """
    Return the variables that look like settings and are none.

    >>> unknown_variables(["LASTCALL_PORT", "LASTCALL_PROT", "HOME"])
    ['LASTCALL_PROT']
    """
    known = {variable(name) for name in KINDS}
    ours = {name for name in environment if name.upper().startswith(PREFIX)}
    return sorted(name for name in ours if name.upper() not in known)


LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""A page of others is never asked for by one of these: a browser does not look them up elsewhere."""


def is_every_address(host: str) -> bool:
    """Whether `host` stands for all addresses of this machine, and so is none that can be asked for."""
    return host in {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not listened on


def answered_hosts(settings: Settings) -> frozenset[str]:
    """
    The names by which the service may be asked for, in lower case: this machine's own, the address that it listens
    on, where that is one, and those that are set.

    >>> sorted(answered_hosts(Settings(host="192.0.2.1", allowed_hosts="Calls.Example, ")))
    ['127.0.0.1', '192.0.2.1', '::1', 'calls.example', 'localhost']
    """
    named = {name.strip().lower() for name in settings.allowed_hosts.split(",")} - {""}
    own = frozenset() if is_every_address(settings.host) else frozenset({settings.host.lower()})
    return LOOPBACK_NAMES | own | named


def is_loopback(host: str) -> bool:
    """Whether every address that `host` stands for is this machine's own."""
    if host == "localhost":
        return True
    import ipaddress  # which few commands need

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
