"""Everything that is known of the episodes of a question: what was sent, listed and done after it."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.analysis import labels as labelling
from service.analysis import placebo
from service.analysis import reactions as analysis
from service.analysis.counts import Column
from service.analysis.labels import Known, Listed
from service.answers import calls as gather
from service.answers.people import NOBODY, People, people
from service.answers.reaction_later import Follower
from service.answers.scope import Scope
from service.clock import HOUR_US
from service.events import Kind
from service.store import read_calls, read_notified, read_signals, read_words
from service.store.read_calls import Calls
from service.store.read_notified import Notified, Opened

Mask = NDArray[np.bool_]
STATELESS_SINCE = "2026-07-28"
"""The revision of the protocol from which on there are no sessions and no hello."""


@dataclass(frozen=True)
class Evidence:
    """The notifications of a question, which all name a client or a session, and what belongs to them."""

    scope: Scope
    sent: Notified

    @property
    def refresh_us(self) -> int:
        """The refresh window."""
        return self.scope.moment.refresh_window_us

    @property
    def end_us(self) -> int:
        """The first instant that nothing is known of."""
        return min(self.scope.cut.as_of_us, self.scope.moment.now_us)

    @cached_property
    def listings(self) -> read_signals.Signals:
        """Every listing of these servers: also those before, for the background."""
        return read_signals.signals(
            self.scope.connection,
            self.scope.cut,
            self.servers,
            Kind.LISTING,
            [(0, self.scope.cut.as_of_us)] if self.sent.time_us.size else (),
        )

    @cached_property
    def servers(self) -> frozenset[int]:
        """Ids of the servers that sent them."""
        return frozenset(np.unique(self.sent.server_id).tolist())

    @cached_property
    def stale(self) -> Calls:
        """Stale calls around them that count."""
        compare_us, as_of_us = self.scope.moment.compare_window_us, self.scope.cut.as_of_us
        if not self.sent.time_us.size:
            return Calls.join(())
        first, last = int(self.sent.time_us.min()), int(self.sent.time_us.max())
        after_us = max(compare_us, labelling.IN_FLIGHT_US)
        around = (first - compare_us, min(last + after_us + 1, as_of_us))
        return gather.rows(self.scope, self.scope.names, (around,), read_calls.CLIENT)

    @cached_property
    def known(self) -> People:
        """The clients behind all of them."""
        named = (self.sent.client_id, self.listings.client_id, self.stale.client_id)
        return people(self.scope, np.unique(np.concatenate(named)).tolist())

    def rows(self, events: Any, session_id: Column | None = None) -> analysis.Rows:
        """Events with their clients' numbers."""
        session = events.session_id if session_id is None else session_id
        return analysis.Rows(
            events.server_id, session, self.known.groups(events.client_id), events.time_us
        )

    @cached_property
    def notifications(self) -> analysis.Rows:
        return self.rows(self.sent)

    @cached_property
    def lists(self) -> analysis.Rows:
        return self.rows(self.listings)

    @cached_property
    def calls(self) -> analysis.Rows:
        return self.rows(self.stale, self.stale.time_us * 0)

    @cached_property
    def found(self) -> analysis.Episodes:
        """The episodes."""
        return analysis.episodes(self.notifications, self.refresh_us)

    @cached_property
    def listed(self) -> Listed:
        """The listings after each episode."""
        return labelling.listed_after(self.found, self.lists, self.refresh_us, self.end_us)

    @cached_property
    def sessions(self) -> dict[int, Opened]:
        """The sessions that they were sent to."""
        ids = set(np.unique(self.sent.session_id).tolist()) - {0}
        return read_notified.opened(self.scope.connection, self.scope.cut, ids)

    @cached_property
    def versions(self) -> list[str | None]:
        """The version of each notification: its line's, else that of its session's hello, else the one in the name."""
        sent, sessions = self.sent, self.sessions
        ids = [
            own or (sessions[id_].version_id if id_ in sessions else 0)
            for own, id_ in zip(sent.version_id.tolist(), sent.session_id.tolist(), strict=True)
        ]
        words = read_words.version_names(self.scope.connection, {id_ for id_ in ids if id_})
        spelled = self.known.spellings
        return [
            words[id_] if id_ else (spelled[client].version if client in spelled else None)
            for id_, client in zip(ids, sent.client_id.tolist(), strict=True)
        ]

    @cached_property
    def eras(self) -> list[str | None]:
        """The era of the protocol of each notification: by its line, else by its session's hello."""
        found: list[str | None] = []
        for said, id_ in zip(self.sent.protocol, self.sent.session_id.tolist(), strict=True):
            text = said or (self.sessions[id_].protocol if id_ in self.sessions else None)
            found.append(era_of(text))
        return found

    @cached_property
    def by_hello(self) -> Mask:
        """The episodes that their client's own hello triggered, as the log says, else by their times."""
        triggers, found = self.sent.trigger, []
        for place, session, first in zip(
            self.found.row.tolist(),
            self.found.session.tolist(),
            self.found.first_us.tolist(),
            strict=True,
        ):
            said = triggers[place]
            hello_us = self.sessions[session].hello_us if session in self.sessions else None
            just = hello_us is not None and 0 <= first - hello_us <= self.refresh_us
            found.append(just if said is None else said.casefold() in placebo.HELLO_TRIGGERS)
        return np.array(found, dtype=np.bool_)

    @cached_property
    def ends_us(self) -> Column:
        """The last event of each episode's session; 0 where there is no session."""
        ends = [
            self.sessions[id_].last_us if id_ in self.sessions else 0
            for id_ in self.found.session.tolist()
        ]
        return np.array(ends, dtype=np.int64)

    @cached_property
    def follower(self) -> Follower:
        """Looks up what clients did later."""
        return Follower(self.scope, self.known, self.found)

    @cached_property
    def state(self) -> Known:
        """What else is known of each episode."""
        named = [self.known.keys[client] != NOBODY for client in self.found.client.tolist()]
        followed = np.array(named, dtype=np.bool_)
        logged = np.isin(self.found.server, sorted(self.follower.streaming))
        return Known(
            active=self.follower.active(self.listed.next_us, followed),
            followed=followed,
            closed=logged & ~self.follower.opened(self.sessions),
        )

    @cached_property
    def measured(self) -> Mask:
        """The episodes that a share is of."""
        return labelling.measured(self.found, self.state, self.refresh_us, self.end_us)

    @cached_property
    def labels(self) -> Column:
        """The label of each episode, as its place among `LABELS`."""
        return labelling.labels(
            self.found,
            self.listed,
            self.state,
            refresh_us=self.refresh_us,
            end_us=self.end_us,
        )

    @cached_property
    def elsewhere(self) -> Mask:
        """The episodes that their session did not answer, but another of their client listed."""
        return self.listed.elsewhere & (self.listed.at_us < 0)

    @cached_property
    def durations(self) -> tuple[Column, Mask]:
        """How long each episode was watched, and whether it was to its listing."""
        return labelling.durations(self.found, self.listed, self.ends_us, self.refresh_us)

    @cached_property
    def _connects(self) -> placebo.Connects:
        ids = self.follower.spelled(self.found.client[self.by_hello].tolist())
        read = read_notified.connects(self.scope.connection, self.scope.cut, self.servers, ids)
        server, client, time = read
        number = {id_: n for n, each in self.follower.ids.items() for id_ in each}
        return placebo.Connects(
            server, np.array([number[id_] for id_ in client.tolist()], dtype=np.int64), time
        )

    def background(self, groups: analysis.Groups) -> tuple[Column, Column]:
        """For each group, how often its client listed at instants when nobody had told it, and of how many."""
        return placebo.background(
            self.found,
            groups,
            self.by_hello,
            self._connects,
            self.follower.first_seen(groups, self.end_us),
            self.lists,
            self._covered,
            self.refresh_us,
        )

    def _covered(self, server: int, at_us: Column) -> Mask:
        heard = self.scope.coverage_of(self.scope.servers[server])
        hours = at_us // HOUR_US
        if not hours.size:
            return np.zeros(0, dtype=np.bool_)
        first = int(hours.min())
        return heard.each(first, int(hours.max()) + 1)[hours - first]


