"""Releases: when each version of a server came."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table of releases."""
    op.create_table(
        "release",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("version", TEXT, nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_release_server_id_server")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release")),
        sa.UniqueConstraint("server_id", "version", name=op.f("uq_release_server_id_version")),
    )


def downgrade() -> None:
    """Drop the table of releases, with what is in it."""
    op.drop_table("release")
