"""A mark told of a name as a gateway spells it is of the retired name that calls of that spelling are of."""

import pytest
from fastapi.testclient import TestClient

from tests.telling.test_told import Log, api, items, tell

__all__ = ["api"]
LONG = "mcp__maps__route"
MARK = {"kind": "resolved", "server": "maps", "client": "Zed", "at": "2026-10-20T00:00:00Z"}


@pytest.mark.parametrize("spelling", [LONG, "mcp_maps_route", "maps.route", "maps:route", "route"])
def test_it_is_of_the_catalogued_name(api: TestClient, spelling: str) -> None:
    """In every answer that marks change, and known at once, though no line has this spelling."""
    Log().call(1, "Zed", times=5).call(2, "Other", tool=LONG).send(api)
    tell(api, "catalogue", server="maps", name="route")
    assert tell(api, "marks", **MARK, name=spelling)["unknown"] == []

    assert {row["client"]: row["status"] for row in items(api, "callers")} == {
        "Zed": "resolved",
        "Other": "open",
    }
    [mark] = items(api, "marks?name=route")
    assert (mark["name"], mark["status"], mark["last_call"]) == (
        "route",
        "resolved",
        "2026-10-01T10:00:04.004Z",
    )
    [zed] = items(api, "stopped?by=client&client=Zed")
    assert zed["active_days"] == 0  # all before it was fixed


def test_a_call_of_another_spelling_reopens_it(api: TestClient) -> None:
    """Both are the same name."""
    Log().call(21, "Zed", tool="maps.route").send(api)
    tell(api, "catalogue", server="maps", name="route")
    tell(api, "marks", **MARK, name=LONG)
    assert [row["status"] for row in items(api, "callers")] == ["reopened"]


def test_what_the_catalogue_learns_later_decides(api: TestClient) -> None:
    """Until then the whole spelling is the name; an entry of the whole spelling is that name again."""
    Log().call(1, "Zed", tool=LONG).send(api)
    tell(api, "marks", **MARK, name=LONG)
    seen = []
    for name in (None, "route", LONG):
        if name is not None:
            tell(api, "catalogue", server="maps", name=name)
        [mark] = items(api, "marks")
        [caller] = items(api, "callers")
        seen.append((mark["name"], caller["name"], caller["status"]))
    assert seen == [
        (LONG, LONG, "resolved"),
        ("route", "route", "resolved"),
        (LONG, LONG, "resolved"),
    ]


def test_a_name_that_the_server_lists_is_whole(api: TestClient) -> None:
    """A tool that is there is not retired, whatever its name looks like."""
    Log().call(1, "Zed").send(api)
    tell(api, "catalogue", server="maps", name="route")
    tools = {"tools": [{"name": "maps.route", "inputSchema": {"type": "object"}}]}
    tell(api, "snapshots", server="maps", **tools)
    tell(api, "marks", **MARK, name="maps.route")
    assert [row["status"] for row in items(api, "callers")] == ["open"]
    assert [row["name"] for row in items(api, "marks")] == ["maps.route"]
