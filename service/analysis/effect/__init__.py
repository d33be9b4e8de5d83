"""Did notifications help? Clients by days in, a verdict with its interval and guards out."""

from service.analysis.effect.clients import by_client
from service.analysis.effect.names import by_name
from service.analysis.effect.panel import Notified, Panel, Unit, panel
from service.analysis.effect.question import effect, effect_of
from service.analysis.effect.results import (
    ClientEffect,
    Effect,
    Guard,
    LeftOut,
    Missing,
    NameEffect,
    Placebo,
    Trend,
    Week,
    WeekSince,
)
from service.analysis.effect.weeks import event_study, weeks

__all__ = [
    "ClientEffect",
    "Effect",
    "Guard",
    "LeftOut",
    "Missing",
    "NameEffect",
    "Notified",
    "Panel",
    "Placebo",
    "Trend",
    "Unit",
    "Week",
    "WeekSince",
    "by_client",
    "by_name",
    "effect",
    "effect_of",
    "event_study",
    "panel",
    "weeks",
]
