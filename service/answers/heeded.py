"""Which clients listed the tools again at once after their first notification, and which did not."""

from dataclasses import dataclass

import numpy as np

from service.analysis import reactions
from service.analysis.counts import Column
from service.answers.panels import Panels
from service.events import Kind
from service.store import read_signals, read_spans
from service.store.read_signals import Signals


@dataclass(frozen=True, slots=True)
class Heeded:
    """
    Places of units. `neither` are those of several sessions notified at once of which some listed, and
    those whose window is not over.
    """

    refreshed: tuple[int, ...]
    ignored: tuple[int, ...]
    neither: tuple[int, ...]


def heeded(panels: Panels) -> Heeded:
    """What each unit did after its first notification, and further ones in the refresh window after."""
    told, moment, cut = panels.told, panels.scope.moment, panels.scope.cut
    place = panels.places_of(told.server_id, told.client_id)
    first = np.full(len(panels.units) + 1, np.iinfo(np.int64).max - moment.refresh_window_us)
    np.minimum.at(first, place, told.time_us)
    opening = (place >= 0) & (told.time_us <= first[place] + moment.refresh_window_us)
    at = told.time_us[opening]
    listings = _listings(panels, at)
    listed = panels.places_of(listings.server_id, listings.client_id)
    none = np.empty(0, dtype=np.int64)
    found = reactions.reactions(
        reactions.Rows(at * 0, told.session_id[opening], place[opening], at),
        reactions.Rows(
            listed * 0,
            listings.session_id,
            np.where(listed < 0, len(panels.units), listed),
            listings.time_us,
        ),
        reactions.Rows(none, none, none, none),
        refresh_us=moment.refresh_window_us,
        compare_us=0,
        end_us=min(cut.as_of_us, moment.now_us),
    )
    said = {each.client: _word(each) for each in found}
    words = ("refreshed", "ignored", "neither")
    return Heeded(*(tuple(sorted(u for u in said if said[u] == word)) for word in words))


def _word(found: reactions.Reaction) -> str:
    if found.outcome == "too_early":
        return "neither"
    return {0: "ignored", found.episodes: "refreshed"}.get(found.answered, "neither")


def _listings(panels: Panels, notified_us: Column) -> Signals:
    """Every listing that can answer these notifications, before the cut."""
    scope = panels.scope
    reach_us = 2 * scope.moment.refresh_window_us + 1
    spans = read_spans.few(notified_us, notified_us + reach_us)
    before = (int(notified_us.min(initial=0)), scope.cut.as_of_us)
    return read_signals.signals(
        scope.connection,
        scope.cut,
        list(panels.activity),
        Kind.LISTING,
        read_spans.clip(spans, before),
    )
