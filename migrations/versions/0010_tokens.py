"""Tokens: who may come in, with digests of their secrets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table; nobody has a token yet."""
    op.create_table(
        "token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("scope", TEXT, nullable=False),
        sa.Column("server", TEXT),
        sa.Column("records_per_s", sa.BigInteger()),
        sa.Column("burst", sa.BigInteger()),
        sa.Column("sent_bytes", sa.BigInteger()),
        sa.Column("body_bytes", sa.BigInteger()),
        sa.Column("line_bytes", sa.BigInteger()),
        sa.Column("depth", sa.BigInteger()),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("used_us", sa.BigInteger()),
        sa.Column("revoked_us", sa.BigInteger()),
        sa.Column("revoked_by", TEXT),
        sa.UniqueConstraint("name", name=op.f("uq_token_name")),
        sa.UniqueConstraint("digest", name=op.f("uq_token_digest")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
    )


def downgrade() -> None:
    """Drop the table: whoever had a token needs a new one, and the service is open on loopback."""
    op.drop_table("token")
