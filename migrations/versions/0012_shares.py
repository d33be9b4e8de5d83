"""Links that show one filter, with digests of their secrets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table; nothing is shared yet."""
    op.create_table(
        "share",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("server", TEXT, nullable=False),
        sa.Column("name", TEXT),
        sa.Column("client", TEXT),
        sa.Column("embed", TEXT, nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("expires_us", sa.BigInteger()),
        sa.Column("used_us", sa.BigInteger()),
        sa.Column("revoked_us", sa.BigInteger()),
        sa.Column("revoked_by", TEXT),
        sa.UniqueConstraint("digest", name=op.f("uq_share_digest")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_share")),
    )


def downgrade() -> None:
    """Drop the table: no link leads anywhere any more."""
    op.drop_table("share")
