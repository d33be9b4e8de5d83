"""Duplicates of one delivery are a resend, or may be calls of their own, wherever its commits fall."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from service.ingest.sources import open_source
from service.pipeline import Feed, Pipeline, new_run
from service.settings import Settings
from service.store import stats
from service.store.engine import Engine, reading
from tests.acceptance.conftest import NOW_US


def call(server: str, second: int) -> dict[str, object]:
    return {
        "time": f"2026-10-05T10:00:{second:02d}Z",
        "msg": "Retired tool called",
        "data": {"tool": "gone", "mcpServer": server},
    }


def deliver(
    engine: Engine, pipeline: Pipeline, path: Path, calls: list[dict[str, object]]
) -> dict[str, int]:
    """Read calls as one file that commits every second record; returns what its batches tallied
    beside the four fates, by server."""
    path.write_text(json.dumps(calls))
    batch = new_run(NOW_US)
    with open_source(str(path)) as source:
        pipeline.file(source, Feed(server=None, source="files", batch=batch))
    with reading(engine) as connection:
        batches = stats.stats(connection)["batches"]
    return {
        f"{found['server']} {word}": found["records"][word]
        for found in batches
        if found["label"] == batch.label
        for word in ("suppressed", "resend")
        if found["records"].get(word)
    }


OLD = [call("a", 1), call("b", 2), call("a", 3), call("b", 4)]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (OLD, {"a resend": 2, "b resend": 2}),
        ([*OLD, call("a", 5)], {"a suppressed": 2, "b suppressed": 2}),
        ([call("b", 5), *OLD], {"a suppressed": 2, "b suppressed": 2}),
        ([call("a", 1)], {"a suppressed": 1}),
    ],
    ids=["nothing new", "new at the end, of one server", "new at the start", "a single record"],
)
def test_what_a_later_commit_brings_changes_what_earlier_duplicates_were(
    calls: list[dict[str, object]],
    expected: dict[str, int],
    engine: Engine,
    new_pipeline: Callable[[Settings], Pipeline],
    tmp_path: Path,
) -> None:
    """The delivery as a whole decides, for each server that it names."""
    pipeline = new_pipeline(Settings(commit_records=2))
    deliver(engine, pipeline, tmp_path / "first.json", OLD)

    assert deliver(engine, pipeline, tmp_path / "again.json", calls) == expected
