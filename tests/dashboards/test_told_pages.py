"""The pages of the catalogue and of what was told."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running
from tests.chain.tables import tables

NOW = "2026-10-06T12:30:00Z"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """Nothing yet."""
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}")
    with running(settings, now=NOW) as running_service:
        yield running_service


def log(service: Running, *calls: tuple[str, str, str]) -> None:
    """Lines of (message, name, client), one a minute."""
    lines = [
        json.dumps(
            {
                "time": f"2026-10-05T10:{at:02}:00Z",
                "msg": message,
                "data": {"tool": name, "client": client},
            }
        )
        for at, (message, name, client) in enumerate(calls)
    ]
    answer = service.client.post("/ingest?server=maps", content="\n".join(lines).encode())
    assert answer.json()["accepted"] == len(lines)


def tell(service: Running, path: str, **told: Any) -> None:
    answer = service.client.post(f"/api/v1/{path}", json={"server": "maps", **told})
    assert answer.status_code == 200, answer.text


def read(service: Running, path: str) -> tuple[str, dict[str, list[dict[str, str]]]]:
    answer = service.client.get(path)
    assert answer.status_code == 200
    return answer.text, tables(answer.text)


STALE, ORDINARY = "Retired tool called", "Tool called"


def test_the_catalogue_tells_what_was_told_from_what_was_learned(service: Running) -> None:
    """And hides what is hidden until it is shown again."""
    log(service, (STALE, "learned", "c"), (STALE, "both", "c"), (ORDINARY, "works", "c"))
    tell(service, "catalogue", name="both", replaced_by=["works"])
    tell(service, "catalogue", name="typo")
    tell(service, "catalogue/hide", name="typo")
    page, found = read(service, "/catalogue")
    known = {row["Retired name"]: row["Known from"] for row in found["entries"]}
    assert known == {"both": "told", "learned": "lines"}
    assert [row["Name"] for row in found["hidden"]] == ["typo"]
    assert "1 retired name told, 1 name hidden" in re.sub(r"<[^>]+>", "", page)
    service.client.post("/tell-unhide", data={"server": "maps", "name": "typo"})
    page, found = read(service, "/catalogue")
    assert "hidden" not in found
    assert "typo" in {row["Retired name"] for row in found["entries"]}


def test_findings_say_what_rest_says(service: Running) -> None:
    """In the same sentences, with a word for their weight."""
    log(service, (STALE, "old", "c"), (STALE, "older", "c"))
    tell(service, "catalogue", name="old", replaced_by=["older"])
    _, found = read(service, "/catalogue")
    words = {"wrong": "wrong", "look_at": "look at it"}
    assert [(row["Name"], row["Weight"], row["What is found"]) for row in found["faults"]] == [
        (row["name"], words[row["weight"]], row["says"]) for row in service.rows("catalogue/lint")
    ]


def test_the_last_two_snapshots_are_compared_and_a_lost_name_can_be_entered(
    service: Running,
) -> None:
    """With what it may be called now as a proposal."""
    log(service, (ORDINARY, "route-plan", "c"))
    schema = {"type": "object"}
    for day, names in ((1, ["plan-route", "map"]), (2, ["route-plan", "map"])):
        tools = [{"name": name, "inputSchema": schema} for name in names]
        at = f"2026-10-0{day}T00:00:00Z"
        tell(service, "snapshots", version=f"1.{day}", at=at, tools=tools)
    page, found = read(service, "/catalogue")
    assert [(row["Tool"], row["Change"]) for row in found["changes-1"]] == [
        ("plan-route", "name is gone")
    ]
    assert [row["Version"] for row in found["snapshots"]] == ["1.2", "1.1"]
    assert [(row["Name"], row["Calls"]) for row in found["listed"]] == [
        ("map", "0"),
        ("route-plan", "1"),
    ]
    (form,) = re.findall(
        r'<form class="tell"[^>]*aria-label="Retire plan-route">(.*?)</form>', page, re.DOTALL
    )
    fields = dict(re.findall(r'name="([^"]*)"(?: autocomplete="off")? value="([^"]*)"', form))
    assert fields["replaced_by"] == "route-plan"
    service.client.post("/tell-entry", data={key: unescape(text) for key, text in fields.items()})
    (row,) = service.rows("catalogue")
    assert (row["name"], row["last_release"], row["replaced_by"], row["retired_at"]) == (
        "plan-route",
        "1.1",
        ["route-plan"],
        "2026-10-02T00:00:00.000Z",
    )


def test_what_was_told_is_listed_with_what_it_comes_to(service: Running) -> None:
    """And health leads there."""
    log(service, (STALE, "old", "probe"), (STALE, "old", "a"), (STALE, "old", "b"))
    for path, told in (
        ("exclusions", {"client": "probe", "note": "ours"}),
        ("marks", {"kind": "known", "client": "a", "note": "beta"}),
    ):
        tell(service, path, **told)
    service.client.post("/api/v1/aliases", json={"client": "b", "target": "A"})
    _, found = read(service, "/told")
    (rule,) = found["exclusions-table"]
    assert (rule["Client"], rule["Calls left out"], rule["Note"]) == ("probe", "1", "ours")
    assert [(row["Client"], row["Status"], row["Note"]) for row in found["marks"]] == [
        ("A", "known", "beta")
    ]
    assert [(row["Client"], row["Is the same as"]) for row in found["aliases"]] == [("b", "A")]
    assert [row["Action"] for row in found["audit"]] == ["alias", "known", "exclude"]
    assert 'href="/told"' in service.get("/health").text


def test_a_batch_is_taken_back_after_its_plan_was_shown(service: Running) -> None:
    """Looking at the plan changes nothing."""
    log(service, (STALE, "old", "c"), (STALE, "old", "d"))
    page, found = read(service, "/told")
    (batch,) = [row["Batch"] for row in found["batches"]]
    assert f'href="/undo/{batch}"' in page
    plan = service.get(f"/undo/{batch}").text
    assert "<dt>Events that go</dt><dd>2<small>stale call 2</small></dd>" in plan
    assert len(service.rows("clients")) == 2
    answer = service.client.post("/tell-undo", data={"batch": batch, "back": "/told"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/told")
    assert service.rows("clients") == []
    assert service.get(f"/undo/{batch}").status_code == 404


@pytest.mark.parametrize("path", ["/catalogue", "/told", "/todo"])
def test_a_page_without_anything_says_what_to_do(service: Running, path: str) -> None:
    """None is blank."""
    page, found = read(service, path)
    assert found == {}
    assert "<pre" in page or "the form for it" in page


def test_a_list_of_things_to_do_that_is_done_says_so(service: Running) -> None:
    """That is not the same as nobody calling."""
    log(service, (STALE, "old", "c"))
    tell(service, "marks", kind="known", client="c")
    page, found = read(service, "/todo")
    assert 'data-empty="done"' in page
    assert "todo" not in found
    _, found = read(service, "/todo?show=all")
    assert [(row["Client"], row["Status"][:5]) for row in found["todo"]] == [("c", "known")]


def test_the_same_delivery_again_is_no_fate_of_more_records(service: Running) -> None:
    """Of four lines that were sent twice the second batch holds four records, not eight."""
    log(service, *((STALE, "route", "zed"),) * 4)
    lines = [
        json.dumps(
            {
                "time": f"2026-10-05T10:{at:02}:00Z",
                "msg": STALE,
                "data": {"tool": "route", "client": "zed"},
            }
        )
        for at in range(4)
    ]
    again = service.client.post(
        "/ingest/other?server=maps", content="\n".join(lines).encode()
    ).json()
    assert (again["accepted"], again["duplicates"]) == (0, 4)
    page = service.get(f"/undo/{again['batch']}").text
    told = re.sub(r"<[^>]+>", " ", page[page.index("Records that leave the account") :][:300])
    assert "account 4 duplicate 4 of the duplicates: resend 4" in " ".join(told.split())
