"""The page of the catalogue: what is retired, what is wrong with that, what changed, what could be next."""

from typing import Any

from fastapi import Request, Response

from dashboards.pages.frame import METHODS, new_router, own_rows, shown
from dashboards.reading import Reading, reading_of
from service import answers
from service.answers.query import LIMIT_MAX
from service.errors import LastCallError

BESIDE = 30
"""Rows of each table but the first, whose reader goes on page by page."""
SERVERS = 5
"""Servers whose latest two snapshots are compared, where no one is chosen."""
router = new_router()


@router.api_route("/catalogue", methods=METHODS)
def catalogue_page(request: Request) -> Response:
    """Every retired name, the faults of the catalogue, snapshots, and the names that still work."""
    with reading_of(request) as look:
        names = look.ask(answers.names, sort=look.state.sort or "name", **own_rows(look))
        taken = look.ask(answers.snapshots, name=None, client=None, limit=LIMIT_MAX)
        told = look.ask(answers.catalogue, client=None, limit=LIMIT_MAX)
        faults = look.ask(answers.lint, client=None, limit=LIMIT_MAX)
        return shown(
            request,
            look,
            "catalogue.html",
            names=names.as_json(),
            hidden=[row for row in told.as_json()["items"] if row["hidden"]][:BESIDE],
            told=told.as_json(),
            faults=faults.as_json(),
            shown_faults=BESIDE,
            snapshots=taken.as_json(),
            shown_snapshots=BESIDE,
            compared=_compared(look, taken.items),
            listed=look.ask(answers.listed, sort="calls", limit=BESIDE).as_json(),
            left_out=names.more["excluded_calls"],
            empty=None,
        )


def _compared(look: Reading, taken: tuple[answers.SnapshotRow, ...]) -> list[dict[str, Any]]:
    """What changed between the latest two snapshots of each server that has two."""
    servers = [row.server for row in taken]
    twice = [server for server in dict.fromkeys(servers) if servers.count(server) > 1]
    found = []
    for server in twice[:SERVERS]:
        try:
            asked = {"name": None, "client": None, "server": server, "limit": BESIDE}
            found.append(look.ask(answers.diff, **asked).as_json())
        except LastCallError:
            continue  # they are of names, or of one instant: there is nothing to compare
    return found
