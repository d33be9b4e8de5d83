"""What somebody who listens to a page is told, in which order, is what was reviewed."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running, running
from tests.browser import trees
from tests.browser.conftest import NOW, fill, settings_in
from tests.browser.walk import places


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The months of the demo, of which nothing is told and, within ten minutes, nothing said by the week."""
    with running(settings_in(tmp_path_factory.mktemp("trees")), now=NOW) as service:
        fill(service)
        yield service


@pytest.fixture(scope="module")
def demo_ways(demo: Running) -> dict[str, str]:
    """An address of each of its pages."""
    return places(demo)


@pytest.mark.parametrize("name", trees.NAMES)
def test_roles_names_and_order_are_those_that_were_reviewed(
    chromium: Browser, demo: Running, demo_ways: dict[str, str], name: str
) -> None:
    """Of each page of the table; `python -m tests.browser.trees` writes them anew, to be read before it is committed."""
    kept = trees.file_of(name)
    assert kept.is_file(), f"no tree of {name} was reviewed: run python -m tests.browser.trees"
    assert trees.tree_of_page(chromium, demo, demo_ways, name) == kept.read_text(encoding="utf-8")


def test_no_tree_is_kept_of_what_there_is_not() -> None:
    """Each file is of a page of the table, or of what opens over one."""
    assert set(trees.FOLDER.iterdir()) == {trees.file_of(name) for name in trees.NAMES}
