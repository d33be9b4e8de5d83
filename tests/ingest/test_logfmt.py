"""Pairs of key=value are read as Go writes them, and nothing else is guessed at."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.ingest import logfmt

_PLAIN = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}


def needs_quoting(text: str) -> bool:
    """When slog's TextHandler quotes, as its documentation says."""
    return not text or any(
        char.isspace() or char in '"=' or not char.isprintable() for char in text
    )


def quote(text: str) -> str:
    """What strconv.Quote makes of a text, as its documentation says."""
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char == " " or char.isprintable():
            out.append(char)
        elif char in _PLAIN:
            out.append("\\" + _PLAIN[char])
        elif ord(char) < 0x20 or ord(char) == 0x7F:
            out.append(f"\\x{ord(char):02x}")
        else:
            out.append(f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}")
    return '"' + "".join(out) + '"'


def written(text: str) -> str:
    return quote(text) if needs_quoting(text) else text


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(TEXT, TEXT, min_size=1))
@example({"msg": 'x" msg="y', "": "", "a=b": "=", "u": "\u2028\x85\xa0", "e": "\\"})
@example({"client": "café 🤖\x00\x7f\x1b[0m"})
def test_what_slog_writes_is_read_back(fields: dict[str, str]) -> None:
    """Every text, whatever is in it, comes back whole under its key, and no other key appears."""
    line = " ".join(f"{written(key)}={written(value)}" for key, value in fields.items())
    found = logfmt.read(line)

    absent = {key for key, value in fields.items() if value in ("<nil>", "null")}
    assert found.fields == {key: value for key, value in fields.items() if key not in absent}
    assert (found.rest, found.twice) == ("", frozenset())


@pytest.mark.parametrize(
    ("line", "fields", "rest"),
    [
        ("a=1 b=2", {"a": "1", "b": "2"}, ""),
        ("a= b=", {"a": "", "b": ""}, ""),
        ("a=1  b=2 ", {"a": "1", "b": "2"}, ""),
        ("a=1\tb=2", {}, "a=1\tb=2"),
        ("a=1 word b=2", {"a": "1"}, "word b=2"),
        ('a=x"y b=2', {}, 'a=x"y b=2'),
        ('a="x"y b=2', {}, 'a="x"y b=2'),
        ("a=x=y b=2", {}, "a=x=y b=2"),
        ('a="x b=2', {}, 'a="x b=2'),
        ('a="x\\" b=2', {}, 'a="x\\" b=2'),
        ("=1", {}, "=1"),
        ("", {}, ""),
        ("a=<nil> b=null c=nil", {"c": "nil"}, ""),
        ('a="null"', {"a": "null"}, ""),
    ],
)
def test_reading_ends_where_something_is_no_pair(
    line: str, fields: dict[str, str], rest: str
) -> None:
    """What comes behind may be a user's words."""
    found = logfmt.read(line)

    assert (found.fields, found.rest) == (fields, rest)


@pytest.mark.parametrize(
    ("line", "twice"),
    [
        ("a=1 a=1", set()),
        ("a=1 a=2", {"a"}),
        ('a=1 a="1"', set()),
        ('a=1 "a"=2', {"a"}),
        ("a=1 a=2 a=1 b=1", {"a"}),
        ("a=1 a=<nil>", {"a"}),
        ("a=<nil> a=1", {"a"}),
    ],
)
def test_a_key_that_stands_there_twice_with_two_values_is_marked(
    line: str, twice: set[str]
) -> None:
    """Which of the two is the logger's own cannot be known; the same value twice says nothing new."""
    assert logfmt.read(line).twice == twice


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (r"\x22\x5C\xC3\xA9", '"\\é'),  # nginx
        (r"\"\\\xc3\xa9", '"\\é'),  # Apache
        (r"\xff", "\ufffd"),
        (r"\ud800 \U0001f916 \U00110000", "\ufffd 🤖 \ufffd"),
        (r"\ud83e\udd16 \udd16\ud83e", "🤖 \ufffd\ufffd"),  # JSON
        (r"C:\path\q", r"C:\path\q"),
        (r"\\x41", r"\x41"),
    ],
)
def test_escapes_of_go_nginx_apache_and_json_are_understood(inner: str, text: str) -> None:
    """Bytes are UTF-8 together; what is no escape stands for itself."""
    assert logfmt.unquoted(inner) == text


def test_a_long_line_costs_no_more_than_its_length() -> None:
    """A quote that never ends, and a million pairs, are read once."""
    assert logfmt.read('a="' + "\\\\" * 500_000).rest
    assert len(logfmt.read(" ".join(f"k{at}=v" for at in range(100_000))).fields) == 100_000
