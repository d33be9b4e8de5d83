"""
How far each followed file was read: stored in the transaction that stores what came of it.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from service import names
from service.clock import DAY_US
from service.store.dialect import run_each
from service.store.driver import Connection, Values

KEPT_US = 7 * DAY_US
"""How long a place is kept whose file is gone: a compressed copy that comes later is then known."""
KEPT_MOST = 200
"""So many of them are kept at most."""

Pages = Mapping[tuple[int, int], bytes]
"""Ordinals by kind and page."""

_COLUMNS = "path, file, size, head, tail, crc, changed_ns, records, chain, accepted, day, said, revision, seen_us"
_PLACES = (
    f"SELECT id, {_COLUMNS} FROM followed WHERE server = ? AND source = ? ORDER BY size DESC, id"
)
_INSERT = (
    f"INSERT INTO followed (server, source, {_COLUMNS}) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
)
_UPDATE = (
    f"UPDATE followed SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "WHERE id = ? AND revision = ?"
)
_PUT_PAGE = (
    "INSERT INTO followed_page (followed_id, kind, page, ordinals) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (followed_id, kind, page) DO UPDATE SET ordinals = excluded.ordinals"
)


class Overtaken(Exception):
    """Another process has gone on with this file; nothing is stored, read its place again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far one file was read for one feed, and what its delivery has come to."""

    path: str
    """Under which the file was found first; its batches are named so."""
    file: str | None
    """Device and inode; None once something else stands there."""
    size: int = 0
    """Bytes that were taken, after decompression: whole lines."""
    head: str = ""
    tail: str = ""
    crc: int = 0
    """Together they tell whether a file begins with these bytes (see `ingest.follow`)."""
    changed_ns: int = 0
    """When the file was last changed, as it was read."""
    records: int = 0
    """Records of the delivery so far."""
    chain: bytes = b""
    """What tells its records without a time from another's."""
    accepted: int = 0
    day: int = 0
    """UTC day of the last piece, since 1970-01-01."""
    said: dict[int, tuple[int, int]] = field(default_factory=dict)
    """That day's duplicates by batch: those that may have been calls of their own, those of a resend."""
    id: int | None = None
    """None where it is yet to be stored."""
    revision: int = 0
    replaces: tuple[int, int] | None = None
    """Id and revision of the place that this file had before its content was replaced."""


def places(conn: Connection, server: str | None, source: str) -> list[Place]:
    """Every place of a feed, those that got farthest first."""
    return [_place(row) for row in conn.rows(_PLACES, (server or "", source))]


def pages(conn: Connection, place: Place) -> dict[tuple[int, int], bytes]:
    """
    Return the ordinals of a place.

    Raises:
        Overtaken: Another process went on from there meanwhile.
    """
    found = conn.rows(
        "SELECT kind, page, ordinals FROM followed_page WHERE followed_id = ?", (place.id,)
    )
    if conn.rows("SELECT revision FROM followed WHERE id = ?", (place.id,)) != [(place.revision,)]:
        raise Overtaken
    return {(kind, page): bytes(said) for kind, page, said in found}


def save(
    conn: Connection,
    server: str | None,
    source: str,
    place: Place,
    *,
    now_us: int,
    changed: Pages,
    oldest: Mapping[int, int],
) -> Place:
    """
    Store a place that went on from the one of the same id and revision, within the write transaction
    that *conn* has open.

    Args:
        now_us: The current instant.
        changed: The pages of ordinals that may have changed.
        oldest: By kind, the page before which none is needed.

    Returns:
        The place as it is stored now.

    Raises:
        Overtaken: Another process went on from there first.
    """
    revision = place.revision + 1
    values = _values(place, revision, now_us)
    number = place.id
    if number is None:
        _make_room(conn, server, source, place)
        [(number,)] = conn.rows(_INSERT, (server or "", source, *values))
    elif conn.run(_UPDATE, (*values, number, place.revision)).rowcount != 1:
        raise Overtaken
    run_each(conn, _PUT_PAGE, [(number, *at, page) for at, page in sorted(changed.items())])
    run_each(
        conn,
        "DELETE FROM followed_page WHERE followed_id = ? AND kind = ? AND page < ?",
        [(number, kind, page) for kind, page in oldest.items() if page],
    )
    return replace(place, id=number, revision=revision, replaces=None)


