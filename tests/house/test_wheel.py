"""What is built is what runs: the wheel in an environment of its own, far from the checkout."""

import json
import sys
import zipfile
from pathlib import Path

import pytest

from tests.house.checkout import BIN, ROOT, plain_environment, run

LINE = (
    '{"level":"warn","time":"2026-10-05T10:15:02.114Z","data":{"tool":"tomtom-ev-routing",'
    '"client":"claude-code"},"msg":"Retired tool called"}\n'
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout with the build backend that is installed."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    done = run([*build, ROOT], cwd=folder, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    The folder of programs of a new environment with the lock and the wheel in it.

    uv takes what it has in its cache and asks the network for the rest only.
    """
    home = tmp_path_factory.mktemp("clean")
    programs = home / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    into = ["--python", str(programs / "python")]
    uv = [str(BIN / "uv"), "--quiet"]
    install = [*uv, "pip", "install", *into]
    lock = [*install, "--require-hashes", "-r", str(ROOT / "requirements.txt")]
    done = run([*uv, "venv", "--python", sys.executable, str(home / "env")], cwd=home)
    assert done.returncode == 0, done.stderr
    if run([*lock, "--offline"], cwd=home, timeout=300).returncode != 0:
        done = run(lock, cwd=home, timeout=600)
        assert done.returncode == 0, done.stderr
    done = run([*install, "--no-deps", str(wheel)], cwd=home)
    assert done.returncode == 0, done.stderr
    return programs


def test_the_wheel_holds_every_file_that_is_not_python(wheel: Path) -> None:
    """Templates, static files, profiles and migrations lie in the packages and come along."""
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for package in ("service", "dashboards", "migrations")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert wanted - held == set()
    assert any(name.startswith("migrations/versions/") for name in held)
    assert any(name.startswith("service/ingest/profiles/") for name in held)
    assert any(name.startswith("dashboards/templates/") for name in held)


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    """Tests, documents and what lay about in the checkout stay out."""
    roots = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}

    assert {root for root in roots if not root.endswith(".dist-info")} == {
        "service",
        "dashboards",
        "migrations",
    }


def test_an_installed_lastcall_answers_from_any_folder(installed: Path, tmp_path: Path) -> None:
    """Help, a file read, the roll-ups checked and a page written, with nothing of the checkout."""
    variables = plain_environment(tmp_path, LASTCALL_DATABASE_URL=f"sqlite:///{tmp_path}/events.db")
    (tmp_path / "server.log").write_text(LINE * 2)
    lastcall = installed / "lastcall"

    def answer(*arguments: str) -> str:
        done = run([lastcall, *arguments], cwd=tmp_path, variables=variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "ingest" in answer("--help")
    assert "0.1.0" in answer("--version")
    receipt = json.loads(answer("ingest", "server.log", "--json"))
    assert (receipt["received"], receipt["accepted"]) == (2, 2)
    again = json.loads(answer("ingest", "server.log", "--json"))
    assert (again["accepted"], again["duplicates"]) == (0, 2)
    answer("db", "check")
    answer("report", "server.log", "--html", "report.html")
    assert "tomtom-ev-routing" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_installed_service_draws_its_pages(installed: Path, tmp_path: Path) -> None:
    """The application of the wheel finds its templates and its migrations by itself."""
    program = (
        "import sys\n"
        "from service.app import create_app\n"
        "from service.settings import Settings\n"
        "import service, dashboards, migrations\n"
        "places = [module.__file__ for module in (service, dashboards, migrations)]\n"
        f"assert all({str(installed.parent)!r} in place for place in places), places\n"
        f"create_app(Settings(database_url='sqlite:///{tmp_path}/new.db'))\n"
    )
    done = run(
        [installed / "python", "-c", program], cwd=tmp_path, variables=plain_environment(tmp_path)
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new.db").exists()
