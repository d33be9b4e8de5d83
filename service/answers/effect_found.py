"""What the analysis finds out from the material of a question about notifications."""

from dataclasses import dataclass, fields, replace

from service.analysis import effect as analysis
from service.analysis.effect import (
    ClientEffect,
    Effect,
    LeftOut,
    NameEffect,
    Panel,
    Week,
    WeekSince,
)
from service.analysis.effect.panel import Counts
from service.answers.kept import kept_by


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that takes the model of the calls; it goes by the material alone."""

    effect: Effect
    refreshed: Effect | None
    """Of the clients that listed the tools again at once; None where nobody did."""
    ignored: Effect | None
    clients: tuple[ClientEffect, ...]
    names: tuple[NameEffect, ...]
    weeks: tuple[Week, ...]
    since: tuple[WeekSince, ...]


def findings(
    panel: Panel,
    left_out: tuple[LeftOut, ...],
    refreshed: tuple[int, ...],
    ignored: tuple[int, ...],
    names: tuple[Counts, ...],
) -> Findings:
    """
    Ask of a panel, kept by all that is in it: its days are over, so that a line of today changes none of it,
    and one that comes late does.

    Args:
        refreshed, ignored: Places of units.
        names: (C, T) each: the calls to one name alone. The answers stand in their order.
    """

    def part(members: tuple[int, ...]) -> Effect | None:
        return analysis.effect_of(panel, members) if members else None

    def ask() -> Findings:
        each = {str(at): replace(panel, calls=calls) for at, calls in enumerate(names)}
        return Findings(
            effect=analysis.effect(panel, left_out),
            refreshed=part(refreshed),
            ignored=part(ignored),
            clients=analysis.by_client(panel),
            names=analysis.by_name(each),
            weeks=analysis.weeks(panel),
            since=analysis.event_study(panel),
        )

    return kept_by("effect", (*_parts(panel), left_out, refreshed, ignored, names), ask)


def of_members(panel: Panel, members: tuple[int, ...]) -> Effect:
    """The same question of some units, by their places, kept alike."""
    return kept_by(
        "effect of members",
        (*_parts(panel), members),
        lambda: analysis.effect_of(panel, members),
    )


def _parts(panel: Panel) -> tuple[object, ...]:
    return tuple(getattr(panel, member.name) for member in fields(panel))
