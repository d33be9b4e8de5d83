"""A followed file's batch taken back: following goes on behind it and does not bring it back."""

from pathlib import Path

from service.pipeline import Pipeline
from service.taking_back import TakingBack
from tests.follow.conftest import NOW_US
from tests.follow.support import Start, append, counted, line, lines, numbers, rows, settle
from tests.follow.test_files import Ingest

DAY = 86_400_000_000


def undo(follower: object, database_url: str) -> None:
    """Take back the newest batch, as another process would."""
    [(number,)] = rows(database_url, "SELECT max(id) FROM batch")
    taking_back(follower).undo(number, actor="rest")


def taking_back(follower: object) -> TakingBack:
    """What takes back what came of followed files, by the follower's clock."""
    pipeline: Pipeline = follower._pipeline  # type: ignore[attr-defined]
    return TakingBack(pipeline._writer, clock=pipeline._clock)


def test_what_was_taken_back_does_not_come_back_by_itself(
    start: Start, tmp_path: Path, ingest: Ingest, database_url: str
) -> None:
    """Neither in the process that follows nor in the next one, nor as a rotated copy; what is appended
    comes, in a batch of its own; and `ingest` brings all of it again."""
    log = tmp_path / "app.log"
    log.write_bytes(lines(range(5)))
    follower = start(f"{log}*")
    settle(follower)
    undo(start(f"{log}*"), database_url)
    assert counted(database_url) == 0

    settle(follower)
    settle(start(f"{log}*"))
    assert counted(database_url) == 0
    (tmp_path / "app.log.1").write_bytes(log.read_bytes())
    append(log, lines([5, 6]))
    settle(follower)
    assert numbers(database_url) == [5, 6]
    append(log, line(7))
    settle(start(f"{log}*"))
    assert numbers(database_url) == [5, 6, 7]

    assert ingest(log)["accepted"] == 5
    assert counted(database_url) == 8


def test_the_account_of_a_followed_file_goes_on_right(
    start: Start, tmp_path: Path, database_url: str
) -> None:
    """Duplicates that are the file's own now are not counted again when a later piece says that they
    may have been calls."""
    log = tmp_path / "app.log"
    log.write_bytes(lines(range(6)))
    other = start(log)
    settle(other)
    log.unlink()
    copy = tmp_path / "copy.log"
    copy.write_bytes(b"other\n" + lines(range(4)))
    follower = start(copy, now_us=NOW_US + DAY)
    settle(follower)
    assert rows(database_url, "SELECT records FROM tally WHERE fate = 'resend'") == [(4,)]
    [(number,)] = rows(database_url, "SELECT min(id) FROM batch")
    taking_back(follower).undo(number, actor="rest")

    append(copy, lines([3, 20]))
    settle(follower)

    assert counted(database_url) == 6
    found = rows(
        database_url,
        "SELECT fate, sum(records) FROM tally WHERE fate <> 'ignored' GROUP BY fate, records < 0",
    )
    assert found == [("accepted", 6)]


def test_a_forgotten_server_is_followed_from_the_start(
    start: Start, tmp_path: Path, database_url: str
) -> None:
    """As the command says: the same lines bring it back."""
    log = tmp_path / "app.log"
    log.write_bytes(lines(range(3)))
    follower = start(log)
    settle(follower)
    taking_back(follower).forget(None, "default", actor="command")
    assert rows(database_url, "SELECT name FROM server") == []
    assert rows(database_url, "SELECT path FROM followed") == [(str(log),)]
    assert rows(database_url, "SELECT path FROM followed WHERE server = 'default'") == []
