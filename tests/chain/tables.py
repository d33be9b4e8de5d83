"""The tables of a page as a reader sees them: rows of text under headings."""

from html.parser import HTMLParser


class _Reader(HTMLParser):
    """Collects rows of cells by the id of their table."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self._remarks = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._rows = self.tables.setdefault(dict(attrs).get("id") or "", [])
        elif self._rows is None:
            return
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._rows[-1].append("")
            self._in_cell = True
        elif tag == "small":
            self._remarks += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag in {"td", "th"}:
            self._in_cell = False
        elif tag == "small" and self._remarks:
            self._remarks -= 1

    def handle_data(self, data: str) -> None:
        if self._rows and self._in_cell and not self._remarks:
            self._rows[-1][-1] += data


def tables(html: str) -> dict[str, list[dict[str, str]]]:
    r"""
    Every table of a page by its id: one dict a row, from heading to text, white space collapsed, without
    small print.

    >>> tables('<table id="t"><tr><th>A<th>B</tr><tr><td> 1 <td><b>x</b>\ny<small>z</small></table>')
    {'t': [{'A': '1', 'B': 'x y'}]}
    """
    reader = _Reader()
    reader.feed(html)
    found = {}
    for name, rows in reader.tables.items():
        text = [[" ".join(cell.split()) for cell in row] for row in rows]
        heading = text[0] if text else []
        found[name] = [dict(zip(heading, row, strict=True)) for row in text[1:]]
    return found
