"""A client or a server forgotten: nothing of it is left, and all else is as if it had never come."""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.errors import NotFound
from service.events import (
    Caller,
    CallerLevel,
    Fact,
    Kind,
    Outcome,
    Quarantined,
    Reason,
    Rejected,
    Row,
)
from service.store import forget as forgetting
from service.store import told
from service.store.driver import Writer
from service.store.engine import Engine, driver_of, reading, writing
from service.store.forget import Forgotten
from service.told import Alias, Exclusion, Mark, MarkKind
from tests.store.rows import some_rows
from tests.store.support import (
    NOON,
    SECOND,
    assert_alike,
    differences,
    execute,
    query,
    row,
    store,
    wipe,
)

TOLD = ("mark", "exclusion")
WHO = Caller(level=CallerLevel.ADDRESS, digest="ab", network="n1")


def forget(engine: Engine, client: str | None, server: str | None = None) -> Forgotten:
    with writing(engine) as conn:
        return forgetting.forget(driver_of(conn), client, server, NOON, actor="command")


def plan(engine: Engine, client: str | None, server: str | None = None) -> Forgotten:
    with reading(engine) as conn:
        return forgetting.plan(driver_of(conn), client, server)


def rejects(*excerpts: str) -> list[Quarantined]:
    return [
        Quarantined(position=at, rejected=Rejected(reason=Reason.MISSING_TOOL, excerpt=excerpt))
        for at, excerpt in enumerate(excerpts)
    ]


def test_a_client_goes_in_every_spelling_and_with_its_sessions(engine: Engine) -> None:
    """Also the lines that do not name it but are of its session; what another client did stays, and so
    does the account of what arrived."""
    store(
        engine,
        [
            row(1, NOON, Kind.HELLO, session="s1", client="Zed", version="1"),
            row(2, NOON + SECOND, session="s1", caller=WHO),
            row(3, NOON, client="zed (via mcp-remote 1)"),
            row(4, NOON, session="s2", client="zed"),
            row(5, NOON, session="s2"),
            row(6, NOON, session="s3", client="Cursor", caller=WHO),
            row(7, NOON),
        ],
        hours={9: 7},
    )
    planned = plan(engine, "ZED")
    assert planned.events == {Kind.STALE_CALL: 4, Kind.HELLO: 1}
    assert planned.spellings == ["Zed", "zed", "zed (via mcp-remote 1)"]
    assert (planned.sessions, planned.callers) == (2, 0)

    assert forget(engine, "ZED").events == planned.events

    assert query(engine, "SELECT key FROM event ORDER BY 1") == [(6,), (7,)]
    assert query(engine, "SELECT raw FROM client") == [("Cursor",)]
    assert query(engine, "SELECT digest FROM session") == [("s3",)]
    assert query(engine, "SELECT name FROM version") == []
    assert query(engine, "SELECT fate, records FROM tally") == [("accepted", 7)]
    assert query(engine, "SELECT lines FROM ledger") == [(7,)]
    assert differences(engine) == []


def test_a_client_can_be_forgotten_at_one_server(engine: Engine) -> None:
    """At the other one it stays, with the spelling that it has there."""
    store(
        engine, [row(1, client="Zed"), row(2, client="zed"), row(3, server="other", client="Zed")]
    )
    forget(engine, "zed", "main")
    assert query(engine, "SELECT key FROM event") == [(3,)]
    assert query(engine, "SELECT raw FROM client") == [("Zed",)]


def test_a_caller_that_nothing_else_is_known_of_goes(engine: Engine) -> None:
    """One that another client shares stays."""
    only = Caller(level=CallerLevel.PRINCIPAL, digest="cd")
    store(
        engine,
        [row(1, client="zed", caller=only), row(2, client="zed", caller=WHO), row(3, caller=WHO)],
    )
    assert plan(engine, "zed").callers == forget(engine, "zed").callers == 1
    assert query(engine, "SELECT digest FROM caller") == [("ab",)]


def test_rejected_records_that_name_the_client_go(engine: Engine) -> None:
    """As a word, in any case, and as JSON writes it; of one server only where that is named."""
    named = ['{"client":"ZED"}', r'{"client":"Caf\u00C9 \ud83d\uDE00"}', '{"tool":"organized"}']
    store(
        engine,
        [row(1, client="Zed"), row(2, client="Caf\u00c9 \U0001f600")],
        rejected=rejects(*named),
    )
    store(engine, server="other", label="other", rejected=rejects("zed;1"))
    forget(engine, "zed", "main")
    forget(engine, "café \U0001f600")
    assert sorted(query(engine, "SELECT excerpt FROM reject")) == [("zed;1",), (named[2],)]
    assert forget(engine, "zed").quarantined == 1


