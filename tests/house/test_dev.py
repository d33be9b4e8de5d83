"""`dev.py` says what is wrong in a sentence, also where it cannot go on."""

import ast
import re
import sys
import sysconfig
import venv
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import dev
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


def test_what_dev_starts_keeps_what_it_has_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else every start compiles all modules again, which takes longer than most commands."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    assert "PYTHONDONTWRITEBYTECODE" not in dev.environment()


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


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ([], True),
        (
            ["-x", "-k", "docs"],
            True,
        ),  # of all tests; no path, though there is a folder of this name
        (["tests"], True),
        (["."], True),
        (["tests/chain/test_story.py::test_the_clients_do_what_readme_says"], True),
        (["tests/ingest", "tests/browser/"], True),
        (["tests/senders"], True),
        ([str(ROOT / "tests" / "house")], True),
        (["tests/ingest"], False),
        (["tests/store/test_engine.py", "tests/api", "-q"], False),
        (["service"], False),
    ],
)
def test_programs_are_installed_for_the_tests_that_need_them(
    arguments: list[str], needed: bool
) -> None:
    """Whoever works on the ingest needs none."""
    assert dev.programs_needed(arguments) is needed


def test_every_test_that_runs_a_program_is_among_those() -> None:
    """They find it through tests/programs.py."""
    finds = re.compile(r"^from tests(\.programs import| import programs)", re.MULTILINE)
    users = [
        file
        for file in (ROOT / "tests").rglob("*.py")
        if "node_modules" not in file.parts and finds.search(file.read_text(encoding="utf-8"))
    ]

    assert users
    assert [file for file in users if not dev.programs_needed([str(file)])] == []


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """
    A checkout with a test in each of two folders, and an environment that has what is installed here;
    npm's packages are still to come.
    """
    for name in ("dev.py", "tests/node/package.json", "tests/node/package-lock.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for name in ("ingest", "chain"):
        (tmp_path / "tests" / name).mkdir()
        (tmp_path / "tests" / name / "test_one.py").write_text("def test_one(): assert True\n")
    for name in ("pyproject.toml", "requirements-test.txt"):
        (tmp_path / name).touch()

    spec = spec_from_file_location("dev_elsewhere", tmp_path / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    there = module_from_spec(spec)
    spec.loader.exec_module(there)
    venv.create(there.VENV, with_pip=False)
    there.tool("uv").touch()
    home = {"base": str(there.VENV), "platbase": str(there.VENV)}
    packages = Path(sysconfig.get_path("purelib", "venv", home))
    (packages / "here.pth").write_text(sysconfig.get_path("purelib"))
    installed = there.fingerprint(tmp_path / "requirements-test.txt", tmp_path / "pyproject.toml")
    (there.VENV / "installed-requirements-test.txt").write_text(installed)
    return tmp_path


@pytest.mark.parametrize(("folder", "needed"), [("chain", True), ("ingest", False)])
def test_tests_run_where_no_program_can_be_had(elsewhere: Path, folder: str, needed: bool) -> None:
    """What is missing is said, but only to those whose tests may need it."""
    offline = plain_environment(
        elsewhere,
        PATH="",
        NPM_CONFIG_OFFLINE="true",
        NPM_CONFIG_CACHE=str(elsewhere / "cache"),
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        PYTEST_PLUGINS="xdist.plugin",
    )
    done = run(
        [sys.executable, "dev.py", "test", f"tests/{folder}"], cwd=elsewhere, variables=offline
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert ("npm ci failed" in done.stdout) is needed
    assert ("no chromium" in done.stdout) is needed
    assert ("no apt" in done.stdout) is needed
