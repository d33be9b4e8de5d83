"""Rows drawn at random, for properties that hold of all rows."""

from hypothesis import strategies as st

from service.events import TOOL_KINDS, Fact, Kind, Row
from tests.store.support import DAY, MINUTE, NOON, SECOND, row

TIMES = [NOON, NOON + 1, NOON + SECOND, NOON + 16 * MINUTE, NOON + DAY, NOON - DAY]


@st.composite
def some_rows(draw: st.DrawFn) -> list[Row]:
    """Rows out of few values each, so that they meet in sessions, calls, cells and instants."""
    rows = []
    for key in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(Kind))
        is_call = kind in TOOL_KINDS
        rows.append(
            row(
                key,
                draw(st.sampled_from(TIMES)),
                kind,
                server=draw(st.sampled_from(["main", "main", "other"])),
                client=draw(st.sampled_from([None, None, "Zed", "Cursor", "zed (via x)"])),
                version=draw(st.sampled_from([None, "1", "2"])),
                session=draw(st.sampled_from([None, "s", "s", "t"])),
                tool=draw(st.sampled_from(["old_tool", "a_tool"])) if is_call else None,
                request_id=draw(st.sampled_from([None, "7"])),
                fact=Fact(last_release="1", replaced_by=None, message=None)
                if kind is Kind.STALE_CALL
                else None,
            )
        )
    return rows
