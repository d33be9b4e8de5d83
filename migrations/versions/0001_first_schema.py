"""The first schema: dimensions, deliveries, events and roll-ups."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create every table in an empty database."""
    _create_names()
    _create_deliveries()
    _create_events()
    _create_rollups()


def _create_names() -> None:
    """Where text lives: once, in small tables."""
    op.create_table(
        "meta",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_meta")),
    )
    op.create_table(
        "server",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_server")),
        sa.UniqueConstraint("name", name=op.f("uq_server_name")),
    )
    op.create_table(
        "client",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("raw", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("via", TEXT),
        sa.Column("version", TEXT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_client")),
        sa.UniqueConstraint("raw", name=op.f("uq_client_raw")),
    )
    op.create_index("ix_client_key", "client", ["key"], unique=False)
    op.create_table(
        "tool",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tool")),
        sa.UniqueConstraint("name", name=op.f("uq_tool_name")),
    )
    op.create_table(
        "version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_version")),
        sa.UniqueConstraint("name", name=op.f("uq_version_name")),
    )
    op.create_table(
        "caller",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("network", TEXT),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_caller_server_id_server")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_caller")),
        sa.UniqueConstraint(
            "server_id", "level", "digest", name=op.f("uq_caller_server_id_level_digest")
        ),
    )
    op.create_table(
        "session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("hello_us", sa.BigInteger()),
        sa.Column("hello_client_id", sa.Integer()),
        sa.Column("hello_version_id", sa.Integer()),
        sa.Column("named_us", sa.BigInteger()),
        sa.Column("named_client_id", sa.Integer()),
        sa.Column("first_us", sa.BigInteger(), nullable=False),
        sa.Column("last_us", sa.BigInteger(), nullable=False),
        sa.Column("unnamed", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["hello_client_id"], ["client.id"], name=op.f("fk_session_hello_client_id_client")
        ),
        sa.ForeignKeyConstraint(
            ["hello_version_id"], ["version.id"], name=op.f("fk_session_hello_version_id_version")
        ),
        sa.ForeignKeyConstraint(
            ["named_client_id"], ["client.id"], name=op.f("fk_session_named_client_id_client")
        ),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_session_server_id_server")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
        sa.UniqueConstraint("server_id", "digest", name=op.f("uq_session_server_id_digest")),
    )
    op.create_index("ix_session_first_us", "session", ["first_us", "server_id"], unique=False)
    op.create_table(
        "fact",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("tool_id", sa.Integer(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("last_release", TEXT),
        sa.Column("replaced_by", TEXT),
        sa.Column("message", TEXT),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_fact_server_id_server")
        ),
        sa.ForeignKeyConstraint(["tool_id"], ["tool.id"], name=op.f("fk_fact_tool_id_tool")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fact")),
        sa.UniqueConstraint(
            "server_id", "tool_id", "digest", name=op.f("uq_fact_server_id_tool_id_digest")
        ),
    )


def _create_deliveries() -> None:
    """What arrived, from where, and what became of it."""
    op.create_table(
        "source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("retired_us", sa.BigInteger()),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_source_server_id_server")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_source")),
        sa.UniqueConstraint("server_id", "name", name=op.f("uq_source_server_id_name")),
    )
    op.create_table(
        "batch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("label", TEXT, nullable=False),
        sa.Column("started_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["source.id"], name=op.f("fk_batch_source_id_source")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batch")),
        sa.UniqueConstraint(
            "source_id", "kind", "label", name=op.f("uq_batch_source_id_kind_label")
        ),
    )
    op.create_table(
        "tally",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("fate", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name=op.f("fk_tally_batch_id_batch")),
        sa.PrimaryKeyConstraint("batch_id", "day", "fate", "reason", name=op.f("pk_tally")),
    )
    op.create_table(
        "ledger",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("lines", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name=op.f("fk_ledger_batch_id_batch")),
        sa.ForeignKeyConstraint(
            ["source_id"], ["source.id"], name=op.f("fk_ledger_source_id_source")
        ),
        sa.PrimaryKeyConstraint("source_id", "hour", "batch_id", name=op.f("pk_ledger")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "reject",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("arrived_us", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("excerpt", TEXT, nullable=False),
        sa.Column("whole", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"], name=op.f("fk_reject_batch_id_batch")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reject")),
    )
    op.create_index("ix_reject_arrived_us", "reject", ["arrived_us"], unique=False)


def _create_events() -> None:
    """One slim row an event, rare fields beside it."""
    op.create_table(
        "event",
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.Integer()),
        sa.Column("caller_id", sa.Integer()),
        sa.Column("session_id", sa.Integer()),
        sa.Column("tool_id", sa.Integer()),
        sa.Column("version_id", sa.Integer()),
        sa.Column("fact_id", sa.Integer()),
        sa.Column("outcome", sa.SmallInteger()),
        sa.Column("counted", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("time_us", "key", name=op.f("pk_event")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_event_fact",
        "event",
        ["fact_id", "time_us"],
        unique=False,
        sqlite_where=sa.text("fact_id IS NOT NULL"),
        postgresql_where=sa.text("fact_id IS NOT NULL"),
    )
    op.create_index(
        "ix_event_silent",
        "event",
        ["client_id", "time_us", "session_id", "server_id"],
        unique=False,
        sqlite_where=sa.text("counted = 0"),
        postgresql_where=sa.text("counted = 0"),
    )
    op.create_index(
        "ix_event_stale",
        "event",
        [
            "server_id",
            "tool_id",
            "time_us",
            "kind",
            "client_id",
            "caller_id",
            "session_id",
            "version_id",
            "counted",
        ],
        unique=False,
        sqlite_where=sa.text("kind <= 2"),
        postgresql_where=sa.text("kind <= 2"),
    )
    op.create_table(
        "event_extra",
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("call", sa.BigInteger()),
        sa.Column("request_id", TEXT),
        sa.Column("trigger", TEXT),
        sa.Column("protocol_version", TEXT),
        sa.Column("ttl_ms", sa.BigInteger()),
        sa.Column("listed_count", sa.BigInteger()),
        sa.Column("ns", sa.SmallInteger()),
        sa.Column("arrival", sa.SmallInteger()),
        sa.PrimaryKeyConstraint("time_us", "key", name=op.f("pk_event_extra")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_event_extra_call",
        "event_extra",
        ["call"],
        unique=False,
        sqlite_where=sa.text("call IS NOT NULL"),
        postgresql_where=sa.text("call IS NOT NULL"),
    )
    op.create_table(
        "arrival",
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_arrival")),
        sqlite_with_rowid=False,
    )


def _create_rollups() -> None:
    """Counts that are kept up with the rows."""
    op.create_table(
        "call_day",
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("tool_id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("first_us", sa.BigInteger(), nullable=False),
        sa.Column("last_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "server_id", "tool_id", "kind", "day", "client_id", name=op.f("pk_call_day")
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "activity",
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("quarter", sa.Integer(), nullable=False),
        sa.Column("events", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "server_id", "client_id", "kind", "quarter", name=op.f("pk_activity")
        ),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop every table, those that others point to last."""
    for table in (
        "activity",
        "call_day",
        "arrival",
        "event_extra",
        "event",
        "reject",
        "ledger",
        "tally",
        "batch",
        "source",
        "fact",
        "session",
        "caller",
        "version",
        "tool",
        "client",
        "server",
        "meta",
    ):
        op.drop_table(table)
