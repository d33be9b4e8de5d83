"""Whoever sends notifications computes the same wave for a client as we do, in any spelling of its name."""

import json
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from service.analysis.waves import draw_key, wave_of
from service.analysis.waves.snippets import snippet
from service.names import clean, read_client
from tests import programs

KEY = bytes(range(32))
INSTANTS = (1_000_000_000_000_000, 1_001_209_600_000_000)
ORDINARY = [
    "claude-code",
    "Claude-Code",
    "cursor/0.42",
    "Anthropic/ClaudeAI",
    "coder/aibridge",
    "@librechat/api-client",
    "Claude-AI  (via mcp-remote 0.1.29)",
    "gateway (VIA outer) (via inner 2)",
    "windsurf-client",
    "n8n",
]
HOSTILE = [
    "",
    " ",
    "\0",
    "\u200b\ufeff",
    "__proto__",
    "constructor",
    "'''; import os; '''",
    "*/ process.exit(1) //",
    "${1}`\\\"'\n",
    "</script>",
    "a\x1cb\x85c\u3000d",
    "e\u0301 vs \u00e9",
    "Straße",
    "STRASSE",
    "\u1e9e",
    "ΣΑΣ",
    "σας",
    "\u0130stanbul",
    "\u0131stanbul",
    "\ufb03 \u0149 \u01f0 \u0390 \u1fb3 \u0345",
    "\u13a0\uab70\u13f8",
    "x/\u0663.1",
    "x/v1",
    "x / v1 / 2",
    "/1",
    "x (v\u0131a y)",
    "x (V\u0130A y z)",
    "x (via y) trailing",
    "x (via )",
    "x((via y)",
    "👩\u200d💻 agent",
    "𝒞lient",
    "\ud800 alone",
    "long " * 200,
    "é" * 300,
    "𝒞" * 257,
]


def ours(name: str) -> int:
    read = read_client(clean(name))
    return 2 if read is None else wave_of(KEY, read.key)


def python(folder: Path, code: str, names: Sequence[str]) -> list[int]:
    """The waves by the Python snippet, in an interpreter of its own without our packages."""
    (folder / "wave.py").write_text(code, encoding="utf-8")
    ask = (
        "import json, sys, wave_; print(json.dumps([wave_.wave(n) for n in json.load(sys.stdin)]))"
    )
    (folder / "wave.py").rename(folder / "wave_.py")
    return asked([sys.executable, "-c", ask], folder, names)


def typescript(folder: Path, code: str, names: Sequence[str]) -> list[int]:
    """The waves by the TypeScript snippet, run by Node."""
    (folder / "wave.ts").write_text(code, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "ask.mjs").write_text(
        'import { readFileSync } from "node:fs"; import { wave } from "./wave.ts";'
        'console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((n) => wave(n))));',
        encoding="utf-8",
    )
    return asked([programs.node(), "--no-warnings", "ask.mjs"], folder, names)


def asked(command: list[str], folder: Path, names: Sequence[str]) -> list[int]:
    done = subprocess.run(
        command,
        cwd=folder,
        input=json.dumps(list(names)).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    found: list[int] = json.loads(done.stdout)
    return found


RUNS = pytest.mark.parametrize(
    ("language", "run"), [("python", python), ("typescript", typescript)]
)


@RUNS
def test_a_snippet_agrees_on_every_name(language: Any, run: Any, tmp_path: Path) -> None:
    """Ordinary ones, and those that somebody chose in order to break it."""
    names = [*ORDINARY, *HOSTILE, *(f"client {n}" for n in range(200))]
    assert run(tmp_path, snippet(language, KEY, INSTANTS, {}), names) == [ours(n) for n in names]


@RUNS
def test_a_snippet_folds_every_letter_as_we_do(language: Any, run: Any, tmp_path: Path) -> None:
    """All that this Python's Unicode knows; letters that came later may be told apart."""
    every = (chr(i) for i in range(0x110000))
    names = [f"a{c}" for c in every if unicodedata.category(c) in ("Lu", "Ll", "Lt", "Mn", "So")]
    assert len(names) > 5_000
    assert run(tmp_path, snippet(language, KEY, INSTANTS, {}), names) == [ours(n) for n in names]


@RUNS
def test_a_snippet_knows_clients_that_are_said_to_be_one(
    language: Any, run: Any, tmp_path: Path
) -> None:
    """Whatever their names are."""
    same = {"windsurf-client": "windsurf", "__proto__": "zed", "'''\\\"": "cursor", "é`${1}": "n8n"}
    found = run(tmp_path, snippet(language, KEY, INSTANTS, same), list(same))
    assert found == [wave_of(KEY, target) for target in same.values()]


def test_a_client_may_be_told_from_its_wave_on(tmp_path: Path) -> None:
    """And one without a name from the second wave on."""
    code = snippet("python", KEY, INSTANTS, {})
    scope: dict[str, Any] = {}
    exec(code, scope)  # what is tested is that it runs
    first = next(name for name in ORDINARY if ours(name) == 1)
    second = next(name for name in ORDINARY if ours(name) == 2)
    start, end = (instant / 1e6 for instant in INSTANTS)
    may = [[scope["may_tell"](n, t) for t in (start - 1, start, end)] for n in (first, second, "")]
    assert may == [[False, True, True], [False, False, True], [False, False, True]]


def test_the_hash_is_that_of_rfc_2104() -> None:
    """`openssl dgst -sha256 -mac HMAC -macopt hexkey:00…1f` of "cursor" begins with an even byte or not."""
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{KEY.hex()}"],
        input=b"cursor",
        capture_output=True,
        check=True,
        timeout=60,
    )
    first_byte = int(done.stdout.decode().split()[-1][:2], 16)
    assert wave_of(KEY, "cursor") == 1 + first_byte % 2


@pytest.mark.parametrize("number", [2, 3, 8, 101])
def test_waves_are_as_even_as_can_be(number: int) -> None:
    """They differ by one client at most."""
    clients = [f"client {n}" for n in range(number)]
    key = draw_key(clients)
    first = sum(wave_of(key, client) == 1 for client in clients)
    assert first in (number // 2, number - number // 2)


def test_every_even_split_is_as_likely() -> None:
    """Of 6 clients there are 20; 4,000 keys give each 200 times, by the chi-squared test."""
    clients = [f"client {n}" for n in range(6)]
    counter = iter(range(10**9))

    def new_key(size: int) -> bytes:
        return next(counter).to_bytes(size, "big")

    seen: dict[tuple[str, ...], int] = {}
    for _ in range(4_000):
        key = draw_key(clients, new_key)
        split = tuple(client for client in clients if wave_of(key, client) == 1)
        seen[split] = seen.get(split, 0) + 1
    from scipy import stats

    assert len(seen) == 20
    assert stats.chisquare(list(seen.values())).pvalue > 0.001
