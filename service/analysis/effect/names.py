"""The question for each of several retired names."""

from collections.abc import Mapping

import numpy as np

from service.analysis.effect.discoveries import kept
from service.analysis.effect.guards import RULED_OUT
from service.analysis.effect.panel import Panel
from service.analysis.effect.question import effect
from service.analysis.effect.results import Effect, NameEffect, Verdict


def by_name(panels: Mapping[str, Panel]) -> tuple[NameEffect, ...]:
    """
    The verdict for each name, in the order given.

    Many names make chance finds. Where the interval decided, a change is kept only if its p-value
    holds when one false discovery in ten is allowed among those names.
    """
    effects = {name: effect(panel) for name, panel in panels.items()}
    asked = [name for name, found in effects.items() if _decided(found)]
    held = kept(np.array([effects[name].p_value for name in asked], dtype=np.float64))
    significant = dict(zip(asked, held.tolist(), strict=True))
    return tuple(
        NameEffect(name, found, significant.get(name), _word(found, significant.get(name)))
        for name, found in effects.items()
    )


def _decided(found: Effect) -> bool:
    """Whether the interval decided: every guard but that of precision passed."""
    return found.p_value is not None and found.reason in (None, "precision")


def _word(found: Effect, significant: bool | None) -> Verdict:
    """The verdict, or without its claim where that is not kept."""
    if found.verdict not in ("reduced", "increased") or significant is not False:
        return found.verdict
    low, high = found.interval or (0.0, None)
    narrow = low >= 1 / RULED_OUT and high is not None and high <= RULED_OUT
    return "no detectable change" if narrow else "not enough data"
