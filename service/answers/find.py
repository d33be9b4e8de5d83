"""Where to go: the retired names, clients and servers whose text holds what somebody types."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from service.analysis.zones import EARLIEST_US
from service.answers.people import people
from service.answers.query import Moment, Query
from service.answers.scope import Scope, scope_of
from service.errors import BadParameter
from service.names import TEXT_LIMIT, shown_key
from service.store import read_activity, read_words
from service.store.engine import Connection

SHOWN = 20
_LOOKED_AT = 200
"""Clients that are looked at: of some the key is not what is shown, and some came after `as_of`."""
Kind = Literal["name", "client", "server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something that has a page: a client, a server, or a retired name with its `server`."""

    kind: Kind
    text: str
    server: str | None = None


def find(connection: Connection, query: Query, moment: Moment, text: str) -> tuple[Found, ...]:
    """
    Names, clients and servers that hold *text*, in any case; of *query*, `as_of` and `tz` count.

    Returns:
        At most `SHOWN`: those that are the text, then those that begin with it, then the shorter ones. None for
        a text without anything that can be seen.

    Raises:
        BadParameter: The text is too long, or `as_of` or `tz` cannot be used.
    """
    if len(text) > TEXT_LIMIT:
        raise BadParameter("q", f"at most {TEXT_LIMIT} characters")
    wanted = shown_key(text)
    scope = scope_of(connection, Query(as_of=query.as_of, tz=query.tz), moment, "found")
    if not wanted:
        return ()
    every = [*_names(scope, wanted), *_clients(scope, wanted), *_servers(scope, wanted)]
    return tuple(sorted(every, key=lambda found: _rank(found, wanted))[:SHOWN])


def known_values(scope: Scope, most: int) -> tuple[Found, ...]:
    """
    At most so many each of the retired names, clients and servers that a filter could ask for, by kind and
    text. A client is written as one of its lines spelled it, and names stand once, whatever servers have them. As
    of an instant, none that came later.
    """
    names = dict.fromkeys(name.name for name in scope.retired)
    clients, servers = scope.moment.once(
        ("some values", most, scope.query.as_of), lambda: _some(scope, most)
    )
    return (
        *(Found(kind="client", text=text) for text in clients),
        *(Found(kind="name", text=text) for text in sorted(names)[:most]),
        *(Found(kind="server", text=text) for text in servers),
    )


def _some(scope: Scope, most: int) -> tuple[list[str], list[str]]:
    """At most so many clients and servers, in the order of their texts."""
    if scope.query.as_of is None:
        clients = read_words.some_names(scope.connection, most)
        return clients, sorted(scope.servers.values())[:most]
    met = {id_: _met(scope, (id_,)) for id_ in scope.servers}
    known = people(scope, set().union(*met.values()))
    named = (known.name(key) for key in known.keys)
    return (
        list(islice((name for name in named if name is not None), most)),
        sorted(scope.servers[id_] for id_, clients in met.items() if clients)[:most],
    )


def _rank(found: Found, wanted: str) -> tuple[bool, bool, int, str, str, str]:
    key = shown_key(found.text)
    return (
        key != wanted,
        not key.startswith(wanted),
        len(key),
        key,
        found.kind,
        found.server or "",
    )


def _names(scope: Scope, wanted: str) -> Iterable[Found]:
    for name in scope.retired:
        if wanted in shown_key(name.name):
            yield Found(kind="name", text=name.name, server=name.server)


def _servers(scope: Scope, wanted: str) -> Iterable[Found]:
    for id_ in scope.server_ids:
        if wanted in shown_key(scope.servers[id_]):
            yield Found(kind="server", text=scope.servers[id_])


def _clients(scope: Scope, wanted: str) -> Iterable[Found]:
    keys = read_words.keys_holding(scope.connection, wanted, _LOOKED_AT)
    keys += [key for key, shown in scope.aliases.shown.items() if wanted in shown_key(shown)]
    spelled = scope.aliases.spelled(map(scope.aliases.canonical, keys))
    ids = set(read_words.spellings_of(scope.connection, spelled))
    if scope.query.as_of is not None:
        ids &= _met(scope, scope.server_ids)
    known = people(scope, ids)
    for key in known.keys:
        if (name := known.name(key)) is not None:
            yield Found(kind="client", text=name)


def _met(scope: Scope, server_ids: Iterable[int]) -> set[int]:
    """Ids of the clients with any event of these servers before the cut; 0 for none named."""
    found: set[int] = set()
    for server_id in server_ids:
        found |= read_activity.active_clients(
            scope.connection, scope.cut, server_id, EARLIEST_US, scope.cut.as_of_us
        )
    return found
