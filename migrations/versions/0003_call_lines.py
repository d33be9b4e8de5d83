"""Lines of one call: by session and request in a table of their own, the text of request ids nowhere."""

import hashlib
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
PAGE = 50_000

LINES = """
SELECT x.time_us, x.key, x.request_id, e.session_id
FROM event_extra AS x JOIN event AS e ON e.time_us = x.time_us AND e.key = x.key
WHERE (x.time_us, x.key) > (:time_us, :key) AND x.call IS NOT NULL
ORDER BY x.time_us, x.key LIMIT :page
"""
NOTHING_RARE = """
DELETE FROM event_extra
WHERE "trigger" IS NULL AND protocol_version IS NULL AND ttl_ms IS NULL AND listed_count IS NULL
  AND ns IS NULL AND arrival IS NULL
"""


def upgrade() -> None:
    """Number the requests, and keep of the rare fields what is rare."""
    op.create_table(
        "call_line",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("request", sa.BigInteger(), nullable=False),
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "session_id", "request", "time_us", "key", name=op.f("pk_call_line")
        ),
        sqlite_with_rowid=False,
    )
    _number_requests(op.get_bind())
    op.drop_index("ix_event_extra_call", table_name="event_extra")
    op.execute(NOTHING_RARE)
    op.drop_column("event_extra", "call")
    op.drop_column("event_extra", "request_id")


def _number_requests(conn: sa.Connection) -> None:
    """Copy the lines of calls, a page at a time."""
    mark = "?" if conn.dialect.name == "sqlite" else "%s"
    insert = f"INSERT INTO call_line VALUES ({mark}, {mark}, {mark}, {mark})"  # noqa: S608
    after = {"time_us": -(2**63), "key": -(2**63)}
    while page := conn.execute(sa.text(LINES), {**after, "page": PAGE}).all():
        lines = [(row.session_id, request_number(row.request_id), *row[:2]) for row in page]
        conn.exec_driver_sql(insert, sorted(lines))
        after = {"time_us": page[-1].time_us, "key": page[-1].key}


def request_number(text: str) -> int:
    """A decimal number of up to 18 digits stands for itself, other text for a negative hash of it."""
    said = text.encode(errors="replace")
    if said.isdigit() and len(said) <= 18 and (said == b"0" or not said.startswith(b"0")):
        return int(said)
    digest = hashlib.blake2b(said, digest_size=8).digest()
    return int.from_bytes(digest, "big") % (1 << 63) - (1 << 63)


def downgrade() -> None:
    """Drop the lines of calls: which line counts stays as it is, later lines count by themselves."""
    op.add_column("event_extra", sa.Column("call", sa.BigInteger()))
    op.add_column("event_extra", sa.Column("request_id", TEXT))
    op.create_index(
        "ix_event_extra_call",
        "event_extra",
        ["call"],
        unique=False,
        sqlite_where=sa.text("call IS NOT NULL"),
        postgresql_where=sa.text("call IS NOT NULL"),
    )
    op.drop_table("call_line")
