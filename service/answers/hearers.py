"""
Whom notifications reached. One that names neither client nor session reaches every session of its server
that has a stream open; where none is known to be, nobody knows whom.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from service.analysis.counts import Column
from service.answers.scope import Scope
from service.events import Kind
from service.store import read_hearers, read_signals
from service.store.read_hearers import Channels
from service.store.read_signals import Signals
from service.store.read_spans import Span


@dataclass(frozen=True, slots=True)
class Told:
    """
    One entry a notification and client that it reached, in no order. Of those to everybody, only the first
    that each stream carried.
    """

    server_id: Column
    session_id: Column
    """0 for none."""
    client_id: Column
    time_us: Column
    unheard_us: Column
    """When notifications to everybody were sent that no open stream is known to have carried."""


def told_of(scope: Scope, server_ids: Collection[int], span: Span) -> Told:
    """Every notification of these servers in a stretch of time before the cut, and its clients."""
    sent = read_signals.signals(scope.connection, scope.cut, server_ids, Kind.NOTIFICATION, [span])
    sent = sent.where(sent.time_us < scope.cut.as_of_us)
    named = sent.where(sent.client_id > 0)
    general = sent.where((sent.client_id == 0) & (sent.session_id == 0))
    parts = [(named.server_id, named.session_id, named.client_id, named.time_us)]
    unheard = [general.time_us[:0]]
    if general.time_us.size:
        end = int(general.time_us.max()) + 1
        opened = read_hearers.channels(scope.connection, scope.cut, server_ids, end)
        for server_id in np.unique(general.server_id).tolist():
            heard, missed = _heard(general, opened, server_id)
            parts.append(heard)
            unheard.append(missed)
    server, session, client, time = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Told(server, session, client, time, np.concatenate(unheard))


def _heard(
    general: Signals, opened: Channels, server_id: int
) -> tuple[tuple[Column, Column, Column, Column], Column]:
    """
    Of one server (server, session, client, instant) of each stream that carried a notification to everybody,
    the first of them; and when those were sent that none did.
    """
    times = np.sort(general.time_us[general.server_id == server_id])
    mine = (opened.server_id == server_id) & (opened.client_id > 0)
    start, end = opened.opened_us[mine], opened.last_us[mine]
    place = np.searchsorted(times, start)
    first = times[np.minimum(place, times.size - 1)]
    carried = (place < times.size) & (first <= end)
    open_then = np.searchsorted(np.sort(start), times, side="right") - np.searchsorted(
        np.sort(end), times, side="left"
    )
    entries = (
        np.full(int(carried.sum()), server_id, dtype=np.int64),
        opened.session_id[mine][carried],
        opened.client_id[mine][carried],
        first[carried],
    )
    return entries, times[open_then <= 0]
