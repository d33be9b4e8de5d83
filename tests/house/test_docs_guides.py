"""The guide for each kind of reader is run on the months of the demo as it stands."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.house.checkout import BIN, ROOT, plain_environment, run
from tests.house.test_examples import blocks, request

GUIDES = ROOT / "docs" / "guides"
PERSONS = ("maintainer.md", "operator.md", "client-author.md")


def commands(name: str) -> list[str]:
    """The lines of all shell blocks of a guide, in order."""
    text = (GUIDES / name).read_text(encoding="utf-8")
    return [line for block in blocks(text, "sh") for line in block.splitlines()]


def demo_of(name: str) -> tuple[list[str], list[str]]:
    """The words of the guide's own `lastcall demo`, on a free port; and the lines that follow it."""
    first, *others = commands(name)
    words = shlex.split(first)
    assert words[:4] == ["lastcall", "demo", "--port", "8420"]
    return [str(BIN / "lastcall"), "demo", "--port", "0", *words[4:]], others


@contextmanager
def shown(command: list[str], desk: Path) -> Iterator[str]:
    """The running demo; gives its address."""
    process = subprocess.Popen(
        command, cwd=desk, env=plain_environment(desk), stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stderr is not None
            said = re.search(r"http://\S+:\d+", process.stderr.readline())
            assert said is not None
            yield said[0]
        finally:
            process.terminate()


def exit_status(line: str) -> int:
    """What the guide says a command ends with."""
    said = re.search(r"# exit status (\d)", line)
    return int(said[1]) if said else 0


@pytest.mark.parametrize("name", PERSONS)
def test_every_command_of_a_persons_guide_runs_on_the_demo(name: str, tmp_path: Path) -> None:
    """Each ends as the guide says, and each question is answered with more than nothing."""
    demo, lines = demo_of(name)
    variables = plain_environment(tmp_path)
    variables["PATH"] = f"{BIN}:{variables['PATH']}"
    asked = 0

    with shown(demo, tmp_path) as address:
        for line in lines:
            if line.startswith("export "):
                variable, _, value = line.removeprefix("export ").partition("=")
                variables[variable] = value
            elif line.startswith("curl "):
                answer = request(line, tmp_path, address)
                assert answer.status_code == 200, f"{line}\n{answer.text}"
                assert '"items":[]' not in answer.text, line
                asked += 1
            else:
                done = run(["sh", "-c", line], cwd=tmp_path, variables=variables)
                assert done.returncode == exit_status(line), f"{line}\n{done.stdout}{done.stderr}"

    assert asked >= 3


@pytest.mark.parametrize("name", PERSONS)
def test_a_persons_guide_is_linked(name: str) -> None:
    """From the README, and from the list of documents."""
    for page, link in ((ROOT / "README.md", "docs/guides/"), (ROOT / "docs/README.md", "guides/")):
        assert f"({link}{name})" in page.read_text(encoding="utf-8"), page


def test_the_demo_keeps_its_months_out_of_a_file_that_is_there(tmp_path: Path) -> None:
    """Nothing is written, and the answer names what would succeed."""
    there = tmp_path / "events.db"
    there.write_bytes(b"mine")

    done = run(
        [BIN / "lastcall", "demo", "--keep", there],
        cwd=tmp_path,
        variables=plain_environment(tmp_path),
    )

    assert done.returncode != 0
    assert f"lastcall serve --db {there}" in done.stderr
    assert there.read_bytes() == b"mine"
