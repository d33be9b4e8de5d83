"""
The checks of the story fail when the notification goes missing, or a client no longer answers it: each
time with a copy of the examples in which that is all that was changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chain.checks import check, totals
from tests.chain.deliver import a_day_after, over_http
from tests.chain.pages import check_pages
from tests.chain.stories import (
    NEWER,
    OLDER,
    PYTHON,
    SETTINGS,
    TYPESCRIPT,
    TYPESCRIPT_V2,
    Setting,
    copy_examples,
    tell,
)


@dataclass(frozen=True)
class Change:
    """A text of an example that stands there once, and what stands there instead."""

    file: str
    old: str
    new: str = ""


LISTENS = "clients/listens.py"
WAITS = """\
            with anyio.fail_after(30):
                await changed.wait()
"""
LISTS = "        listed = {tool.name for tool in (await client.list_tools()).tools}\n"
ROUND = "    for _ in range(2):\n"

# The client goes on by itself, so that the story comes to its end.
GOES_ON = (
    Change(LISTENS, "anyio.fail_after(30)", "anyio.move_on_after(0.5)"),
    Change(
        LISTENS,
        "            tasks.start_soon(hear)\n            await converse(client, setting, changed)\n",
        "            tasks.start_soon(hear)\n            await converse(client, setting, changed)\n"
        "            tasks.cancel_scope.cancel()\n",
    ),
)
# Its handler is gone and, with it, the listing that follows a notification. It goes on with the old name,
# and still brings the retirement about once only.
NO_HANDLER = (
    Change(LISTENS, 'if name == "add":', 'if name == "add" and _ == 0:'),
    Change(LISTENS, ", on_change=changed.set"),
    Change(LISTENS, WAITS),
    Change(LISTENS, ROUND + LISTS, LISTS[4:] + ROUND),
)

RETIRED_MJS = "typescript-server/retiredTools.mjs"
SENDS = "        await inner.send(sent, options);\n"
IS_NOTIFICATION = 'message.method === "notifications/tools/list_changed"'


def silent(setting: Setting) -> Sequence[Change]:
    """The server retires the names and tells nobody."""
    if setting.server == PYTHON:
        return (Change(PYTHON, '        await retired.announce("retire-old-names")\n'), *GOES_ON)
    if setting == Setting(TYPESCRIPT_V2, NEWER, "http"):
        return (Change("typescript-server/tools.mjs", "    this.notify();\n"), *GOES_ON)
    takes = "      async send(message, options) {\n"
    return (
        Change(RETIRED_MJS, takes, f"{takes}        if ({IS_NOTIFICATION}) return;\n"),
        *GOES_ON,
    )


def says_so_only(setting: Setting) -> Sequence[Change]:
    """The server of 2025-11-25 logs a notification that it does not send."""
    if setting.server == PYTHON:
        sends = "                await connection.send_tool_list_changed()\n"
        return (Change("python-server/retired_tools.py", sends), *GOES_ON)
    return (Change(RETIRED_MJS, SENDS, f"        if (!({IS_NOTIFICATION}))\n  {SENDS}"), *GOES_ON)


QUICK = {
    ("silent", Setting(PYTHON, OLDER, "http")),
    ("silent", Setting(TYPESCRIPT_V2, NEWER, "http")),
    ("says so only", Setting(TYPESCRIPT, OLDER, "stdio")),
    ("no handler", Setting(PYTHON, NEWER, "http")),
}

# Where the pages say it. The client that retires the names gets a notification or not, as it happens.
TABLES = {
    "reactions": ["/clients #reactions"],
    "events": ["/clients #reactions", "/client #events"],
}


def cases() -> list[object]:
    """Every change in every setting in which it means something; the subject that it is seen in."""
    found: list[object] = []
    for setting in SETTINGS:
        changed = {
            "silent": (silent(setting), "reactions"),
            "no handler": (NO_HANDLER, "reactions"),
        }
        if not setting.modern:
            changed["says so only"] = (says_so_only(setting), "events")
        for name, (changes, subject) in changed.items():
            marks = [] if (name, setting) in QUICK else [pytest.mark.slow]
            found.append(
                pytest.param(setting, changes, subject, id=f"{name}-{setting}", marks=marks)
            )
    return found


def apply(changes: Sequence[Change], examples: Path) -> None:
    """Change a copy of the examples, each text exactly once."""
    for change in changes:
        file = examples / change.file
        text = file.read_text(encoding="utf-8")
        assert text.count(change.old) == 1, f"{change.file} holds this not once: {change.old}"
        file.write_text(text.replace(change.old, change.new), encoding="utf-8")


@pytest.mark.parametrize(("setting", "changes", "subject"), cases())
def test_a_missing_notification_or_answer_is_noticed(
    setting: Setting, changes: Sequence[Change], subject: str, tmp_path: Path
) -> None:
    """All else goes on, stale calls and all; the checks of REST and pages say what is missing."""
    examples = copy_examples(tmp_path / "examples")
    apply(changes, examples)
    story = tell(setting, examples, tmp_path / "server.log")
    url = f"sqlite:///{tmp_path / 'events.db'}"
    with a_day_after(story.ended, url) as service:
        receipt = over_http(service, story.log)

        assert receipt["events"]["stale_call"] == totals(story, story.did)["stale_call"] >= 9
        with pytest.raises(AssertionError, match=f"^{subject}: "):
            check(service, story)
        with pytest.raises(AssertionError, match=f"^({'|'.join(TABLES[subject])}): "):
            check_pages(service, story)
