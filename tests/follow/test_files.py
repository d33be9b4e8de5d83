"""What happens to a log while it is followed: every line counts once, whatever becomes of the file."""

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from service.clock import DAY_US
from service.ingest.keys import WINDOW
from tests.follow.conftest import NOW_US
from tests.follow.support import Start, append, counted, line, lines, numbers, rows, settle

Ingest = Callable[..., dict[str, object]]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log that is written to."""
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder / "app.log"


def test_what_is_appended_comes_once(start: Start, log: Path, database_url: str) -> None:
    """Look by look, only what is new is read."""
    log.write_bytes(lines(range(3)))
    follower = start(log)
    assert settle(follower)["received"] == 3

    append(log, lines(range(3, 5)))

    assert settle(follower)["received"] == 5
    assert numbers(database_url) == [0, 1, 2, 3, 4]


def test_a_half_written_line_waits_for_its_end(start: Start, log: Path, database_url: str) -> None:
    """Neither rejected nor lost, also where the process ends in between."""
    whole = line(1)
    log.write_bytes(line(0) + whole[:40])
    receipt = settle(start(log))
    assert (receipt["accepted"], receipt["rejected"], receipt["pending"]) == (1, 0, 1)

    append(log, whole[40:])

    receipt = settle(start(log))
    assert (receipt["accepted"], receipt["rejected"], receipt["pending"]) == (1, 0, 0)
    assert numbers(database_url) == [0, 1]


def test_equal_lines_before_and_after_a_restart_are_two(
    start: Start, log: Path, ingest: Ingest, database_url: str
) -> None:
    """And reading the whole file finds nothing that is new."""
    log.write_bytes(line(0))
    settle(start(log))
    append(log, line(0) * 2)

    receipt = settle(start(log))

    assert (receipt["accepted"], receipt["duplicates"]) == (2, 0)
    assert numbers(database_url) == [0, 0, 0]
    assert ingest(log)["accepted"] == 0


@pytest.mark.parametrize("between", [10, 511, 513, WINDOW - 2, WINDOW - 1])
def test_equal_lines_are_told_apart_across_a_restart_as_far_as_in_one_pass(
    between: int, start: Start, log: Path, ingest: Ingest, database_url: str
) -> None:
    """The window of equal records reaches back over what was read before the restart."""
    log.write_bytes(line(0) + lines(range(1, between + 1)))
    settle(start(log))
    append(log, line(0) + line(between))
    settle(start(log))
    append(log, line(0))
    settle(start(log))

    followed = numbers(database_url)

    assert followed.count(0) == 3
    assert followed.count(between) == 2
    assert ingest(log)["accepted"] == 0


def test_what_was_ingested_before_is_only_duplicates(
    start: Start, log: Path, ingest: Ingest, database_url: str
) -> None:
    """A file is read whole first and followed from then on, with equal lines on both sides."""
    log.write_bytes(lines([0, 1, 1, 2]))
    ingest(log)
    append(log, lines([1, 3]))

    receipt = settle(start(log))

    assert (receipt["accepted"], receipt["duplicates"]) == (2, 4)
    assert numbers(database_url) == [0, 1, 1, 1, 2, 3]


def test_records_without_a_time_count_once_however_the_file_is_read(
    start: Start, log: Path, ingest: Ingest, database_url: str
) -> None:
    """They are told apart by their place in the file, which a restart must not forget."""
    bare = b'{"msg":"Retired tool called","data":{"tool":"gone"}}\n'
    log.write_bytes(bare + b"some other line\n" + bare)
    settle(start(log))
    append(log, b"another one\n" + bare + bare)

    settle(start(log))

    assert counted(database_url) == 4
    assert ingest(log)["duplicates"] == 4


def test_a_renamed_log_is_read_to_its_end_and_the_new_one_from_its_start(
    start: Start, log: Path, database_url: str
) -> None:
    """Also what is written to the old one after it was renamed, and where no pattern matches it."""
    log.write_bytes(lines([0, 1]))
    follower = start(log)
    settle(follower)
    with log.open("ab") as writer:
        log.rename(log.with_name("old.1"))
        log.write_bytes(lines([10]))
        settle(follower)
        writer.write(lines([2, 3]))
        writer.flush()
        settle(follower)
    append(log, lines([11]))
    settle(follower)

    assert numbers(database_url) == [0, 1, 2, 3, 10, 11]


def test_a_log_that_was_renamed_while_nobody_looked_is_gone_on_with(
    start: Start, log: Path, database_url: str
) -> None:
    """The place belongs to the file, not to its name."""
    log.write_bytes(lines([0, 1]))
    settle(start(f"{log}*"))
    append(log, lines([2]))
    log.rename(f"{log}.1")
    log.write_bytes(lines([10]))

    receipt = settle(start(f"{log}*"))

    assert receipt["received"] == 2
    assert numbers(database_url) == [0, 1, 2, 10]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("regrown", [1, 2, 3, 40])
def test_a_log_that_was_truncated_is_read_from_its_start(
    regrown: int, restart: bool, start: Start, log: Path, database_url: str
) -> None:
    """Whether it is shorter than before, as long, or grew beyond its old size between two looks."""
    log.write_bytes(lines([0, 1]))
    follower = start(log)
    settle(follower)
    with log.open("r+b") as file:  # the same file, as copytruncate leaves it
        file.truncate(0)
    append(log, lines(range(100, 100 + regrown)))

    follower = start(log) if restart else follower
    settle(follower)

    assert numbers(database_url) == [0, 1, *range(100, 100 + regrown)]


def test_a_line_that_comes_again_after_truncation_is_the_same_call(
    start: Start, log: Path, database_url: str
) -> None:
    """A new delivery begins: its first copy of a line is the first of them."""
    log.write_bytes(lines([0, 1]))
    follower = start(log)
    settle(follower)
    log.write_bytes(line(1))

    receipt = settle(follower)

    assert (receipt["accepted"], receipt["duplicates"]) == (2, 1)


def test_a_copy_that_truncation_left_is_not_read_again_but_for_its_end(
    start: Start, log: Path, database_url: str
) -> None:
    """Lines that were written just before the copy was made are in the copy alone."""
    log.write_bytes(lines([0, 1]))
    follower = start(f"{log}*")
    settle(follower)
    append(log, lines([2, 3]))
    shutil.copy(log, f"{log}.1")
    log.write_bytes(lines([10]))

    receipt = settle(follower)

    assert (receipt["received"], receipt["duplicates"]) == (5, 0)
    assert numbers(database_url) == [0, 1, 2, 3, 10]


def test_a_copy_has_the_ordinals_of_what_it_is_a_copy_of(
    start: Start, log: Path, ingest: Ingest, database_url: str
) -> None:
    """As far as the window reaches back, and also after another restart."""
    log.write_bytes(lines(range(2_000)))
    settle(start(f"{log}*"))
    copy = Path(f"{log}.1")
    shutil.copy(log, copy)
    log.write_bytes(lines([5_000]))
    settle(start(f"{log}*"))
    append(copy, lines([0, 1_000, 1_999]))

    receipt = settle(start(f"{log}*"))

    assert (receipt["accepted"], receipt["duplicates"]) == (3, 0)
    assert ingest(copy)["accepted"] == 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("instant", range(1, 13))
def test_a_file_that_is_replaced_while_it_is_read_is_never_read_as_one_with_the_other(
    instant: int, start: Start, log: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever read another program steps in: the new content is read, from its first byte."""
    log.write_bytes(lines([0, 1]))
    follower = start(log)
    settle(follower)
    append(log, lines([2, 3]))
    reads = 0

    def read(*arguments: int) -> bytes:
        nonlocal reads
        reads += 1
        if reads == instant:
            log.write_bytes(lines(range(100, 120)))
        return reading(*arguments)

    reading = os.pread
    monkeypatch.setattr(os, "pread", read)
    receipt = settle(follower)
    receipt = settle(follower)

    assert reads >= instant
    assert receipt["rejected"] == receipt["ignored"] == receipt["pending"] == 0
    assert numbers(database_url) in ([0, 1, 2, 3, *range(100, 120)], [0, 1, *range(100, 120)])


