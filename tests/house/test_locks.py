"""The locks fit pyproject.toml, name no package index and no place on a disk."""

import re
import tomllib
from itertools import chain

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.checkout import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN = PROJECT["project"]["dependencies"]
GROUPS = PROJECT["dependency-groups"]
LOCKS = {
    "requirements.txt": RUN,
    "requirements-test.txt": RUN + GROUPS["test"],
    "requirements-bench.txt": RUN + GROUPS["bench"],
}


def pins(name: str) -> dict[str, set[str]]:
    """Each distribution of a lock with its versions (several where Pythons need different ones)."""
    found: dict[str, set[str]] = {}
    text = (ROOT / name).read_text(encoding="utf-8")
    for spelled, version in re.findall(
        r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)", text, re.MULTILINE
    ):
        found.setdefault(canonicalize_name(spelled), set()).add(version)
    return found


@pytest.mark.parametrize(("lock", "wanted"), LOCKS.items())
def test_a_lock_holds_every_dependency_in_a_version_that_is_allowed(
    lock: str, wanted: list[str]
) -> None:
    """Whoever changes a dependency writes the locks again: `python3 dev.py lock`."""
    pinned = pins(lock)
    requirements = [Requirement(text) for text in wanted]

    wrong = [
        str(one)
        for one in requirements
        if not any(
            one.specifier.contains(version)
            for version in pinned.get(canonicalize_name(one.name), set())
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("lock", ["requirements-test.txt", "requirements-bench.txt"])
def test_the_locks_agree(lock: str) -> None:
    """What is tested and measured are the versions that are installed to use."""
    larger = pins(lock)

    assert {name: larger.get(name) for name in pins("requirements.txt")} == pins("requirements.txt")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_no_path(lock: str) -> None:
    """A lock says what to install; where from is the business of whoever installs."""
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    form = re.compile(
        r"(    --hash=sha256:[0-9a-f]{64}|[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?==[^/:]+)( \\)?"
    )

    assert [line for line in lines if not form.fullmatch(line)] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    """Installing refuses a file that is not the one that was resolved."""
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    following = zip(lines, chain(lines[1:], [""]), strict=True)

    assert [line for line, after in following if "==" in line and "--hash=" not in after] == []