def era_of(protocol: str | None) -> str | None:
    """
    The era of a revision of the protocol, which is a date.

    >>> era_of("2025-06-18"), era_of("2026-07-28"), era_of("latest"), era_of(None)
    ('stateful', 'stateless', None, None)
    """
    if protocol is None or len(protocol) != 10 or not protocol[:4].isdecimal():
        return None
    return "stateless" if protocol >= STATELESS_SINCE else "stateful"


def gathered(scope: Scope) -> tuple[Evidence, int, int]:
    """
    The evidence of a question, and how many notifications of its range name neither client nor session,
    and how many are left out by a rule. Questions to one snapshot share it, however each groups and sorts.
    """
    query = scope.query
    asked = (scope.server_ids, query.name, query.client, query.excluded)
    span = (scope.cut, scope.start_us, scope.until_us)
    return scope.moment.once(("reactions", asked, span), lambda: _gathered(scope))


def _gathered(scope: Scope) -> tuple[Evidence, int, int]:
    sent = read_notified.notified(
        scope.connection, scope.cut, scope.server_ids, (scope.start_us, scope.until_us)
    )
    nobodys = (sent.client_id == 0) & (sent.session_id == 0)
    asked = ~nobodys
    if scope.client_ids is not None:
        asked &= scope.client_ids.mask(sent.client_id)
    counted = _counted(scope, sent)
    kept = _where(sent, asked & counted)
    return Evidence(scope, kept), int(nobodys.sum()), int((asked & ~counted).sum())


def _counted(scope: Scope, sent: Notified) -> Mask:
    """The notifications to clients that no rule leaves out, or, where those are asked for, nothing but these."""
    rules = scope.exclusions
    if not rules.any:
        return np.ones(sent.time_us.size, dtype=np.bool_)
    zeros = np.zeros_like(sent.time_us)
    given = {
        "time_us": sent.time_us,
        "server_id": sent.server_id,
        "client_id": sent.client_id,
        "version_id": sent.version_id,
    }
    left_out = rules.mask(Calls(*(given.get(each.name, zeros) for each in fields(Calls))))
    return left_out if rules.only else ~left_out


def _where(sent: Notified, mask: Mask) -> Notified:
    places = np.flatnonzero(mask).tolist()
    return Notified(
        sent.server_id[mask],
        sent.session_id[mask],
        sent.client_id[mask],
        sent.version_id[mask],
        sent.time_us[mask],
        tuple(sent.trigger[place] for place in places),
        tuple(sent.protocol[place] for place in places),
    )
