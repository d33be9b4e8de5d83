"""Batches taken back, from the lines of a log to the answers; while files are followed and read; killed."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from service import answers
from service.answers import Collection, Moment, Query
from service.clock import DAY_US, HOUR_US, Clock, system_clock
from service.errors import NotFound
from service.events import Receipt
from service.ingest.body import reader
from service.ingest.sources import Source
from service.pipeline import Feed, Pipeline, new_run
from service.settings import Settings
from service.store import engine as db
from service.store import secrets
from service.store.driver import Writer
from service.taking_back import TakingBack
from tests.acceptance.conftest import NOW_US
from tests.store.support import differences, query, rebuild, wipe

MESSAGES = ["Retired tool called", "Tool called", "Client initialized", "Tools listed"]
COLLECTIONS: list[Callable[[db.Connection, Query, Moment], Collection[Any]]] = [
    answers.names,
    answers.callers,
    answers.clients,
    answers.servers,
    answers.series,
    answers.events,
    answers.overview,
    answers.reactions,
    answers.coverage,
    answers.health,
    answers.rejects,
]
OF_DUPLICATES = ("suppressed", "resend")
"""What duplicates may have been is not known of each, so it is a bound after a batch was taken back."""


def line(number: int) -> str:
    """One of 24 lines: four kinds, two tools, three sessions of which some lines name no client, hours
    and days apart, with requests that a call and a stale call share."""
    data = {
        "tool": f"gone-{number % 2}",
        "client": [None, "zed", "Cursor", "zed/1.2"][number // 3 % 4],
        "clientVersion": [None, "1", "2"][number % 3],
        "sessionId": f"s{number % 3}",
        "requestId": number // 6,
        "lastRelease": f"1.{number % 2}",
    }
    hour, day = number * 5 % 24, 1 + number % 2
    return json.dumps(
        {
            "level": "info",
            "time": f"2026-10-{day:02d}T{hour:02d}:00:{number % 4:02d}Z",
            "data": {key: value for key, value in data.items() if value is not None},
            "msg": MESSAGES[number % 4],
        }
    )


PLAIN = ["GET / 200", '{"msg":"Retired tool called"}', '{"cut']
"""An ignored line, and two that are rejected."""


def wrapped(text: str) -> str:
    """A line as Docker keeps it."""
    return json.dumps({"log": f"{text}\n", "stream": "stdout", "time": "2026-10-05T00:00:00Z"})


Delivery = tuple[list[int], bool]
"""Numbers of lines (24 and on: of `PLAIN`), and whether they are wrapped."""


def body(delivery: Delivery) -> bytes:
    numbers, wraps = delivery
    texts = [line(n) if n < 24 else PLAIN[n - 24] for n in numbers]
    return "\n".join(["a log", *(map(wrapped, texts) if wraps else texts)]).encode()


deliveries = st.tuples(st.lists(st.integers(0, 26), max_size=14), st.booleans())
worlds = st.lists(st.lists(deliveries, min_size=1, max_size=2), min_size=2, max_size=4)
"""By source, the requests that came from it."""


def fill(engine: db.Engine, world: dict[str, list[Delivery]]) -> None:
    """Send every delivery to an empty database whose secrets are those of any other."""
    wipe(engine)
    with db.writing(engine) as connection:
        secrets.set_secrets(db.driver_of(connection), bytes(range(32)), bytes(range(32, 64)))
    with pipeline_of(engine) as pipeline:
        for source, sent in world.items():
            for delivery in sent:
                pipeline.request(body(delivery), reader(None), server="maps", source=source)


@contextmanager
def pipeline_of(
    engine: db.Engine, clock: Clock = lambda: NOW_US, **given: Any
) -> Iterator[Pipeline]:
    """A pipeline over an engine's database."""
    url = engine.url.set(drivername=engine.dialect.name).render_as_string(hide_password=False)
    with (
        closing(Writer(url)) as writer,
        closing(Pipeline(writer, Settings(**given), clock=clock)) as pipeline,
    ):
        yield pipeline


def taking_back(pipeline: Pipeline) -> TakingBack:
    """What takes back what a pipeline stored, by the same clock."""
    return TakingBack(pipeline._writer, clock=pipeline._clock)


def said(engine: db.Engine) -> dict[str, Any]:
    """Everything that is answered, without what differs between databases."""
    found = {}
    with db.reading(engine) as connection:
        for answer in COLLECTIONS:
            asked = Query(provenance=answer is answers.events)
            found[answer.__name__] = answer(connection, asked, Moment(NOW_US)).as_json()
    del found["health"]["database"]
    for row in found["health"]["items"]:
        for word in OF_DUPLICATES:
            del row[word]
    return found


@pytest.fixture
def two_engines(new_engine: Callable[[], db.Engine]) -> tuple[db.Engine, db.Engine]:
    """Two databases, filled anew by each example."""
    return new_engine(), new_engine()


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), world=worlds)
def test_every_answer_is_that_of_a_database_that_never_got_it(
    two_engines: tuple[db.Engine, db.Engine], data: st.DataObject, world: list[list[Delivery]]
) -> None:
    """Any of the batches, taken back in any order, of lines that came more than once, plain and wrapped."""
    undone, never = two_engines
    sent = {f"source-{number}": each for number, each in enumerate(world)}
    gone = data.draw(st.lists(st.sampled_from(sorted(sent)), unique=True), label="gone")

    fill(undone, sent)
    batches = dict(
        query(undone, "SELECT s.name, b.id FROM batch AS b JOIN source AS s ON s.id = b.source_id")
    )
    with pipeline_of(undone) as pipeline:
        for source in gone:
            taking_back(pipeline).undo(batches[source], actor="rest")
    fill(never, {source: each for source, each in sent.items() if source not in gone})

    assert said(undone) == said(never)
    assert differences(undone) == []
    assert rebuild(undone) == 0


