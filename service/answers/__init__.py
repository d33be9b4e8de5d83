"""
The read seam: rows → analysis → results, for the API, pages, reports and commands alike.

Each answer is a function of a connection, a `Query` and a `Moment`; all results are frozen.
"""

from service.answers.annotations import AnnotationRow, NoteRow, annotations, notes
from service.answers.audit import AuditRow, audit
from service.answers.batches import BatchRow, batches
from service.answers.callers import CallerRow, callers
from service.answers.catalogue import EntryRow, catalogue, history
from service.answers.clients import ClientRow, clients
from service.answers.compare import CompareRow, CompareTotals, compare
from service.answers.contact import About, ContactRow, MessageRow, contact
from service.answers.coverage import SpanRow, coverage
from service.answers.cures import CureRow, cures
from service.answers.effect import EffectRow, effect
from service.answers.effect_views import (
    EffectClientRow,
    EffectNameRow,
    EffectSinceRow,
    EffectWeekRow,
    effect_clients,
    effect_names,
    effect_since,
    effect_weeks,
)
from service.answers.events import EventRow, events
from service.answers.find import Found, find, known_values
from service.answers.health import ArrivalDay, HealthRow, health
from service.answers.latency import latency
from service.answers.lint import FaultRow, lint
from service.answers.listed import ListedRow, listed
from service.answers.names import LastReleaseRow, NameRow, last_releases, names
from service.answers.overview import overview
from service.answers.overview_rows import OverviewRow, OverviewTotals
from service.answers.plans import PlanRead, PlanRow, plan, plan_snippet, plans, to_split
from service.answers.query import (
    Collection,
    CoverageSummary,
    GapRow,
    Instant,
    Moment,
    Query,
    Range,
)
from service.answers.reaction_report import reaction_report
from service.answers.reaction_rows import LatencyRow, ReactionRow, ReactionTotals
from service.answers.reactions import reactions
from service.answers.rejects import RejectRow, rejects
from service.answers.releases import ReleaseRow, releases
from service.answers.said import SaidRow, said
from service.answers.second_opinions import SecondOpinions
from service.answers.series import SeriesRow, series
from service.answers.servers import ServerRow, servers
from service.answers.snapshots import ChangeRow, ProposalRow, SnapshotRow, diff, snapshots
from service.answers.stopped import StoppedRow, WeakestClient, stopped
from service.answers.todo import TodoRow, TodoTotals, todo
from service.answers.told import AliasRow, ExclusionRow, MarkRow, aliases, exclusions, marks
from service.answers.uptake import UptakeRow, uptake
from service.answers.vintage import VintageRow, vintage

__all__ = [
    "About",
    "AliasRow",
    "AnnotationRow",
    "ArrivalDay",
    "AuditRow",
    "BatchRow",
    "CallerRow",
    "ChangeRow",
    "ClientRow",
    "Collection",
    "CompareRow",
    "CompareTotals",
    "ContactRow",
    "CoverageSummary",
    "CureRow",
    "EffectClientRow",
    "EffectNameRow",
    "EffectRow",
    "EffectSinceRow",
    "EffectWeekRow",
    "EntryRow",
    "EventRow",
    "ExclusionRow",
    "FaultRow",
    "Found",
    "GapRow",
    "HealthRow",
    "Instant",
    "LastReleaseRow",
    "LatencyRow",
    "ListedRow",
    "MarkRow",
    "MessageRow",
    "Moment",
    "NameRow",
    "NoteRow",
    "OverviewRow",
    "OverviewTotals",
    "PlanRead",
    "PlanRow",
    "ProposalRow",
    "Query",
    "Range",
    "ReactionRow",
    "ReactionTotals",
    "RejectRow",
    "ReleaseRow",
    "SaidRow",
    "SecondOpinions",
    "SeriesRow",
    "ServerRow",
    "SnapshotRow",
    "SpanRow",
    "StoppedRow",
    "TodoRow",
    "TodoTotals",
    "UptakeRow",
    "VintageRow",
    "WeakestClient",
    "aliases",
    "annotations",
    "audit",
    "batches",
    "callers",
    "catalogue",
    "clients",
    "compare",
    "contact",
    "coverage",
    "cures",
    "diff",
    "effect",
    "effect_clients",
    "effect_names",
    "effect_since",
    "effect_weeks",
    "events",
    "exclusions",
    "find",
    "health",
    "history",
    "known_values",
    "last_releases",
    "latency",
    "lint",
    "listed",
    "marks",
    "names",
    "notes",
    "overview",
    "plan",
    "plan_snippet",
    "plans",
    "reaction_report",
    "reactions",
    "rejects",
    "releases",
    "said",
    "series",
    "servers",
    "snapshots",
    "stopped",
    "to_split",
    "todo",
    "uptake",
    "vintage",
]
