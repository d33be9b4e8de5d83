"""Rows as CSV that a spreadsheet takes for text where it is text."""

import csv
import io
import unicodedata
from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import dropwhile
from typing import Any

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
    what is not there is empty; lists are joined by `; `.
    """
    columns = [
        field.name
        for field in fields(row)
        if field.default is MISSING
        or any(getattr(item, field.name) is not ABSENT for item in answer.items)
    ]
    text = io.StringIO()
    # Quoted, so that a spreadsheet which splits at another character keeps a cell whole.
    writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*columns, "range_since", "range_until", "tz"])
    span = [cell(value) for value in (answer.range.since, answer.range.until, answer.range.tz)]
    for item in answer.items:
        writer.writerow([*(cell(getattr(item, column)) for column in columns), *span])
    return text.getvalue()


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
        return safe("; ".join(f"{key}={number}" for key, number in value.items()))
    if isinstance(value, list | tuple):
        return safe("; ".join(str(each) for each in value))
    return safe(str(value))


def safe(text: str) -> str:
    """Text that no spreadsheet runs."""
    seen = "".join(dropwhile(lambda char: unicodedata.category(char) in _UNSEEN, text[:64]))
    if text.startswith(_LEADING) or seen.startswith(_FORMULA):
        return f"'{text}"
    return text
