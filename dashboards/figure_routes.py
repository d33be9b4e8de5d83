"""The data of figures, which the pages' script fetches and hands to Plotly."""

from typing import Literal

import plotly.graph_objects as go
from fastapi import APIRouter, Request, Response

from dashboards.figures.callers import callers_figure
from dashboards.figures.calls import calls_figure
from dashboards.figures.records import records_figure
from dashboards.figures.releases import releases_figure
from dashboards.reading import (
    Reading,
    arrivals,
    callers_chart,
    calls_chart,
    reading_of,
    release_calls,
)
from dashboards.theme import Theme
from service.answers.query import dumps

router = APIRouter(include_in_schema=False)

Figure = Literal["calls-by-client", "calls-by-name", "callers", "records", "releases"]


@router.get("/figures/{theme}/{figure}.json")
def figure_data(request: Request, theme: Theme, figure: Figure) -> Response:
    """A figure in the form of Plotly: `data` and `layout`. The query string is that of the page."""
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
        return releases_figure(release_calls(look), theme)
    if figure == "callers":
        chart = callers_chart(look)
        return callers_figure(chart.rows, chart.timeline, theme)
    by = figure.removeprefix("calls-by-")
    chart = calls_chart(look, by)
    return calls_figure(chart.rows, chart.timeline, theme, by=by)
