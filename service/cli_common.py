"""
What the commands share: options, settings and the database they name, JSON on standard output.
"""

import json
import sys
from typing import TYPE_CHECKING, Any

import click
from click import echo

from service.clock import system_clock
from service.errors import UnreadableInput
from service.settings import Settings, settings_from_environment, sqlite_path

if TYPE_CHECKING:
    from service.store.engine import Engine

db_option = click.option("--db", metavar="URL", help="database URL, or path of a SQLite file")
json_option = click.option("--json", "as_json", is_flag=True, help="print JSON")


class InOrder(click.Group):
    """A group that lists its commands in the order in which they are defined."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the name is click's
        return list(self.commands)


def settings_of(db: str | None = None) -> Settings:
    """Settings from the environment, with `--db` before `LASTCALL_DATABASE_URL`."""
    return settings_from_environment(**({"database_url": db} if db else {}))


def existing_settings(db: str | None) -> Settings:
    """Settings whose database is there: a question must not make an empty one."""
    settings = settings_of(db)
    path = sqlite_path(settings.database_url)
    if path is not None and not path.exists():
        raise UnreadableInput(f"no database at {path}; `lastcall ingest` or `serve` makes one")
    return settings


def ready_engine(db: str | None) -> "Engine":
    """An engine over a database that is there and whose schema is up to date."""
    from service.store import engine, migrate

    settings = existing_settings(db)
    opened = engine.make_engine(settings.database_url)
    migrate.ensure_ready(opened, settings.auto_upgrade)
    return opened


def asked(db: str | None, answer: str, **query: Any) -> dict[str, Any]:
    """A collection of `answers` as JSON, the rows of all its pages together."""
    from service import answers
    from service.answers.query import LIMIT_MAX, moment_at
    from service.store.engine import reading

    opened, settings = ready_engine(db), settings_of(db)
    now_us, items, cursor = system_clock(), [], None
    try:
        with reading(opened) as connection:
            while True:
                question = answers.Query.of(limit=LIMIT_MAX, cursor=cursor, **query)
                found = getattr(answers, answer)(connection, question, moment_at(now_us, settings))
                said = found.as_json()
                items += said["items"]
                cursor = said["next_cursor"]
                if cursor is None:
                    return {**said, "items": items}
    finally:
        opened.dispose()


def print_json(value: object) -> None:
    """Print a result as strict JSON."""
    # On a terminal a stranger's control characters must stay text.
    ascii_only = sys.stdout.isatty()
    echo(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=2))
