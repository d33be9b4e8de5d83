"""`dev.py` says what is wrong in a sentence, also where it cannot go on."""

import ast
import sys
from pathlib import Path

from tests.house.checkout import ROOT, plain_environment, run


def test_dev_parses_on_a_python_that_is_too_old() -> None:
    """Python 3.7 gets as far as the sentence that says which Python is needed."""
    ast.parse((ROOT / "dev.py").read_text(encoding="utf-8"), feature_version=(3, 7))


def test_dev_needs_the_standard_library_only() -> None:
    """It runs before anything is installed."""
    tree = ast.parse((ROOT / "dev.py").read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert {name.split(".")[0] for name in imported} <= set(sys.stdlib_module_names) | {
        "__future__"
    }


def test_dev_without_a_command_is_bad_usage(tmp_path: Path) -> None:
    """The commands are listed on standard error, exit status 2; asked for, they are the answer."""
    bare = run([sys.executable, ROOT / "dev.py"], cwd=tmp_path)
    asked = run([sys.executable, ROOT / "dev.py", "--help"], cwd=tmp_path)

    assert bare.returncode == 2
    assert asked.returncode == 0
    assert "python3 dev.py demo" in bare.stderr
    assert "python3 dev.py demo" in asked.stdout


def test_a_folder_named_venv_that_is_none_is_left_alone(tmp_path: Path) -> None:
    """Nothing that is not a virtual environment is ever cleared."""
    (tmp_path / "dev.py").write_bytes((ROOT / "dev.py").read_bytes())
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "letters.txt").write_text("mine")

    done = run(
        [sys.executable, "dev.py", "demo"], cwd=tmp_path, variables=plain_environment(tmp_path)
    )

    assert done.returncode == 1
    assert "is not a virtual environment" in done.stderr
    assert (tmp_path / ".venv" / "letters.txt").read_text() == "mine"
