"""
A write seam: what people, and servers themselves, say of a server's names, tools and releases, checked and
stored. REST, pages and commands all come here.

Each method is told by whom (`actor`: the way in, such as `rest` or `command`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from service import names
from service.clock import Clock, system_clock, utc_text
from service.entries import Entry, Kept, Snapshot, Told, tool_name
from service.errors import BadParameter
from service.events import Recorded, Release
from service.settings import Settings
from service.store import catalogue, releases
from service.store.driver import Writer, open_writer


class Cataloguing:
    """
    Takes what is said of servers. Safe to share between threads.

    Whatever a method raises, nothing is stored then; after Busy and StorageUnavailable the same will succeed
    later.
    """

    def __init__(self, writer: Writer, *, skew_us: int, clock: Clock = system_clock) -> None:
        """The database of *writer* must be ready. Instants may lie up to *skew_us* ahead of the clock."""
        self._writer = writer
        self._skew_us = skew_us
        self._clock = clock

    def release(
        self,
        server: str | None,
        version: str | None,
        at_us: int | None,
        *,
        source: str,
        actor: str,
    ) -> tuple[Release, Recorded]:
        """
        Record that a version of a server came at an instant, or (None) now.

        Returns:
            The release as it is kept, and what that changed: the same version again is the same
            release, at the instant that was said last.

        Raises:
            BadParameter: Server or version are missing, or the instant is too far ahead.
        """
        named = _server(server)
        text = names.bounded(names.clean(version or "").strip())
        if not text:
            raise BadParameter("version", "missing; name the version that came, such as 1.7.0")
        at_us = self._come(at_us, "record a release when it has come")
        release = Release(server=named, version=text, at_us=at_us, source=source)
        with self._writer.transaction() as connection:
            now_us = self._clock()
            return release, releases.record(connection, release, now_us=now_us, actor=actor)

    def entries(
        self, server: str | None, told: Sequence[Told], *, source: str, actor: str
    ) -> list[tuple[Entry, Kept]]:
        """
        Keep what is said of retired names, all or nothing.

        Returns:
            In their order the versions that hold, and what that changed.

        Raises:
            BadParameter: The server is missing.
        """
        named, now_us = _server(server), self._clock()
        with self._writer.transaction() as connection:
            return [
                catalogue.tell(connection, named, each, at_us=now_us, source=source, actor=actor)
                for each in told
            ]

    def hide(
        self, server: str | None, name: str | None, *, hidden: bool, actor: str
    ) -> tuple[Entry, Kept]:
        """
        Hide a retired name from all answers but the catalogue's, or show it again.

        Raises:
            BadParameter: Server or name are missing, or there is no such name.
        """
        named, tool, now_us = _server(server), tool_name("name", name or ""), self._clock()
        with self._writer.transaction() as connection:
            return catalogue.hide(connection, named, tool, hidden, at_us=now_us, actor=actor)

    def snapshot(
        self,
        server: str | None,
        tools: tuple[dict[str, Any], ...],
        at_us: int | None,
        *,
        version: str | None,
        protocol_version: str | None,
        source: str,
        actor: str,
    ) -> tuple[Snapshot, Kept]:
        """
        Keep what a server listed at an instant, or (None) now.

        Args:
            tools: As `entries.tools_of` reads them.
            source: How the list was come by; `entries.NAMES` for a list of all names ever.

        Raises:
            BadParameter: The server is missing, the instant is too far ahead or taken.
        """
        taken = Snapshot(
            server=_server(server),
            at_us=self._come(at_us, "keep a snapshot when it was taken"),
            version=names.bounded(names.clean(version or "").strip()) or None,
            protocol_version=names.bounded(names.clean(protocol_version or "").strip()) or None,
            source=source,
            tools=tools,
        )
        with self._writer.transaction() as connection:
            now_us, dated = self._clock(), at_us is not None
            return catalogue.snapshot(connection, taken, now_us=now_us, dated=dated, actor=actor)

    def _come(self, at_us: int | None, remedy: str) -> int:
        """An instant that was told, or now; refused where it has not come yet."""
        now_us = self._clock()
        if at_us is None or at_us <= now_us + self._skew_us:
            return now_us if at_us is None else at_us
        clock = utc_text(now_us)
        raise BadParameter(
            "at", f"later than the clock ({clock}) and LASTCALL_FUTURE_SKEW_S allow; {remedy}"
        )


@contextmanager
def open_cataloguing(settings: Settings) -> Iterator[Cataloguing]:
    """What takes it, over the database of `settings`, its schema made ready; closed at the end."""
    with open_writer(settings.database_url, auto_upgrade=settings.auto_upgrade) as writer:
        yield Cataloguing(writer, skew_us=settings.future_skew_s * 1_000_000)


def _server(server: str | None) -> str:
    named = names.feed_name("server", server)
    if named is None:
        raise BadParameter("server", "missing; name the MCP server, such as maps")
    return named
