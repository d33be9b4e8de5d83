"""What the servers listed, and when; and what changed between two such lists."""

from dataclasses import dataclass

from service.analysis import surface
from service.analysis.surface import Rule, Weight
from service.answers.paging import Order, page
from service.answers.query import (
    Collection,
    Instant,
    Moment,
    Query,
    iso,
    limit_asked,
    one_asked,
)
from service.answers.scope import Scope, scope_of
from service.errors import BadParameter
from service.store import read_catalogue
from service.store.engine import Connection
from service.store.read_catalogue import Listed


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRow:
    """
    The `tools` (how many) that a server listed at an instant. `version` is what was told, else what the
    server said of itself; `source` how the list was come by: `stdio`, `url` or `rest`.
    """

    id: int
    server: str
    at: Instant
    version: str | None
    protocol_version: str | None
    tools: int
    source: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """
    One change that clients with a copy of the earlier list do not know. `argument` is a path such as
    `stops[].at`, None where it is about the tool; `weight` is `breaks`, or `look_at` where somebody has
    to judge a text. `why` says why a cached copy breaks.
    """

    server: str
    rule: Rule
    weight: Weight
    tool: str
    argument: str | None
    before: str | None
    after: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """An entry for a lost name that the catalogue does not have. `maybe` is what it may be called now: a
    guess by its words."""

    server: str
    name: str
    last_release: str | None
    retired_at: Instant
    maybe: tuple[str, ...]


def snapshots(connection: Connection, query: Query, moment: Moment) -> Collection[SnapshotRow]:
    """
    Every snapshot, by server and time, whatever the range.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "snapshots")
    found = read_catalogue.snapshots(connection, scope.server_ids)
    kept, last = page(found, lambda s: ("", s.server, s.at_us), Order(), scope.after, limit)
    counts = read_catalogue.tool_counts(connection, [each.id for each in kept])
    return scope.answer((_row(each, counts[each.id]) for each in kept), last)


def diff(connection: Connection, query: Query, moment: Moment) -> Collection[ChangeRow]:
    """
    What changed between two snapshots of a server: the last two, or those that `before` and `after`
    name by version, id or instant.

    The answer also holds `before` and `after`, `lost` and `gained` names, and `proposals`: entries for
    the lost names that the catalogue does not have, each with names that it may be called now (`maybe`,
    a guess). Where there are not two snapshots, what is missing is None and nothing is compared.

    Raises:
        BadParameter: The server is missing where there are several, there is no snapshot that was
            named, or a parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "diff")
    before, after = _pair(scope)
    found = surface.Compared((), (), ())
    if before is not None and after is not None:
        old, new = (read_catalogue.tools(connection, each.id) for each in (before, after))
        found = surface.compare(old, new)
    pair = [each.id for each in (before, after) if each is not None]
    counts = read_catalogue.tool_counts(connection, pair)
    rows = [
        ChangeRow(
            server=after.server if after else "",
            rule=each.rule,
            weight=each.weight,
            tool=each.tool,
            argument=each.argument,
            before=each.before,
            after=each.after,
            why=each.why,
        )
        for each in found.findings
    ]
    numbered = list(enumerate(rows))
    kept, last = page(numbered, lambda pair: ("", pair[0]), Order(), scope.after, limit)
    return scope.answer(
        (row for _, row in kept),
        last,
        before=None if before is None else _row(before, counts[before.id]),
        after=None if after is None else _row(after, counts[after.id]),
        lost=found.lost,
        gained=found.gained,
        proposals=_proposals(scope, before, after, found),
    )


def _row(each: Listed, tools: int) -> SnapshotRow:
    return SnapshotRow(
        id=each.id,
        server=each.server,
        at=Instant(each.at_us),
        version=each.version,
        protocol_version=each.protocol_version,
        tools=tools,
        source=each.source,
        actor=each.actor,
    )


def _pair(scope: Scope) -> tuple[Listed | None, Listed | None]:
    """The two snapshots that are asked for; None for what is not there and was not named."""
    found = read_catalogue.snapshots(scope.connection, scope.server_ids)
    servers = sorted({each.server for each in found})
    if len(servers) > 1:
        one_asked("server", scope.query.server)
        raise BadParameter("server", f"missing; one of {', '.join(servers[:20])}")
    query = scope.query
    last = found[-1] if found else None
    after = last if query.after is None else _named("after", found, query.after)
    if query.before is not None:
        return _named("before", found, query.before), after
    earlier = [each for each in found if after is not None and each.at_us < after.at_us]
    return (earlier[-1] if earlier else None), after


def _named(parameter: str, found: list[Listed], text: str) -> Listed:
    """The snapshot with this version (of several the last), id or instant."""
    for match in (
        [each for each in found if each.version == text],
        [each for each in found if str(each.id) == text],
        [each for each in found if iso(each.at_us) == text],
    ):
        if match:
            return match[-1]
    known = ", ".join(f"{each.id} ({each.version or iso(each.at_us)})" for each in found[-10:])
    has = (
        f"there are {known}" if found else "there is none; `lastcall catalogue snapshot` takes one"
    )
    raise BadParameter(parameter, f"no such snapshot; {has}")


def _proposals(
    scope: Scope, before: Listed | None, after: Listed | None, found: surface.Compared
) -> tuple[ProposalRow, ...]:
    if before is None or after is None:
        return ()
    told = {entry.name for entry, _ in read_catalogue.entries(scope.connection, scope.server_ids)}
    similar = surface.Similar(found.gained)
    return tuple(
        ProposalRow(
            server=after.server,
            name=name,
            last_release=before.version,
            retired_at=Instant(after.at_us),
            maybe=similar.to(name),
        )
        for name in found.lost
        if name not in told
    )
