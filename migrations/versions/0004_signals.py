"""Notifications and listings: an index of their own, since they are few among many calls."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Add the index."""
    op.create_index(
        "ix_event_signal",
        "event",
        ["kind", "time_us", "server_id", "session_id", "client_id"],
        unique=False,
        sqlite_where=sa.text("kind IN (4, 5)"),
        postgresql_where=sa.text("kind IN (4, 5)"),
    )


def downgrade() -> None:
    """Drop the index."""
    op.drop_index("ix_event_signal", table_name="event")
