"""
The schema's version: where a database stands and how it is brought up to date.

Alembic runs from the installed package, without a file of its own, in one write transaction: of
two processes that start at once, the second waits and finds nothing left to do.
"""

from enum import StrEnum
from typing import TYPE_CHECKING

import sqlalchemy as sa

from service.errors import SchemaOutOfDate
from service.store.address import VERSION_TABLE
from service.store.driver import HEAD
from service.store.engine import Connection, Engine, driver_of, make_engine, reading, writing
from service.store.secrets import has_secrets, make_secrets

if TYPE_CHECKING:
    from alembic.config import Config


class SchemaState(StrEnum):
    """Where a database stands."""

    EMPTY = "empty"
    BEHIND = "behind"
    UP_TO_DATE = "up to date"
    AHEAD = "ahead"


def current_state(engine: Engine) -> SchemaState:
    """
    Say where the database stands.

    Raises:
        SchemaOutOfDate: It has tables, yet no version of ours: another program's.
        StorageUnavailable: It cannot be read.
    """
    with reading(engine) as conn:
        return _state(conn)


def upgrade(engine: Engine) -> None:
    """
    Bring the database to `HEAD`, from nothing or from any earlier version, and give it its secrets.

    All or nothing, and harmless when it is up to date.

    Raises:
        SchemaOutOfDate: A newer version of the product wrote it.
        Busy, StorageUnavailable: It cannot be written.
        LastCallError: It holds events, but their secrets are lost.
    """
    with writing(engine) as conn:
        state = _state(conn)
        if state is SchemaState.AHEAD:
            raise SchemaOutOfDate(_TOO_NEW)
        if state is not SchemaState.UP_TO_DATE:
            from alembic import command

            _refuse_narrow_text(conn)
            command.upgrade(alembic_config(conn), "head")
        make_secrets(driver_of(conn))


def ensure_ready(engine: Engine, auto_upgrade: bool) -> None:
    """
    Make sure that the database has the schema of this version, and its secrets.

    The embedded database upgrades itself; PostgreSQL only where *auto_upgrade* allows it.

    Raises:
        SchemaOutOfDate: It must be upgraded by hand, or a newer version of the product wrote it.
        Busy, StorageUnavailable: It cannot be used.
        LastCallError: It holds events, but their secrets are lost.
    """
    with reading(engine) as conn:
        state = _state(conn)
        complete = state is SchemaState.UP_TO_DATE and has_secrets(driver_of(conn))
    if complete:
        return
    if state is SchemaState.AHEAD:
        raise SchemaOutOfDate(_TOO_NEW)
    by_itself = auto_upgrade or engine.dialect.name == "sqlite"
    if state is not SchemaState.UP_TO_DATE and not by_itself:
        raise SchemaOutOfDate(
            f"the schema of the database is {state}; run `lastcall db upgrade`, "
            "or set LASTCALL_AUTO_UPGRADE=true"
        )
    upgrade(engine)


def ensure_ready_at(url: str, auto_upgrade: bool) -> None:
    """Do what `ensure_ready` does, and raise what it does, on an engine of its own."""
    engine = make_engine(url)
    try:
        ensure_ready(engine, auto_upgrade)
    finally:
        engine.dispose()


def alembic_config(conn: Connection) -> "Config":
    """Alembic's configuration on an open connection, with the history from the package."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "migrations:")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = conn
    return config


def _refuse_narrow_text(conn: Connection) -> None:
    """Refuse a PostgreSQL database that cannot hold every name."""
    if conn.dialect.name != "postgresql":
        return
    encoding = conn.scalar(sa.text("SHOW server_encoding"))
    if encoding != "UTF8":
        raise SchemaOutOfDate(
            f"the database holds text as {encoding}; create it with ENCODING 'UTF8' TEMPLATE template0"
        )


_TOO_NEW = "a newer version of Last Call wrote this database; install that version or a later one"


def _state(conn: Connection) -> SchemaState:
    tables = set(sa.inspect(conn).get_table_names())
    revision = None
    if VERSION_TABLE in tables:
        revision = conn.scalar(
            sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))
        )
    if revision == HEAD:
        return SchemaState.UP_TO_DATE
    if revision is None:
        if strangers := sorted(tables - {VERSION_TABLE}):
            shown = ", ".join(strangers[:5])
            raise SchemaOutOfDate(
                f"the database belongs to another program (it has the tables {shown}); name another"
            )
        return SchemaState.EMPTY
    return SchemaState.BEHIND if _is_known(conn, revision) else SchemaState.AHEAD


def _is_known(conn: Connection, revision: str) -> bool:
    """Whether *revision* is one of our history."""
    from alembic.script import ScriptDirectory

    history = ScriptDirectory.from_config(alembic_config(conn))
    return any(script.revision == revision for script in history.walk_revisions())
