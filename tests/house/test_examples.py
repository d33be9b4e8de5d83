"""The examples of README and guide are run as they stand."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from service.ingest.profiles import read_profile
from tests.house.checkout import BIN, ROOT, plain_environment, run

README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "guides" / "log-lines.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8420"


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def examples(text: str) -> list[str]:
    """The lines of the shell blocks that use Last Call and nothing that has to be installed."""
    mine = ("lastcall ", "curl ", "head ")
    split = [block.splitlines() for block in blocks(text, "sh")]
    return [line for lines in split if all(one.startswith(mine) for one in lines) for line in lines]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the README's line in `server.log`."""
    (line,) = blocks(README, "json")
    (tmp_path / "server.log").write_text(line, encoding="utf-8")
    return tmp_path


def variables(desk: Path) -> dict[str, str]:
    """The environment of somebody who has installed Last Call."""
    url = f"sqlite:///{desk / 'events.db'}"
    plain = plain_environment(desk, LASTCALL_DATABASE_URL=url)
    return {**plain, "PATH": f"{BIN}:{plain['PATH']}"}


@contextmanager
def served(desk: Path) -> Iterator[str]:
    """A running `lastcall serve` on a free port; gives its address."""
    command = [str(BIN / "lastcall"), "serve", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=desk, env=variables(desk), stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stderr is not None
            said = re.search(r"http://\S+:\d+", process.stderr.readline())
            assert said is not None
            yield said[0]
        finally:
            process.terminate()


def request(line: str, desk: Path, address: str) -> httpx2.Response:
    """Do what a `curl` line asks for."""
    words = shlex.split(line)
    url = words[-1].replace(ADDRESS, address)
    transport = httpx2.HTTPTransport(retries=5)
    with httpx2.Client(transport=transport, timeout=30) as client:
        if "--data-binary" in words:
            name = words[words.index("--data-binary") + 1].removeprefix("@")
            return client.post(url, content=(desk / name).read_bytes())
        return client.get(url)


def test_the_readme_leads_from_a_log_file_to_an_answer(desk: Path) -> None:
    """Every `lastcall` and `curl` line of the README works, in the order in which they stand."""
    lines = examples(README)
    commands = [line for line in lines if not line.startswith(("curl ", "lastcall serve"))]
    requests = [line for line in lines if line.startswith("curl ")]
    assert len(commands) >= 4
    assert len(requests) >= 3

    for line in commands:
        done = run(["sh", "-c", line], cwd=desk, variables=variables(desk))
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    with served(desk) as address:
        answers = {line: request(line, desk, address) for line in requests}

    assert {line: answer.status_code for line, answer in answers.items()} == dict.fromkeys(
        requests, 200
    )
    assert "tomtom-ev-routing" in (desk / "report.html").read_text(encoding="utf-8")
    assert all('"items"' in answer.text for line, answer in answers.items() if "/api/" in line)


def test_the_commands_of_the_guide_work(desk: Path) -> None:
    """Every `lastcall` line of the guide to log lines works."""
    lines = examples(GUIDE)
    assert lines

    for line in lines:
        done = run(["sh", "-c", line], cwd=desk, variables=variables(desk))
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_the_python_of_the_guide_logs_a_line_that_is_recognised(desk: Path) -> None:
    """The line that the structlog example writes is a stale call, with its time to the nanosecond."""
    (program,) = blocks(GUIDE, "python")
    logged = run([BIN / "python", "-c", program], cwd=desk, variables=variables(desk))
    (desk / "python.log").write_text(logged.stderr, encoding="utf-8")

    done = run(["lastcall", "ingest", "python.log", "--json"], cwd=desk, variables=variables(desk))

    assert '"stale_call": 1' in done.stdout, logged.stderr + done.stderr
    assert re.search(r'"timestamp": "[-0-9]+T[0-9:]+\.\d{9}Z"', logged.stderr)


def test_the_profile_of_the_guide_is_one(desk: Path) -> None:
    """The example of a profile can be read, and says what the text beside it says."""
    (text,) = blocks(GUIDE, "toml")
    profile = read_profile(text, "the guide")

    assert profile.messages["gone"].word == "stale_call"
    assert profile.paths["tool"] == (("call", "name"),)
