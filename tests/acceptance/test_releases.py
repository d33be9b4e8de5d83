"""Releases by every way they are told: the command, REST, and the demo."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from service import demo, intake
from service.settings import Settings
from tests.acceptance.service import running

NOW = "2026-10-06T12:00:00Z"


def command(database_url: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`lastcall catalogue release …`, as a person or a pipeline types it."""
    python = [sys.executable, "-c", "from service.cli import main; main()"]
    return subprocess.run(
        [*python, "catalogue", "release", *arguments, "--db", database_url],
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_and_rest_tell_of_the_same_releases(database_url: str) -> None:
    """What one has told, the other finds unchanged, or moves; the service lists it at once."""
    at = "2026-10-05T10:15:02Z"
    with running(Settings(database_url=database_url), NOW) as service:
        first = command(database_url, "maps", "1.7.0", "--at", at)
        assert (first.returncode, first.stdout) == (
            0,
            "maps 1.7.0 at 2026-10-05T10:15:02.000Z: created\n",
        )
        told = {"server": "maps", "version": "1.7.0", "at": at}
        assert service.client.post("/api/v1/releases", json=told).json()["outcome"] == "unchanged"
        assert [row["source"] for row in service.rows("releases")] == ["command"]

        moved = command(database_url, "maps", "1.7.0", "--at", "2026-10-05")

        assert moved.stdout == "maps 1.7.0 at 2026-10-05T00:00:00.000Z: moved\n"
        assert [row["at"] for row in service.rows("releases")] == ["2026-10-05T00:00:00.000Z"]


@pytest.mark.parametrize(("arguments", "says"), [
    (["maps", ""], "version: missing; name the version that came, such as 1.7.0"),
    (["", "1"], "server: missing; name the MCP server, such as maps"),
    (["maps", "1", "--at", "soon"], "--at: not a time; write an instant such as 2026-10-05T10:15:02Z"),
    (["maps", "1", "--at", "9999-01-01"], "at: later than the clock"),
])  # fmt: skip
def test_the_command_says_what_would_be_right(
    database_url: str, arguments: list[str], says: str
) -> None:
    """One line and exit status 2; nothing is stored."""
    done = command(database_url, *arguments)

    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    with running(Settings(database_url=database_url), NOW) as service:
        assert service.rows("releases") == []


def test_a_release_of_the_demo_retires_each_name_and_the_one_before_still_had_it() -> None:
    """A name's last release is the latest before its retirement, which is a release's day."""
    servers = (
        (demo.MAPS_NAMES, demo.MAPS_RELEASES),
        (demo.EVERYTHING_NAMES, demo.EVERYTHING_RELEASES),
    )
    for names, releases in servers:
        for name in names:
            assert name.day in releases.values()
            before = {day: version for version, day in releases.items() if day < name.day}
            assert before[max(before)] == name.last_release


def test_the_demo_has_its_releases_on_the_days_of_its_log(database_url: str) -> None:
    """Of both servers, on midnights; no stale call comes before the release that retired its name."""
    now = datetime(2026, 10, 6, 12, tzinfo=UTC)
    intake.record(demo.demo_releases(now), Settings(database_url=database_url))
    with running(Settings(database_url=database_url), NOW) as service:
        rows = service.rows("releases")

    assert {(row["server"], row["version"]): row["at"][:10] for row in rows} == {
        ("reference", "2025.12.18"): "2026-06-09",
        ("maps", "1.6.12"): "2026-06-28",
        ("maps", "1.7.0"): "2026-07-15",
        ("maps", "1.7.1"): "2026-07-20",
        ("reference", "2026.1.14"): "2026-07-22",
        ("maps", "1.8.0"): "2026-07-29",
        ("maps", "1.9.0"): "2026-08-12",
        ("maps", "1.9.1"): "2026-09-03",
        ("reference", "2026.1.26"): "2026-09-09",
        ("maps", "1.10.0"): "2026-09-24",
    }
    assert {row["at"][10:] for row in rows} == {"T00:00:00.000Z"}
    assert {row["source"] for row in rows} == {"demo"}
    retired = next(row["at"] for row in rows if row["version"] == "1.7.0")
    stale = [line for line in demo.demo_logs(now)["maps"] if b"Retired tool called" in line]
    assert len(stale) > 100
    assert all(retired.encode() <= line.partition(b'"time":"')[2] for line in stale)
