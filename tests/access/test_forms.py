"""A form stands only where whoever reads the page may send it."""

import re
from urllib.parse import urlencode

from service.api.needs import Need, Table, satisfies
from service.tokens import Scope
from tests.access.conftest import House
from tests.access.shared import OWN

ABOUT = {"server": "maps", "name": f"{OWN}-name-one"}
CLIENT = {"client": f"{OWN}-client-alpha"}
PAGES = (
    *("/", "/todo", "/clients", "/catalogue", "/told", "/health", "/setup", "/explain", "/effect"),
    *("/reactions", "/search", f"/name?{urlencode(ABOUT)}", f"/client?{urlencode(CLIENT)}"),
)


def forms(house: House, page: str, secret: str) -> set[str]:
    """The paths to which forms of a page are sent."""
    answer = house.ask("GET", page, secret)
    assert answer.status_code == 200, page
    return set(re.findall(r'method="post" action="([^"?]+)"', answer.text))


def test_a_reader_is_offered_no_form_that_would_be_refused(world: House) -> None:
    table = Table(world.app.routes)
    reader = world.token("rita", "read")
    for page in PAGES:
        for path in forms(world, page, reader):
            need = table.place("POST", path, False).need
            assert need is Need.NOTHING or satisfies(Scope.READ, need), (page, path)


def test_an_admin_is_offered_all_of_them(world: House) -> None:
    admin = world.token("ada", "admin")
    offered = set().union(*(forms(world, page, admin) for page in PAGES))
    for word in ("mark", "unmark", "alias", "exclude", "note", "unnote", "entry", "hide"):
        assert f"/tell-{word}" in offered, word


def test_a_reader_is_shown_no_heading_of_forms_that_are_not_there(world: House) -> None:
    """Of a client that nothing was said about: there would be nothing below it."""
    page = f"/client?{urlencode({'client': f'{OWN}-client-gamma'})}"
    heading = "What was done about it"
    assert heading in world.ask("GET", page, world.token("adam", "admin")).text
    assert heading not in world.ask("GET", page, world.token("rosa", "read")).text
