"""
Elasticsearch's bulk requests and single documents.

A bulk request alternates actions and documents, one a line. Every document is one record, so the place of
a document among them is the position of its record.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.bodies.bounds import MOST, line_of, record_of, refused
from service.ingest.bodies.compression import decode_body
from service.ingest.jsontext import loads
from service.ingest.lines import BLANK
from service.ingest.records import Body, Limits, Origin, Record
from service.names import clean

WRAPPER: Final = "elasticsearch"

_BOM: Final = b"\xef\xbb\xbf"
_WITH_DOCUMENT: Final = frozenset({"index", "create", "update"})
_OPERATIONS: Final = _WITH_DOCUMENT | {"delete"}


@dataclass(frozen=True, slots=True)
class Action:
    """What is to be done with one document."""

    operation: str
    """`index`, `create`, `update` or `delete`."""
    index: str
    id: str
    """The sender's, or else one made from the body, so that the same body gives the same."""
    position: int | None
    """Which of the records the document is; None where there is none."""


class Bulk:
    """
    The reader of one bulk request; once it has read, it knows the actions in their order.

    Raises what every reader does; `BodyNotDecodable` where an action cannot be told from a document.
    """

    def __init__(self, content_encoding: str | None, index: str = "") -> None:
        """*index* is that of actions that name none."""
        self._encoding = content_encoding
        self._index = index
        self.actions: list[Action] = []

    def __call__(self, data: bytes, limits: Limits) -> Body:
        text = decode_body(data, self._encoding, limits.body_bytes)
        made = _names_made(text)
        records: list[Record] = []
        self.actions = []
        lines = iter(text.removeprefix(_BOM).removesuffix(b"\n").split(b"\n"))
        for line in lines:
            if _is_blank(line):
                continue
            if len(self.actions) == MOST:
                raise BodyTooLarge(f"more than {MOST} actions; send fewer at a time")
            operation, said = _action(line, len(self.actions))
            index = clean(str(said.get("_index") or self._index))
            id_, native = _id_of(said, index)
            position = None
            if operation in _WITH_DOCUMENT:
                document = next(lines, None)
                if document is None:
                    raise BodyNotDecodable(
                        f"the body ends after action {len(self.actions)}, before its document"
                    )
                position = len(records)
                origin = Origin(None, native, (WRAPPER,))
                records.append(_record(document, operation, origin, limits.line_bytes))
            self.actions.append(
                Action(operation, index, id_ or f"{made}-{len(self.actions)}", position)
            )
        if not self.actions:
            raise BodyNotDecodable(
                "request body is required: an action and a document, a line each"
            )
        return Body(records, text)


class Document:
    """The reader of one document as the whole body; once it has read, it knows the action."""

    def __init__(
        self, content_encoding: str | None, operation: str, index: str, id_: str | None
    ) -> None:
        self._encoding = content_encoding
        self._said = (operation, index, id_)
        self.actions: list[Action] = []

    def __call__(self, data: bytes, limits: Limits) -> Body:
        text = decode_body(data, self._encoding, limits.body_bytes)
        if _is_blank(text):
            raise BodyNotDecodable("request body is required: one document")
        operation, index, id_ = self._said
        native = None if id_ is None else _native(index, id_)
        self.actions = [Action(operation, index, id_ or _names_made(text), 0)]
        origin = Origin(None, native, (WRAPPER,))
        return Body([_record(text, operation, origin, limits.line_bytes)], text)


def _action(line: bytes, number: int) -> tuple[str, dict[str, Any]]:
    """The operation and what is said of it; other members may stand beside it."""
    try:
        found = loads(line)
    except ValueError:
        found = None
    operations = found.keys() & _OPERATIONS if isinstance(found, dict) else set()
    if isinstance(found, dict) and len(operations) == 1:
        [operation] = operations
        said = found[operation]
        if isinstance(said, dict) or said is None:
            return operation, said or {}
    raise BodyNotDecodable(
        f"Malformed action/metadata line of action {number}: one of create, delete, index, update "
        "is expected, and its document on a line of its own"
    )


def _id_of(said: dict[str, Any], index: str) -> tuple[str, str | None]:
    """The id that the sender gave, and what it is among all ids; blank and none where there is none."""
    given = said.get("_id")
    if given is None or isinstance(given, dict | list) or given == "":
        return "", None
    text = clean(str(given))  # what is answered must be writable
    return text, _native(index, text)


def _native(index: str, id_: str) -> str:
    return f"es:{index}:{id_}"


def _record(document: bytes, operation: str, origin: Origin, max_line: int) -> Record:
    """The one record that a document is, whatever it is."""
    if _is_blank(document):
        return refused("no document", origin)
    if operation == "update":
        try:
            said = loads(document)
        except ValueError:
            return line_of(document, max_line, origin)
        if isinstance(said, dict):  # a script has no document
            return record_of(said.get("doc") or said.get("upsert") or {}, max_line, origin)
    return line_of(document, max_line, origin)


def _is_blank(line: bytes) -> bool:
    """Whether nothing is left of a line that could be a record."""
    return not line.replace(b"\0", b"").strip(BLANK).removeprefix(_BOM).strip(BLANK)


def _names_made(text: bytes) -> str:
    return blake2b(text, digest_size=10).hexdigest()
