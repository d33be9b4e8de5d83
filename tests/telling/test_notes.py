"""What people write beside the axis of time: kept, listed with what else happened, and taken back."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import settings_from_environment
from tests.telling.test_told import NOW_US, Log, items, tell

HOSTILE = '<script>alert(1)</script> =1+1 %{x} \u202eright\u2066 "quoted"\x07'


@pytest.fixture
def api(database_url: str) -> Iterator[TestClient]:
    """A service without a line, on both databases; its clock shows 2026-10-31."""
    settings = settings_from_environment(
        database_url=database_url, allowed_hosts="testserver", auto_upgrade="true"
    )
    with TestClient(create_app(settings, clock=lambda: NOW_US)) as client:
        yield client


def test_a_note_is_kept_once_listed_by_time_and_taken_back(api: TestClient) -> None:
    """Of a server, or of all; the audit keeps both, and its number is not given again."""
    later = tell(api, "notes", text="all", at="2026-10-05T10:00:00Z")
    first = {"server": "maps", "text": HOSTILE, "at": "2026-10-04"}
    kept = tell(api, "notes", **first)
    assert (kept["outcome"], tell(api, "notes", **first)["outcome"]) == ("created", "unchanged")
    assert [(row["server"], row["text"]) for row in items(api, "notes")] == [
        ("maps", HOSTILE),
        (None, "all"),
    ]
    assert [row["text"] for row in items(api, "notes?server=other")] == ["all"]
    assert [row["text"] for row in items(api, "notes?since=2026-10-05")] == ["all"]
    assert [row["text"] for row in items(api, "notes?until=2026-10-05")] == [HOSTILE]
    for status in (204, 404):
        assert api.delete(f"/api/v1/notes/{kept['id']}").status_code == status
    again = tell(api, "notes", **first)
    assert again["id"] not in {kept["id"], later["id"]}
    done = [(row["action"], row["subject"]) for row in items(api, "audit?server=maps")]
    assert done == [
        ("note", f"note {again['id']}"),
        ("unnote", f"note {kept['id']}"),
        ("note", f"note {kept['id']}"),
    ]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({}, "missing; write what happened"),
        ({"text": " \n"}, "missing; write what happened"),
        ({"text": "x" * 1001}, "at most 1,000 characters, this has 1,001"),
        ({"text": "x", "at": "2027-01-01"}, "lies ahead of the clock"),
        ({"text": "x", "at": "soon"}, "not a time"),
        ({"text": 7}, "must be text"),
        ({"text": "x", "who": "me"}, "unknown member; use server, at, text"),
    ],
)
def test_a_note_that_cannot_be_used_says_what_can(
    api: TestClient, told: dict[str, object], says: str
) -> None:
    """Nothing is stored."""
    answer = api.post("/api/v1/notes", json=told)
    assert answer.status_code == 422
    assert says in answer.json()["detail"]
    assert items(api, "notes") == []


def test_what_happened_is_listed_by_time_for_who_asks(api: TestClient) -> None:
    """Releases, the catalogue, lists of tools and notes: of the servers and the name in question."""
    Log().call(1, "zed").send(api)
    Log().call(1, "zed", tool="other-tool").send(api, "other")
    tell(api, "releases", server="maps", version="1.7.0", at="2026-10-03T00:00:00Z")
    tell(api, "releases", server="other", version="9", at="2026-10-03T00:00:00Z")
    tools = [{"name": "a"}, {"name": "b"}]
    tell(api, "snapshots", server="maps", version="2", at="2026-10-02T00:00:00Z", tools=tools)
    tell(api, "notes", text="before the log", at="2026-09-01")
    tell(api, "notes", text="of all", at="2026-10-02T12:00:00Z")
    tell(api, "notes", text="theirs", server="other", at="2026-10-02T12:00:00Z")
    for name in ("route", "plan"):  # each at the clock's one instant: told together
        tell(api, "catalogue", server="maps", name=name)
    tell(api, "catalogue", server="maps", name="route", replaced_by=["x"])

    asked = "annotations?server=maps&until=2026-11-02"
    found = [(row["kind"], row["text"], row["number"]) for row in items(api, asked)]
    assert found == [
        ("release", "2", None),  # a list of tools that has a version tells of a release
        ("tools", "2 tools listed, version 2", 2),
        ("note", "of all", None),
        ("release", "1.7.0", None),
        ("catalogue", "plan and 1 other name entered", 2),
        ("catalogue", "route changed", 1),
    ]
    assert [row["text"] for row in items(api, f"{asked}&name=plan")][4:] == ["plan entered"]
    every = "annotations?since=2026-08-01&until=2026-10-04"
    assert [row["text"] for row in items(api, every)] == [
        "before the log",
        "2",
        "2 tools listed, version 2",
        "of all",
        "theirs",
        "1.7.0",
        "9",
    ]
    pages, address = [], f"{every}&limit=1"
    while address:
        answer = api.get(f"/api/v1/{address}").json()
        pages += [row["text"] for row in answer["items"]]
        cursor = answer["next_cursor"]
        address = f"{every}&limit=1&cursor={cursor}" if cursor else ""
    assert pages == [row["text"] for row in items(api, every)]