def tell(engine: Engine) -> None:
    """All that can be told of `Zed`, and something of another client."""
    said: dict[str, Any] = {"note": "about Zed", "said_us": 0, "actor": "rest"}
    any_: dict[str, Any] = {"version": None, "network": None, "id": 0}
    with writing(engine) as opened:
        conn = driver_of(opened)
        told.tell_alias(conn, Alias(client="zed", target="Editor", **said))
        told.tell_alias(conn, Alias(client="zed-preview", target="ZED", **said))
        told.tell_alias(conn, Alias(client="cursor-vscode", target="Cursor", **said))
        for server, pattern in ((None, "zed"), ("main", "zed"), (None, "zed*"), (None, "cursor")):
            told.tell_exclusion(conn, Exclusion(server=server, client=pattern, **any_, **said))
        for server in ("main", "other"):
            kind = MarkKind.KNOWN
            mark = Mark(id=0, kind=kind, server=server, client="zed", name=None, at_us=0, **said)
            told.tell_mark(conn, mark, "Zed")
        told.drop_alias(conn, "zed-preview", 0, "rest")
        told.tell_alias(conn, Alias(client="zed-preview", target="ZED", **said))


def test_what_was_told_of_the_client_goes_and_the_audit_does_not_name_it(engine: Engine) -> None:
    """Marks, aliases of it and onto it, rules of it alone; at one server what was told of that."""
    store(engine, [row(1, client="Zed"), row(2, server="other", client="Zed")])
    tell(engine)

    assert plan(engine, "zed", "main").told == 2
    forget(engine, "zed", "main")
    assert query(engine, "SELECT server FROM mark") == [("other",)]
    assert len(query(engine, "SELECT key FROM alias")) == 3
    assert plan(engine, "zed").told == 4
    forget(engine, "zed")

    assert query(engine, "SELECT key, target FROM alias") == [("cursor-vscode", "Cursor")]
    assert query(engine, "SELECT client FROM exclusion ORDER BY 1") == [("cursor",), ("zed*",)]
    assert query(engine, "SELECT * FROM mark") == []
    said = query(engine, "SELECT action, subject, detail FROM audit ORDER BY id")
    forgotten = "a forgotten client"
    assert [found[:2] for found in said if found[0] in ("alias", "unalias")] == [
        ("alias", forgotten),
        ("alias", "zed-preview"),
        ("alias", "cursor-vscode"),
        ("unalias", "zed-preview"),
        ("alias", "zed-preview"),
    ]
    assert [found[:2] for found in said if found[0] == "forget"] == [("forget", "a client")] * 2
    rest = [word for _, _, detail in said for word in json.loads(detail).values()]
    assert rest.count(forgotten) == 2 + 1 + 2 + 2
    assert not {"zed", "ZED"} & {word for word in rest if isinstance(word, str)}
    assert sum(word == "about Zed" for word in rest) == 3


def test_a_number_that_was_forgotten_is_not_given_again(engine: Engine) -> None:
    """The audit tells of marks and rules by their numbers, and would tell of others."""
    store(engine, [row(1, client="Zed")])
    tell(engine)
    latest = [query(engine, f"SELECT max(id) FROM {table}")[0][0] for table in TOLD]
    forget(engine, "zed")
    tell(engine)
    for table, before in zip(TOLD, latest, strict=True):
        again = query(engine, f"SELECT min(id) FROM {table} WHERE client = 'zed'")
        assert again[0][0] > before


def test_what_nothing_is_known_of_cannot_be_forgotten(engine: Engine) -> None:
    """Nor what is no name once it is read."""
    store(engine, [row(1, client="Zed")])
    for client, server, says in (
        ("Cursor", None, "nothing is known of client 'Cursor'; "),
        (None, "maps", "no server 'maps'"),
        ("Zed", "maps", "no server 'maps'"),
        (" ", None, "name a client as answers show it"),
    ):
        with pytest.raises(NotFound, match=says):
            forget(engine, client, server)
    store(engine, [row(2, server="other")])
    with pytest.raises(NotFound, match="'Zed' at server 'other'"):
        forget(engine, "Zed", "other")


