"""Every setting, once: typed, built at the edge and handed in. Nothing else reads the environment."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path
from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.errors import LastCallError

PREFIX = "LASTCALL_"


def default_database_url() -> str:
    """A SQLite file in the user's data folder."""
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


def sqlite_path(url: str) -> Path | None:
    """Return the file of a SQLite URL; None for other databases."""
    scheme, _, path = url.partition(":///")
    return Path(path.partition("?")[0]) if scheme.startswith("sqlite") else None


class Settings(BaseSettings):
    """Settings of the product, from `LASTCALL_…` in the environment."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    database_url: Annotated[
        str,
        AfterValidator(url_of),
        Field(default_factory=default_database_url, description="URL, or path of a SQLite file"),
    ]
    host: Annotated[str, Field(description="address that `serve` listens on")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="port that `serve` listens on")] = 8420
    allowed_hosts: Annotated[
        str,
        AfterValidator(host_names),
        Field(description="names by which `serve` may be asked for, separated by commas"),
    ] = "localhost,127.0.0.1,::1"
    auto_upgrade: Annotated[
        bool, Field(description="upgrade a PostgreSQL schema at start (SQLite always is)")
    ] = False
    max_line_bytes: Annotated[int, Field(ge=1024, description="longest line")] = 1024 * 1024
    max_body_bytes: Annotated[int, Field(ge=1024, description="largest decompressed body")] = (
        8 * 1024 * 1024
    )
    held_bytes: Annotated[
        int, Field(ge=1024, description="request bodies in memory at once; more wait, or get 503")
    ] = 8 * 1024 * 1024
    body_wait_s: Annotated[
        int, Field(ge=1, description="seconds that a body waits for room, and may keep it unused")
    ] = 10
    max_depth: Annotated[int, Field(ge=2, le=900, description="deepest JSON nesting")] = 100
    future_skew_s: Annotated[
        int, Field(ge=0, description="how far ahead of the clock a line's time may be, in seconds")
    ] = 86_400
    refresh_window_s: Annotated[
        int,
        Field(
            ge=0,
            le=86_400,
            description="seconds within which notifications are one episode and a listing answers it",
        ),
    ] = 60
    compare_window_s: Annotated[
        int,
        Field(
            ge=1,
            le=2_592_000,
            description="seconds before and after an episode whose stale calls are compared",
        ),
    ] = 3_600
    commit_records: Annotated[
        int, Field(ge=1, description="records of a file that one transaction holds")
    ] = 50_000
    profile_dir: Annotated[
        Path | None, Field(description="folder of your own profiles (*.toml), asked before ours")
    ] = None
    quarantine_days: Annotated[
        int, Field(ge=1, description="days that a rejected record is kept")
    ] = 14


class BadSetting(LastCallError):
    """A setting has a value that cannot be used."""

    title = "Setting cannot be used"


def settings_from_environment(**given: object) -> Settings:
    """
    Read the settings; *given* ones go before the environment.

    Raises:
        BadSetting: One of them cannot be used; all such are named.
    """
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        said = [
            f"{PREFIX}{str(each['loc'][0]).upper()}: {each['msg'].lower()} (it is {each['input']!r})"
            for each in error.errors()
        ]
        raise BadSetting("; ".join(said)) from None


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """
    Return the variables that look like settings and are none.

    >>> unknown_variables(["LASTCALL_PORT", "LASTCALL_PROT", "HOME"])
    ['LASTCALL_PROT']
    """
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    ours = {name for name in environment if name.upper().startswith(PREFIX)}
    return sorted(name for name in ours if name.upper() not in known)
