"""How far each followed file was read, stored with what came of it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; nothing was followed before."""
    op.create_table(
        "followed",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("path", TEXT, nullable=False),
        sa.Column("file", TEXT),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("head", TEXT, nullable=False),
        sa.Column("tail", TEXT, nullable=False),
        sa.Column("crc", sa.BigInteger(), nullable=False),
        sa.Column("changed_ns", sa.BigInteger(), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.Column("chain", TEXT, nullable=False),
        sa.Column("accepted", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("said", TEXT, nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("seen_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_followed")),
        sa.UniqueConstraint(
            "server", "source", "file", name=op.f("uq_followed_server_source_file")
        ),
    )
    op.create_table(
        "followed_page",
        sa.Column("followed_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("page", sa.BigInteger(), nullable=False),
        sa.Column("ordinals", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["followed_id"], ["followed.id"], name=op.f("fk_followed_page_followed_id_followed")
        ),
        sa.PrimaryKeyConstraint("followed_id", "kind", "page", name=op.f("pk_followed_page")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop the places: a followed file is then read from its first byte, as duplicates."""
    op.drop_table("followed_page")
    op.drop_table("followed")
