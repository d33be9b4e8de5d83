"""
Cases from public bug reports of other tools, one folder each under `cases/`.

A case's words are neutral; this adapter only translates them to the Receipt and to REST. An
expectation that it does not know fails the case: nothing is passed over.
"""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from service.errors import LastCallError
from service.follower import Follower
from service.ingest.sources import open_source
from service.pipeline import Feed, new_run
from service.settings import Settings
from service.store.driver import Writer
from tests.acceptance.checker import REPORTS, Checker, parameters
from tests.acceptance.service import Running, micros, running

RECEIVERS = {
    "otlp": ("/v1/logs", {"Content-Type": "application/json"}),
    "loki": ("/loki/api/v1/push", {"Content-Type": "application/json"}),
    "es_bulk": ("/_bulk", {"Content-Type": "application/x-ndjson"}),
    "splunk": ("/services/collector/event", {"Authorization": "Splunk token"}),
}
"""How a case delivers → the path of the receiver, and headers."""

CASES = sorted((Path(__file__).parent / "cases").iterdir())


class Runner:
    """Runs a case: delivers its inputs as it says and checks each step."""

    def __init__(self, service: Running, settings: Settings, folder: Path, place: Path) -> None:
        self.case = json.loads((folder / "case.json").read_text())
        self.settings = settings
        self.folder = folder
        self.place = place
        self.service = service
        self.checker = Checker(service, folder)

    def run(self) -> None:
        default = [{"input": name} for name in self.case["inputs"]]
        for step in self.case.get("steps", default):
            self.step({"do": "ingest", "how": self.case["how"], **step})
        if self.case["how"] == "dashboard":
            self.checker.answers.append(self.service.get("/"))
        self.checker.check(self.case["expect"])

    def step(self, step: dict[str, Any]) -> None:
        match step["do"]:
            case "ingest":
                self.checker.receipts.clear()
                self.checker.stored_before = len(self.service.rows("events"))
                self.deliver(step["how"], self.folder / step["input"], step)
            case "report":
                self.checker.report = step["report"]
                self.checker.params = step["params"]
                self.read(step["report"], step["params"])
            case "parallel":
                self.parallel(step)
            case other:
                raise AssertionError(f"unknown step {other}")
        self.checker.check(step.get("expect", {}))

    def deliver(self, how: str, path: Path, step: dict[str, Any]) -> None:
        if how.startswith("http"):
            self.post(path.read_bytes(), step.get("headers", {}))
        elif how in RECEIVERS:
            self.push(*RECEIVERS[how], path.read_bytes())
        elif step.get("mode") == "follow":
            self.follow_file(path, step["as"])
        else:
            self.ingest_file(path, step.get("as", path.name))

    def post(self, body: bytes, headers: dict[str, str]) -> None:
        answer = self.service.client.post("/ingest", content=body, headers=headers)
        self.checker.answers.append(answer)
        if answer.status_code == 200:
            self.checker.receipts.append(answer.json())

    def push(self, route: str, headers: dict[str, str], body: bytes) -> None:
        """Deliver as a shipper does, whose answer holds no receipt: health has the account."""
        before = self.accounts()
        answer = self.service.client.post(route, content=body, headers=headers)
        self.checker.answers.append(answer)
        if answer.status_code < 300:
            more = self.accounts()
            more.subtract(before)
            words = ("received", "accepted", "duplicates", "ignored", "rejected")
            reasons = {why: n for why, n in more.items() if n and why not in words}
            self.checker.receipts.append(
                {word: more[word] for word in words} | {"reasons": reasons}
            )

    def accounts(self) -> Counter[str]:
        """All records by what became of them, and the rejected ones by their reason."""
        found: Counter[str] = Counter()
        for row in self.service.get("/api/v1/health").json()["items"]:
            found.update({word: n for word, n in row.items() if isinstance(n, int)})
            found.update(row["reasons"])
        return found

    def ingest_file(self, path: Path, name: str) -> None:
        place = self.place / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        pipeline = self.service.app.state.pipeline
        now = micros(self.case["settings"]["now"])
        feed = Feed(server=None, source="files", batch=new_run(now))
        try:
            with open_source(str(place)) as source:
                self.checker.receipts.append(pipeline.file(source, feed).as_json())
        except LastCallError as error:
            pytest.fail(error.detail)

    def follow_file(self, path: Path, name: str) -> None:
        """Give a file this content, as it stands there at the next look of a follower."""
        place = self.place / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())  # the same inode
        with closing(Writer(self.settings.database_url)) as writer:
            follower = Follower(
                [str(place)],
                self.service.app.state.pipeline,
                writer,
                self.settings,
                server=None,
                source="files",
            )
            while follower.look():
                pass
            self.checker.receipts.append(follower.receipt.as_json())
            follower.close()

    def read(self, report: str, params: dict[str, Any]) -> None:
        answer = self.service.get(f"/api/v1/{REPORTS[report]}", **parameters(params))
        self.checker.answers.append(answer)

    def parallel(self, step: dict[str, Any]) -> None:
        self.checker.answers.clear()
        with ThreadPoolExecutor(step["times"]) as pool:
            if "report" in step:
                list(pool.map(lambda _: self.read(step["report"], {}), range(step["times"])))
                return
            lines = (self.folder / step["input"]).read_bytes().splitlines(keepends=True)
            size = step["split_lines"]
            bodies = [b"".join(lines[i : i + size]) for i in range(0, len(lines), size)]
            assert len(bodies) == step["times"]
            list(pool.map(lambda body: self.post(body, {}), bodies))


def settings_of(case: dict[str, Any], database_url: str) -> Settings:
    known = {"max_line_bytes", "max_body_bytes", "refresh_window_s", "compare_window_s"}
    values = {k: v for k, v in case["settings"].items() if k in known}
    if "max_future_s" in case["settings"]:
        values["future_skew_s"] = case["settings"]["max_future_s"]
    return Settings(database_url=database_url, **values)


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_reported_case_comes_out_right(folder: Path, database_url: str, tmp_path: Path) -> None:
    """What others got wrong in public holds here, on both databases."""
    case = json.loads((folder / "case.json").read_text())
    settings = settings_of(case, database_url)
    with running(settings, now=case["settings"]["now"]) as service:
        Runner(service, settings, folder, tmp_path / "logs").run()


def test_instants_of_cases_are_read_exactly() -> None:
    """The adapter's own clock: 2026-10-05T21:30:45Z is that many seconds after the epoch."""
    assert micros("2026-10-05T21:30:45.000Z") == 1_791_235_845_000_000
    assert datetime.fromisoformat("2026-10-05T21:30:45+00:00").timestamp() == 1_791_235_845