@pytest.mark.parametrize("restart", [False, True])
def test_a_compressed_copy_is_known_by_what_it_holds(
    restart: bool, start: Start, log: Path, database_url: str
) -> None:
    """Nothing is read twice, and the line that is in the archive alone is found."""
    log.write_bytes(lines([0, 1, 1]))
    follower = start(f"{log}*")
    settle(follower)
    Path(f"{log}.1.gz").write_bytes(gzip.compress(lines([0, 1, 1, 1, 2])))
    log.unlink()
    log.write_bytes(lines([10]))

    follower = start(f"{log}*") if restart else follower
    receipt = settle(follower)

    assert receipt["duplicates"] == 0
    assert numbers(database_url) == [0, 1, 1, 1, 2, 10]
    assert settle(start(f"{log}*"))["received"] == 0


def test_what_is_read_again_is_only_duplicates(start: Start, log: Path, database_url: str) -> None:
    """Where the place is lost, the same file comes to nothing new."""
    log.write_bytes(lines([0, 1, 1, 2]))
    settle(start(log))
    from service.store import engine as db

    engine = db.make_engine(database_url)
    with db.writing(engine) as connection:
        connection.exec_driver_sql("DELETE FROM followed_page")
        connection.exec_driver_sql("DELETE FROM followed")
    engine.dispose()

    receipt = settle(start(log))

    assert (receipt["accepted"], receipt["duplicates"]) == (0, 4)


