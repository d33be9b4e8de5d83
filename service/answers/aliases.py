"""Clients that somebody said are one: applied when reading, so that it can be taken back."""

from collections.abc import Iterable
from dataclasses import dataclass

from service.names import shown_key
from service.told import Alias


@dataclass(frozen=True, slots=True)
class Aliases:
    """Client keys that are read as others."""

    targets: dict[str, str]
    """Key → the key it is read as, in the end."""
    shown: dict[str, str]
    """The latter → the name it was given."""

    def canonical(self, key: str) -> str:
        """The key of the client that a key stands for: itself, unless somebody said otherwise."""
        return self.targets.get(key, key)

    def spelled(self, keys: Iterable[str]) -> list[str]:
        """All keys that stand for one of these clients, these among them; sorted."""
        wanted = set(keys)
        return sorted(wanted | {key for key, target in self.targets.items() if target in wanted})


def aliases_of(told: Iterable[Alias]) -> Aliases:
    """
    Follow each alias to its end; of a circle, the least key is the client.

    >>> from service.told import Alias
    >>> said = dict(note="", said_us=0, actor="rest")
    >>> known = aliases_of([Alias(client="windsurf-client", target="Windsurf", **said)])
    >>> known.canonical("windsurf-client"), known.shown["windsurf"], known.canonical("zed")
    ('windsurf', 'Windsurf', 'zed')
    """
    steps = {alias.client: alias.target for alias in told}
    targets: dict[str, str] = {}
    shown: dict[str, str] = {}
    for key in steps:
        way = [key]
        while way[-1] in steps and (following := shown_key(steps[way[-1]])) not in way:
            way.append(following)
        if way[-1] in steps:  # a circle, which telling refuses
            way.append(min(way[way.index(shown_key(steps[way[-1]])) :]))
        targets[key] = way[-1]
        if len(way) > 1 and way[-2] in steps and shown_key(steps[way[-2]]) == way[-1]:
            shown[way[-1]] = steps[way[-2]]
    return Aliases({key: target for key, target in targets.items() if key != target}, shown)
