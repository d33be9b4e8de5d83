"""The faults of a catalogue, whatever its names are replaced by, and however many there are."""

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.lint import ENDS_SHOWN, Fault, Known, cycles, ends, lint
from service.entries import Facts

Replaced = Mapping[str, tuple[str, ...]]
RETIRED, LIVE = [f"r{i}" for i in range(6)], [f"live{i}" for i in range(8)]
graphs = st.dictionaries(
    st.sampled_from(RETIRED), st.lists(st.sampled_from(RETIRED + LIVE), max_size=6).map(tuple)
)


def faults(replaced_by: Replaced, rule: str) -> list[Fault]:
    entries = {name: Facts(replaced_by=others) for name, others in replaced_by.items()}
    known = Known(entries=entries, replaced_by=replaced_by, called=(), listed=None, ever=None)
    return [fault for fault in lint(known) if fault.rule == rule]


@given(graphs, st.integers(1, 9))
def test_ends_and_cycles_are_what_can_be_reached(replaced_by: Replaced, most: int) -> None:
    """By the transitive closure, as Warshall has it: all pairs, over each name in turn."""
    names = sorted({*replaced_by, *(each for others in replaced_by.values() for each in others)})
    reach = np.array([[b in replaced_by.get(a, ()) for b in names] for a in names], dtype=bool)
    for over in range(len(names)):
        reach |= np.outer(reach[:, over], reach[over])
    closure = {a: [b for b, is_so in zip(names, row, strict=True) if is_so]
               for a, row in zip(names, reach.tolist(), strict=True)}  # fmt: skip

    assert cycles(replaced_by) == {name for name in replaced_by if name in closure[name]}
    assert ends(replaced_by, most) == {
        name: [end for end in closure[name] if end not in replaced_by][:most]
        for name in replaced_by
    }


def test_a_chain_of_ten_thousand_names_is_told_its_end() -> None:
    """Each name has the one name that replaces it after all others."""
    chain = {f"n{i:05}": (f"n{i + 1:05}",) for i in range(10_000)}
    found = faults(chain, "replacement_retired")
    assert [fault.others for fault in found] == [(b, "n10000") for (b,) in chain.values()][:-1]
    assert faults(chain, "replacement_cycle") == []


def test_ten_thousand_names_in_one_circle_are_told_so() -> None:
    """Each of them leads back to itself, and nothing replaces any."""
    circle = {f"n{i:05}": (f"n{(i + 1) % 10_000:05}",) for i in range(10_000)}
    assert len(faults(circle, "replacement_cycle")) == 10_000
    says = {fault.says.partition("; ")[2] for fault in faults(circle, "replacement_retired")}
    assert says == {"nothing replaces that one"}


def test_names_that_replace_each_other_in_hundreds_of_ways_are_linted() -> None:
    """A thousand names with a hundred replacements each, and an end of their own."""
    names = [f"n{i:04}" for i in range(1_000)]
    dense = {
        name: (*(names[(i * 7 + k) % 1_000] for k in range(99)), f"end{i:04}")
        for i, name in enumerate(names)
    }
    found = faults(dense, "replacement_retired")
    ending = [f"end{i:04}" for i in range(ENDS_SHOWN)]
    assert {fault.others[1:] for fault in found} == {tuple(ending)}
    assert all(
        fault.says.endswith(f"one of many, such as {', '.join(ending)} instead") for fault in found
    )
