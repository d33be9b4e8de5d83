"""The state of a page, from its address and back."""

from datetime import UTC, date, datetime
from urllib.parse import parse_qsl

import pytest

from dashboards.state import State, read_state, view_of
from service.answers import Moment
from service.answers.query import Filter, only
from service.errors import BadParameter


def at(text: str) -> int:
    """Microseconds since the epoch."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


NOON = Moment(at("2026-10-06T12:00:00"))
LONG_AGO = at("2020-01-01T00:00:00")


def read(search: str) -> State:
    """The state of an address with this query string."""
    return read_state(parse_qsl(search.removeprefix("?"), keep_blank_values=True))


@pytest.mark.parametrize(
    "state",
    [
        State(),
        State(server=only("a & b"), name=only("x/y?z"), client=only("<b>"), tz="Asia/Kolkata"),
        State(client=only("")),
        State(client=Filter(("", "b", "a"), ("c",)), name=Filter((), ("é,;&", "=1+1"))),
        State(days="all", bucket="week", as_of="2026-10-01T00:00:00Z", sort="-clients"),
        State(from_day="2026-10-01", to_day="2026-10-02"),
        State(excluded="only", show="all"),
    ],
)
def test_an_address_holds_the_whole_state(state: State) -> None:
    """Whatever the names are."""
    assert read(state.search()) == state


def test_a_form_sends_empty_fields_for_what_is_not_chosen() -> None:
    """But an empty client is what names none."""
    assert read("server=&from_day=&to_day=&name=&days=28") == State(days="28")
    assert read("client=") == State(client=only(""))


@pytest.mark.parametrize(
    ("search", "parameter"),
    [
        ("days=30", "days"),
        ("rnage=7", "rnage"),
        ("tz=Mars/Olympus", "tz"),
        ("from_day=yesterday", "from_day"),
        ("to_day=2026-02-30", "to_day"),
        ("bucket=minute", "bucket"),
        ("excluded=maybe", "excluded"),
        ("show=some", "show"),
    ],
)
def test_what_cannot_be_used_is_named(search: str, parameter: str) -> None:
    """Rather than passed over, which would show other numbers than those asked for."""
    with pytest.raises(BadParameter) as refused:
        read(search)
    assert refused.value.parameter == parameter


@pytest.mark.parametrize(
    ("search", "since", "until"),
    [
        ("", "2026-07-09", "2026-10-07"),
        ("days=7", "2026-09-30", "2026-10-07"),
        ("days=7&tz=Pacific/Kiritimati", "2026-10-01", "2026-10-08"),
        ("days=all", None, "2026-10-07"),
        ("from_day=2026-10-04&to_day=2026-10-05", "2026-10-04", "2026-10-06"),
        ("days=28&to_day=2026-03-01", "2026-02-02", "2026-03-02"),
        ("days=7&as_of=2026-01-10T00:00:00Z", "2026-01-03", "2026-01-10"),
    ],
)
def test_a_range_of_days_includes_both_ends(search: str, since: str | None, until: str) -> None:
    """Ninety days unless another range is asked for, the last of them today in the zone."""
    query = view_of(read(search), NOON, LONG_AGO).query("callers")
    assert (query.since, query.until) == (since, until)


def test_a_range_does_not_begin_before_the_first_event() -> None:
    """Of a young installation, no weeks are shown in which it did not exist; unless asked for."""
    first = at("2026-10-03T05:00:00")
    assert view_of(State(), NOON, first).since_day == date(2026, 10, 3)
    asked = State(from_day="2026-09-01")
    assert view_of(asked, NOON, first).since_day == date(2026, 9, 1)


@pytest.mark.parametrize(
    ("search", "steps", "days"),
    [
        ("days=7", -1, ("2026-09-23", "2026-09-29")),
        ("days=7", 1, None),
        ("from_day=2026-09-23&to_day=2026-09-29", 1, ("2026-09-30", "2026-10-06")),
        ("from_day=2026-10-01&to_day=2026-10-04", 1, ("2026-10-03", "2026-10-06")),
        ("from_day=2026-10-05&to_day=2026-10-05", -1, ("2026-10-04", "2026-10-04")),
        ("days=28&to_day=2020-01-10", -1, None),
        ("days=all", -1, None),
        ("from_day=0001-01-01&to_day=0001-01-02", 1, ("0001-01-03", "0001-01-04")),
    ],
)
def test_a_range_moves_by_its_own_length(
    search: str, steps: int, days: tuple[str, str] | None
) -> None:
    """Not beyond today, not where all there is lies in it already."""
    moved = view_of(read(search), NOON, LONG_AGO).moved(steps)
    assert (moved and (moved["from_day"], moved["to_day"])) == days


def test_fixed_days_are_those_of_the_range() -> None:
    """Of everything, from the first event on."""
    for search, first in (("days=7", "2026-09-30"), ("days=all", "2020-01-01")):
        fixed = view_of(read(search), NOON, LONG_AGO).fixed
        assert fixed == {"from_day": first, "to_day": "2026-10-06"}


def test_the_name_of_a_file_says_page_figure_range_and_zone() -> None:
    """And nothing that strangers wrote."""
    view = view_of(State(name=only("../x"), days="7", tz="America/Argentina/Salta"), NOON, LONG_AGO)
    assert view.file_name("/", "callers") == (
        "lastcall-names-callers-2026-09-30-to-2026-10-06-America-Argentina-Salta"
    )


def test_an_empty_range_is_refused() -> None:
    """It could show nothing but zeros."""
    with pytest.raises(BadParameter, match="empty"):
        view_of(State(from_day="2026-10-05", to_day="2026-10-04"), NOON, LONG_AGO)


@pytest.mark.parametrize(
    ("days", "bucket"),
    [(3, "hour"), (4, "day"), (130, "day"), (131, "week"), (900, "week"), (901, "month")],
)
def test_the_longer_the_range_the_longer_its_buckets(days: int, bucket: str) -> None:
    """So that a figure never has more bars than can be told apart."""
    first = date.fromordinal(date(2026, 10, 6).toordinal() - days + 1)
    view = view_of(State(from_day=first.isoformat()), NOON, LONG_AGO)
    assert view.bucket == bucket


def test_the_address_of_rest_holds_the_same_question() -> None:
    """With what a page adds to it, and nothing that is usual anyway."""
    view = view_of(State(server=only("a b"), client=only(""), days="7"), NOON, LONG_AGO)
    assert view.rest("callers", sort="-stale_calls", client=None) == (
        "/api/v1/callers?server=a+b&since=2026-09-30&until=2026-10-07&sort=-stale_calls"
    )
