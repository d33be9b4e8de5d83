"""
The read seam: rows → analysis → results, for the API, pages, reports and commands alike.

Each answer is a function of a connection, a `Query` and a `Moment`; all results are frozen.
"""

from service.answers.audit import AuditRow, audit
from service.answers.batches import BatchRow, batches
from service.answers.callers import CallerRow, callers
from service.answers.clients import ClientRow, clients
from service.answers.coverage import SpanRow, coverage
from service.answers.events import EventRow, events
from service.answers.health import ArrivalDay, HealthRow, health
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

__all__ = [
    "ArrivalDay",
    "AuditRow",
    "BatchRow",
    "CallerRow",
    "ClientRow",
    "Collection",
    "CoverageSummary",
    "EventRow",
    "GapRow",
    "HealthRow",
    "Instant",
    "Moment",
    "NameRow",
    "OverviewRow",
    "OverviewTotals",
    "Query",
    "Range",
    "ReactionRow",
    "RejectRow",
    "ReleaseRow",
    "SeriesRow",
    "ServerRow",
    "SpanRow",
    "audit",
    "batches",
    "callers",
    "clients",
    "coverage",
    "events",
    "health",
    "names",
    "overview",
    "reactions",
    "rejects",
    "releases",
    "series",
    "servers",
]
