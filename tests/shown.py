"""What a page shows, read from its HTML: its tables, its figures, and where each has its numbers from."""

import csv
import html
import io
import re
from dataclasses import dataclass
from html.parser import HTMLParser

Grid = list[list[str]]
"""The cells of a table, row by row, headings first; white space collapsed, small print left out."""
_SECTION = re.compile(r"<section\b[^>]*>|</section>")


SMALL = {"small", "summary"}
"""Small print, and the switch that shows a long name whole."""


class _Cells(HTMLParser):
    """Collects the cells of every table, by the table's id, and the places of its columns of numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.grids: dict[str, Grid] = {}
        self.counted: dict[str, set[int]] = {}
        self._grid: Grid | None = None
        self._name = ""
        self._in_cell = False
        self._small = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "table":
            self._name = said.get("id") or ""
            self._grid = self.grids.setdefault(self._name, [])
        elif self._grid is None:
            return
        elif tag == "tr":
            self._grid.append([])
        elif tag in {"td", "th"}:
            if "number" in (said.get("class") or "").split():
                self.counted.setdefault(self._name, set()).add(len(self._grid[-1]))
            self._grid[-1].append("")
            self._in_cell = True
        elif tag in SMALL:
            self._small += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._grid = None
        elif tag in {"td", "th"}:
            self._in_cell = False
        elif tag in SMALL and self._small:
            self._small -= 1

    def handle_data(self, data: str) -> None:
        if self._grid and self._in_cell and not self._small:
            self._grid[-1][-1] += data


def grids(page: str) -> dict[str, Grid]:
    """
    Every table of a page by its id.

    >>> grids('<table id="t"><tr><th>A<th>A</tr><tr><td> 1 <td>x<small>y</small></table>')
    {'t': [['A', 'A'], ['1', 'x']]}
    """
    reader = _Cells()
    reader.feed(page)
    return {
        name: [[" ".join(cell.split()) for cell in row] for row in rows]
        for name, rows in reader.grids.items()
    }


@dataclass(frozen=True, slots=True)
class Shown:
    """
    A figure of a page: which one, the address of its data without a theme, the table behind it, and the
    addresses of the same numbers as JSON and CSV (none where the page gives none).
    """

    kind: str
    address: str
    grid: Grid
    json: str | None
    csv: str | None

    def data(self, theme: str = "light") -> str:
        """The address of what is drawn in that theme."""
        return self.address.replace("/figures/", f"/figures/{theme}/")


def _sections(page: str) -> list[str]:
    """The sections of figures, each without those that stand within it."""
    found: list[str] = []
    open_at: list[int] = []
    start, kept, last = -1, "", 0
    for edge in _SECTION.finditer(page):
        if edge[0] == "</section>":
            begun = open_at.pop()
            if begun == start:
                found.append(kept + page[last : edge.start()])
                start = -1
            elif start >= 0 and open_at[-1] == start:
                last = edge.end()
            continue
        if start < 0 and 'class="figure"' in edge[0]:
            start, kept, last = edge.start(), "", edge.start()
        elif start >= 0 and open_at[-1] == start:
            kept += page[last : edge.start()]
        open_at.append(edge.start())
    return found


def figures(page: str) -> list[Shown]:
    """The figures of a page, in its order; a section that says why nothing is drawn is none."""
    found = []
    for section in _sections(page):
        address = re.search(r'data-figure="([^"]+)"', section)
        if address is None:
            continue
        (grid,) = grids(section).values()
        links = addresses(section)[::-1]  # its own stand last
        path = html.unescape(address[1])
        kind = re.search(r"/figures/([a-z-]+)\.json", path)
        assert kind is not None
        found.append(
            Shown(
                kind[1],
                path,
                grid,
                next((link for link in links if "format=csv" not in link), None),
                next((link for link in links if "format=csv" in link), None),
            )
        )
    return found


def number(text: str) -> int:
    """A whole number as pages write it."""
    return int(text.replace(",", ""))


def table_of(text: str) -> list[dict[str, str]]:
    """The rows of a CSV by their columns."""
    return list(csv.DictReader(io.StringIO(text)))


@dataclass(frozen=True, slots=True)
class Listed:
    """
    A table whose rows are those of a collection: its id, cells, which columns hold numbers, and the addresses of the
    same as JSON and CSV.
    """

    name: str
    grid: Grid
    counted: frozenset[int]
    json: str
    csv: str


class _Places(HTMLParser):
    """Goes through a page and pairs each table with the addresses that follow it."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[str, list[str]]] = []
        self._table: str | None = None
        self._is_source = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "table":
            self._table = said.get("id")
        elif tag == "p":
            self._is_source = said.get("class") == "source"
        elif tag == "a" and self._is_source and "/api/v1/" in (said.get("href") or ""):
            if self._table is not None:
                self.pairs.append((self._table, []))
                self._table = None
            if self.pairs:
                self.pairs[-1][1].append(said["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            self._is_source = False


def addresses(page: str) -> list[str]:
    """Every address of REST that a page names, once."""
    found = re.findall(r'href="([^"]*/api/v1/[^"]*)"', page)
    return list(dict.fromkeys(html.unescape(address) for address in found))


def listed(page: str) -> list[Listed]:
    """The tables of a page that are followed by where their rows come from, but for those behind figures."""
    behind = {figure.json for figure in figures(page)}
    places, shown, cells = _Places(), grids(page), _Cells()
    places.feed(page)
    cells.feed(page)
    found = []
    for name, links in places.pairs:
        as_csv = next((link for link in links if "format=csv" in link), None)
        as_json = next((link for link in links if "format=" not in link), None)
        if as_json is not None and as_csv is not None and as_json not in behind:
            counted = frozenset(cells.counted.get(name, ()))
            found.append(Listed(name, shown[name], counted, as_json, as_csv))
    return found


def strays(table: Listed, items: list[dict[str, object]]) -> list[str]:
    """
    What a table shows and its collection does not hold, row by row in the same order: numbers in columns of numbers,
    and the text at the head of a row.
    """
    heads, *rows = table.grid
    if len(rows) > len(items):
        return [f"{table.name} has {len(rows)} rows, REST {len(items)}"]
    wrong = []
    for row, item in zip(rows, items, strict=False):
        known, words = _spelled(item), _words(item)
        if row[0] not in words and 0 not in table.counted:
            wrong.append(f"{table.name}: no {row[0]!r} in {words}")
        for place in table.counted:
            strange = set(_NUMBER.findall(row[place])) - known
            if strange:
                wrong.append(f"{table.name}, {row[0]}, {heads[place]}: {row[place]!r}")
    return wrong


_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def _values(value: object) -> list[object]:
    if isinstance(value, dict):
        return [each for member in value.values() for each in _values(member)]
    if isinstance(value, list):
        return [len(value), *(each for member in value for each in _values(member))]
    return [value]


def _words(item: dict[str, object]) -> set[str]:
    """The texts of a row as they are shown, white space collapsed; what is nobody's has a word, an instant two forms."""
    texts = [each for each in _values(item) if isinstance(each, str)]
    found = {" ".join(text.split()) for text in texts}
    found |= {f"{text[:16].replace('T', ' ')} UTC" for text in texts} | {
        text[:10] for text in texts
    }
    return found | {"not named in the log", "every name"}


def _spelled(item: dict[str, object]) -> set[str]:
    """Every way in which a page writes a number of a row: whole, rounded, as a share in per cent."""
    found: set[str] = set()
    for value in _values(item):
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        found |= {f"{value:,}", f"{round(value):,}", f"{abs(value):,}", f"{value:.2f}"}
        found |= {f"{100 * value:.1f}", f"{round(100 * value):,}", f"{round(value, 1):,}"}
        if (
            0 <= value <= 1
        ):  # a probability is never shown as certain, nor rounded up to what a word asks for
            found |= {
                f"{int(100 * value + 1e-9)}",
                f"{int(1000 * value + 1e-9) / 10}",
                "0.1",
                "99.9",
            }
    return found


def same_rows(items: list[dict[str, object]], lines: list[dict[str, str]]) -> list[str]:
    """Where the rows of a CSV differ from those of JSON, in columns that both have."""
    if len(items) != len(lines):
        return [f"{len(lines)} rows as CSV, {len(items)} as JSON"]
    wrong = []
    for item, row in zip(items, lines, strict=True):
        for key in item.keys() & row.keys():
            value = item[key]
            if isinstance(value, list | dict):
                continue
            text = "" if value is None else str(value).lower() if isinstance(value, bool) else value
            said = row[key].removeprefix("'") if isinstance(text, str) else row[key]
            same = float(said) == text if isinstance(text, int | float) else said == text
            if not same and not str(text).startswith("'"):
                wrong.append(f"{key}: {row[key]!r} as CSV, {value!r} as JSON")
    return wrong
