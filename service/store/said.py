"""The weekly log, written within the write transaction that *conn* has open."""

import json
from collections.abc import Iterable

from service.said import Question, Saying, Subject
from service.store.dialect import insert_many
from service.store.driver import Connection
from service.store.writer import raise_data_version

_LOOK = """
INSERT INTO look (question, week_us, written_us) VALUES (?, ?, ?)
ON CONFLICT DO NOTHING RETURNING week_us
"""
_KEYS = ("server_id", "name", "client", "everyone")


def keep(
    conn: Connection,
    question: Question,
    week_us: int,
    sayings: Iterable[Saying],
    *,
    written_us: int,
) -> bool:
    """
    Keep what was said as of a Monday, and that it was asked; False, and nothing is kept, where it had been
    asked before. What is about a server that has been forgotten meanwhile is left out.
    """
    if not conn.rows(_LOOK, (str(question), week_us, written_us)):
        return False
    ids: dict[str, int] = dict(conn.rows("SELECT name, id FROM server"))
    mine = {_row(ids, each.subject): each for each in sayings if each.subject.server in ids}
    insert_many(conn, "subject", sorted(mine), conflict="ON CONFLICT DO NOTHING")
    known = {
        tuple(key): id_ for id_, *key in conn.rows(f"SELECT id, {', '.join(_KEYS)} FROM subject")
    }
    rows = [
        (known[key], str(question), week_us, each.word, each.strength, _text(each))
        for key, each in mine.items()
    ]
    insert_many(conn, "said", sorted(rows, key=lambda row: row[0]))
    raise_data_version(conn)
    return True


def _row(servers: dict[str, int], subject: Subject) -> tuple[int, str, str, int]:
    everyone = subject.client is None
    return servers[subject.server], subject.name or "", subject.client or "", int(everyone)


def _text(saying: Saying) -> str:
    return json.dumps(dict(saying.figures), ensure_ascii=False, allow_nan=False, sort_keys=True)
