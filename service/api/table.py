"""Rows as CSV that a spreadsheet takes for text where it is text."""

import csv
import io
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from itertools import dropwhile
from typing import Any, get_type_hints

from service.answers import Collection
from service.answers.query import ABSENT, Instant, iso

_FORMULA = tuple("=+-@＝＋－＠")
_LEADING = tuple("\t\r")
_UNSEEN = {"Cc", "Cf", "Zs", "Zl", "Zp"}
"""Categories of characters that a spreadsheet may pass over before it looks for a formula."""


def table(answer: Collection[Any], row: type) -> str:
    """
    The rows of an answer as CSV with a header; range and zone stand in columns of their own.

    Text that a spreadsheet would run as a formula begins with an apostrophe; numbers stay numbers;
    what is not there is empty; lists are joined by `; `; a row within a row gives its columns.
    """
    columns = [
        field.name
        for field in fields(row)
        if field.default is MISSING
        or any(getattr(item, field.name) is not ABSENT for item in answer.items)
    ]
    hints = get_type_hints(row)
    header = [name for column in columns for name in _names(column, hints[column])]
    text = io.StringIO()
    # Quoted, so that a spreadsheet which splits at another character keeps a cell whole.
    writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*header, "range_since", "range_until", "tz"])
    span = [cell(value) for value in (answer.range.since, answer.range.until, answer.range.tz)]
    for item in answer.items:
        cells = [each for column in columns for each in _cells(getattr(item, column))]
        writer.writerow([*cells, *span])
    return text.getvalue()


def _names(column: str, hint: Any) -> list[str]:
    """The columns of a member: of a row within the row, one for each of its own members."""
    return [member.name for member in fields(hint)] if is_dataclass(hint) else [column]


def _cells(value: Any) -> list[str | int | float]:
    if is_dataclass(value):
        return [cell(getattr(value, member.name)) for member in fields(value)]
    return [cell(value)]


def cell(value: Any) -> str | int | float:
    """One cell."""
    if value is None or value is ABSENT:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Instant):
        return iso(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return safe("; ".join(_members(value)))
    if isinstance(value, list | tuple):
        return safe("; ".join(str(each) for each in value))
    return safe(str(value))


def _members(value: Mapping[str, Any]) -> Iterator[str]:
    """What is there of a mapping; an instant (`…_us`) as one."""
    for key, member in value.items():
        if member not in (None, ""):
            yield f"{key.removesuffix('_us')}={_member(key, member)}"


def _member(key: str, member: Any) -> str:
    if isinstance(member, list | tuple):
        return ", ".join(_member(key, each) for each in member)
    if key.endswith("_us") and isinstance(member, int):
        return iso(member)
    return "" if member is None else str(member)


def safe(text: str) -> str:
    """Text that no spreadsheet runs."""
    seen = "".join(dropwhile(lambda char: unicodedata.category(char) in _UNSEEN, text[:64]))
    if text.startswith(_LEADING) or seen.startswith(_FORMULA):
        return f"'{text}"
    return text
