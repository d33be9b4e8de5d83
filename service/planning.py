"""
Roll-outs that are planned before they happen, so that what they did can be told from what would have
happened anyway. Told over REST or by a command, as `service.telling` is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from service import names
from service.analysis.waves import BASELINE_DAYS, draw_key, wave_of
from service.clock import DAY_US, Clock, system_clock, utc_text
from service.errors import BadParameter, NotFound
from service.settings import Settings
from service.store import plans
from service.store.driver import Writer
from service.telling import noted
from service.told import Plan

APART_US = 14 * DAY_US
"""How far apart the waves are where nobody says."""
LEAST_APART_US = 3 * DAY_US
"""The day of the first wave does not count, and a day or two say nothing."""


class Planning:
    """Takes plans. Safe to share between threads."""

    def __init__(self, writer: Writer, *, clock: Clock = system_clock) -> None:
        """The database of *writer* must be ready."""
        self._writer = writer
        self._clock = clock

    def plan(
        self,
        server: str | None,
        clients: Sequence[str],
        *,
        wave_1_us: int | None,
        wave_2_us: int | None,
        note: str | None,
        actor: str,
    ) -> Plan:
        """
        Split clients (their keys) into two waves by lot, and keep who is in which.

        The first wave is told from `wave_1_us` (None: the next midnight in UTC), the second from
        `wave_2_us` (None: two weeks later).

        Raises:
            BadParameter: No server is named or it has fewer than two clients to split, the first wave
                is not ahead of the clock, the waves are too close, or another plan runs then.
        """
        now_us = self._clock()
        named = names.feed_name("server", server)
        if named is None:
            raise BadParameter("server", "missing; name the MCP server, such as maps")
        first = (now_us // DAY_US + 1) * DAY_US if wave_1_us is None else wave_1_us
        second = first + APART_US if wave_2_us is None else wave_2_us
        if first <= now_us:
            raise BadParameter(
                "wave_1_at", "is over; a plan is made before anybody is told, or it proves nothing"
            )
        if second < first + LEAST_APART_US:
            raise BadParameter("wave_2_at", "must be three days after wave_1_at or later")
        listed = sorted(set(clients))
        if len(listed) < 2:
            since, until = (utc_text(at) for at in (now_us - BASELINE_DAYS * DAY_US, now_us))
            found = "one of its clients" if listed else "none of its clients"
            raise BadParameter(
                "server",
                f"{found} made a stale call in the {BASELINE_DAYS} days before now ({since} to {until}); two "
                "are needed to split. A plan is of clients that call now: check that its log arrives",
            )
        key = draw_key(listed)
        plan = Plan(
            id=0,
            server=named,
            key=key,
            wave_1_us=first,
            wave_2_us=second,
            note=noted(note),
            made_us=now_us,
            actor=actor,
            waves={client: wave_of(key, client) for client in listed},
        )
        with self._writer.transaction() as connection:
            if (other := plans.overlapping(connection, plan)) is not None:
                raise BadParameter("wave_1_at", f"plan {other} runs then; withdraw it first")
            id_ = plans.keep_plan(connection, plan)
        return replace(plan, id=id_)

    def withdraw(self, id_: int, *, actor: str) -> None:
        """
        Take a plan back: what it says is not read any more.

        Raises:
            NotFound: There is no such plan, or it was taken back before.
        """
        with self._writer.transaction() as connection:
            if not plans.withdraw_plan(connection, id_, self._clock(), actor):
                raise NotFound(f"no plan {id_} that stands; they are listed at /api/v1/plans")


@contextmanager
def open_planning(settings: Settings) -> Iterator[Planning]:
    """What takes plans, over the database of `settings`, its schema made ready; closed at the end."""
    writer = Writer(settings.database_url)
    try:
        writer.ensure_ready(settings.auto_upgrade)
        yield Planning(writer)
    finally:
        writer.close()
