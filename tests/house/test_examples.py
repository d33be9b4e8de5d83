"""The examples of README and guide are run as they stand."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from dashboards.shippers import filled, first_line, shippers
from service.ingest.profiles import read_profile
from tests.house.checkout import BIN, ROOT, plain_environment, run

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHIPPERS = (ROOT / "docs" / "shippers.in.md").read_text(encoding="utf-8")
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


def test_the_python_of_the_guide_logs_lines_that_are_recognised(desk: Path) -> None:
    """The examples, one of text and one of structlog, each log a stale call; the latter to the nanosecond."""
    programs = blocks(GUIDE, "python")
    assert len(programs) == 2
    logged = [
        run([BIN / "python", "-c", program], cwd=desk, variables=variables(desk)).stderr
        for program in programs
    ]
    (desk / "python.log").write_text("".join(logged), encoding="utf-8")

    done = run(["lastcall", "ingest", "python.log", "--json"], cwd=desk, variables=variables(desk))

    assert '"stale_call": 2' in done.stdout, "".join(logged) + done.stderr
    assert re.search(r'"timestamp": "[-0-9]+T[0-9:]+\.\d{9}Z"', logged[1])


def test_the_profiles_of_the_guide_are_some(desk: Path) -> None:
    """The examples of profiles can be read, and say what the text beside them says."""
    text, of_text = blocks(GUIDE, "toml")
    profile, text_profile = (read_profile(each, "the guide") for each in (text, of_text))

    assert profile.messages["gone"].word == "stale_call"
    assert profile.paths["tool"] == (("call", "name"),)
    assert text_profile.formats == {"logfmt"}
    assert "msg" in text_profile.head


def test_the_senders_of_the_shippers_page_send(desk: Path) -> None:
    """Each of the programs and the `curl` line logs one call, of the server that its address names."""
    programs = [["python", "-c", each] for each in blocks(SHIPPERS, "python")]
    programs += [["sh", "-c", each] for each in blocks(SHIPPERS, "sh") if ADDRESS in each]
    assert len(programs) == 3

    with served(desk) as address:
        for command in programs:
            given = [each.replace(ADDRESS, address) for each in command]
            done = run(given, cwd=desk, variables=variables(desk))
            assert done.returncode == 0, done.stdout + done.stderr
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=5)) as client:
            found = client.get(f"{address}/api/v1/health").json()["items"]

    assert sorted((row["server"], row["source"], row["accepted"]) for row in found) == [
        ("maps", "elasticsearch", 1),
        ("maps", "loki", 1),
        ("maps", "otlp", 1),
    ]


def test_the_guide_to_set_up_shows_what_the_page_does(desk: Path) -> None:
    """Its configurations and first lines are those of the files, filled in for a service that asks for no token."""
    guide = (ROOT / "docs" / "guides" / "set-up.md").read_text(encoding="utf-8")
    for key in ("syslog-ng", "opentelemetry-python"):
        shipper = shippers()[key]
        assert filled(shipper.text, address=ADDRESS, server="maps") in guide
        first = first_line(shipper)
        assert first is not None
        assert f"```sh\n{first}\n```" in guide


def test_the_first_lines_of_set_up_are_stored(desk: Path) -> None:
    """By the SDK of OpenTelemetry, and by curl from a file: a greeting, which is no call of any name."""
    (desk / "var/log/mcp").mkdir(parents=True)
    with served(desk) as address:
        for key in ("opentelemetry-python", "curl"):
            shipper = shippers()[key]
            text = filled(shipper.text, address=address, server="maps")
            (desk / shipper.file).write_text(
                text.replace("/var/", f"{desk}/var/"), encoding="utf-8"
            )
            command = (first_line(shipper) or "").replace("/var/", f"{desk}/var/")
            done = run(["sh", "-c", command], cwd=desk, variables=variables(desk))
            assert done.returncode == 0, done.stdout + done.stderr
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=5)) as client:
            rows = client.get(f"{address}/api/v1/events").json()["items"]

    assert [(row["kind"], row["server"], row["client"]) for row in rows] == [
        ("hello", "maps", "set-up")
    ] * 2
