"""
The read seam: rows → analysis → results, for the API, pages, reports and commands alike.

Each answer is a function of a connection, a `Query` and a `Moment`; all results are frozen.
"""

from service.answers.audit import AuditRow, audit
from service.answers.batches import BatchRow, batches
from service.answers.callers import CallerRow, callers
from service.answers.catalogue import EntryRow, catalogue, history
from service.answers.clients import ClientRow, clients
from service.answers.compare import CompareRow, compare
from service.answers.contact import About, ContactRow, MessageRow, contact
from service.answers.coverage import SpanRow, coverage
from service.answers.cures import CureRow, cures
from service.answers.events import EventRow, events
from service.answers.health import ArrivalDay, HealthRow, health
from service.answers.lint import FaultRow, lint
from service.answers.listed import ListedRow, listed
from service.answers.names import NameRow, names
from service.answers.overview import overview
from service.answers.overview_rows import OverviewRow, OverviewTotals
from service.answers.query import (
    Collection,
    CoverageSummary,
    GapRow,
    Instant,
    Moment,
    Query,
    Range,
)
from service.answers.reactions import ReactionRow, reactions
from service.answers.rejects import RejectRow, rejects
from service.answers.releases import ReleaseRow, releases
from service.answers.series import SeriesRow, series
from service.answers.servers import ServerRow, servers
from service.answers.snapshots import ChangeRow, ProposalRow, SnapshotRow, diff, snapshots
from service.answers.todo import TodoRow, TodoTotals, todo
from service.answers.told import AliasRow, ExclusionRow, MarkRow, aliases, exclusions, marks
from service.answers.uptake import UptakeRow, uptake
from service.answers.vintage import VintageRow, vintage

__all__ = [
    "About",
    "AliasRow",
    "ArrivalDay",
    "AuditRow",
    "BatchRow",
    "CallerRow",
    "ChangeRow",
    "ClientRow",
    "Collection",
    "CompareRow",
    "ContactRow",
    "CoverageSummary",
    "CureRow",
    "EntryRow",
    "EventRow",
    "ExclusionRow",
    "FaultRow",
    "GapRow",
    "HealthRow",
    "Instant",
    "ListedRow",
    "MarkRow",
    "MessageRow",
    "Moment",
    "NameRow",
    "OverviewRow",
    "OverviewTotals",
    "ProposalRow",
    "Query",
    "Range",
    "ReactionRow",
    "RejectRow",
    "ReleaseRow",
    "SeriesRow",
    "ServerRow",
    "SnapshotRow",
    "SpanRow",
    "TodoRow",
    "TodoTotals",
    "UptakeRow",
    "VintageRow",
    "aliases",
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
    "events",
    "exclusions",
    "health",
    "history",
    "lint",
    "listed",
    "marks",
    "names",
    "overview",
    "reactions",
    "rejects",
    "releases",
    "series",
    "servers",
    "snapshots",
    "todo",
    "uptake",
    "vintage",
]
