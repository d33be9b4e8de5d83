"""What is measured on, and with which versions."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

PROGRAMS = ("rg", "jq", "sqlite3", "gzip", "grep")
PACKAGES = ("lastcall", "duckdb", "polars", "ahocorasick-rs", "isal", "orjson", "numpy", "uvicorn")


def described() -> dict[str, str]:
    """Processor, cores, memory, kernel, Python, and the versions of all that is measured."""
    return {
        "processor": _processor(),
        "cores": str(_cores()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "versions": ", ".join([*_packages(), *_programs()]),
    }


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.processor() or platform.machine()


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _packages() -> list[str]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _programs() -> list[str]:
    """Each program with the first number that it says about itself."""
    found = []
    for name in PROGRAMS:
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
            if version := re.search(r"\d+(?:\.\d+)+", said.stdout):
                found.append(f"{name} {version[0]}")
    return found
