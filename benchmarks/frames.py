"""
DuckDB and polars, each in a Python of its own: `python3 -m benchmarks.frames HOW …` prints the answer.

    duckdb|duckdb-one|duckdb-lines|polars QUESTION LOG   count (see `peers`)
    store|store-keyed LOG DATABASE                       store every event (see `dense`)
    cells DATABASE                                       count what was stored
"""

import sys
from collections.abc import Iterable
from typing import Any

from benchmarks.data import KIND_OF
from benchmarks.peers import FIELD, Question

Rows = Iterable[tuple[Any, ...]]
KEY = "time, kind, tool, client, version, session, request_id, hostname, pid"
_STORED = """
    CREATE TABLE IF NOT EXISTS event (
        time TIMESTAMP, kind UTINYINT, tool VARCHAR, client VARCHAR, version VARCHAR, session VARCHAR,
        request_id VARCHAR, hostname VARCHAR, pid INTEGER, last_release VARCHAR, replaced_by VARCHAR[]
        {key})
"""
_SCHEMA = """
    {time: 'TIMESTAMP', msg: 'VARCHAR', hostname: 'VARCHAR', pid: 'INTEGER', data: 'STRUCT(
        tool VARCHAR, client VARCHAR, clientVersion VARCHAR, sessionId VARCHAR, requestId VARCHAR,
        lastRelease VARCHAR, replacedBy VARCHAR[])'}
"""


def duckdb_schema(question: Question, log: str, threads: int | None = None) -> Rows:
    """The schema given, so that only what is asked for is parsed."""
    import duckdb

    connection = duckdb.connect()
    if threads is not None:
        connection.execute(f"SET threads = {threads}")
    rows: Rows = connection.execute(
        f"""
        SELECT msg, data.tool, data.client, time[:10] AS day, count(*) FROM read_json(
            ?, format = 'newline_delimited', ignore_errors = true, maximum_object_size = 1048576,
            columns = {{time: 'VARCHAR', msg: 'VARCHAR', data: 'STRUCT(tool VARCHAR, client VARCHAR)'}})
        WHERE msg IN ({_listed(question)}) GROUP BY ALL
        """,
        [log],
    ).fetchall()
    return rows


def duckdb_lines(question: Question, log: str) -> Rows:
    """Every line as text, and JSON only of those that hold a message."""
    import duckdb

    holds = " OR ".join(f"contains(line, '{message}')" for message in question.messages)
    rows = (
        duckdb.connect()
        .execute(
            f"""
            SELECT line->>'$.msg', line->>'$.data.tool', line->>'$.data.client',
                   (line->>'$.time')[:10], count(*)
            FROM read_csv(?, columns = {{line: 'VARCHAR'}}, delim = '\x01', quote = '', escape = '',
                          header = false, auto_detect = false, strict_mode = false,
                          max_line_size = 1048576)
            WHERE {holds} GROUP BY ALL
            """,
            [log],
        )
        .fetchall()
    )
    # As a second condition this would be tried first on some lines, and end at one that is cut.
    return [row for row in rows if row[0] in question.messages]


def polars_lines(question: Question, log: str) -> Rows:
    """
    Lazy and streaming; JSON only of the lines that hold a message.

    `scan_ndjson` ends at the first line that is cut, whatever `ignore_errors` says.
    """
    import polars as pl

    messages = list(question.messages)
    fields = pl.Struct({"tool": pl.String, "client": pl.String})
    record = pl.Struct({"time": pl.String, "msg": pl.String, "data": fields})
    rows: Rows = (
        pl.scan_lines(log, name="line")
        .filter(pl.col("line").str.contains_any(messages))
        .select(pl.col("line").str.json_decode(record).alias("record"))
        .unnest("record")
        .filter(pl.col("msg").is_in(messages))
        .group_by(
            "msg",
            pl.col("data").struct.field("tool"),
            pl.col("data").struct.field("client"),
            pl.col("time").str.slice(0, 10),
        )
        .len()
        .collect(engine="streaming")
        .rows()
    )
    return rows


def store(log: str, database: str, *, keyed: bool) -> None:
    """Add the events of a log to a database; with a key, those only that are not there yet."""
    import duckdb

    kinds = " ".join(f"WHEN '{each}' THEN {n}" for n, each in enumerate(KIND_OF, start=1))
    with duckdb.connect(database) as connection:
        connection.execute(_STORED.format(key=f", PRIMARY KEY ({KEY})" if keyed else ""))
        connection.execute(
            f"""
            INSERT {"OR IGNORE" if keyed else ""} INTO event
            SELECT time, CASE msg {kinds} END AS kind, ifnull(data.tool, ''), ifnull(data.client, ''),
                   ifnull(data.clientVersion, ''), ifnull(data.sessionId, ''),
                   ifnull(data.requestId, ''), hostname, pid, data.lastRelease, data.replacedBy
            FROM read_json(?, format = 'newline_delimited', ignore_errors = true, columns = {_SCHEMA})
            WHERE msg IN ({_listed(Question.ALL)})
            """,
            [log],
        )
        connection.execute("CHECKPOINT")


def cells(database: str) -> Rows:
    """What a database holds, by cell."""
    import duckdb

    messages = list(KIND_OF)
    with duckdb.connect(database, read_only=True) as connection:
        rows = connection.execute(
            "SELECT kind, tool, client, strftime(time, '%Y-%m-%d'), count(*) FROM event GROUP BY ALL"
        ).fetchall()
    return [(messages[kind - 1], *rest) for kind, *rest in rows]


def _listed(question: Question) -> str:
    return ", ".join(f"'{message}'" for message in question.messages)


def main(how: str, *arguments: str) -> None:
    """Run what was named, and print what it answers."""
    if how.startswith("store"):
        log, database = arguments
        store(log, database, keyed=how == "store-keyed")
        return
    rows: Rows
    if how == "cells":
        rows = cells(*arguments)
    else:
        question, log = Question[arguments[0]], arguments[1]
        if how == "polars":
            rows = polars_lines(question, log)
        elif how == "duckdb-lines":
            rows = duckdb_lines(question, log)
        else:
            rows = duckdb_schema(question, log, threads=1 if how == "duckdb-one" else None)
    sys.stdout.writelines(
        f"{number} {FIELD.join(text or '' for text in key)}\n" for *key, number in rows
    )


if __name__ == "__main__":
    main(sys.argv[1], *sys.argv[2:])
