"""Which spellings are one client, and what is shown of them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import names
from service.events import Kind
from service.store.engine import Engine
from tests.store.support import NOON, differences, query, row, store

UNSEEN = "\x00\x01\x1b\x7f\x9b\xad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2064\u2066\u2069\ufeff"
FAMILY = "👩\u200d👧"


@pytest.mark.parametrize(
    "spelling",
    [
        "a b",
        "a \x01 b",
        "\x01 a b",
        "a\x01\t b\u200b",
        "\ufeffa \u202e b\u202c",
        "A\u00a0B",
        "a\n\x1fb",
    ],
    ids=ascii,
)
def test_spellings_that_look_the_same_are_one_client(spelling: str) -> None:
    """Whatever stands beside white space, and whatever white space it is."""
    read = names.read_client(spelling)
    assert read is not None
    assert read.key == "a b"


@given(
    text=st.text(st.sampled_from("aB é/1(via x)"), min_size=1, max_size=20),
    places=st.lists(st.tuples(st.integers(0, 20), st.sampled_from(UNSEEN)), max_size=8),
)
def test_what_cannot_be_seen_changes_neither_key_nor_via_nor_version(
    text: str, places: list[tuple[int, str]]
) -> None:
    """Wherever it stands: within a word, a suffix or a letter and its accent."""
    spelled = unicodedata.normalize("NFD", text)
    for place, character in places:
        spelled = spelled[:place] + character + spelled[place:]
    plain, read = names.read_client(text), names.read_client(spelled)
    if plain is None or read is None:
        assert plain is read
    else:
        assert (read.key, read.via, read.version) == (plain.key, plain.via, plain.version)


def test_a_picture_of_several_people_is_shown_whole() -> None:
    """The joiner that draws it stays in the name that is shown; the key groups without it."""
    read = names.read_client(f"{FAMILY} App/2.0")
    assert read == names.ClientName(key="👩👧 app", name=f"{FAMILY} App", via=None, version="2.0")


def test_a_direction_is_not_shown() -> None:
    """A name cannot turn around what is written behind it."""
    read = names.read_client("abc\u202edef")
    assert read is not None
    assert read.name == "abcdef"


@pytest.mark.parametrize("spelling", ["", " ", "\u200b", "\u200d", "\x01 \u202e\u2066"], ids=ascii)
def test_of_a_name_that_cannot_be_seen_nothing_is_left(spelling: str) -> None:
    """Such a client is unattributed."""
    assert names.read_client(spelling) is None


def test_marks_that_are_seen_tell_clients_apart() -> None:
    """Flags of England and Scotland are spelled with characters of the same category."""
    tags = ["".join(chr(0xE0000 + ord(c)) for c in code) for code in ("gbeng", "gbsct")]
    flags = [names.read_client(f"🏴{tag}\U000e007f") for tag in tags]
    assert flags[0] is not None
    assert flags[0] != flags[1]


def test_the_raw_spelling_is_stored_as_it_came(engine: Engine) -> None:
    """Two spellings of one client are two rows with one key; `db check` reads them the same."""
    raw = ["My Client", "My \x01 Client\u200b", f"{FAMILY} 1"]
    store(engine, [row(n, NOON + n, Kind.CALL, client=name) for n, name in enumerate(raw)])
    assert query(engine, "SELECT raw, key FROM client ORDER BY id") == sorted(
        zip(raw, ["my client", "my client", "👩👧 1"], strict=True)
    )
    assert differences(engine) == []
