"""
The accessibility tree of each page: what somebody who listens to it is told, in which order. `tests/browser/trees` has
them as they were reviewed.

    PYTHONPATH=. .venv/bin/python -m tests.browser.trees

writes them again after a change that was meant; what is different is read before it is committed.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests import programs
from tests.acceptance.service import Running, running
from tests.browser.conftest import FLAGS, NOW, fill, settings_in
from tests.browser.walk import PAGES, places
from tests.browser.watch import Watched, watched

FOLDER = Path(__file__).parent / "trees"
ROWS = 2
"""Rows, choices and entries of a list that are written; of the others, how many there are."""
_MANY = re.compile(r"( *)- '?(row|option|listitem|group)\b")
_ROW = re.compile(r"""^( *- )(?:row "(?:[^"\\]|\\.)*"|'row "(?:[^']|'')*"')(:?)$""")
_PALETTE, _SHEET = "palette", "sheet of keys"
NAMES = (*PAGES, _PALETTE, _SHEET)


def file_of(name: str) -> Path:
    """Where the tree of a page, or of what opens over one, is kept."""
    words = re.findall(r"[a-z]+", name.replace("{batch}", "")) or ["names"]
    return FOLDER / f"{'-'.join(words)}.txt"


def shortened(tree: str) -> str:
    r"""
    A tree with the first few of many alike, without addresses; a row is named by its cells, so not once more.

    >>> print(shortened('- row "a 1":\n  - cell "1"\n- row "b"\n- row "d":\n  - cell "2"\n- text: x'))
    - row:
      - cell "1"
    - row
    - … and 1 more row
    - text: x
    <BLANKLINE>
    """
    kept: list[str] = []
    alike: dict[int, tuple[str, int]] = {}
    hidden: int | None = None

    def close(depth: int) -> None:
        for at in sorted((at for at in alike if at >= depth), reverse=True):
            role, many = alike.pop(at)
            if many > ROWS:
                kept.append(
                    f"{' ' * at}- … and {many - ROWS} more {role}{'' if many == ROWS + 1 else 's'}"
                )

    for line in tree.splitlines():
        depth = len(line) - len(line.lstrip())
        if hidden is not None and depth > hidden:
            continue
        hidden = None
        found = _MANY.match(line)
        role = found[2] if found else None
        close(depth + 1)
        if depth in alike and alike[depth][0] != role:
            close(depth)
        if role is not None:
            alike[depth] = (role, alike.get(depth, (role, 0))[1] + 1)
            if alike[depth][1] > ROWS:
                hidden = depth
                continue
        if "- /url:" in line or "- /placeholder:" in line:
            continue
        if line.lstrip().startswith(("- img", "- 'img")):
            hidden = depth  # what is inside of a picture is not told
            line = line.removesuffix(":")
        kept.append(_ROW.sub(r"\1row\2", line))
    close(0)
    return re.sub(
        r"(- \w+(?: \"(?:[^\"\\\\]|\\\\.)*\")?):\n(?=( *)- )", _leaf, "\n".join(kept) + "\n"
    )


def _leaf(found: re.Match[str]) -> str:
    """A colon stays where something stands below; that of a link had its address there alone."""
    start = found.string.rfind("\n", 0, found.start()) + 1
    depth = found.start() - start
    return found[0] if len(found[2]) > depth else f"{found[1]}\n"


def tree_of(seen: Watched) -> str:
    """The tree of the dialog that is open, else of the page, all that is folded opened."""
    seen.open_tables()
    over = seen.page.locator("dialog[open]")
    shown = (over if over.count() else seen.page.locator("body")).aria_snapshot()
    return shortened(shown.replace(seen.root, "http://127.0.0.1:8420"))


def palette(seen: Watched) -> None:
    """Open it, and ask for a name."""
    seen.page.keyboard.press("/")
    seen.page.locator("#palette-list li >> nth=0").wait_for()
    seen.page.keyboard.type("tomtom")
    seen.page.locator("#palette [role=status]", has_text="found").wait_for()
    seen.page.locator("#palette-list li >> nth=0", has_text="tomtom").wait_for()


def sheet(seen: Watched) -> None:
    """Open the sheet of keys."""
    seen.page.keyboard.press("?")


OVER: dict[str, Callable[[Watched], None]] = {_PALETTE: palette, _SHEET: sheet}
"""What opens over a page."""


def tree_of_page(browser: Browser, service: Running, ways: dict[str, str], name: str) -> str:
    """The tree of a page, which is at its place in *ways*, or of what opens over one."""
    with watched(browser, service.url) as seen:
        seen.open(ways.get(name, "/told"))
        if name in OVER:
            OVER[name](seen)
        return tree_of(seen)


def main() -> None:
    """Write every tree."""
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(settings_in(Path(folder)), now=NOW) as service,
        sync_playwright() as play,
    ):
        fill(service)
        browser = play.chromium.launch(executable_path=programs.chromium(), args=list(FLAGS))
        ways = places(service)
        for name in NAMES:
            tree = tree_of_page(browser, service, ways, name)
            file_of(name).write_text(tree, encoding="utf-8")
        browser.close()


if __name__ == "__main__":
    main()
