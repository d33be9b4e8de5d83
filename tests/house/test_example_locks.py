"""What the example servers ask for is what the tests run them with, and npm's lock is one."""

import json
import re
from importlib.metadata import version
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.house.checkout import ROOT
from tests.programs import node_package

NODE = ROOT / "tests" / "node"
EXAMPLES = ROOT / "examples"
ASKED = json.loads((EXAMPLES / "typescript-server" / "package.json").read_text("utf-8"))
TESTED = json.loads((NODE / "package.json").read_text("utf-8"))


def locked() -> dict[str, dict[str, Any]]:
    """Each package of npm's lock by its place, without the project itself."""
    packages: dict[str, dict[str, Any]] = json.loads(
        (NODE / "package-lock.json").read_text("utf-8")
    )["packages"]
    return {place: facts for place, facts in packages.items() if place}


def caret(wanted: str) -> SpecifierSet:
    """The versions that npm's `^1.2.3` allows, from 1.0.0 on."""
    found = re.fullmatch(r"\^(([1-9]\d*)\.\d+\.\d+)", wanted)
    assert found, f"{wanted} is no such range"
    return SpecifierSet(f">={found[1]},<{int(found[2]) + 1}")


def test_the_python_example_runs_on_what_is_installed() -> None:
    """The tests' own Python satisfies requirements.txt of the server."""
    lines = (EXAMPLES / "python-server" / "requirements.txt").read_text("utf-8").splitlines()
    wanted = [Requirement(line) for line in lines]

    assert wanted
    assert [str(one) for one in wanted if not one.specifier.contains(version(one.name))] == []


@pytest.mark.parametrize("name", ASKED["dependencies"])
def test_the_typescript_examples_run_on_what_is_installed(name: str) -> None:
    """The npm package that the tests installed satisfies package.json of the servers."""
    installed = json.loads((node_package(name) / "package.json").read_text("utf-8"))["version"]

    assert caret(ASKED["dependencies"][name]).contains(installed)
    assert TESTED["dependencies"][name] == installed


def test_the_tests_ask_npm_for_exact_versions() -> None:
    """A range would be another version in every year."""
    exact = re.compile(r"(npm:[@a-z/-]+@)?\d+\.\d+\.\d+")

    assert [text for text in TESTED["dependencies"].values() if not exact.fullmatch(text)] == []


def test_the_lock_of_npm_is_of_these_versions() -> None:
    """After a change: `python3 dev.py lock`."""
    pinned = {
        place.removeprefix("node_modules/"): facts["version"] for place, facts in locked().items()
    }

    assert {name: pinned.get(name) for name in TESTED["dependencies"]} == {
        name: text.rpartition("@")[2] for name, text in TESTED["dependencies"].items()
    }


def test_the_lock_of_npm_has_hashes_and_names_no_host() -> None:
    """A lock says what to install; where from is the business of whoever installs."""
    assert [place for place, facts in locked().items() if "resolved" in facts] == []
    assert [
        place for place, facts in locked().items() if not facts["integrity"].startswith("sha512-")
    ] == []
