"""What is measured is right before it is fast."""

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import answers, data, dense, logs, measure, peers, product, profiles, report, served
from benchmarks.__main__ import BESIDE, ROWS, main
from benchmarks.load import Bodies
from benchmarks.workshop import Options, Workshop
from service import intake
from service.settings import Settings

NO_POSTGRESQL = "postgresql://nobody@127.0.0.1:1/none"
SMALL = [
    *("--rounds", "1", "--size", "1", "--small", "1", "--events", "2000", "--seconds", "0.2"),
    *("--stored", "20000", "--repetitions", "1", "--postgresql", NO_POSTGRESQL),
]
DIRT = {"CUT": 0.02, "CRLF": 0.02, "BLANK": 0.02}
"""A small log has as much dirt as a great one."""


@pytest.fixture(autouse=True)
def soiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs with cut lines, CRLF and blank lines."""
    for name, share in DIRT.items():
        monkeypatch.setattr(data, name, share)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that is ready."""
    folder = tmp_path_factory.mktemp("ready")
    product.ready(folder, "events.db")
    return folder / "ready.db"


@pytest.fixture
def shop(tmp_path: Path, ready: Path) -> Workshop:
    """A workshop that makes small logs."""
    shutil.copy(ready, tmp_path)
    return Workshop(tmp_path, Options(rounds=1, size=1, small=1, events=1_000), print)


def cells_of(log: Path) -> Counter[data.Cell]:
    """What a log holds, by the standard library alone."""
    found: Counter[data.Cell] = Counter()
    for line in log.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if kind := data.KIND_OF.get(record["msg"]):
            fields = record["data"]
            found[kind, fields.get("tool", ""), fields["client"], record["time"][:10]] += 1
    return found


