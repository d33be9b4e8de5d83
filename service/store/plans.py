"""
Plans of roll-outs, written within the write transaction that *conn* has open. Each change raises the
version of the data and leaves a line in the audit.
"""

from service.store import audit
from service.store.dialect import run_each
from service.store.driver import Connection
from service.store.writer import raise_data_version
from service.told import Plan


def keep_plan(conn: Connection, plan: Plan) -> int:
    """Keep a plan; the number by which it can be read and taken back."""
    [(id_,)] = conn.rows(
        "INSERT INTO plan (server, key, wave_1_us, wave_2_us, note, made_us, actor) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            plan.server,
            plan.key.hex(),
            plan.wave_1_us,
            plan.wave_2_us,
            plan.note,
            plan.made_us,
            plan.actor,
        ),
    )
    run_each(
        conn,
        "INSERT INTO plan_unit (plan_id, client, wave) VALUES (?, ?, ?)",
        [(id_, *each) for each in sorted(plan.waves.items())],
    )
    detail = {
        "server": plan.server,
        "wave_1_us": plan.wave_1_us,
        "wave_2_us": plan.wave_2_us,
        "clients": len(plan.waves),
        "note": plan.note,
    }
    audit.record(conn, plan.made_us, plan.actor, "plan", f"plan {id_}", detail)
    raise_data_version(conn)
    return int(id_)


def withdraw_plan(conn: Connection, id_: int, at_us: int, actor: str) -> bool:
    """Take a plan back; False where there is none that stands."""
    known = conn.rows("SELECT server FROM plan WHERE id = ? AND withdrawn_us IS NULL", (id_,))
    if not known:
        return False
    conn.run("UPDATE plan SET withdrawn_us = ? WHERE id = ?", (at_us, id_))
    audit.record(conn, at_us, actor, "withdraw", f"plan {id_}", {"server": known[0][0]})
    raise_data_version(conn)
    return True


def overlapping(conn: Connection, plan: Plan) -> int | None:
    """The number of a plan of the same server that stands and whose time meets that of *plan*."""
    found = conn.rows(
        "SELECT id FROM plan WHERE server = ? AND withdrawn_us IS NULL "
        "AND wave_1_us < ? AND wave_2_us > ? ORDER BY id LIMIT 1",
        (plan.server, plan.wave_2_us, plan.wave_1_us),
    )
    return int(found[0][0]) if found else None
