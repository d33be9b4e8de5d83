"""Every record that arrives has exactly one of four fates, whatever it is."""

import codecs
import json
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.ingest.body import reader
from service.pipeline import Pipeline
from service.settings import Settings
from service.store import engine as db
from service.store import stats

NewPipeline = Callable[[Settings], Pipeline]
SLOW = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def our_lines(draw: st.DrawFn) -> bytes:
    """A line like ours in which any field may hold anything, whole or cut."""
    data = {
        key: draw(json_values)
        for key in ("tool", "client", "clientVersion", "sessionId", "replacedBy", "requestId")
        if draw(st.booleans())
    }
    if draw(st.booleans()):
        data["tool"] = draw(st.sampled_from(["gone", "gone-too"]))
    record: dict[str, Any] = {
        "time": draw(st.sampled_from(["2026-10-05T10:15:02.114Z", 1791195302114, "soon", None])),
        "data": data,
        "msg": draw(
            st.sampled_from(["Retired tool called", "Tool called", "Tools listed", "Started"])
        ),
    }
    line = json.dumps(record).encode()
    return line[: draw(st.integers(0, len(line)))] if draw(st.integers(0, 9)) == 0 else line


lines = st.one_of(
    our_lines(),
    st.binary(max_size=40),
    st.sampled_from([b"", b"   ", b"\0\0", b"{", b"}", b"null", b"plain text", b"[1]", b"\xff"]),
)


def is_record(line: bytes) -> bool:
    """Whether something is left of a line without padding: only blank lines are no records."""
    padding = b" \t\r\n\v\f\0"
    return bool(line.strip(padding).removeprefix(codecs.BOM_UTF8).strip(padding))


@SLOW
@given(parts=st.lists(st.lists(lines, max_size=12), min_size=1, max_size=4))
def test_received_is_the_sum_of_the_four_fates(
    parts: list[list[bytes]], engine: db.Engine, new_pipeline: NewPipeline
) -> None:
    """Of any lines, each that is not blank is accepted, duplicate, ignored or rejected; the sums of
    requests, of events stored and of a second delivery agree."""
    pipeline = new_pipeline(Settings())
    with db.reading(engine) as connection:
        before = sum(stats.stats(connection)["events"].values())
    accepted = 0
    for part in parts:
        # A text line in front keeps the body from being one JSON value.
        body = b"\n".join([b"text", *(line.replace(b"\n", b" ") for line in part)])
        receipt = pipeline.request(body, reader(None), server="s", source="http").receipt
        again = pipeline.request(body, reader(None), server="s", source="http").receipt

        assert receipt.received == 1 + sum(map(is_record, body.split(b"\n")[1:]))
        assert sum(receipt.reasons.values()) == receipt.rejected
        assert sum(receipt.events.values()) == receipt.accepted
        assert again.duplicates == receipt.accepted + receipt.duplicates
        assert (again.accepted, again.ignored, again.rejected) == (
            0,
            receipt.ignored,
            receipt.rejected,
        )
        accepted += receipt.accepted
    with db.reading(engine) as connection:
        assert sum(stats.stats(connection)["events"].values()) == before + accepted
