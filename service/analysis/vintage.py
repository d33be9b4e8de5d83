"""
The release that a copy of the list dates from, by the names it holds.

A copy that holds a name whose last release was R dates from R or before; of several names the least R
bounds it. Releases are text and stand in the order of versions.

>>> axis = order(["1.10", None, "1.6.10", "1.9"])
>>> axis
('1.6.10', '1.9', '1.10')
>>> calls = [axis.index("1.10"), axis.index("1.9"), axis.index("1.10"), len(axis), len(axis)]
>>> vintages(np.array([1, 1, 2, 2, 3]), np.array(calls)).tolist()  # 3: of one that says no release
[1, 1, 2, 2, 3]
"""

from collections.abc import Iterable

import numpy as np

from service.analysis.counts import Column, codes
from service.analysis.versions import sort_text

ALONE = -1
"""The number of no copy: a call of nobody, which may have had any."""


def order(releases: Iterable[str | None]) -> tuple[str, ...]:
    """The distinct releases in the order of versions; those that say the same version, by text."""
    named = {release for release in releases if release is not None}
    return tuple(sorted(named, key=lambda text: (sort_text(text), text)))


def vintages(copy: Column, release: Column) -> Column:
    """
    For each call the least release among the calls of its copy.

    Args:
        copy: Whose call it is: any number from 0, or `ALONE`.
        release: The place of the called name's last release in `order`; its length for none.
    """
    found = release.copy()
    shared = copy != ALONE
    values, place = codes(copy[shared])
    least = np.full(values.size, np.iinfo(np.int64).max)
    np.minimum.at(least, place, release[shared])
    found[shared] = least[place]
    return found
