"""
Measure Last Call against others, interleaved in one run, on data made from a seed.

    python3 -m benchmarks                       every row, 1 GB, a few minutes
    python3 -m benchmarks mixed --size 100      one row, 100 MB
    python3 -m benchmarks --seed 7 --share 0.3  other data, 30 % of the lines are events

Prints a table and writes `benchmarks/results.json`. A ratio is the peer's wall clock by ours: above 1, Last Call
is faster. Ours stores every event exactly once and accounts for every record; the peers only count.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks import data, peers
from benchmarks.measure import Taken, take

HERE = Path(__file__).parent
ROWS = ("mixed", "gzip")


def main() -> None:
    """Make the data, run the rows, print and keep what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("rows", nargs="*", default=ROWS, help=f"of {', '.join(ROWS)}; all if none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=1_000, help="MB of the mixed log")
    parser.add_argument("--share", type=float, default=0.01, help="of lines that are events")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    if unknown := set(asked.rows) - set(ROWS):
        parser.error(f"unknown rows: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        contents = data.mixed(
            Path(folder) / "mixed.log", asked.size * 1_000_000, asked.seed, asked.share
        )
        results = {}
        if "mixed" in asked.rows:
            results["mixed"] = row(contents, contents.path, peers.PLAIN, asked.rounds)
        if "gzip" in asked.rows:
            path = data.compressed(contents)
            results["gzip"] = row(contents, path, peers.GZIP, asked.rounds)
    for name, found in results.items():
        show(f"{name}: {asked.size} MB, {asked.share:.0%} events, seed {asked.seed}", found)
    (HERE / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


def row(
    contents: data.Contents, path: Path, against: tuple[peers.Peer, ...], rounds: int
) -> dict[str, dict[str, float]]:
    """Wall clock, processor time and memory of Last Call and of each peer: medians over the rounds."""
    taken: dict[str, list[Taken]] = {"Last Call": []}
    for number in range(rounds):
        taken["Last Call"].append(ours(contents, path, number))
        for peer in against:
            try:
                one = take(peers.command(peer, path))
            except RuntimeError as error:
                print(f"{peer.name}: {str(error).splitlines()[-1]}", file=sys.stderr)
                continue
            check(peer, contents, peers.read(one.output))
            taken.setdefault(peer.name, []).append(one)
    return {
        name: {
            what: statistics.median(getattr(one, what) for one in each)
            for what in ("wall", "cpu", "rss")
        }
        for name, each in taken.items()
    }


def ours(contents: data.Contents, path: Path, number: int) -> Taken:
    """Read the log into a fresh database, and compare the account with what the log holds."""
    database = path.with_name(f"{path.name}-{number}.db")
    lastcall = Path(sys.executable).with_name("lastcall")
    command = [str(lastcall), "ingest", str(path), "--json"]
    one = take([*command, "--db", f"sqlite:///{database}"])
    said = json.loads(one.output)
    accepted = sum(contents.events.values())
    expected = (contents.records, accepted, contents.rejected, dict(contents.events))
    found = (said["received"], said["accepted"], said["rejected"], said["events"])
    if found != expected:
        sys.exit(f"Last Call counts {found} instead of {expected}")
    return one


def check(peer: peers.Peer, contents: data.Contents, answer: peers.Answer | int) -> None:
    """Stop the run where a peer counts otherwise: what is compared must be the same."""
    expected = contents.stale.total() if peer.counts_only else contents.stale
    if answer != (expected if isinstance(expected, int) else Counter(expected)):
        sys.exit(f"{peer.name} counts otherwise than the log holds")


def show(title: str, found: dict[str, dict[str, float]]) -> None:
    """Print one row's table."""
    print(f"\n{title}\n{'':32}{'wall s':>9}{'cpu s':>9}{'RSS MB':>9}{'ratio':>9}")
    for name, each in found.items():
        ratio = each["wall"] / found["Last Call"]["wall"]
        print(f"{name:32}{each['wall']:9.2f}{each['cpu']:9.2f}{each['rss']:9.0f}{ratio:9.2f}")


if __name__ == "__main__":
    main()
