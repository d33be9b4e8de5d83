"""From the first page to the messages that would make callers stop, and what is said once they are sent."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, fill, settings_in
from tests.browser.watch import Watched, watched

RANGE = {"since": "2026-07-09", "until": "2026-10-07"}
"""The 90 days that pages show unless they are told otherwise."""


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The months of the demo for one test, which may tell something."""
    with running(settings_in(tmp_path_factory.mktemp("own")), now=NOW) as service:
        fill(service)
        yield service


def open_letters(seen: Watched, number: int) -> int:
    """Go from the first page to so many messages; returns how many clicks that took."""
    seen.open("/")
    pages = seen.page.get_by_role("navigation", name="Pages")
    with seen.leaving():
        pages.get_by_role("link", name="To do").click()
    letters = seen.page.locator("details.letter")
    for place in range(number):
        letters.nth(place).locator("summary").click()
    return 1 + number


def test_three_messages_are_at_most_six_clicks_from_the_first_page(
    chromium: Browser, months: Running
) -> None:
    """Each with whom it is for, and the text that REST gives; the first three are those of REST."""
    wanted = months.get("/api/v1/todo", **RANGE).json()["messages"][:3]
    with watched(chromium, months.url) as seen:
        assert open_letters(seen, 3) <= 6
        for place, message in enumerate(wanted):
            letter = seen.page.locator("details.letter").nth(place)
            field = letter.get_by_role("textbox")
            expect(field).to_be_visible()
            expect(field).to_have_value(message["text"])
            expect(letter.locator(".to")).to_have_text(f"To: {message['to']}")
            pack = months.get("/api/v1/contact", client=message["client"], **RANGE).json()
            assert pack["text"] == message["text"]


def test_a_message_is_copied_by_its_button(chromium: Browser, months: Running) -> None:
    """It is in the clipboard then, and the page says so."""
    with watched(chromium, months.url) as seen:
        seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        open_letters(seen, 1)
        letter = seen.page.locator("details.letter").first
        letter.get_by_role("button", name="Copy the message").click()
        expect(letter.get_by_role("status")).to_have_text("Copied.")
        held = seen.page.evaluate("navigator.clipboard.readText()")
        assert held == letter.get_by_role("textbox").input_value()


def test_a_message_can_be_selected_where_scripts_are_off(
    chromium: Browser, months: Running
) -> None:
    """There is no button then that does nothing."""
    with watched(chromium, months.url, javascript=False) as seen:
        seen.page.goto(f"{months.url}/todo")
        letter = seen.page.locator("details.letter").first
        letter.locator("summary").click()
        expect(letter.get_by_role("textbox")).to_be_visible()
        assert letter.get_by_role("textbox").input_value().startswith("Hello,")
        expect(letter.get_by_role("button", name="Copy the message")).to_be_hidden()


def test_what_was_sent_is_said_and_taken_back_by_keyboard_alone(
    chromium: Browser, own: Running
) -> None:
    """The client leaves the list, and is on it again afterwards."""
    with watched(chromium, own.url) as seen:
        seen.open("/todo")
        client = own.get("/api/v1/todo", **RANGE).json()["messages"][0]["client"]
        letter = seen.page.locator("details.letter").first
        letter.locator("summary").press("Enter")
        with seen.leaving():
            letter.get_by_role("button", name="I have sent it").press("Enter")
        expect(seen.page.locator(".lead")).to_contain_text("1 contacted")
        assert client not in {row["Client"].split()[0] for row in seen.table("todo")}
        seen.open(f"/client?client={client}")
        marked = {row["Retired name"] for row in seen.table("marks")}
        assert marked == {row["name"] for row in own.rows("callers", client=client)}
        for _ in marked:
            with seen.leaving():
                seen.page.get_by_role("button", name="Take back").first.press("Enter")
        expect(seen.page.locator("#marks")).to_have_count(0)
        assert own.rows("marks") == []


def test_a_row_leads_to_its_events(chromium: Browser, months: Running) -> None:
    """Those of that name and that client."""
    with watched(chromium, months.url) as seen:
        seen.open("/todo")
        row = months.get("/api/v1/todo", **RANGE, limit=1).json()["items"][0]
        with seen.leaving():
            seen.page.locator("#todo td.number a").first.click()
        events = seen.table("events")
        assert {event["Client"] for event in events} == {row["client"]}
        assert {event["Name as logged"] for event in events} == {row["name"]}
        assert len(events) == min(20, row["stale_calls"])
