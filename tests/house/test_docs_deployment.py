"""What the guide to deployment shows is accepted, and its back-up is whole."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from service.settings import KINDS, variable
from tests.house.checkout import BIN, ROOT, plain_environment, run
from tests.programs import missing

UNIT = ROOT / "examples" / "deployment" / "lastcall.service"
GUIDE = (ROOT / "docs" / "guides" / "deployment.md").read_text(encoding="utf-8")


def test_the_unit_is_accepted_by_systemd(tmp_path: Path) -> None:
    """`systemd-analyze verify` finds nothing in it, once its command is a program that is there."""
    verify = shutil.which("systemd-analyze")
    if verify is None:
        missing("systemd-analyze")
    unit = tmp_path / "lastcall.service"
    text = UNIT.read_text(encoding="utf-8")
    assert "ExecStart=/opt/lastcall/bin/lastcall " in text
    text = text.replace("/opt/lastcall/bin/lastcall ", f"{BIN / 'lastcall'} ")
    unit.write_text(text, encoding="utf-8")

    done = run([verify, "verify", "--man=no", "--recursive-errors=no", unit], cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_names_settings_that_there_are() -> None:
    """Whoever renames one changes the unit, and the guide."""
    text = UNIT.read_text(encoding="utf-8")
    named = set(re.findall(r"LASTCALL_[A-Z_]+", text + GUIDE))

    assert named
    assert named <= {variable(name) for name in KINDS}


def test_every_command_of_the_guide_is_one(tmp_path: Path) -> None:
    """With each option that it is shown with."""
    shown = re.findall(
        r"^(?:.*/bin/)?lastcall ((?:[a-z]+ )*[a-z]+)((?: .*)?)$", GUIDE, re.MULTILINE
    )
    assert len(shown) >= 5
    for words, rest in shown:
        command = [word for word in words.split() if word != "anna"]
        done = run(
            [BIN / "lastcall", *command[:2], "--help"],
            cwd=tmp_path,
            variables=plain_environment(tmp_path),
        )
        assert done.returncode == 0, words
        for option in re.findall(r"--[a-z]+", rest):
            assert option in done.stdout, f"{words} {option}"


def test_a_back_up_of_a_file_in_use_is_whole(tmp_path: Path) -> None:
    """As `.backup` makes it, while somebody has the file open: the same line again is a duplicate there."""
    line = '{"time":"2026-10-05T10:15:02.114Z","data":{"tool":"old"},"msg":"Retired tool called"}\n'
    (tmp_path / "server.log").write_text(line, encoding="utf-8")
    variables = plain_environment(tmp_path)
    ingest = [str(BIN / "lastcall"), "ingest", "server.log", "--json", "--db"]

    assert run([*ingest, "events.db"], cwd=tmp_path, variables=variables).returncode == 0
    with (
        closing(sqlite3.connect(tmp_path / "events.db")) as used,
        closing(sqlite3.connect(tmp_path / "copy.db")) as copy,
    ):
        used.backup(copy)
    again = run([*ingest, "copy.db"], cwd=tmp_path, variables=variables)

    assert '"duplicates": 1' in again.stdout, again.stdout + again.stderr
