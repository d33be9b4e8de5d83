"""The weekly log: what is asked each Monday, what is kept, and what stands."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.analysis.weekly import WEEK_US
from service.answers.query import Moment, iso
from service.answers.sayings import QUESTIONS, Asked
from service.app import create_app
from service.clock import DAY_US, HOUR_US
from service.events import Kind
from service.said import Question, Saying, Subject
from service.settings import Settings
from service.store import forget
from service.store.engine import Connection, Engine, driver_of, reading, writing
from service.weekly import Looked, look
from tests.answers import world
from tests.told import Told


def us(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1e6)


FIRST = us("2026-07-14")
SILENT = us("2026-08-03")
"""Zed calls `route` at midnight of twenty days, the last the day before this Monday."""
WEDNESDAY = us("2026-08-19T12:00:00")
MONDAYS = ["2026-07-20", "2026-07-27", "2026-08-03", "2026-08-10", "2026-08-17"]


def a_daily_caller(until: int = WEDNESDAY) -> list[Told]:
    """And another client that lists the tools each noon, so that the log is heard."""
    calls = [
        Told(time_us=at, key=at, kind=Kind.STALE_CALL, server="maps", tool="route", client="Zed")
        for at in range(FIRST, SILENT, DAY_US)
    ]
    beats = [
        Told(time_us=at, key=at, kind=Kind.LISTING, server="maps", client="other")
        for at in range(FIRST + 12 * HOUR_US, until, DAY_US)
    ]
    return [*calls, *beats]


def looked(engine: Engine, now: int, **more: Any) -> list[Looked]:
    """Look at whether everyone has stopped, where no other question is given."""
    stopped = {Question.STOPPED: QUESTIONS[Question.STOPPED]}
    return look(engine, Moment(now), **{"questions": stopped, **more})


@pytest.fixture
def ask(engine: Engine) -> Callable[..., Any]:
    """GETs /said as of the Wednesday after; the rows, or the whole answer where it is refused."""
    url = engine.url.render_as_string(hide_password=False)
    url = url.replace("sqlite+pysqlite", "sqlite").replace("postgresql+psycopg", "postgresql")
    client = TestClient(
        create_app(Settings(database_url=url), clock=lambda: WEDNESDAY),
        base_url="http://localhost",
    )

    def get(path: str = "/api/v1/said", **asked: Any) -> Any:
        return client.get(path, params=asked)

    return get


def test_each_monday_is_asked_as_of_itself_exactly(engine: Engine, ask: Callable[..., Any]) -> None:
    """
    With the days before it and not with the call of its own midnight; by the published rule, whose numbers
    after 7.5 silent days behind 20 active ones are 1 / (1 + 20 (1 + 7.5 / 10) ** -10).
    """
    world.store(engine, a_daily_caller())

    found = looked(engine, WEDNESDAY, questions=QUESTIONS)

    assert [(each.question, iso(each.week_us)[:10]) for each in found] == [
        (question, week) for question in (Question.EFFECT, Question.STOPPED) for week in MONDAYS
    ]
    assert {row["word"] for row in ask(question="effect").json()["items"]} == {"not enough data"}
    rows = ask(question="stopped").json()["items"][::-1]
    assert [row["week"][:10] for row in rows] == MONDAYS
    assert [row["figures"]["active_days"] for row in rows] == [6, 13, 20, 20, 20]
    assert [row["word"] for row in rows[:4]] == ["still calling"] * 3 + ["cannot tell"]
    assert rows[3]["figures"]["probability"] == pytest.approx(1 / (1 + 20 * 1.75**-10), abs=1e-4)
    assert rows[4]["word"] in {"probably stopped", "stopped"}
    assert [row["standing"] for row in rows] == [None, *["still calling"] * 4]
    assert {row["standing_since"] for row in rows[1:]} == {"2026-07-27T00:00:00.000Z"}
    assert not any(row["changed"] for row in rows)
    assert all(row["late"] for row in rows)
    assert "client" not in rows[0]
    clients = ask(by="client").json()["items"]
    assert {(row["client"], row["name"]) for row in clients} == {("Zed", "route")}


def test_what_was_said_stays_whatever_comes_later(engine: Engine, ask: Callable[..., Any]) -> None:
    """Lines of a week that was looked at change neither its word nor its figures."""
    rows = a_daily_caller()
    world.store(engine, [row for row in rows if row.kind is Kind.LISTING])
    assert [each.words for each in looked(engine, WEDNESDAY)] == [0] * 5
    world.store(engine, [row for row in rows if row.kind is not Kind.LISTING])
    assert looked(engine, WEDNESDAY) == []
    assert ask().json()["items"] == []
    assert ask("/api/v1/stopped").json()["items"] != []


def test_missed_mondays_are_looked_at_later_but_no_more_than_eight(engine: Engine) -> None:
    """And marked: a look on the Monday itself is not late, one on Tuesday is."""
    monday = us("2026-11-09")
    world.store(engine, a_daily_caller(monday))
    assert [each.week_us for each in looked(engine, monday + HOUR_US)] == [
        monday - back * WEEK_US for back in range(7, -1, -1)
    ]
    assert looked(engine, monday + DAY_US) == []
    (following,) = looked(engine, monday + WEEK_US + DAY_US)
    assert following.week_us == monday + WEEK_US


def test_a_running_service_lets_lines_under_way_arrive_first(engine: Engine) -> None:
    """A Monday counts once it is over for so long."""
    monday = us("2026-08-10")
    world.store(engine, a_daily_caller(monday))
    before = [each.week_us for each in looked(engine, monday + HOUR_US - 1, settle_us=HOUR_US)]
    assert max(before) == monday - WEEK_US
    after = [each.week_us for each in looked(engine, monday + HOUR_US, settle_us=HOUR_US)]
    assert after == [monday]


def test_nothing_is_asked_of_weeks_before_the_first_event(engine: Engine) -> None:
    """Nor of a log without any."""
    assert looked(engine, WEDNESDAY) == []
    world.store(engine, a_daily_caller())
    assert len(looked(engine, us("2026-07-19T23:59:59"))) == 0
    assert [iso(each.week_us)[:10] for each in looked(engine, us("2026-07-20"))] == ["2026-07-20"]


def saying_of(words: dict[str, str]) -> Asked:
    """A question that says of `route`, and of Zed's calls to it, what stands for each Monday."""

    def asked(_connection: Connection, as_of_us: int, _moment: Moment) -> Iterable[Saying]:
        word = words[iso(as_of_us)[:10]]
        for name, client in (("route", None), ("route", "zed"), ("=HYPERLINK(1)", None)):
            yield Saying(Subject("maps", name, client), word, "robust", {"interval": [0.5, None]})

    return asked


