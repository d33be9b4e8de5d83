"""Patterns of names, in rules and in files of known clients: `*` is any text, however many there are."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.known import load_clients
from service.api.receivers.elasticsearch_answers import chosen
from service.names import is_like

OWN = '[[client]]\nnames = ["{}"]\nproduct = "It"\nkind = "script"\n'


@given(st.text("ab*\n", max_size=12), st.text("ab*\n", max_size=9))
def test_a_text_is_like_a_pattern_where_a_shell_says_so(text: str, pattern: str) -> None:
    """By Python's fnmatch, which knows `*` as shells do; line breaks are text, too."""
    assert is_like(text, pattern) is fnmatchcase(text, pattern)


@pytest.mark.parametrize("pattern", ["a*" * 120 + "b", "*" * 250 + "b", "*a" * 120 + "*b*"])
def test_a_pattern_of_many_stars_is_as_quick_as_any(tmp_path: Path, pattern: str) -> None:
    """A name made for it would keep a regular expression busy for ever."""
    evil = "a" * 240
    assert not is_like(evil, pattern)
    assert is_like(evil + "b", pattern)
    own = tmp_path / "own.toml"
    own.write_text(OWN.format(pattern), encoding="utf-8")
    clients = load_clients(own)
    assert [clients.find(name) is not None for name in (evil, evil + "b")] == [False, True]
    assert chosen({evil: 1, evil + "b": 2}, pattern) == {evil + "b": 2}
