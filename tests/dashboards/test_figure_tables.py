"""Behind every figure stands a table with the numbers that are drawn, and no others."""

from collections.abc import Iterator
from typing import get_args

import pytest

from dashboards.figure_routes import Figure
from service.settings import Settings
from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, fill
from tests.figure_tables import CHECKS, differences
from tests.shown import figures

PAGES = (
    "/?days=28",
    "/?days=7&bucket=hour&tz=Asia/Kathmandu",
    "/name?server=maps&name=tomtom-ev-routing&bucket=week",
    "/clients?bucket=month",
    "/client?client=openai-mcp&tz=America/Los_Angeles",
    "/client?client=",
    "/effect?server=maps",
    "/effect?server=maps&days=90",
    "/reactions",
    "/reactions?client=claude-code",
    "/health",
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("tables") / "events.db"
    with running(Settings(database_url=f"sqlite:///{path}"), now=NOW) as service:
        fill(service)
        yield service


def test_every_figure_equals_its_table(demo: Running) -> None:
    """Each kind of figure that there is stands on one of the pages."""
    wrong, seen = {}, set()
    for path in PAGES:
        for figure in figures(demo.client.get(path).text):
            seen.add(figure.kind)
            made = demo.client.get(figure.data()).json()
            if found := differences(figure, made):
                wrong[path, figure.kind] = found
    assert wrong == {}
    assert seen == set(CHECKS)


def test_a_mark_that_is_drawn_elsewhere_is_noticed(demo: Running) -> None:
    """On each kind of figure."""
    unnoticed = set()
    for path in PAGES:
        for figure in figures(demo.client.get(path).text):
            made = demo.client.get(figure.data()).json()
            ends = {"lower end", "95 % band"}
            trace = next(
                each
                for each in made["data"]
                if each.get("yaxis", "y") == "y" and each["name"] not in ends
            )
            along = "x" if figure.kind == "effect-clients" else "y"
            place = next(n for n, value in enumerate(trace[along]) if value)
            trace[along][place] *= 3
            if not differences(figure, made):
                unnoticed.add(figure.kind)
    assert unnoticed == set()


def test_no_kind_of_figure_is_without_such_a_check() -> None:
    """Whoever adds a figure says what its table must hold."""
    assert set(CHECKS) == set(get_args(Figure))