def test_a_client_that_is_forgotten_during_a_look_is_not_written_after(engine: Engine) -> None:
    """The question is asked again, of what is left."""
    rows = a_daily_caller()
    world.store(engine, rows)
    met: list[int] = []

    def asked(connection: Connection, as_of_us: int, moment: Moment) -> Iterable[Saying]:
        found = list(QUESTIONS[Question.STOPPED](connection, as_of_us, moment))
        met.append(sum(each.subject.client == "zed" for each in found))
        if len(met) == 1:
            with writing(engine) as other:
                forget.forget(driver_of(other), "zed", None, WEDNESDAY, actor="command")
        return found

    looked(engine, us("2026-07-22"), questions={Question.STOPPED: asked})

    assert met == [1, 0]
    with reading(engine) as connection:
        left = connection.exec_driver_sql("SELECT count(*) FROM subject WHERE client = 'zed'")
        assert left.scalar() == 0


WORDS = dict(zip(MONDAYS, "AABAA", strict=True))
CHANGING = dict(zip(MONDAYS, "AABBB", strict=True))


@pytest.fixture
def changing(engine: Engine) -> None:
    """A log of which two questions say the same letter or change it."""
    world.store(engine, a_daily_caller())
    questions = {Question.STOPPED: saying_of(CHANGING), Question.EFFECT: saying_of(WORDS)}
    assert len(looked(engine, WEDNESDAY, questions=questions)) == 10


