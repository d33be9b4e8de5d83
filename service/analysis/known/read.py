"""Rows of known clients out of TOML, with what is wrong in them named."""

import hashlib
import tomllib
from collections.abc import Collection
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar

from service.analysis.known.behaviour import WORDS, Behaviour
from service.analysis.known.clients import KINDS, Client, Clients, key_of
from service.analysis.versions import comparable
from service.errors import LastCallError

_FILE: Final = "clients.toml"
_CLIENT: Final = (
    "names", "product", "vendor", "kind", "refresh", "constant_versions", "lists",
)  # fmt: skip
_LISTS: Final = ("does", "since", "before", "where", "said", "seen", "refs")
ChoiceT = TypeVar("ChoiceT", bound=str)


class BadClients(LastCallError):
    """A file of known clients cannot be used; the message names the file, the row and the key."""

    title = "File of known clients cannot be used"


@lru_cache(maxsize=8)
def load_clients(own: Path | None = None) -> Clients:
    """
    Return the known clients: the rows of the user's *own* file first, then the built-in ones. A file is
    read once a run.

    Raises:
        BadClients: The file cannot be read, is not TOML, or has a key or value of no use.
    """
    texts = [(_FILE, (files("service.analysis.known") / _FILE).read_text(encoding="utf-8"))]
    if own is not None:
        try:
            texts.insert(0, (str(own), own.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise BadClients(f"{own}: cannot be read as UTF-8 text ({error})") from error
    digest = hashlib.blake2b("\0".join(text for _, text in texts).encode(), digest_size=8)
    layers = tuple(read_clients(text, source) for source, text in texts)
    return Clients(layers, digest.hexdigest())


def read_clients(text: str, source: str) -> tuple[Client, ...]:
    """
    Read the rows of one file; *source* names it in errors.

    Raises:
        BadClients: Not TOML, or a key or value of no use.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadClients(f"{source}: not TOML: {error}") from error
    _Reader(source, "").known(table, ("client",))
    rows = table.get("client", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadClients(f"{source}: write each client under a line [[client]]")
    return tuple(
        _Reader(source, f"client {number}: ").client(row) for number, row in enumerate(rows, 1)
    )


class _Reader:
    """Reads one row and names what is wrong with it."""

    def __init__(self, source: str, place: str) -> None:
        self.source = source
        self.place = place

    def fail(self, key: str, wish: str) -> BadClients:
        return BadClients(f"{self.source}: {self.place}`{key}` {wish}")

    def known(self, table: dict[str, Any], allowed: Collection[str]) -> None:
        for key in table:
            if key not in allowed:
                raise self.fail(key, f"is not a key here; use one of {', '.join(allowed)}")

    def client(self, row: dict[str, Any]) -> Client:
        self.known(row, _CLIENT)
        names = self.texts(row, "names")
        if not names or not all(key_of(name) and name.strip("* ") for name in names):
            raise self.fail("names", 'must be a list of names, such as ["claude-code", "my-bot-*"]')
        if not (product := self.text(row, "product")):
            raise self.fail("product", "must be a text that names the product")
        lists = row.get("lists", [])
        if not isinstance(lists, list) or not all(isinstance(each, dict) for each in lists):
            raise self.fail("lists", 'must be a list of tables, such as [{ does = "cached" }]')
        reader = _Reader(self.source, f"{self.place}{names[0]}: lists: ")
        return Client(
            names=names,
            product=product,
            kind=self.choice(row, "kind", KINDS),
            vendor=self.text(row, "vendor"),
            refresh=self.text(row, "refresh"),
            constant_versions=self.texts(row, "constant_versions"),
            lists=tuple(map(reader.behaviour, lists)),
        )

    def behaviour(self, row: dict[str, Any]) -> Behaviour:
        self.known(row, _LISTS)
        return Behaviour(
            does=self.choice(row, "does", WORDS),
            since=self.version(row, "since"),
            before=self.version(row, "before"),
            where=self.text(row, "where"),
            said=self.text(row, "said") or "",
            seen=self.text(row, "seen"),
            refs=self.texts(row, "refs"),
        )

    def choice(self, row: dict[str, Any], key: str, words: tuple[ChoiceT, ...]) -> ChoiceT:
        for word in words:
            if row.get(key) == word:
                return word
        raise self.fail(key, f"must be one of {', '.join(words)}, not {row.get(key)!r}")

    def version(self, row: dict[str, Any], key: str) -> str | None:
        text = self.text(row, key)
        if text is not None and not comparable(text):
            raise self.fail(key, f'must be numbers between dots, such as "2.1.0", not {text!r}')
        return text

    def text(self, row: dict[str, Any], key: str) -> str | None:
        value = row.get(key)
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise self.fail(key, "must be a text")
        return value

    def texts(self, row: dict[str, Any], key: str) -> tuple[str, ...]:
        value = row.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fail(key, "must be a list of texts")
        return tuple(value)