Sent = tuple[int, list[int], bool]
"""A request: the number of its source, its lines, and whether it comes an hour after the one before."""
requests = st.lists(
    st.tuples(
        st.integers(0, 2), st.lists(st.integers(0, 9), min_size=1, max_size=4), st.booleans()
    ),
    min_size=2,
    max_size=8,
)


def fill_in_turns(engine: db.Engine, sent: list[Sent], without: int | None = None) -> None:
    """Send requests of three sources in their order, but for one source's."""
    wipe(engine)
    with db.writing(engine) as connection:
        secrets.set_secrets(db.driver_of(connection), bytes(range(32)), bytes(range(32, 64)))
    clock = [NOW_US]
    with pipeline_of(engine, lambda: clock[0]) as pipeline:
        for source, numbers, is_later in sent:
            clock[0] += HOUR_US if is_later else 1
            if source != without:
                text = "\n".join(map(line, numbers)).encode()
                pipeline.request(text, reader(None), server="maps", source=f"source-{source}")


TALLIED = "SELECT coalesce(sum(records), 0) FROM tally WHERE fate = '{}'"


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sent=requests, gone=st.integers(0, 2))
@example(sent=[(0, [0], False), (1, [1], False), (2, [0, 1], False)], gone=0)
@example(sent=[(1, [5], False), (2, [0, 1], False), (0, [1], False), (1, [1], False)], gone=2)
def test_what_may_have_been_lost_is_bounded_after_batches_were_taken_back(
    two_engines: tuple[db.Engine, db.Engine], sent: list[Sent], gone: int
) -> None:
    """
    At least what a database says that never got them: another's resend of what went and of what stays
    brought something new, as it turns out. And whatever is a duplicate is one of both.
    """
    undone, never = two_engines
    fill_in_turns(undone, sent)
    with pipeline_of(undone, lambda: NOW_US + DAY_US) as pipeline:
        of_source = (
            "SELECT b.id FROM batch AS b JOIN source AS s ON s.id = b.source_id WHERE s.name = "
        )
        for (batch,) in query(undone, f"{of_source}'source-{gone}' ORDER BY b.id DESC"):
            taking_back(pipeline).undo(batch, actor="rest")
    fill_in_turns(never, sent, without=gone)

    [(bound,)], [(least,)] = (query(e, TALLIED.format("suppressed")) for e in (undone, never))
    assert bound >= least
    [(resent,)], [(duplicates,)] = (
        query(undone, TALLIED.format(fate)) for fate in ("resend", "duplicate")
    )
    assert bound + resent == duplicates
    assert query(undone, "SELECT count(*) FROM tally WHERE records <= 0") == [(0,)]


POINTS = [
    "write:1",
    "write:3",
    "write:6",
    "write:11",
    "write:18",
    "before-commit:1",
    "after-commit:1",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_it_is_whole_or_taken_back(
    point: str, engine: db.Engine, database_url: str
) -> None:
    """And asking again ends where a run that was not killed ends."""
    numbers = list(range(24))
    with pipeline_of(engine, system_clock) as pipeline:
        for source, lines in ("a", numbers), ("b", numbers[:9]):
            pipeline.request(body((lines, False)), reader(None), server="maps", source=source)
    [(number,)] = query(engine, "SELECT min(id) FROM batch")
    killed = subprocess.run(
        [sys.executable, "-m", "tests.acceptance.killed", point, "db", "undo", str(number)],
        env={**os.environ, "LASTCALL_DATABASE_URL": database_url},
        capture_output=True,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    left = query(engine, f"SELECT count(*) FROM event WHERE batch_id = {number}")
    assert left == [(0,) if point == "after-commit:1" else (24,)]
    assert differences(engine) == []
    with pipeline_of(engine, system_clock) as pipeline:
        if point == "after-commit:1":
            with pytest.raises(NotFound, match="taken back already"):
                taking_back(pipeline).undo(number, actor="command")
        else:
            assert sum(taking_back(pipeline).undo(number, actor="command").events.values()) == 15
    assert query(engine, "SELECT count(*) FROM event") == [(9,)]
    assert differences(engine) == []


def test_a_run_goes_on_when_what_it_brought_is_taken_back(engine: db.Engine) -> None:
    """What comes after that is a batch of its own, also where it makes resends of duplicates that are
    gone: no account is below nothing."""
    texts = [line(n) for n in [0, 1, 2, 3, 0, 1, 4, 5, 6, 7]]
    feed = Feed(server="maps", source="files", batch=new_run(NOW_US))
    undone: list[int] = []
    with pipeline_of(engine, commit_records=1) as pipeline:
        old = "\n".join(texts[:4]).encode()
        pipeline.request(old, reader(None), server="maps", source="before")

        def progress(receipt: Receipt) -> None:
            if receipt.batch is not None and receipt.received >= 4 and not undone:
                undone.append(receipt.batch)
                taking_back(pipeline).undo(receipt.batch, actor="rest")

        array = io.BytesIO(f"[{','.join(texts)}]".encode())
        with Source("log", array, None) as source:
            receipt = pipeline.file(source, feed, progress=progress)
    assert undone
    assert receipt.received == 10
    assert query(engine, "SELECT count(*) FROM tally WHERE records < 0") == [(0,)]
    assert query(engine, f"SELECT count(*) FROM tally WHERE batch_id = {undone[0]}") == [(0,)]
    [(accepted,)] = query(engine, "SELECT sum(records) FROM tally WHERE fate = 'accepted'")
    assert query(engine, "SELECT count(*) FROM event") == [(accepted,)]
    assert differences(engine) == []
