"""Every setting, once: typed, built at the edge and handed in. Nothing else reads the environment."""

from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_database_url() -> str:
    """A SQLite file in the user's data folder."""
    return f"sqlite:///{user_data_path('lastcall') / 'lastcall.db'}"


def url_of(database: str) -> str:
    """Read `--db`: a URL stands as it is, anything else is the path of a SQLite file."""
    return database if "://" in database else f"sqlite:///{Path(database).expanduser().absolute()}"


class Settings(BaseSettings):
    """Settings of the product, from `LASTCALL_…` in the environment."""

    model_config = SettingsConfigDict(env_prefix="LASTCALL_", frozen=True, extra="ignore")

    database_url: Annotated[
        str, Field(default_factory=default_database_url, description="where events are kept")
    ]
    host: Annotated[str, Field(description="address that `serve` listens on")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="port that `serve` listens on")] = 8420
    auto_upgrade: Annotated[
        bool, Field(description="upgrade a PostgreSQL schema at start (SQLite always is)")
    ] = False
    max_line_bytes: Annotated[int, Field(ge=1024, description="longest line")] = 1024 * 1024
    max_body_bytes: Annotated[int, Field(ge=1024, description="largest decompressed body")] = (
        8 * 1024 * 1024
    )
    max_depth: Annotated[int, Field(ge=2, le=900, description="deepest JSON nesting")] = 100
    future_skew_s: Annotated[
        int, Field(ge=0, description="how far ahead of the clock a line's time may be, in seconds")
    ] = 86_400
    refresh_window_s: Annotated[
        int,
        Field(ge=1, description="how long after a notification a listing answers it, in seconds"),
    ] = 60
    compare_window_s: Annotated[
        int,
        Field(
            ge=1, description="span before and after a notification that is compared, in seconds"
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