def keep(
    conn: Connection, server: str | None, source: str, files: Collection[str], now_us: int
) -> None:
    """Note that these files are there, and drop the places of those that are long gone."""
    feed = (server or "", source)
    run_each(
        conn,
        "UPDATE followed SET seen_us = ? WHERE server = ? AND source = ? AND file = ?",
        [(now_us, *feed, each) for each in sorted(files)],
    )
    gone = [
        (number, seen_us)
        for number, file, seen_us in conn.rows(
            "SELECT id, file, seen_us FROM followed WHERE server = ? AND source = ? "
            "ORDER BY seen_us DESC, id DESC",
            feed,
        )
        if file not in files
    ]
    old = [
        (number,)
        for at, (number, seen_us) in enumerate(gone)
        if at >= KEPT_MOST or seen_us < now_us - KEPT_US
    ]
    run_each(conn, "DELETE FROM followed_page WHERE followed_id = ?", old)
    run_each(conn, "DELETE FROM followed WHERE id = ?", old)


def forget_batch(conn: Connection, batch_id: int, handed_over: Mapping[int, int]) -> None:
    """
    Let no place speak of a batch that is taken back, nor of duplicates that are another batch's own now.

    Places stay where they are: what was taken back is not read again by itself. Who has one in memory
    reads it anew.
    """
    left = dict(handed_over)
    changed: list[Values] = []
    for number, text in conn.rows("SELECT id, said FROM followed WHERE said <> '{}'"):
        said = {int(batch): due for batch, due in json.loads(text).items()}
        mentioned = said.keys() & {batch_id, *left}
        said.pop(batch_id, None)
        for batch in said.keys() & left.keys():
            may, again = said[batch]
            fewer = min(left[batch], again)
            more = min(left[batch] - fewer, may)
            left[batch] -= fewer + more
            said[batch] = [may - more, again - fewer]
        if mentioned:
            changed.append((json.dumps(said), number))
    run_each(conn, "UPDATE followed SET said = ?, revision = revision + 1 WHERE id = ?", changed)


def _make_room(conn: Connection, server: str | None, source: str, place: Place) -> None:
    """Let the place that stands for the same file go, where it is the one that was meant."""
    found = conn.rows(
        "SELECT id, revision FROM followed WHERE server = ? AND source = ? AND file = ?",
        (server or "", source, place.file),
    )
    if found and found != [place.replaces]:
        raise Overtaken
    if found:
        conn.run(
            "UPDATE followed SET file = NULL, revision = revision + 1 WHERE id = ?", found[0][:1]
        )


def _values(place: Place, revision: int, now_us: int) -> Values:
    """The columns of a place, in the order of `_COLUMNS`."""
    return (
        names.clean(place.path),
        place.file,
        place.size,
        place.head,
        place.tail,
        place.crc,
        place.changed_ns,
        place.records,
        place.chain.hex(),
        place.accepted,
        place.day,
        json.dumps(place.said),
        revision,
        now_us,
    )


def _place(row: Values) -> Place:
    number, path, file, size, head, tail, crc, changed_ns, records, chain, *rest = row
    accepted, day, said, revision, _ = rest
    return Place(
        id=number,
        path=path,
        file=file,
        size=size,
        head=head,
        tail=tail,
        crc=crc,
        changed_ns=changed_ns,
        records=records,
        chain=bytes.fromhex(chain),
        accepted=accepted,
        day=day,
        said={int(batch): (may, again) for batch, (may, again) in json.loads(said).items()},
        revision=revision,
    )
