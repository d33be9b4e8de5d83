"""Who a client is, by the name that it sends."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, get_args

from service.analysis.known.behaviour import Behaviour, Expected, expected
from service.names import is_like, read_client, shown_key

Kind = Literal["product", "gateway", "sdk_default", "probe", "script"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One row: the names of a product and what is known of it. `names` are as written, `*` any text."""

    names: tuple[str, ...]
    product: str
    kind: Kind
    vendor: str | None = None
    refresh: str | None = None
    constant_versions: tuple[str, ...] = ()
    lists: tuple[Behaviour, ...] = ()

    def at(self, version: str | None) -> Expected:
        """What to expect of it at a version, None where none is known."""
        return expected(self.lists, version, self.constant_versions)


def key_of(name: str) -> str:
    """
    The key by which a name is matched: as clients are grouped, so that no spelling is missed.

    >>> key_of(" Claude-Code/2.1 (via mcp-remote 0.1.29)")
    'claude-code'
    """
    found = read_client(name)
    return "" if found is None else found.key


@dataclass(frozen=True)
class Clients:
    """
    All rows, in the order in which they are tried. `digest` tells one set of them from another.

    The rows come in layers, the user's before ours. Within a layer an exact name goes before a pattern,
    and of several patterns the first counts.
    """

    layers: tuple[tuple[Client, ...], ...]
    digest: str = field(repr=False)

    def find(self, name: str | None) -> Client | None:
        """The row of a client, by its name in any spelling or by its key; None where none is known."""
        if name is None:
            return None
        keys = dict.fromkeys((key_of(name), shown_key(name)))
        for exact, patterns in self._tables:
            for key in keys:
                if key in exact:
                    return exact[key]
            for pattern, row in patterns:
                if any(is_like(key, pattern) for key in keys):
                    return row
        return None

    @cached_property
    def _tables(self) -> list[tuple[Mapping[str, Client], list[tuple[str, Client]]]]:
        return [(_exact(layer), list(_patterns(layer))) for layer in self.layers]


def _exact(rows: Iterable[Client]) -> dict[str, Client]:
    found: dict[str, Client] = {}
    for row in rows:
        for name in row.names:
            if "*" not in name:
                found.setdefault(key_of(name), row)
    return found


def _patterns(rows: Iterable[Client]) -> Iterable[tuple[str, Client]]:
    for row in rows:
        for name in row.names:
            if "*" in name:
                yield shown_key(name), row
