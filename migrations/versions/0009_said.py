"""What was said each Monday: looks, whom they were about, and the words."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; nothing was said before."""
    op.create_table(
        "look",
        sa.Column("question", TEXT, nullable=False),
        sa.Column("week_us", sa.BigInteger(), nullable=False),
        sa.Column("written_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("question", "week_us", name=op.f("pk_look")),
    )
    op.create_table(
        "subject",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("client", TEXT, nullable=False),
        sa.Column("everyone", sa.SmallInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_subject_server_id_server")
        ),
        sa.UniqueConstraint(
            "server_id",
            "name",
            "client",
            "everyone",
            name=op.f("uq_subject_server_id_name_client_everyone"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subject")),
    )
    op.create_table(
        "said",
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("question", TEXT, nullable=False),
        sa.Column("week_us", sa.BigInteger(), nullable=False),
        sa.Column("word", TEXT, nullable=False),
        sa.Column("strength", TEXT),
        sa.Column("figures", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["subject_id"], ["subject.id"], name=op.f("fk_said_subject_id_subject")
        ),
        sa.PrimaryKeyConstraint("subject_id", "question", "week_us", name=op.f("pk_said")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop the tables: what was said is lost."""
    for name in ("said", "subject", "look"):
        op.drop_table(name)
