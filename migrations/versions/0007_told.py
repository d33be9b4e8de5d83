"""What people tell beside the logs: aliases, exclusions, marks, the catalogue; and what was done about it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; nothing was told before."""
    op.create_table(
        "alias",
        sa.Column("key", TEXT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("note", TEXT, nullable=False),
        sa.Column("said_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_alias")),
    )
    op.create_table(
        "exclusion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", TEXT),
        sa.Column("client", TEXT),
        sa.Column("version", TEXT),
        sa.Column("network", TEXT),
        sa.Column("note", TEXT, nullable=False),
        sa.Column("said_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exclusion")),
    )
    op.create_table(
        "mark",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("server", TEXT, nullable=False),
        sa.Column("client", TEXT, nullable=False),
        sa.Column("tool", TEXT),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("note", TEXT, nullable=False),
        sa.Column("said_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("withdrawn_us", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mark")),
    )
    op.create_index("ix_mark_server_client", "mark", ["server", "client"])
    op.create_table(
        "entry",
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last_release", TEXT),
        sa.Column("replaced_by", TEXT),
        sa.Column("message", TEXT),
        sa.Column("retired_us", sa.BigInteger()),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("said_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_entry_server_id_server")
        ),
        sa.PrimaryKeyConstraint("server_id", "name", "number", name=op.f("pk_entry")),
    )
    op.create_table(
        "snapshot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("version", TEXT),
        sa.Column("protocol_version", TEXT),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("tools", TEXT, nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_snapshot_server_id_server")
        ),
        sa.UniqueConstraint("server_id", "at_us", name=op.f("uq_snapshot_server_id_at_us")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("detail", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_at_us", "audit", ["at_us"])
    op.create_table(
        "redelivery",
        sa.Column("batch_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "time_us", "key", name=op.f("pk_redelivery")),
        sqlite_with_rowid=False,
    )
    # A batch can be deleted now; without them each looks through all of the two tables.
    op.create_index("ix_ledger_batch_id", "ledger", ["batch_id"])
    op.create_index("ix_reject_batch_id", "reject", ["batch_id"])


def downgrade() -> None:
    """Drop the tables: what was told is lost."""
    op.drop_index("ix_reject_batch_id", table_name="reject")
    op.drop_index("ix_ledger_batch_id", table_name="ledger")
    for name in ("redelivery", "audit", "snapshot", "entry", "mark", "exclusion", "alias"):
        op.drop_table(name)
