"""Roll-outs that were planned: two waves by a keyed hash, and the clients that each one holds."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; nothing was planned before."""
    op.create_table(
        "plan",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("wave_1_us", sa.BigInteger(), nullable=False),
        sa.Column("wave_2_us", sa.BigInteger(), nullable=False),
        sa.Column("note", TEXT, nullable=False),
        sa.Column("made_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("withdrawn_us", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plan")),
    )
    op.create_table(
        "plan_unit",
        sa.Column("plan_id", sa.Integer(), nullable=False),
        sa.Column("client", TEXT, nullable=False),
        sa.Column("wave", sa.SmallInteger(), nullable=False),
        sa.ForeignKeyConstraint(["plan_id"], ["plan.id"], name=op.f("fk_plan_unit_plan_id_plan")),
        sa.PrimaryKeyConstraint("plan_id", "client", name=op.f("pk_plan_unit")),
    )


def downgrade() -> None:
    """Drop the tables: plans are lost, and with them what could be read from their roll-outs."""
    op.drop_table("plan_unit")
    op.drop_table("plan")