def test_a_server_goes_with_all_that_was_told_of_it(engine: Engine) -> None:
    """Its feeds, batches, accounts, quarantine, releases, marks, notes, and how far its files were read."""
    for key, server in enumerate(("main", "other")):
        fact = Fact(last_release="1", replaced_by=None, message=None)
        rows = [
            row(
                key,
                server=server,
                session="s",
                request_id="7",
                client=server,
                fact=fact,
                caller=WHO,
            ),
            row(10 + key, server=server, outcome=Outcome.TOMBSTONE, ns=5),
        ]
        given: dict[str, Any] = {"server": server, "label": server, "rejected": rejects(server)}
        store(engine, rows, hours={3: 1}, **given)
        store(engine, rows, **{**given, "label": f"{server} again"})
        for table in ("mark", "exclusion"):
            more = ("kind, client, at_us, ", "'known', 'zed', 0, ") if table == "mark" else ("", "")
            execute(
                engine,
                f"INSERT INTO {table} ({more[0]}server, note, said_us, actor) "
                f"VALUES ({more[1]}'{server}', '', 0, 'rest')",
            )
        execute(
            engine,
            "INSERT INTO note (server, at_us, text, said_us, actor) "
            f"VALUES ('{server}', 0, 'x', 0, 'rest')",
        )
        execute(
            engine,
            "INSERT INTO followed (server, source, path, file, size, head, tail, crc, changed_ns, "
            "records, chain, accepted, day, said, revision, seen_us) "
            f"VALUES ('{server}', 'files', '/a', '1:2', 0, '', '', 0, 0, 0, '', 0, 0, '{{}}', 1, 0)",
        )
        execute(
            engine,
            "INSERT INTO release (server_id, version, at_us, source) "
            f"SELECT id, '1', 0, 'rest' FROM server WHERE name = '{server}'",
        )
    planned = plan(engine, None, "other")
    assert (planned.batches, planned.quarantined, planned.places, planned.told) == (2, 2, 1, 4)
    assert (planned.sessions, planned.callers, sum(planned.events.values())) == (1, 1, 2)

    forget(engine, None, "other")

    with reading(engine) as conn:
        rest = {table.name: str(conn.execute(sa.select(table)).all()) for table in schema_tables()}
    assert [name for name, said in rest.items() if "other" in said] == ["audit"]
    assert query(engine, "SELECT count(*) FROM event") == [(2,)]
    assert query(engine, "SELECT count(*) FROM redelivery") == [(2,)]
    assert differences(engine) == []


def schema_tables() -> list[sa.Table]:
    from service.store.schema import metadata

    return metadata.sorted_tables


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=some_rows(), client=st.sampled_from(["zed", "Cursor"]))
def test_all_else_is_as_if_the_client_had_never_come(
    two_engines: tuple[Engine, Engine], rows: list[Row], client: str
) -> None:
    """Rows, sessions, roll-ups and names are those of a database that never got the client's lines, nor
    those without a name of its sessions; and a rebuild has nothing to mend."""
    forgotten, never = two_engines
    wipe(forgotten)
    wipe(never)
    rows = [*rows, row(900), row(901, server="other")]
    spellings = {"zed": ["Zed", "zed (via x)"], "Cursor": ["Cursor"]}[client]
    store(forgotten, rows[::2], label="a")
    store(forgotten, rows, label="b")
    gone = [each for each in rows if each[2].client in spellings or _of(each, rows) in spellings]
    if not gone:
        return
    forget(forgotten, client)
    store(never, [each for each in rows if each not in gone])

    assert_alike(forgotten, never)


def _of(line: Row, rows: list[Row]) -> str | None:
    """Whose session a line without a client is of: of its earliest hello that names one, else of its
    earliest line that does; ties by the least text."""
    if line[2].client is not None or line[3] is None:
        return None
    mine = [
        each
        for each in rows
        if each[3] == line[3] and each[2].server == line[2].server and each[2].client is not None
    ]
    hellos = [each for each in mine if each[2].kind is Kind.HELLO]
    return min(((each[0], each[2].client) for each in hellos or mine), default=(0, None))[1]


def test_nothing_of_a_forgotten_client_is_left_in_a_sqlite_file(
    database: str, opened: Writer, engine: Engine
) -> None:
    """Neither in the file nor in its log is its name found; on PostgreSQL that is the database's."""
    store(engine, [row(n, client="Forget-Me-Not", session=f"s{n}") for n in range(500)])
    store(engine, [row(1_000, client="Zed")])
    with opened.erasing() as conn:
        forgetting.forget(conn, "forget-me-not", None, NOON, actor="command")
    assert query(engine, "SELECT raw FROM client") == [("Zed",)]
    if database == "sqlite":
        engine.dispose()
        file = Path(str(engine.url.database))
        for path in (file, file.with_name(f"{file.name}-wal")):
            assert b"orget-Me-Not" not in (path.read_bytes() if path.exists() else b"")
            assert b"orget-me-not" not in (path.read_bytes() if path.exists() else b"")
