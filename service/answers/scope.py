"""What a question is about, looked up once: range, cut, names, clients and coverage."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from zoneinfo import ZoneInfo

from service.analysis import coverage, zones
from service.analysis.catalogue import rests
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
    Filter,
    GapRow,
    Instant,
    Moment,
    Query,
    Range,
    RowT,
    Watched,
    instant_asked,
    iso,
    only,
    zone_asked,
)
from service.answers.retired import Name, retired_names, told, told_of
from service.clock import HOUR_US
from service.errors import BadParameter, Forbidden
from service.names import read_client, shown_key
from service.store import read_activity, read_health, read_told, read_words
from service.store.engine import Connection
from service.store.read_cut import Cut, cut_at
from service.store.read_sets import Chosen
from service.told import Mark

GAPS_SHOWN = 20
SERVERS_SHOWN = 20


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
    def asked_since_us(self) -> int | None:
        """The start of the range where one was asked for: what is no event can come before the first one."""
        return None if self.query.since is None else self.start_us

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
        return self.moment.once(("retired", self.cut, self.server_ids), self._find_retired)

    def _find_retired(self) -> tuple[Name, ...]:
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
        return tuple(name for name in self.retired if self.query.name.takes(name.name))

    @cached_property
    def aliases(self) -> Aliases:
        """Clients that somebody said are one."""
        return self.moment.once("aliases", lambda: aliases_of(read_told.aliases(self.connection)))

    @cached_property
    def exclusions(self) -> Rules:
        """What somebody said not to count; where the question asks for nothing else, for that."""
        return self.moment.once(("exclusions", self.query.excluded), self._find_exclusions)

    def _find_exclusions(self) -> Rules:
        told = () if self.query.excluded == "count" else read_told.exclusions(self.connection)
        only = self.query.excluded == "only"
        return rules_of(self.connection, told, self.servers, self.aliases, only=only)

    @cached_property
    def client_keys(self) -> Chosen[str] | None:
        """
        Keys of the clients that are asked for, as they are read; "" among them for unattributed, which is
        not any client that has a name. None for all.
        """
        asked = self.query.client
        if not asked.is_set:
            return None
        some, others = (
            frozenset(key for value in side for key in self._keys_of(value))
            for side in (asked.any_of, asked.none_of)
        )
        return Chosen(some - others) if asked.any_of else Chosen(others, outside=True)

    def _keys_of(self, asked: str) -> frozenset[str]:
        return self.moment.once(("client keys", asked), lambda: self._find_keys(asked))

    def _find_keys(self, asked: str) -> frozenset[str]:
        client = read_client(asked)
        if client is None:
            return frozenset({""})
        # A name as answers show it comes first: `gateway (via outer)` may be one that came through
        # a second bridge, and a name that was cut would be cut again.
        key = shown_key(asked)
        shown = read_words.spellings_shown(self.connection, asked.strip(), key)
        keys = {each.key for each in read_words.spellings(self.connection, shown).values()}
        keys |= {key} & set(self.aliases.shown)
        return frozenset(self.aliases.canonical(each) for each in keys or {client.key})

    @cached_property
    def client_ids(self) -> Chosen[int] | None:
        """Ids of the spellings of the clients that are asked for, 0 for unattributed; None for all."""
        keys = self.client_keys
        if keys is None:
            return None
        spelled = self.aliases.spelled(keys.values - {""})
        ids = self.moment.once(
            ("spelled", tuple(spelled)),
            lambda: frozenset(read_words.spellings_of(self.connection, spelled)),
        )
        return Chosen(ids | {0} if "" in keys.values else ids, keys.outside)

    @cached_property
    def servers_asked(self) -> Chosen[int] | None:
        """Ids of the servers that are asked for; None for all, those among them that nobody knows yet."""
        if not self.query.server.is_set:
            return None
        if self.query.server.any_of:
            return Chosen(self.server_ids)
        return Chosen(frozenset(self.servers) - self.server_ids, outside=True)

    @cached_property
    def names_asked(self) -> Chosen[str] | None:
        """The names that are asked for, retired or not; None for all."""
        return chosen(self.query.name)

    @cached_property
    def marks(self) -> Marks:
        """What somebody said of clients and names."""
        return Marks(self.told_marks, self.aliases)

    @cached_property
    def told_marks(self) -> tuple[Mark, ...]:
        """Every mark that stands, the oldest first: of the retired name that the one it was told of stands for."""
        return self.moment.once(("marks", self.cut, self.server_ids), self._find_marks)

    def _find_marks(self) -> tuple[Mark, ...]:
        marks = read_told.marks(self.connection)
        stands_for: dict[tuple[str, str], str] = {}
        for id_ in self.server_ids:
            server = self.servers[id_]
            mine = [name for name in self.retired if name.server_id == id_]
            spelled = {mark.name for mark in marks if mark.server == server and mark.name}
            spelled -= {name.name for name in mine}
            if any(True for spelling in spelled for _ in rests(spelling)):
                found = told_of(self.connection, id_, server, spelled, mine)
                stands_for |= {(server, spelling): name for spelling, name in found.items()}
        return tuple(
            replace(mark, name=stands_for.get((mark.server, mark.name or ""), mark.name))
            for mark in marks
        )

    @cached_property
    def heard(self) -> list[read_health.Heard]:
        """Every source and the hours it was heard in before the cut."""
        servers = self.servers_asked
        as_of_us = self.cut.as_of_us
        return self.moment.once(
            ("heard", as_of_us, servers),
            lambda: read_health.heard(self.connection, as_of_us, servers),
        )

    @cached_property
    def about(self) -> frozenset[str]:
        """The servers that an answer can be about: of those that were asked for the ones that have a name and
        know a client that passes the filters, where any does."""
        found = {self.servers[id_]: id_ for id_ in self.server_ids}
        if len(found) > 1 and self.query.name.is_set:
            named = {name.server for name in self.names}
            found = {server: found[server] for server in named} or found
        if len(found) > 1 and self.client_ids is not None:
            known = {server: id_ for server, id_ in found.items() if self._is_known_to(id_)}
            found = known or found
        return frozenset(found)

    def _is_known_to(self, server_id: int) -> bool:
        """Whether the server ever met a client that is asked for."""
        span = (zones.EARLIEST_US, self.cut.as_of_us)
        met = self.moment.once(
            ("met", self.cut, server_id),
            lambda: read_activity.active_clients(self.connection, self.cut, server_id, *span),
        )
        return self.client_ids is None or any(id_ in self.client_ids for id_ in met)

    @cached_property
    def coverage(self) -> Coverage:
        """Which hours were watched on the servers of the answer, as far as is known at the cut and now."""
        return self._together(self.about)

    def coverage_of(self, server: str) -> Coverage:
        """Which hours of one server were watched, as far as is known at the cut and now."""
        return self._together(frozenset({server}))

    def _together(self, servers: frozenset[str]) -> Coverage:
        return self.moment.once(
            ("coverage", self.cut.as_of_us, servers), lambda: self._cover(servers)
        )

    def _cover(self, servers: frozenset[str]) -> Coverage:
        limit_us = min(self.cut.as_of_us, self.moment.now_us)
        sources = [
            coverage.Source(each.server, each.source, each.hours, each.retired)
            for each in self.heard
            if each.server in servers
        ]
        return coverage.cover(sources, limit_us // HOUR_US, _ceil(limit_us, HOUR_US))

    def summary(self, servers: frozenset[str] | None = None) -> CoverageSummary:
        """Coverage of the range, as far as it has come, of the answer's servers or of these."""
        about = self.about if servers is None else servers
        together = self.coverage if servers is None else self._together(servers)
        now_us = min(self.until_us, self.moment.now_us)
        start, end = (
            self.start_us // HOUR_US,
            _ceil(max(now_us, self.start_us), HOUR_US),
        )
        end = max(end, start)
        met = [gap for gap in together.gaps if gap.start < end and gap.end > start]
        each = [self._watched(server, together, about, start, end) for server in sorted(about)]
        partly = [one for one in each if one.covered_hours < end - start]
        if any(one.heard_since is None for one in partly):
            # of one that was not heard by then, nothing is known but what was told
            told = {name.server for name in self.retired}
            partly = [one for one in partly if one.heard_since is not None or one.server in told]
        partly.sort(key=lambda one: one.covered_hours)
        return CoverageSummary(
            covered_hours=together.covered_hours(start, end),
            hours=end - start,
            gaps=tuple(gap_row(gap) for gap in met[-GAPS_SHOWN:]),
            gap_count=len(met),
            servers=tuple(partly[:SERVERS_SHOWN]),
            server_count=len(partly),
        )

    def _watched(
        self, server: str, together: Coverage, about: frozenset[str], start: int, end: int
    ) -> Watched:
        own = together if about == {server} else self.coverage_of(server)
        firsts = [
            int(each.hours[0]) for each in self.heard if each.server == server and each.hours.size
        ]
        return Watched(
            server=server,
            covered_hours=own.covered_hours(start, end),
            heard_since=Instant(min(firsts) * HOUR_US) if firsts else None,
        )

    def answer(
        self,
        items: Iterable[RowT],
        last: Key | None = None,
        servers: frozenset[str] | None = None,
        /,
        **more: object,
    ) -> Collection[RowT]:
        """
        Put rows into the form of every collection; *last* is the key of a page that goes on, *servers* those
        that the rows of all pages are about, where that is not what the question says.
        """
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
            coverage=self.summary(servers),
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
        Forbidden: It goes beyond what a link shows.
        Conflict: The order changes, and the data did since the first page.
    """
    if moment.bound is not None and query.server != only(moment.bound.server):
        # Whoever asks has bound the question before; this holds where that was forgotten.
        raise Forbidden("this link shows one server, and nothing of others")
    zone = zone_asked(query)
    place = read_cursor(collection, query)
    version = read_words.data_version(connection) if changes else version
    if place is not None and place.version != version:
        both = version is not None and isinstance(place.version, str)
        raise data_changed() if both else bad_cursor()
    servers = moment.once("servers", lambda: _servers(connection, moment))
    wanted = frozenset(i for i, name in servers.items() if query.server.takes(name))
    as_of_us = zones.hold(moment.now_us + moment.future_skew_us)
    if query.as_of is not None:
        as_of_us = instant_asked("as_of", query.as_of, zone)
    if place is not None:
        as_of_us = zones.hold(place.as_of_us)
    # A link knows one server, which may not be the first that there was.
    everything = moment.bound is None and len(wanted) == len(servers)
    since_us, until_us = _range(connection, query, zone, as_of_us, wanted, everything)
    if place is not None:
        since_us, until_us = place.since_us, place.until_us or until_us
    return Scope(
        connection=connection,
        query=query,
        moment=moment,
        collection=collection,
        zone=zone,
        cut=moment.once(("cut", as_of_us), lambda: cut_at(connection, as_of_us)),
        since_us=None if since_us is None else zones.hold(since_us),
        until_us=zones.hold(until_us),
        server_ids=wanted,
        place=place,
        version=version,
        servers=servers,
    )


def _servers(connection: Connection, moment: Moment) -> dict[int, str]:
    """Every server by id; to whoever came by a link there is one."""
    every, bound = read_words.servers(connection), moment.bound
    return {id_: name for id_, name in every.items() if bound is None or name == bound.server}


def _range(
    connection: Connection,
    query: Query,
    zone: ZoneInfo,
    as_of_us: int,
    wanted: frozenset[int],
    everything: bool,
) -> tuple[int | None, int]:
    """[since, until) as asked, cut at `as_of`; since is None where nothing has happened yet."""
    until_us = as_of_us
    if query.until is not None:
        until_us = instant_asked("until", query.until, zone)
    if query.since is None:
        first = _first_event(connection, as_of_us, wanted, everything)
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


def _first_event(
    connection: Connection, as_of_us: int, wanted: frozenset[int], everything: bool
) -> int | None:
    """The first event of the servers that are asked for, or of all that there are."""
    if everything:
        return read_activity.first_event(connection, as_of_us) if wanted else None
    firsts = (read_activity.first_event(connection, as_of_us, id_) for id_ in sorted(wanted))
    return min((at for at in firsts if at is not None), default=None)


def chosen(asked: Filter) -> Chosen[str] | None:
    """A filter as a condition on texts; None where everything passes."""
    if not asked.is_set:
        return None
    if asked.any_of:
        return Chosen(frozenset(asked.any_of) - frozenset(asked.none_of))
    return Chosen(frozenset(asked.none_of), outside=True)


def _ceil(value: int, unit: int) -> int:
    return -(-value // unit)
