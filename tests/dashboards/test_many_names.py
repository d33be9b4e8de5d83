"""The landing page of a server that retired more names than a page of rows holds."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.settings import Settings
from tests.acceptance.service import Running, running

NOW = "2026-10-06T12:30:00Z"
DAYS = ("2026-09-01", "2026-09-02", "2026-09-03", "2026-09-04")


def line(name: str, day: str, release: str) -> str:
    """A stale call at noon."""
    data = {"tool": name, "client": "c", "lastRelease": release}
    return json.dumps({"time": f"{day}T12:00:00Z", "data": data, "msg": "Retired tool called"})


def feed(service: Running, names: int) -> None:
    """So many names of release 1.9 that were called once, and of 1.10 one that was called on four days."""
    lines = [line(f"name_{i:04}", DAYS[0], "1.9") for i in range(names)]
    lines += [line("the_last_one", day, "1.10") for day in DAYS]
    body = "\n".join(lines).encode()
    assert service.client.post("/ingest?server=s", content=body).status_code == 200


def page(tmp_path: Path, names: int) -> tuple[str, int]:
    """The landing page, and how many statements it asked the database."""
    settings = Settings(database_url=f"sqlite:///{tmp_path / f'{names}.db'}")
    with running(settings, now=NOW) as service:
        feed(service, names)
        asked: list[str] = []
        service.client.get("/")  # what is read once a process

        def note(_: object, __: object, statement: str, *___: object) -> None:
            asked.append(statement)

        sa.event.listen(sa.Engine, "before_cursor_execute", note)
        try:
            return service.get("/").text, len(asked)
        finally:
            sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_names_beyond_the_thousandth_cost_no_further_look(tmp_path: Path) -> None:
    """Nothing is asked once more for each thousand names."""
    few, asked_few = page(tmp_path, 100)
    many, asked_many = page(tmp_path, 1_100)
    assert asked_many <= asked_few
    for shown in (few, many):
        names = shown.split('id="names"')[1].split("</table>")[0]
        assert names.count('<tr role="row"') == 61
    assert "the_last_one" in many


@pytest.mark.parametrize("asked", ["", "&client=c", "&client=nobody"])
def test_calls_by_release_are_those_of_the_names(tmp_path: Path, asked: str) -> None:
    """Releases in the order of versions, and each has the calls of its names."""
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}")
    with running(settings, now=NOW) as service:
        feed(service, 3)
        shown = service.client.get(f"/figures/light/releases.json?server=s{asked}").json()["data"]
        bars = [(list(bar["x"]), list(bar["y"])) for bar in shown]
        assert bars == ([] if "nobody" in asked else [(["1.9", "1.10"], [3, 4])])