@pytest.mark.parametrize(("seed", "share"), [(1, 0.01), (7, 0.3), (1, 0.7), (7, 1.0)])
def test_the_account_of_a_made_log_is_what_was_put_into_it(
    tmp_path: Path, seed: int, share: float
) -> None:
    """Records, cut lines and events of each kind, from any seed and at any density."""
    if share == 1:
        made = data.dense(tmp_path / "made.log", 3_000, seed)
    else:
        made = data.mixed(tmp_path / "made.log", 1_000_000, seed, share)
    assert made.cells == cells_of(made.path)
    lines = made.path.read_bytes().splitlines()
    assert len(set(lines)) == made.records + 1  # the blank ones are equal
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}")
    for path in (made.path, data.compressed(made)):
        receipt = intake.read([str(path)], settings, server=path.suffix, source="files").receipt
        assert receipt.received == made.records
        assert receipt.rejected == made.rejected > 0
        assert receipt.as_json()["events"] == made.events


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "rows",
    [
        ["mixed", "mixed-30", "mixed-70", "gzip", "memory"],
        ["dense", "dense-again"],
        ["http"],
        ["limits"],
        ["queries"],
        ["pages"],
    ],
    ids=lambda rows: rows[0],
)
def test_every_row_runs_to_its_end(
    rows: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is installed is measured, and all count what the log holds, or it would not end well."""
    load = served.Load(lines=50, connections=2)
    monkeypatch.setattr(served, "LOADS", (load,))
    monkeypatch.setattr(served, "AIMED_AT", load)
    monkeypatch.setattr(answers, "plan", lambda _shop: [answers.Stored("A", 5_000, "SQLite")])

    assert main([*rows, *SMALL], tmp_path) == 0

    found = json.loads((tmp_path / "results.json").read_text())
    assert list(found["rows"]) == rows
    for each in found["rows"].values():
        assert each["entries"]
        numbers = [spread for entry in each["entries"] for spread in entry["numbers"].values()]
        assert all(0 <= one["low"] <= one["median"] <= one["high"] for one in numbers)
        assert all(target["verdict"] for target in each["targets"])


def test_no_row_is_forgotten() -> None:
    """Rows are asked for by name, each of them above."""
    (named,) = (
        mark.args[1]
        for mark in test_every_row_runs_to_its_end.pytestmark  # type: ignore[attr-defined]
        if mark.name == "parametrize"
    )
    assert sorted(row for rows in named for row in rows) == sorted([*ROWS, *BESIDE])


def test_whoever_is_installed_is_measured_and_the_others_are_named(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that cannot be found leaves the row, with a sentence."""
    monkeypatch.setenv("PATH", str(shop.folder))
    said: list[str] = []
    shop.say = said.append

    row = logs.mixed(shop)

    left_out = [peer for peer in peers.PLAIN if peer.missing()]
    labels = [
        f"{peer.name}, {question.value}"
        for peer in peers.PLAIN
        if peer not in left_out
        for question in peers.Question
    ]
    assert peers.RG_JQ in left_out
    assert [entry.name for entry in row.entries] == [product.NAME, *labels]
    assert [text.split(" is left out")[0] for text in said if " is left out" in text] == [
        peer.name for peer in left_out
    ]
    assert any("rg | jq | sort | uniq is left out: no rg and no jq" in text for text in said)


def test_a_peer_that_counts_otherwise_stops_the_run(shop: Workshop) -> None:
    """What is compared must be the same."""
    said = "1 Retired tool called\x1fold-tool-00\x1fclient-000\x1f2026-09-01"
    program = [sys.executable, "-c", f"print({said!r})"]
    peer = peers.Peer("Somebody", (), lambda _question, _path: program)

    with pytest.raises(product.Wrong, match="Somebody, stale calls only counts otherwise"):
        logs.against(shop, "mixed", "", shop.mixed, shop.mixed.path, [peer], {})


def test_a_peer_agrees_if_it_counts_what_the_question_is_about() -> None:
    """Cells or, where it only counts, their sum; of stale calls, or of all kinds."""
    stale, every = peers.Question.STALE, peers.Question.ALL
    cells = Counter(
        {("stale_call", "a", "x", "2026-09-01"): 2, ("hello", "", "x", "2026-09-02"): 1}
    )
    first = " 2 Retired tool called\x1fa\x1fx\x1f2026-09-01\n"
    both = first + " 1 Client initialized\x1f\x1fx\x1f2026-09-02\n"

    def agrees(question: peers.Question, output: str, *, counts_only: bool) -> bool:
        peer = peers.Peer("", (), lambda _question, _path: [], counts_only)
        return peer.agrees(question, output, cells)

    assert agrees(stale, first, counts_only=False)
    assert agrees(every, both, counts_only=False)
    assert not agrees(stale, both, counts_only=False)
    assert not agrees(every, first, counts_only=False)
    assert agrees(stale, "2\n", counts_only=True)
    assert agrees(every, "3\n", counts_only=True)
    assert not agrees(every, "2\n", counts_only=True)


def test_a_peer_that_stores_otherwise_stops_the_run(shop: Workshop) -> None:
    """A key that drops too much is faster, and wrong."""
    command = [sys.executable, "-c", "import sys; open(sys.argv[1], 'w')"]
    store = dense.Store("Somebody", (), lambda _log, db: [*command, str(db)], lambda _db: Counter())
    taken: dict[str, list[measure.Taken]] = {"Somebody": []}

    with pytest.raises(product.Wrong, match="Somebody has stored something else"):
        dense.theirs(shop, store, taken, taken, {"Somebody": []})


def test_last_call_is_held_against_the_log_too(shop: Workshop) -> None:
    """One event more in the log than Last Call can find."""
    contents = shop.dense
    contents.cells[next(iter(contents.cells))] += 1
    database = product.ready(shop.folder, "events.db")

    with pytest.raises(product.Wrong, match="Last Call counts"):
        product.ingest(contents, contents.path, database)
    with pytest.raises(product.Wrong, match="has stored something else"):
        product.check(contents, product.sqlite(database))


def test_what_a_process_took_is_its_own() -> None:
    """Neither the memory of whoever started it nor that of others is counted."""
    held = bytearray(b"x") * 100_000_000
    small = measure.take([sys.executable, "-S", "-c", "print('done')"])
    large = measure.take([sys.executable, "-S", "-c", "bytearray(b'x') * 100_000_000"])

    assert small.output == "done\n"
    assert small.rss < len(held) / 1e6 < large.rss
    with pytest.raises(measure.Failed, match="status 3: too bad"):
        measure.take(
            [sys.executable, "-c", "import sys; print('too bad', file=sys.stderr); sys.exit(3)"]
        )


def test_no_line_of_a_load_is_sent_twice() -> None:
    """Each body has a second of its own, and each line a request id of its own."""
    bodies = Bodies(50, seed=3)
    records = [json.loads(line) for number in range(40) for line in bodies[number].splitlines()]

    assert len(records) == len({record["data"]["requestId"] for record in records}) == 2_000
    seconds = {record["time"][:19] for record in records}
    assert len(seconds) == 40


def test_functions_are_ordered_by_their_own_time() -> None:
    """Lines of one function are one; what calls others has only what is its own."""
    samples = "main (a.py:1);read (a.py:7) 3\nmain (a.py:2);read (a.py:9) 1\nmain (a.py:3) 1\n"

    assert profiles.by_function(samples) == [(0.8, "read (a.py)"), (0.2, "main (a.py)")]


def test_a_profile_names_five_functions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With whatever profiler there is."""
    assert main(["profile", "dense", *SMALL], tmp_path) == 0

    name, *functions = capsys.readouterr().out.splitlines()
    assert name == "dense"
    assert len(functions) == 5
    assert all("%" in function for function in functions)


def test_results_say_what_was_reached_and_what_is_short() -> None:
    """A ratio is a median with its range; every target stands beside what was reached."""

    def spread(*numbers: float) -> report.Spread:
        return report.Spread.of(numbers)

    row = report.Row(
        "mixed",
        "10 MB",
        [
            report.Entry("Last Call", {"wall s": spread(2, 1, 3), "ratio": spread(1)}),
            report.Entry("a | b", {"wall s": spread(4), "ratio": spread(1.5, 2, 4)}),
        ],
        [
            report.Target("against a | b", 2, must=1.3, aim=3),
            report.Target("memory", 41, must=40, aim=25, unit="MB", at_most=True),
            report.Target("memory, gzip", 25, must=40, aim=25, unit="MB", at_most=True),
        ],
        ["only a remark"],
        [(0.25, "read (a.py)")],
    )

    written = report.markdown({"processor": "a fast one"}, [row])

    for line in (
        "- processor: a fast one",
        "| a \\| b | 4.00 | 2.00 (1.50–4.00) |",
        "| Last Call | 2.00 (1.00–3.00) | 1.00 |",
        "| against a \\| b | ≥ 1.30× | ≥ 3.00× | 2.00× | pass, short of the aim |",
        "| memory | ≤ 40 MB | ≤ 25 MB | 41 MB | SHORT of what must be |",
        "| memory, gzip | ≤ 40 MB | ≤ 25 MB | 25 MB | pass |",
        "- only a remark",
        "| 25.0% | `read (a.py)` |",
    ):
        assert line in written.splitlines()
    assert "SHORT of what must be" in report.text(row)


def test_a_row_that_is_measured_by_itself_stands_in_the_place_of_its_old_one() -> None:
    """The others stay as they were, to the letter."""
    run = {"date": "2026-11-30", "seed": "1", "rounds": "3"}
    one, two = (report.Row(name, f"what {name} asks", []) for name in ("one", "two"))
    old = report.markdown(run, [one, two])
    new = report.replaced(
        old, run, [report.Row("one", "what it asks now", []), report.Row("new", "?", [])]
    )

    kept = old[old.index("## two") :].rstrip()
    assert kept in new
    assert new.startswith(old[: old.index("## one")])
    assert "what one asks" not in new
    assert [line for line in new.splitlines() if line.startswith("## ")] == [
        "## one",
        "## two",
        "## new",
    ]
    assert new.count("Measured by itself on 2026-11-30, seed 1, 3 rounds.") == 2