@pytest.mark.usefixtures("changing")
def test_a_change_is_told_once_on_the_monday_that_confirms_it(ask: Callable[..., Any]) -> None:
    """A word that came and went is none. What an alert waits for can be asked for by itself."""
    rows = ask(question="stopped", name="route").json()["items"][::-1]
    assert [row["standing"] for row in rows] == [None, "A", "A", "B", "B"]
    assert [row["changed"] for row in rows] == [False, False, False, True, False]
    (news,) = ask(changed="true", name="route").json()["items"]
    assert news == rows[3]
    assert (news["week"][:10], news["stood_before"]) == ("2026-08-10", "A")
    assert (news["strength"], news["figures"]) == ("robust", {"interval": [0.5, None]})
    assert ask(changed="true", question="effect").json()["items"] == []
    later = ask(since="2026-08-10", question="stopped", name="route").json()["items"]
    assert later == rows[3:][::-1]
    until = ask(as_of="2026-08-10", question="stopped", name="route").json()["items"]
    assert until == rows[:3][::-1]


@pytest.mark.usefixtures("changing")
def test_a_client_is_asked_for_by_any_spelling(ask: Callable[..., Any]) -> None:
    """As it is in every other collection; nobody called without a name."""
    rows = ask(client="ZED", question="stopped").json()["items"]
    assert [row["client"] for row in rows] == ["Zed"] * 5
    assert ask(client="").json()["items"] == []
    assert ask(client="other", by="client").json()["items"] == []


@pytest.mark.usefixtures("changing")
def test_pages_neither_skip_nor_repeat(ask: Callable[..., Any]) -> None:
    """The newest Monday first, then by question, server and name."""
    whole = ask().json()["items"]
    keys = [(-us(row["week"][:10]), row["question"], row["name"]) for row in whole]
    assert len(whole) == 20
    assert [key[0] for key in keys] == sorted(key[0] for key in keys)
    parts: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask(limit=3, cursor=cursor).json()
        parts += page["items"]
        cursor = page["next_cursor"]
    assert parts == whole
    assert len(set(keys)) == 20


@pytest.mark.usefixtures("changing")
def test_as_a_table_no_name_is_a_formula(ask: Callable[..., Any]) -> None:
    """A stranger's name is text; figures stand in one cell."""
    table = list(csv.DictReader(io.StringIO(ask(format="csv").text)))
    assert {row["name"] for row in table} == {"route", "'=HYPERLINK(1)"}
    assert {row["changed"] for row in table} == {"true", "false"}
    assert json.dumps(table).count("interval=0.5, ") == 20


@pytest.mark.parametrize(
    "asked", [{"question": "why"}, {"by": "version"}, {"changed": "perhaps"}, {"sort": "word"}]
)
def test_what_cannot_be_asked_is_a_problem(ask: Callable[..., Any], asked: dict[str, str]) -> None:
    """That names the parameter."""
    answer = ask(**asked)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert next(iter(asked)) in answer.text


@pytest.mark.usefixtures("changing")
def test_the_pages_show_the_log_and_mark_a_change(ask: Callable[..., Any]) -> None:
    """On the page of the name each Monday; on the landing page what was said until when."""
    name = ask("/name", server="maps", name="route").text
    table = name.split('id="said-table"')[1].split("</table>")[0]
    assert table.count("<tr") == 1 + 10
    assert "<b>changed</b>: A until then" in table
    assert "(95 %: 0.50 to no bound)" in table
    landing = ask("/").text
    assert "said <em>A</em> until <time" in landing
    assert "<em>B</em> since" in landing
    assert "said <em>A</em>" not in ask("/", as_of="2026-08-10").text


def test_the_page_of_a_name_says_so_where_nothing_was_said(
    engine: Engine, ask: Callable[..., Any]
) -> None:
    """No empty table."""
    world.store(engine, a_daily_caller())
    page = ask("/name", server="maps", name="route").text
    assert "Nothing was asked as of a Monday of this range" in page
    assert "said-table" not in page
