"""What questions to one snapshot share changes no answer, whichever of them comes first."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from benchmarks import databases
from service import answers
from service.answers import Moment, Query
from service.answers.query import only
from service.store.engine import Connection, make_engine, reading

UNTIL = "2027-04-20T07:00:00+00:00"
NOW = Moment(int(datetime.fromisoformat(UNTIL).timestamp()) * 1_000_000)
Asked = tuple[Callable[..., Any], Query]


def questions(client: str) -> list[Asked]:
    """Long and short ranges, of all and of one client, of calls, reactions and verdicts."""
    short, long = Query(since="2027-04-01"), Query(since="2027-01-20", tz="Asia/Kolkata")
    one, nobody = replace(long, client=only(client)), replace(short, client=only(""))
    return [
        *((answers.callers, query) for query in (short, one, nobody, long)),
        *((answers.overview, query) for query in (short, long, one)),
        *((answers.clients, query) for query in (one, long, Query(client=only(client)))),
        *((answers.vintage, query) for query in (one, short)),
        *((answers.uptake, query) for query in (long, one)),
        (answers.cures, one),
        (answers.stopped, Query()),
        (answers.stopped, Query(by="client", client=only(client))),
        (answers.todo, short),
        (answers.names, nobody),
        (answers.reactions, replace(long, by="version")),
        (answers.reactions, long),
        (answers.reactions, one),
        (answers.latency, long),
        (answers.series, replace(long, by="client", top=5)),
    ]


def told(connection: Connection, moment: Moment, asked: Asked) -> Any:
    """One answer in the form of REST."""
    answer, query = asked
    return answer(connection, query, moment).as_json()


def test_a_question_is_answered_alike_alone_and_after_others(
    new_database: Callable[[], str],
) -> None:
    """What one has read for its range and columns serves the next, or is read again."""
    url = new_database()
    databases.make(url, "A", 40_000, 5, NOW.now_us)
    engine = make_engine(url)
    with reading(engine) as connection:
        (row, *_) = answers.clients(connection, Query(sort="-stale_calls"), NOW).items
        every = questions(row.client or "")
        alone = [told(connection, NOW, asked) for asked in every]
        assert all(found["items"] for found in alone[:4] if found), "there is something to compare"
        for order in (1, -1):
            shared = replace(NOW, shared={})
            after = [told(connection, shared, asked) for asked in every[::order]][::order]
            for (answer, query), expected, found in zip(every, alone, after, strict=True):
                assert found == expected, (answer.__name__, query)
    engine.dispose()
