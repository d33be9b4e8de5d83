"""A mark of what nothing is known of is kept, and says so; names stand as they were told."""

import csv
import io
import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.cli import app
from tests.telling.test_told import Log, api

__all__ = ["api"]
MARK = {"kind": "known", "server": "maps", "client": "Zed", "name": "route"}


@pytest.mark.parametrize(
    ("told", "unknown"),
    [
        ({}, []),
        ({"client": ""}, []),
        ({"name": None}, []),
        ({"client": "zed "}, []),
        ({"client": "zedd"}, ["client"]),
        ({"name": "rout"}, ["name"]),
        ({"server": "map", "client": "zedd", "name": "rout"}, ["server", "client", "name"]),
    ],
)
def test_what_may_be_mistyped_is_said(
    api: TestClient, told: dict[str, str | None], unknown: list[str]
) -> None:
    """It is kept all the same: it may come yet."""
    Log().call(1, "Zed").send(api)
    kept = api.post("/api/v1/marks", json=MARK | told)
    assert (kept.status_code, kept.json()["unknown"]) == (200, unknown)
    assert len(api.get("/api/v1/marks").json()["items"]) == 1


def test_a_catalogued_name_and_an_alias_are_known(api: TestClient) -> None:
    """Though no line has them."""
    Log().call(1, "Zed").send(api)
    api.post("/api/v1/catalogue", json={"server": "maps", "name": "map"})
    api.post("/api/v1/aliases", json={"client": "kiosk", "target": "Zed"})
    kept = api.post("/api/v1/marks", json=MARK | {"client": "KIOSK", "name": "map"})
    assert kept.json()["unknown"] == []


def test_the_audit_has_the_name_as_it_was_told_and_instants_as_such(api: TestClient) -> None:
    """Not the key by which it is found; what was not told is not there, also in CSV."""
    Log().call(1, "Zed").send(api)
    told = {**MARK, "client": "ZED", "name": None, "at": "2026-10-05T10:15:02Z"}
    assert api.post("/api/v1/marks", json=told).is_success
    entry = {"server": "maps", "name": "map", "replaced_by": ["a", "b"], "retired_at": "2026-10-01"}
    assert api.post("/api/v1/catalogue", json=entry).is_success
    lines = api.get("/api/v1/audit").json()["items"]
    assert [line["detail"]["client"] for line in lines if "client" in line["detail"]] == ["ZED"]
    table = api.get("/api/v1/audit?format=csv").text
    details = [row["detail"] for row in csv.DictReader(io.StringIO(table))]
    [mark] = [detail for detail in details if "ZED" in detail]
    assert mark == "at=2026-10-05T10:15:02.000Z; client=ZED; server=maps"
    assert not any("None" in detail or "_us" in detail for detail in details)


def test_the_command_says_it_beside_its_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And prints the client as it was typed."""
    database, log = str(tmp_path / "x.db"), tmp_path / "log"
    call = {"time": "2026-10-01T10:00:00Z", "msg": "Retired tool called"}
    log.write_text(json.dumps({**call, "data": {"tool": "route", "client": "Zed"}}))
    app(["ingest", str(log), "--db", database, "--server", "maps"], standalone_mode=False)
    capsys.readouterr()
    mark = ["clients", "mark", "known", "maps", "ZED", "--db", database, "--name"]
    app([*mark, "route"], standalone_mode=False)
    said = capsys.readouterr()
    assert said.out.startswith("mark 1: ZED, route: known at ")
    assert said.err == ""
    app([*mark, "rout"], standalone_mode=False)
    assert "nothing is known of the name rout yet" in capsys.readouterr().err
