"""By lines of which kinds the calls to each retired name are logged, by UTC day."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.analysis import warnings
from service.answers import calls as gather
from service.answers.scope import Scope
from service.clock import DAY_US
from service.events import Kind
from service.store import read_health
from service.store.read_calls import Calls

_NEED = ("time_us", "kind", "client_id")


@dataclass(frozen=True, slots=True)
class Lines:
    """Stale calls to one name on one UTC day that lines of one kind stand for."""

    day: int
    kind: int
    unattributed: int
    calls: int


def lines(scope: Scope, today: int) -> dict[tuple[str, str], list[Lines]]:
    """
    The stale calls to each (server, name) as of the cut: of names that lines of several kinds stand
    for, those of all days; of the others, those of the 35 days up to `today` (a UTC day). How calls are
    logged is no matter of which of them count: rules leave none out.
    """
    scope = replace(scope, query=replace(scope.query, excluded="count"))
    first = today + 1 - warnings.RECENT_DAYS - warnings.BEFORE_DAYS
    whole = scope.cut.solid_us // DAY_US
    edge = (whole * DAY_US, scope.cut.as_of_us)
    names = {
        (name.server_id, tool_id): (name.server, name.name)
        for name in scope.names
        for tool_id in name.tool_ids
    }
    found: dict[tuple[str, str], list[Lines]] = {key: [] for key in names.values()}
    for server_id, retired in gather.by_server(scope.names).items():
        mixed = _mixed(scope, server_id)
        cells = read_health.days_of_calls(scope.connection, server_id, mixed, (0, whole))
        if others := set(retired) - mixed:
            days = (first, whole)
            cells += read_health.days_of_calls(scope.connection, server_id, others, days)
        met = []
        for cell in cells:
            if cell.kind != int(Kind.CALL) or cell.first_us >= retired[cell.tool_id]:
                key = names[server_id, cell.tool_id]
                found[key].append(Lines(cell.day, cell.kind, cell.unattributed, cell.calls))
            elif cell.last_us >= retired[cell.tool_id]:
                met.append((cell.tool_id, cell.day))
        if met:
            for tool_id, line in _each(gather.turning_days(scope, server_id, retired, met, _NEED)):
                found[names[server_id, tool_id]].append(line)
    if edge[0] < edge[1] and names:
        calls = gather.rows(scope, scope.names, (edge,), _NEED)
        for server_id in {int(id_) for id_ in calls.server_id}:
            for tool_id, line in _each(calls.where(calls.server_id == server_id)):
                found[names[server_id, tool_id]].append(line)
    return found


def _mixed(scope: Scope, server_id: int) -> set[int]:
    """Spellings of the server's names that lines of more than one kind have stood for."""
    mine = [name for name in scope.names if name.server_id == server_id]
    ids = [tool_id for name in mine for tool_id in name.tool_ids]
    met = read_health.kinds_met(scope.connection, scope.cut, server_id, ids)
    found: set[int] = set()
    for name in mine:
        kinds = set().union(*(met.get(tool_id, set()) for tool_id in name.tool_ids))
        if Kind.STALE_CALL in kinds and len(kinds) > 1:
            found |= name.tool_ids
    return found


def _each(calls: Calls) -> Sequence[tuple[int, Lines]]:
    """(tool, one call) for each row."""
    columns = (calls.tool_id, calls.time_us // DAY_US, calls.kind, calls.client_id)
    return [
        (int(tool_id), Lines(int(day), int(kind), int(client_id == 0), 1))
        for tool_id, day, kind, client_id in zip(*columns, strict=True)
    ]
