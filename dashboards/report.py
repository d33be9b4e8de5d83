"""One page a person can mail: the same tables, no server, nothing loaded from anywhere."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboards.templating import render, style


def report_page(
    answer: Mapping[str, Any], *, files: Sequence[str], receipt: Mapping[str, Any]
) -> str:
    """
    Return the report as one self-contained HTML page.

    *answer* holds the collections `names` and `callers` as JSON, *receipt* the account of reading
    *files*.
    """
    return render(
        "report.html",
        root="",
        css=style().decode(),
        files=files,
        receipt=receipt,
        range=answer["names"]["range"],
        **answer,
    )
