"""Wherever a link of a page leads, the page is whole, and what it shows is what REST and CSV say, whatever things are called."""

import pytest

from tests.acceptance.service import Running
from tests.browser.walk import PAGES, shapes
from tests.figure_tables import differences
from tests.shown import addresses, figures, listed, same_rows, strays, table_of


def wrong_with(service: Running, address: str) -> list[str]:
    """What a page shows otherwise than its figures, REST and CSV; every address of REST that it names answers."""
    page = service.client.get(address, follow_redirects=True)
    assert page.status_code == 200, address
    found = []
    for figure in figures(page.text):
        found += differences(figure, service.client.get(figure.data()).json())
    tables = listed(page.text)
    read = {each for table in tables for each in (table.json, table.csv)}
    for other in set(addresses(page.text)) - read:
        found += [] if service.client.get(other).status_code == 200 else [f"{other} is refused"]
    for table in tables:
        answer = service.client.get(table.json)
        assert answer.status_code == 200, table.json
        items = answer.json().get("items")
        if items is None:
            continue  # one answer, of which the table is a part
        found += strays(table, items) if "cursor=" not in address else []
        found += same_rows(items, table_of(service.client.get(table.csv).text))
    return [f"{address}: {each}" for each in found]


def test_links_lead_to_every_page_of_the_table(ways: dict[str, str]) -> None:
    """From the first one."""
    assert set(ways) == set(PAGES)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", PAGES[::-1])
def test_ranges_filters_and_sorted_columns_show_the_numbers_of_rest(
    strange: Running, ways: dict[str, str], path: str
) -> None:
    """Every link of a page to itself is followed, one of each kind: ranges, steps, filters, headings, further rows."""
    here = ways[path]
    found = shapes(strange.client.get(here).text, here)
    own = [address for shape, address in found.items() if shape.page == path]
    wrong = [each for address in [here, *own] for each in wrong_with(strange, address)]
    assert wrong == []
