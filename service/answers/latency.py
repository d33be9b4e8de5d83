"""How long clients take to list the tools again after a notification."""

from service.analysis.labels import LABELS
from service.analysis.survival import Curve, kaplan_meier
from service.answers.paging import Order, page
from service.answers.query import Collection, Moment, Query, limit_asked
from service.answers.reaction_evidence import gathered
from service.answers.reaction_rows import LatencyRow
from service.answers.reactions import rounded, seconds
from service.answers.scope import scope_of
from service.clock import SECOND_US
from service.store.engine import Connection

_CLOSED = LABELS.index("no_channel")


def latency(connection: Connection, query: Query, moment: Moment) -> Collection[LatencyRow]:
    """
    The steps of the time from an episode's first notification to the listing that its session, or its client
    where it has none, makes: by time. Of all episodes that are asked for together.

    The answer also holds `watched`, how many episodes it is of, `listed`, how many of them listed, and
    `median_s` with `median_low_s` and `median_high_s`, None where not reached.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "latency")
    evidence, _, _ = gathered(scope)
    times, happened = evidence.durations
    open_ = evidence.labels != _CLOSED
    curve = kaplan_meier(times[open_], happened[open_])
    kept, last = page(
        _rows(curve), lambda row: ("", round(row.after_s * SECOND_US)), Order(), scope.after, limit
    )
    low, high = curve.median_interval
    return scope.answer(
        kept,
        last,
        watched=curve.n,
        listed=int(curve.events.sum()),
        median_s=seconds(curve.median),
        median_low_s=seconds(low),
        median_high_s=seconds(high),
    )


def _rows(curve: Curve) -> list[LatencyRow]:
    """What has listed is what is not left, so that the ends of the band change places."""
    gone = curve.left <= 0
    return [
        LatencyRow(
            after_s=int(at_us) / SECOND_US,
            at_risk=int(curve.at_risk[place]),
            events=int(curve.events[place]),
            listed=rounded(1 - curve.left[place]) or 0.0,
            listed_low=None if gone[place] else rounded(1 - curve.high[place]),
            listed_high=None if gone[place] else rounded(1 - curve.low[place]),
        )
        for place, at_us in enumerate(curve.times)
    ]
