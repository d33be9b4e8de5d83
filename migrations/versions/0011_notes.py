"""Notes: what people write beside the axis of time."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table; nobody has written anything yet."""
    op.create_table(
        "note",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", TEXT),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("text", TEXT, nullable=False),
        sa.Column("said_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_note")),
    )
    op.create_index("ix_note_at_us", "note", ["at_us"])


def downgrade() -> None:
    """Drop the table, with what is in it."""
    op.drop_table("note")
