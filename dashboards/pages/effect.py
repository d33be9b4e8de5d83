"""The page that says whether notifications helped."""

from typing import Any

from fastapi import Request, Response

from dashboards.empty import emptiness
from dashboards.pages.frame import METHODS, new_router, own_rows, shown
from dashboards.reading import Reading, effect_scope, reading_of, week_marks
from service import answers
from service.analysis.effect_texts import both
from service.answers.effect import study_of
from service.answers.query import LIMIT_MAX, plain

NAMES = 50
ROLLOUTS = 3
"""Planned roll-outs that are shown, the last ones."""
router = new_router()


@router.api_route("/effect", methods=METHODS)
def effect_page(request: Request) -> Response:
    """Did notifications help: the sentence first, then what it rests on."""
    with reading_of(request, days="all") as look:
        found = look.ask(answers.effect)
        clients = look.ask(
            answers.effect_clients, sort=look.state.sort or "-expected", **own_rows(look)
        )
        return shown(
            request,
            look,
            "effect.html",
            effect=found.as_json(),
            intervals=both(found.items[0].interval, found.items[0].trend.interval),
            clients=clients.as_json(),
            names=look.ask(answers.effect_names, client=None, limit=NAMES).as_json(),
            weeks=look.ask(answers.effect_weeks, client=None, limit=LIMIT_MAX).as_json(),
            marks={mark.label: mark.texts[0] for mark in week_marks(look)},
            since=look.ask(answers.effect_since, client=None, limit=LIMIT_MAX).as_json(),
            rollouts=_rollouts(look),
            releases=look.ask(answers.releases, name=None, client=None, limit=20).as_json(),
            empty=emptiness(look, _called(look), found),
        )


def _rollouts(look: Reading) -> list[dict[str, Any]]:
    """The last planned roll-outs with what came of them, the last first."""
    if look.moment.bound is not None:
        return []  # a plan names clients, and who is to be told next
    every = look.ask(answers.plans, name=None, client=None, limit=LIMIT_MAX).items
    kept = [row for row in every if row.status != "withdrawn"][-ROLLOUTS:]
    asked = look.view.query("plan", name=None, client=None, since=None, until=None)
    found = []
    for row in reversed(kept):
        one = answers.plan(look.connection, asked, look.moment, row.id)
        look.note(
            f"plans/{row.id}",
            one,
            name=None,
            client=None,
            since=None,
            until=None,
            server=None,
            tz="UTC",
        )
        found.append(plain(one))
    return found


def _called(look: Reading) -> int:
    """Stale calls in range, of the whole days that were looked at anyway or, without any, of all of it."""
    study = study_of(effect_scope(look))
    known = int(study.panel.calls.sum()) + sum(each.calls for each in study.aside)
    return known or look.ask(answers.overview).more["totals"].stale_calls