def test_a_compressed_file_that_is_still_being_written_is_read_when_it_is_whole(
    start: Start, log: Path, database_url: str
) -> None:
    """Until then it is said why it is not read."""
    packed = gzip.compress(lines(range(50)))
    archive = log.with_name("app.log.1.gz")
    archive.write_bytes(packed[:200])
    follower = start(f"{log}*")
    settle(follower)
    assert list(follower.unreadable) == [str(archive)]
    assert numbers(database_url) == []

    append(archive, packed[200:])

    settle(follower)
    assert follower.unreadable == {}
    assert numbers(database_url) == list(range(50))


@pytest.mark.parametrize("before", [b"", b"\x1f", b"\x1f\x8b", lines([7])])
def test_a_file_is_what_it_begins_with_at_each_look(
    before: bytes, start: Start, log: Path, database_url: str
) -> None:
    """An archive may be empty when it is found, or stand where a log was."""
    archive = log.with_name("app.log.1.gz")
    archive.write_bytes(before)
    follower = start(archive)
    settle(follower)
    archive.write_bytes(gzip.compress(lines([0, 1])))

    receipt = settle(follower)

    assert (receipt["rejected"], receipt["ignored"], follower.unreadable) == (0, 0, {})
    assert numbers(database_url)[:2] == [0, 1]


