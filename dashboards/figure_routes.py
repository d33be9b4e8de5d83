"""The data of figures, which the pages' script fetches and hands to Plotly."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import plotly.graph_objects as go
from fastapi import APIRouter, Request, Response

from dashboards.figures.callers import callers_figure
from dashboards.figures.calls import calls_figure
from dashboards.figures.effect import forest_figure, since_figure, weeks_figure
from dashboards.figures.listing_times import listing_times_figure
from dashboards.figures.records import records_figure
from dashboards.figures.releases import releases_figure
from dashboards.reading import (
    Reading,
    arrivals,
    callers_chart,
    calls_chart,
    effect_timeline,
    listing_times,
    reading_of,
)
from dashboards.theme import Theme
from service import answers
from service.answers.query import LIMIT_MAX, dumps
from service.errors import Forbidden
from service.shares import KEYS
from service.visitors import bound_of

router = APIRouter(include_in_schema=False)
_HEEDED: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        **dict.fromkeys(("calls-by-client", "calls-by-name", "callers"), frozenset(KEYS)),
        **dict.fromkeys(("effect-clients", "releases"), frozenset(KEYS)),
        **dict.fromkeys(("effect-since", "effect-weeks"), frozenset({"server", "name"})),
        "listing-times": frozenset({"server", "client"}),
    }
)
"""The filters that a figure heeds: a link that is bound to another does not show it."""

Figure = Literal[
    "calls-by-client",
    "calls-by-name",
    "callers",
    "effect-clients",
    "effect-since",
    "effect-weeks",
    "listing-times",
    "records",
    "releases",
]


@router.get("/figures/{theme}/{figure}.json")
def figure_data(request: Request, theme: Theme, figure: Figure) -> Response:
    """A figure in the form of Plotly: `data` and `layout`. The query string is that of the page."""
    bound = bound_of(request)
    if bound is not None and not bound.given().keys() <= _HEEDED.get(figure, frozenset()):
        raise Forbidden("this link does not show that figure")
    with reading_of(request, arrivals=figure == "records") as look:
        made = draw(look, figure, theme).to_plotly_json()
    made["layout"].pop("template", None)
    headers = {"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    return Response(dumps(made), media_type="application/json", headers=headers)


def draw(look: Reading, figure: Figure, theme: Theme) -> go.Figure:
    """Draw one figure of a page."""
    if figure == "records":
        return records_figure(arrivals(look).more["days"], theme)
    if figure == "releases":
        return releases_figure(look.ask(answers.last_releases).items, theme)
    if figure.startswith("effect-"):
        return _effect(look, figure, theme)
    if figure == "listing-times":
        return listing_times_figure(listing_times(look)[0], theme)
    if figure == "callers":
        chart = callers_chart(look)
        return callers_figure(chart.rows, chart.timeline, theme)
    by = figure.removeprefix("calls-by-")
    chart = calls_chart(look, by)
    return calls_figure(chart.rows, chart.timeline, theme, by=by, earlier=chart.earlier)


def _effect(look: Reading, figure: Figure, theme: Theme) -> go.Figure:
    if figure == "effect-weeks":
        weeks = look.ask(answers.effect_weeks, client=None, limit=LIMIT_MAX).items
        return weeks_figure(weeks, effect_timeline(look, weeks), theme)
    if figure == "effect-since":
        return since_figure(
            look.ask(answers.effect_since, client=None, limit=LIMIT_MAX).items, theme
        )
    clients = look.ask(answers.effect_clients, sort="-expected", limit=LIMIT_MAX).items
    return forest_figure(clients, look.ask(answers.effect).items[0], theme)
