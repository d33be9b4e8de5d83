"""What a question is about, looked up once: range, cut, names, clients and coverage."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from zoneinfo import ZoneInfo

from service.analysis import coverage, zones
from service.analysis.coverage import Coverage
from service.answers.aliases import Aliases, aliases_of
from service.answers.exclusions import Rules, rules_of
from service.answers.marks import Marks
from service.answers.paging import (
    Key,
    Place,
    bad_cursor,
    data_changed,
    read_cursor,
    write_cursor,
)
from service.answers.query import (
    Collection,
    CoverageSummary,
    GapRow,
    Instant,
    Moment,
    Query,
    Range,
    RowT,
    instant_asked,
    iso,
    zone_asked,
)
from service.answers.retired import Name, retired_names, told
from service.clock import HOUR_US
from service.errors import BadParameter
from service.names import read_client, shown_key
from service.store import read_activity, read_health, read_told, read_words
from service.store.engine import Connection
from service.store.read_cut import Cut, cut_at

GAPS_SHOWN = 20


@dataclass(frozen=True)
class Scope:
    """A question with everything it refers to. `since_us` is None where nothing has happened yet."""

    connection: Connection
    query: Query
    moment: Moment
    collection: str
    zone: ZoneInfo
    cut: Cut
    since_us: int | None
    until_us: int
    server_ids: frozenset[int]
    place: Place | None
    version: str | None
    servers: dict[int, str] = field(repr=False)

    @property
    def start_us(self) -> int:
        """The start of the range; the end where nothing has happened yet."""
        return self.until_us if self.since_us is None else self.since_us

    @property
    def after(self) -> Key | None:
        """The place that a page follows."""
        return None if self.place is None else self.place.key

    @cached_property
    def resolved(self) -> dict[tuple[int, int], Name]:
        """The retired name that each (server, tool) id stands for, as of the cut; others are absent."""
        return {
            (name.server_id, tool_id): name for name in self.retired for tool_id in name.tool_ids
        }

    @cached_property
    def retired(self) -> tuple[Name, ...]:
        """Every retired name of the servers of the question as of the cut, by server and name."""
        servers = {server_id: self.servers[server_id] for server_id in self.server_ids}
        entries = told(self.connection, servers)
        every = [
            name
            for id_, server in servers.items()
            for name in retired_names(self.connection, self.cut, id_, server, entries.get(id_, {}))
        ]
        return tuple(sorted(every, key=lambda name: (name.server, name.name)))

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The retired names that the question is about, by server and name."""
        wanted = self.query.name
        return tuple(name for name in self.retired if wanted is None or name.name == wanted)

    @cached_property
    def aliases(self) -> Aliases:
        """Clients that somebody said are one."""
        return aliases_of(read_told.aliases(self.connection))

    @cached_property
    def exclusions(self) -> Rules:
        """What somebody said not to count; where the question asks for nothing else, for that."""
        told = () if self.query.excluded == "count" else read_told.exclusions(self.connection)
        only = self.query.excluded == "only"
        return rules_of(self.connection, told, self.servers, self.aliases, only=only)

    @cached_property
    def client_keys(self) -> frozenset[str] | None:
        """Keys of the client that is asked for, as it is read; {""} for unattributed, None for all."""
        if self.query.client is None:
            return None
        client = read_client(self.query.client)
        if client is None:
            return frozenset({""})
        # A name as answers show it comes first: `gateway (via outer)` may be one that came through
        # a second bridge, and a name that was cut would be cut again.
        key = shown_key(self.query.client)
        shown = read_words.spellings_shown(self.connection, self.query.client.strip(), key)
        keys = {each.key for each in read_words.spellings(self.connection, shown).values()}
        keys |= {key} & set(self.aliases.shown)
        return frozenset(self.aliases.canonical(each) for each in keys or {client.key})

    @cached_property
    def client_ids(self) -> frozenset[int] | None:
        """Ids of the spellings of the client that is asked for, {0} for unattributed, None for all."""
        if self.client_keys is None:
            return None
        if self.client_keys == {""}:
            return frozenset({0})
        spelled = self.aliases.spelled(self.client_keys)
        return frozenset(read_words.spellings_of(self.connection, spelled))

    @cached_property
    def marks(self) -> Marks:
        """What somebody said of clients and names."""
        return Marks(read_told.marks(self.connection), self.aliases)

    @cached_property
    def heard(self) -> list[read_health.Heard]:
        """Every source and the hours it was heard in before the cut."""
        servers = None if self.query.server is None else self.server_ids
        return read_health.heard(self.connection, self.cut.as_of_us, servers)

    @cached_property
    def coverage(self) -> Coverage:
        """Which hours were watched, as far as is known at the cut and now."""
        return self._cover(self.heard)

    def coverage_of(self, server: str) -> Coverage:
        """Which hours of one server were watched, as far as is known at the cut and now."""
        return self._cover(source for source in self.heard if source.server == server)

    def _cover(self, heard: Iterable[read_health.Heard]) -> Coverage:
        limit_us = min(self.cut.as_of_us, self.moment.now_us)
        sources = [coverage.Source(h.server, h.source, h.hours, h.retired) for h in heard]
        return coverage.cover(sources, limit_us // HOUR_US, _ceil(limit_us, HOUR_US))

    def summary(self) -> CoverageSummary:
        """Coverage of the range, as far as it has come."""
        now_us = min(self.until_us, self.moment.now_us)
        start, end = (
            self.start_us // HOUR_US,
            _ceil(max(now_us, self.start_us), HOUR_US),
        )
        end = max(end, start)
        met = [gap for gap in self.coverage.gaps if gap.start < end and gap.end > start]
        return CoverageSummary(
            covered_hours=self.coverage.covered_hours(start, end),
            hours=end - start,
            gaps=tuple(gap_row(gap) for gap in met[-GAPS_SHOWN:]),
            gap_count=len(met),
        )

    def answer(
        self, items: Iterable[RowT], last: Key | None = None, **more: object
    ) -> Collection[RowT]:
        """Put rows into the form of every collection; *last* is the key of a page that goes on."""
        following = None
        if last is not None:
            place = Place(self.cut.as_of_us, self.since_us, self.until_us, last, self.version)
            following = write_cursor(self.collection, self.query, place)
        since = None if self.since_us is None else Instant(self.since_us)
        until = None if self.since_us is None else Instant(self.until_us)
        return Collection(
            items=tuple(items),
            next_cursor=following,
            range=Range(since, until, self.query.tz),
            as_of=Instant(self.cut.as_of_us),
            coverage=self.summary(),
            generated_at=Instant(self.moment.now_us),
            more=dict(more),
        )


def gap_row(gap: coverage.Gap) -> GapRow:
    """A gap with instants in place of hours."""
    start, end = Instant(gap.start * HOUR_US), Instant(gap.end * HOUR_US)
    return GapRow(gap.server, gap.source, start, end)


def scope_of(
    connection: Connection,
    query: Query,
    moment: Moment,
    collection: str,
    *,
    changes: bool = False,
    version: str | None = None,
) -> Scope:
    """
    Look up what a question refers to. Where its order *changes* with the data, pages hold on to the
    version of the first one; where it changes with something rarer, to that *version*.

    Raises:
        BadParameter: A filter, time, zone or cursor cannot be used.
        Conflict: The order changes, and the data did since the first page.
    """
    zone = zone_asked(query)
    place = read_cursor(collection, query)
    version = read_words.data_version(connection) if changes else version
    if place is not None and place.version != version:
        both = version is not None and isinstance(place.version, str)
        raise data_changed() if both else bad_cursor()
    servers = read_words.servers(connection)
    wanted = frozenset(i for i, name in servers.items() if query.server in (None, name))
    as_of_us = zones.hold(moment.now_us + moment.future_skew_us)
    if query.as_of is not None:
        as_of_us = instant_asked("as_of", query.as_of, zone)
    if place is not None:
        as_of_us = zones.hold(place.as_of_us)
    since_us, until_us = _range(connection, query, zone, as_of_us, wanted, servers)
    if place is not None:
        since_us, until_us = place.since_us, place.until_us or until_us
    return Scope(
        connection=connection,
        query=query,
        moment=moment,
        collection=collection,
        zone=zone,
        cut=cut_at(connection, as_of_us),
        since_us=None if since_us is None else zones.hold(since_us),
        until_us=zones.hold(until_us),
        server_ids=wanted,
        place=place,
        version=version,
        servers=servers,
    )


def _range(
    connection: Connection,
    query: Query,
    zone: ZoneInfo,
    as_of_us: int,
    wanted: frozenset[int],
    servers: dict[int, str],
) -> tuple[int | None, int]:
    """[since, until) as asked, cut at `as_of`; since is None where nothing has happened yet."""
    until_us = as_of_us
    if query.until is not None:
        until_us = instant_asked("until", query.until, zone)
    if query.since is None:
        only = (
            next(iter(wanted)) if wanted and len(servers) > 1 and query.server is not None else None
        )
        first = read_activity.first_event(connection, as_of_us, only) if wanted else None
        until_us = min(until_us, as_of_us)
        return (None if first is None else min(first, until_us)), until_us
    since_us = instant_asked("since", query.since, zone)
    if since_us >= until_us:
        end = "as_of" if query.until is None else "until"
        raise BadParameter(
            "since",
            f"{iso(since_us)} is not before {end} ({iso(until_us)}); the range would be empty",
        )
    return min(since_us, as_of_us), min(until_us, as_of_us)


def _ceil(value: int, unit: int) -> int:
    return -(-value // unit)
