"""
Calls that somebody said not to count: own tests, probes. They are left out when reading, and always told of.

A call is left out by a rule where it has everything that the rule names, so that who is left out here and
calls otherwise, too, is still seen.
"""

import ipaddress
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.analysis.counts import Column
from service.answers.aliases import Aliases
from service.ingest.keys import Secrets, identity
from service.names import is_like
from service.store import read_told, read_words, secrets
from service.store.engine import Connection, driver_of
from service.store.read_calls import Calls, Sums
from service.store.read_left_out import LeftOut
from service.told import Exclusion

Mask = NDArray[np.bool_]
_KEPT_PREFIX = {4: 24, 6: 48}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with the ids that its words stand for. None is for any."""

    told: Exclusion
    server_id: int | None
    client_ids: Column | None
    version_id: int | None
    """0 where the rule names a version that no line has."""
    versioned: Column
    """Spellings of clients that have the version in them: it counts where the line has none."""
    caller_ids: Column | None

    @property
    def ids(self) -> LeftOut:
        """The rule as a condition on rows has it."""
        clients, callers = (
            None if each is None else each.tolist() for each in (self.client_ids, self.caller_ids)
        )
        return LeftOut(self.server_id, clients, self.version_id, self.versioned.tolist(), callers)

    @property
    def fine(self) -> bool:
        """Whether it takes more than server and client to tell."""
        return self.version_id is not None or self.caller_ids is not None

    def mask(self, calls: Calls) -> Mask:
        """Which calls it leaves out."""
        found = self.of_client(calls.server_id, calls.client_id)
        if self.version_id is not None:
            in_name = (calls.version_id == 0) & np.isin(calls.client_id, self.versioned)
            said = (calls.version_id == self.version_id) & (calls.version_id != 0)
            found &= said | in_name
        if self.caller_ids is not None:
            found &= np.isin(calls.caller_id, self.caller_ids)
        return found

    def of_client(self, server_id: Column, client_id: Column) -> Mask:
        """Where server and client are those of the rule."""
        found = np.ones(client_id.size, dtype=np.bool_)
        if self.server_id is not None:
            found &= server_id == self.server_id
        if self.client_ids is not None:
            found &= np.isin(client_id, self.client_ids)
        return found


@dataclass(frozen=True, slots=True)
class Rules:
    """Every rule, and whether it is the calls that they leave out which are asked for."""

    rules: tuple[Rule, ...]
    only: bool = False

    @property
    def any(self) -> bool:
        """Whether there is any, or nothing but what they leave out is asked for."""
        return bool(self.rules) or self.only

    @property
    def fine(self) -> bool:
        """Whether one of them needs more than server and client."""
        return any(rule.fine for rule in self.rules)

    @property
    def needs(self) -> frozenset[str]:
        """The columns of calls by which they tell."""
        wanted = {"client_id"} if self.rules else set()
        for rule in self.rules:
            wanted |= {"version_id"} if rule.version_id is not None else set()
            wanted |= {"caller_id"} if rule.caller_ids is not None else set()
        return frozenset(wanted)

    def mask(self, calls: Calls) -> Mask:
        """Which calls are left out by any of them."""
        found = np.zeros(calls.time_us.size, dtype=np.bool_)
        for rule in self.rules:
            found |= rule.mask(calls)
        return found

    def calls(self, calls: Calls) -> Calls:
        """The calls that count."""
        if not self.any:
            return calls
        left_out = self.mask(calls)
        return calls.where(left_out if self.only else ~left_out)

    def sums(self, sums: Sums) -> Sums:
        """The sums that count; only where no rule is `fine`."""
        if not self.any:
            return sums
        found = np.zeros(sums.client_id.size, dtype=np.bool_)
        for rule in self.rules:
            found |= rule.of_client(sums.server_id, sums.client_id)
        return sums.where(found if self.only else ~found)


def rules_of(
    connection: Connection,
    told: Sequence[Exclusion],
    servers: dict[int, str],
    aliases: Aliases,
    *,
    only: bool = False,
) -> Rules:
    """Look up what the rules' words stand for; a rule of a server that is not known leaves nothing out."""
    ids = {name: id_ for id_, name in servers.items()}
    rules = [
        _rule(connection, each, ids, aliases)
        for each in told
        if each.server is None or each.server in ids
    ]
    return Rules(tuple(rules), only)


def _rule(
    connection: Connection, told: Exclusion, servers: dict[str, int], aliases: Aliases
) -> Rule:
    version_id, versioned = None, set[int]()
    if told.version is not None:
        version_id = read_told.version_id(connection, told.version) or 0
        versioned = read_told.clients_of_version(connection, told.version)
    return Rule(
        told=told,
        server_id=None if told.server is None else servers[told.server],
        client_ids=None if told.client is None else _clients(connection, told.client, aliases),
        version_id=version_id,
        versioned=_column(versioned),
        caller_ids=None if told.network is None else _callers(connection, told.network),
    )


def _clients(connection: Connection, pattern: str, aliases: Aliases) -> Column:
    """Ids of the spellings whose key, or that of the client they stand for, is like the pattern."""
    if "*" not in pattern:
        keys: Collection[str] = aliases.spelled([pattern])
    else:
        keys = [
            key
            for key in read_told.client_keys(connection)
            if is_like(key, pattern) or is_like(aliases.canonical(key), pattern)
        ]
    return _column(read_words.spellings_of(connection, sorted(keys)))


def _callers(connection: Connection, network: str) -> Column:
    """Ids of the callers whose addresses lie in a range; what is stored of them is a hash of theirs."""
    _, secret = secrets.read_secrets(driver_of(connection))
    whole = ipaddress.ip_network(network)
    known = Secrets(key=b"", identity=secret)
    parts = whole.subnets(new_prefix=max(_KEPT_PREFIX[whole.version], whole.prefixlen))
    hashes = {identity(known, "network", str(part)) for part in parts}
    return _column(read_told.callers_in(connection, hashes))


def _column(ids: Iterable[int]) -> Column:
    return np.array(sorted(ids), dtype=np.int64)
