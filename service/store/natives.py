"""
Equal records that their carrier tells apart by ids: the same id is the same event, another id one more.

Among all records with an id that would have one key, each new id takes the next ordinal, in the order in
which the ids came. Records without an id are numbered by their delivery and meet the same keys, so what
is stored is the larger of the two numbers, whichever came first.
"""

from service.events import Native, Row
from service.store.dialect import insert_many, run_matching
from service.store.driver import Connection

_KNOWN = """
SELECT n.time_us, n.key, n.native_id, n.ordinal FROM {wanted} CROSS JOIN native AS n
WHERE n.time_us = wanted.column1 AND n.key = wanted.column2 AND n.native_id = wanted.column3
"""
_NEXT = """
SELECT n.time_us, n.key, max(n.ordinal) + 1 FROM {wanted} CROSS JOIN native AS n
WHERE n.time_us = wanted.column1 AND n.key = wanted.column2 GROUP BY n.time_us, n.key
"""

_Named = tuple[int, int, int]
"""Time, key of the first of its equals, and id."""


def numbered(conn: Connection, rows: list[Row], natives: list[Native]) -> list[Row]:
    """
    Return *rows*, those with an id under the key of their ordinal; ids that are new are kept.

    Nobody else can number them before this transaction ends: there is one writer.
    """
    if not natives:
        return rows
    named: list[_Named] = [(*rows[each.at][:2], each.native_id) for each in natives]
    ordinals = _ordinals(conn, named)
    resolved = list(rows)
    for native, name in zip(natives, named, strict=True):
        if ordinal := ordinals[name]:
            time_us, _, subject, session, request, ns = rows[native.at]
            key = native.key(ordinal)
            resolved[native.at] = (time_us, key, subject, session, request, ns)
    return resolved


def _ordinals(conn: Connection, named: list[_Named]) -> dict[_Named, int]:
    """The ordinal of each id among its equals, found or given."""
    wanted = list(dict.fromkeys(named))
    found = run_matching(conn, _KNOWN, ["int8", "int8", "int8"], wanted)
    ordinals: dict[_Named, int] = {(at, key, each): ordinal for at, key, each, ordinal in found}
    unknown = [name for name in wanted if name not in ordinals]
    firsts = dict.fromkeys(name[:2] for name in unknown)
    counted = run_matching(conn, _NEXT, ["int8", "int8"], firsts)
    following = {(at, key): ordinal for at, key, ordinal in counted}
    for name in unknown:
        ordinals[name] = following.get(name[:2], 0)
        following[name[:2]] = ordinals[name] + 1
    insert_many(conn, "native", sorted((*name, ordinals[name]) for name in unknown))
    return ordinals
