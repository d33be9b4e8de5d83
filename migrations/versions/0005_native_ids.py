"""Ids by which carriers tell equal records apart."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Make the table; what is stored came without ids, so it begins empty."""
    op.create_table(
        "native",
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("native_id", sa.BigInteger(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("time_us", "key", "native_id", name=op.f("pk_native")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop the ids: equal records with ids then count as if they had none."""
    op.drop_table("native")
