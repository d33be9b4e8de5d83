"""Releases: one row a server and version, where it was last said to be."""

import pytest

from service.events import Recorded, Release
from service.store import read_releases, releases
from service.store.engine import Engine, driver_of, reading, writing
from tests.store.support import DAY, NOON, differences, query, row, store


def record(
    engine: Engine, version: str, at_us: int, server: str = "main", source: str = "rest"
) -> Recorded:
    with writing(engine) as conn:
        release = Release(server=server, version=version, at_us=at_us, source=source)
        return releases.record(driver_of(conn), release, now_us=NOON, actor=source)


def data_version(engine: Engine) -> int:
    return int(query(engine, "SELECT value FROM meta WHERE name = 'data_version'")[0][0])


def stored(engine: Engine) -> list[tuple[str, str, int, str]]:
    sql = (
        "SELECT s.name, r.version, r.at_us, r.source FROM release AS r "
        "JOIN server AS s ON s.id = r.server_id ORDER BY 1, 2"
    )
    return [(name, version, at, source) for name, version, at, source in query(engine, sql)]


def test_the_same_version_again_is_the_same_release(engine: Engine) -> None:
    """Said twice it is there once; said otherwise it moves, with the way it was said last; and readers
    are told exactly when something has changed."""
    assert record(engine, "1.7.0", NOON) is Recorded.CREATED
    first = data_version(engine)
    assert record(engine, "1.7.0", NOON, source="command") is Recorded.UNCHANGED
    assert data_version(engine) == first
    assert stored(engine) == [("main", "1.7.0", NOON, "rest")]

    assert record(engine, "1.7.0", NOON - DAY, source="command") is Recorded.MOVED

    assert data_version(engine) == first + 1
    assert stored(engine) == [("main", "1.7.0", NOON - DAY, "command")]
    assert query(engine, "SELECT actor, action, subject FROM audit ORDER BY id") == [
        ("rest", "release", "main/1.7.0"),
        ("command", "release", "main/1.7.0"),
    ]


def test_a_version_belongs_to_its_server(engine: Engine) -> None:
    """Two servers may have the same version; the server of events is the same server."""
    store(engine, [row(1)])
    record(engine, "1.0", NOON)
    record(engine, "1.0", NOON, server="other")

    assert stored(engine) == [("main", "1.0", NOON, "rest"), ("other", "1.0", NOON, "rest")]
    assert query(engine, "SELECT name FROM server ORDER BY 1") == [("main",), ("other",)]
    assert differences(engine) == []


@pytest.mark.parametrize(
    ("servers", "since", "until", "expected"),
    [
        (None, NOON - 9 * DAY, NOON + 9 * DAY, ["a", "b", "c", "x"]),
        (["main"], NOON - 9 * DAY, NOON + 9 * DAY, ["a", "b", "c"]),
        (["main"], NOON, NOON + DAY, ["b"]),
        (["main"], NOON, NOON + DAY + 1, ["b", "c"]),
        (["main"], NOON + 1, NOON + DAY, []),
        ([], NOON - 9 * DAY, NOON + 9 * DAY, []),
    ],
    ids=["all", "one server", "half-open", "one more µs", "none in range", "no server"],
)
def test_releases_are_read_by_range_and_server(
    engine: Engine, servers: list[str] | None, since: int, until: int, expected: list[str]
) -> None:
    """The start of the range is in it, the end is not."""
    for version, at in (("a", NOON - DAY), ("b", NOON), ("c", NOON + DAY)):
        record(engine, version, at)
    record(engine, "x", NOON, server="other")
    ids = dict(query(engine, "SELECT name, id FROM server"))
    chosen = None if servers is None else [ids[name] for name in servers]

    with reading(engine) as conn:
        found = read_releases.releases(conn, chosen, since, until)
        first = read_releases.first_release(conn, chosen, until)

    assert sorted(release.version for release in found) == expected
    before = {"a": NOON - DAY, "x": NOON}
    assert first == (None if servers == [] else before["a"])


def test_moves_are_counted_and_nothing_else_is(engine: Engine) -> None:
    """A page can tell whether a release that it has shown, or not yet, is where it was."""

    def moves() -> str:
        with reading(engine) as conn:
            return read_releases.moves(conn)

    before = moves()
    record(engine, "a", NOON)
    record(engine, "a", NOON)
    record(engine, "b", NOON)
    store(engine, [row(1)])
    assert moves() == before
    record(engine, "a", NOON + 1)
    once = moves()
    assert once != before
    record(engine, "a", NOON)
    assert moves() not in (before, once)