def test_a_large_archive_is_read_in_pieces(
    start: Start, log: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them is stored by itself, and a process that stops goes on with the next."""
    monkeypatch.setattr("service.ingest.follow.PIECE_BYTES", 300_000)
    archive = log.with_name("app.log.1.gz")
    archive.write_bytes(gzip.compress(lines(range(6_000)) + line(9)[:-1]))
    first = start(archive)
    assert first.look()
    stored = first.receipt.accepted
    assert 0 < stored < 6_000

    receipt = settle(start(archive))

    assert (receipt["received"], receipt["duplicates"]) == (6_001 - stored, 0)
    assert numbers(database_url) == sorted([*range(6_000), 9])


def test_a_log_that_was_deleted_is_read_to_its_end(
    start: Start, log: Path, database_url: str
) -> None:
    """What was written before is still there to be read, and the next file is another one."""
    log.write_bytes(lines([0]))
    follower = start(log)
    settle(follower)
    append(log, lines([1]))
    log.unlink()
    settle(follower)
    log.write_bytes(lines([2, 3]))
    settle(follower)

    assert numbers(database_url) == [0, 1, 2, 3]


def test_another_file_in_the_place_of_a_deleted_one_is_read_from_its_start(
    start: Start, log: Path, database_url: str
) -> None:
    """A system may give the next file the number of the last one; its content says that it is another."""
    log.write_bytes(lines([0, 1]))
    settle(start(log))
    log.write_bytes(lines([5, 6, 7]))  # the same number for certain

    assert settle(start(log))["accepted"] == 3
    assert numbers(database_url) == [0, 1, 5, 6, 7]


def test_files_that_come_later_are_found(start: Start, log: Path, database_url: str) -> None:
    """By a pattern, and by a name that nothing had at the start."""
    follower = start(log, log.with_name("*.ndjson"))
    assert settle(follower)["received"] == 0
    log.write_bytes(lines([0]))
    log.with_name("b.ndjson").write_bytes(lines([1]))

    settle(follower)

    assert numbers(database_url) == [0, 1]


def test_a_file_with_several_names_is_read_once(start: Start, log: Path, database_url: str) -> None:
    """A symbolic link, a hard link and the file itself."""
    log.write_bytes(lines([0, 1]))
    log.with_name("current.log").symlink_to(log)
    os.link(log, log.with_name("hard.log"))

    receipt = settle(start(log.with_name("*.log")))

    assert (receipt["received"], receipt["duplicates"]) == (2, 0)


def test_a_link_that_points_elsewhere_leads_to_the_next_file(
    start: Start, log: Path, database_url: str
) -> None:
    """As loggers do that write a file a day and keep a link to today's."""
    first, second = log.with_name("1"), log.with_name("2")
    first.write_bytes(lines([0]))
    log.symlink_to(first)
    follower = start(log)
    settle(follower)
    append(first, lines([1]))
    second.write_bytes(lines([2]))
    log.unlink()
    log.symlink_to(second)
    settle(follower)
    append(first, lines([3]))
    settle(follower)

    assert numbers(database_url) == [0, 1, 2, 3]


def test_a_file_that_cannot_be_read_for_a_while_is_gone_on_with(
    start: Start, log: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others go on meanwhile."""
    other = log.with_name("other.log")
    log.write_bytes(lines([0]))
    other.write_bytes(lines([10]))
    settle(start(log, other))
    append(log, lines([1]))
    append(other, lines([11]))
    opening = Path.open

    def refused(path: Path, *args: object, **kwargs: object) -> object:
        if path == log:
            raise PermissionError(13, "Permission denied")
        return opening(path, *args, **kwargs)  # type: ignore[call-overload]

    follower = start(log, other)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refused)
        settle(follower)
        assert follower.unreadable == {str(log): f"{log}: Permission denied"}
        assert numbers(database_url) == [0, 10, 11]

    settle(follower)
    assert follower.unreadable == {}
    assert numbers(database_url) == [0, 1, 10, 11]


def test_two_followers_share_a_place(start: Start, log: Path, database_url: str) -> None:
    """Whoever comes first stores a piece, the other one goes on from there."""
    log.write_bytes(lines([0, 1]))
    one, two = start(log), start(log)
    settle(one)
    settle(two)
    for number in range(2, 12, 2):
        append(log, line(number) + line(number))
        settle(one if number % 4 else two)
        append(log, line(number) + line(number + 1))
        settle(two if number % 4 else one)

    assert one.receipt.duplicates == two.receipt.duplicates == 0
    assert one.receipt.accepted + two.receipt.accepted == counted(database_url) == 22
    assert len(rows(database_url, "SELECT id FROM followed")) == 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_in_utf_16_is_followed(
    encoding: str, start: Start, log: Path, database_url: str
) -> None:
    """Its newlines have two bytes, of which one may be missing yet, and which may also lie across two
    characters."""
    across = "\u0a05\u0100\u0100\u0a00"
    said = "\ufeff" + "".join(
        line(number, note="NOTE").decode().replace("NOTE", across) for number in range(4)
    )
    text = said.encode(encoding)
    note = text.index(across.encode(encoding)) + 8
    end = text.index("\n".encode(encoding), note + 8)
    seen = 0
    follower = start(log)
    for cut in (1, note, end, end + 1, end + 2, end + note, len(text)):
        append(log, text[seen:cut])
        seen = cut
        assert settle(follower)["rejected"] == 0
        if cut == end + note:
            follower = start(log)

    assert numbers(database_url) == [0, 1, 2, 3]
    assert settle(start(log))["received"] == 0


def test_padding_and_blank_lines_are_passed_over(
    start: Start, log: Path, database_url: str
) -> None:
    """A writer that keeps its offset after truncation leaves a hole of zeros before its next line."""
    log.write_bytes(lines([0, 1]))
    follower = start(log)
    settle(follower)
    with log.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.truncate(0)
        file.seek(size)
        file.write(b"\n\r\n" + line(2))
    receipt = settle(follower)

    assert (receipt["received"], receipt["rejected"], receipt["pending"]) == (3, 0, 0)


def test_a_line_that_is_too_long_is_rejected_when_it_ends(
    start: Start, log: Path, database_url: str
) -> None:
    """And held back until then, look after look."""
    follower = start(log, max_line_bytes=1024)
    log.write_bytes(line(0))
    for _ in range(5):
        append(log, b'{"msg":"' + b"x" * 700)
        receipt = settle(follower)
        assert (receipt["rejected"], receipt["pending"]) == (0, 1)
    append(log, b'"}\n' + line(1))

    receipt = settle(follower)

    assert receipt["reasons"] == {"line_too_long": 1}
    assert numbers(database_url) == [0, 1]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_the_parts_of_a_line_are_joined_wherever_a_look_falls_between_them(
    cut: int, start: Start, log: Path, ingest: Ingest, database_url: str
) -> None:
    """A container runtime splits a long line; the other stream goes on in between."""
    head, text = "2026-10-05T10:00:00.5Z", line(7).decode().strip()
    parts = [
        f"{head} stdout P {text[:50]}\n",
        f"{head} stderr F not ours\n",
        f"{head} stdout P {text[50:90]}\n",
        f"{head} stdout F {text[90:]}\n",
    ]
    log.write_bytes(line(1) + "".join(parts[:cut]).encode())
    settle(start(log))
    assert numbers(database_url) == [1]
    append(log, "".join(parts[cut:]).encode())

    settle(start(log))

    assert numbers(database_url) == [1, 7]
    assert ingest(log)["accepted"] == 0


def test_a_file_that_does_not_grow_by_lines_is_refused(
    start: Start, log: Path, database_url: str
) -> None:
    """It is named, with the command that reads it."""
    log.write_bytes(b"[" + line(0).strip() + b",\n" + line(1).strip() + b"]\n")
    follower = start(log)
    settle(follower)

    assert "lastcall ingest" in follower.unreadable[str(log)]
    assert numbers(database_url) == []


def test_a_batch_is_the_day_of_a_file(start: Start, log: Path, database_url: str) -> None:
    """Two files of one day are two batches, however often they were looked at."""
    other = log.with_name("other.log")
    for number in range(3):
        append(log, line(number))
        append(other, line(number + 10))
        settle(start(log, other))

    labels = rows(database_url, "SELECT kind, label FROM batch ORDER BY label")
    assert labels == [("follow", f"2026-10-07 {log}"), ("follow", f"2026-10-07 {other}")]


def test_the_place_stays_small(start: Start, log: Path, database_url: str) -> None:
    """However long a log is, only the window of its ordinals is kept."""
    log.write_bytes(lines(range(3 * WINDOW)))
    settle(start(log))

    [(pages, size)] = rows(
        database_url, "SELECT count(*), sum(length(ordinals)) FROM followed_page"
    )
    assert pages <= WINDOW // 512 + 2
    assert size <= 12 * (WINDOW + 2 * 512)


def test_places_of_files_that_are_long_gone_are_let_go(
    start: Start, log: Path, database_url: str
) -> None:
    """Those of files that are there stay, however old."""
    old = log.with_name("old.log")
    log.write_bytes(lines([0]))
    old.write_bytes(lines([1]))
    settle(start(log.with_name("*.log")))
    old.unlink()

    settle(start(log, now_us=NOW_US + 6 * DAY_US))
    assert len(rows(database_url, "SELECT id FROM followed")) == 2
    settle(start(log, now_us=NOW_US + 8 * DAY_US))

    assert rows(database_url, "SELECT path FROM followed") == [(str(log),)]
    assert rows(database_url, "SELECT count(*) FROM followed_page") == [(1,)]
