"""Several questions at once: which claims are kept when one false one in ten is allowed."""

import numpy as np
from numpy.typing import NDArray

FALSE_DISCOVERIES = 0.1


def kept(p_values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """
    Benjamini and Hochberg (1995): the k smallest are kept, k the greatest with p_(k) <= 0.1 k/m.

    >>> kept(np.array([0.5, 0.01, 0.07, 0.04])).tolist()
    [False, True, True, True]
    >>> kept(np.array([])).tolist()
    []
    """
    m = p_values.size
    order = np.argsort(p_values, kind="stable")
    below = np.flatnonzero(p_values[order] <= FALSE_DISCOVERIES * np.arange(1, m + 1) / max(m, 1))
    found = np.zeros(m, dtype=bool)
    found[order[: int(below.max(initial=-1)) + 1]] = True
    return found
