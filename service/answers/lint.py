"""What is wrong with the catalogue: one row a fault."""

from dataclasses import dataclass

from service.analysis import lint as analysis
from service.analysis.lint import Fault, Known, Rule, Weight
from service.answers import calls as gather
from service.answers.names import facts
from service.answers.paging import Order, page
from service.answers.query import Collection, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store import read_catalogue, read_listed
from service.store.engine import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow:
    """
    One fault of a name. `weight` is `wrong`, or `look_at` where somebody has to judge. `others` are the
    names it is about: of `replacement_retired` the replacement, then what its own replacements end in, five at most.
    """

    server: str
    name: str
    rule: Rule
    weight: Weight
    others: tuple[str, ...]
    says: str


def lint(connection: Connection, query: Query, moment: Moment) -> Collection[FaultRow]:
    """
    Every fault of the catalogue, by server, name and rule, beside what lines said up to the cut and
    what the server's latest snapshot lists.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "lint")
    rows = [
        (server, fault)
        for server_id, server in scope.servers.items()
        if server_id in scope.server_ids
        for fault in analysis.lint(_known(scope, server_id))
        if query.name.takes(fault.name)
    ]
    kept, last = page(
        rows, lambda r: ("", r[0], r[1].name, r[1].rule, *r[1].others), Order(), scope.after, limit
    )
    return scope.answer((_row(*row) for row in kept), last)


def _known(scope: Scope, server_id: int) -> Known:
    names = [name for name in scope.retired if name.server_id == server_id]
    said = facts(scope, names)
    connection = scope.connection
    undated = [name for name in names if not name.dated]
    worked = gather.worked(scope, undated).tolist()
    return Known(
        entries={n.name: n.told.facts for n in names if n.told is not None},
        replaced_by={n.name: f.replaced_by or () for n, f in zip(names, said, strict=True)},
        called={n.name for n in names if n.tool_ids},
        listed=read_catalogue.listed_names(connection, server_id),
        ever=read_catalogue.listed_names(connection, server_id, names=True),
        working=read_listed.working_names(connection, scope.cut, server_id),
        undated={name.name: calls for name, calls in zip(undated, worked, strict=True)},
    )


def _row(server: str, fault: Fault) -> FaultRow:
    return FaultRow(
        server=server,
        name=fault.name,
        rule=fault.rule,
        weight=fault.weight,
        others=fault.others,
        says=fault.says,
    )
