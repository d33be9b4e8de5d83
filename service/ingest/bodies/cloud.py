"""
What clouds push: Amazon Data Firehose and Google Cloud Pub/Sub. Both wrap base64 around a body of its own.
"""

import binascii
import re
from base64 import b64decode
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest import body
from service.ingest.bodies import jsoncut
from service.ingest.bodies.bounds import bounded, likely_time, record_of, refused
from service.ingest.bodies.compression import decode_body
from service.ingest.jsontext import loads
from service.ingest.lines import lines_of
from service.ingest.records import Body, Limits, Origin, Reader, Record
from service.names import clean

FIREHOSE: Final = "firehose"
CLOUDWATCH: Final = "cloudwatch"
PUBSUB: Final = "pubsub"

_KEYS: Final = frozenset({"data", "logEvents", "message", "messageType", "records", "requestId"})
_MOST_MEMBERS: Final = 1_000
_SUBSCRIPTION: Final = re.compile(rb'\s*\{[^{\[]{0,8192}?"(?:messageType|logEvents)"\s*:')


# ----------------------------------------------------------------------------- Firehose


def firehose(content_encoding: str | None) -> Reader:
    """Return the reader of a Firehose delivery, given the header of that name."""

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes).removeprefix(BOM_UTF8)
        records = _lists(text, _members(text), "records")
        if not records:
            raise BodyNotDecodable('the body has no list of "records"')
        return Body(bounded(_delivered(text, records, limits)), text)

    return read


def request_id(data: bytes) -> str | None:
    """Return the id of a Firehose delivery, as its body says it, and as it can be written in an answer."""
    try:
        said = dict(_members(data)).get("requestId")
        value = loads(data[slice(*said)]) if said else None
    except (BodyNotDecodable, ValueError):
        return None
    return clean(value) if isinstance(value, str) else None


def _delivered(text: bytes, lists: list[int], limits: Limits) -> Iterator[bytes | Record]:
    left = limits.body_bytes
    for start, end in chain.from_iterable(jsoncut.elements(text, at + 1) for at in lists):
        try:
            inner = _decoded(text, start, left)
        except BodyNotDecodable:
            yield refused(text[start:end][:4096].decode(errors="replace"))
            continue
        left -= len(inner)
        try:
            if _SUBSCRIPTION.match(inner):
                yield from _subscribed(inner, limits)
            else:
                yield from _records(inner, limits)
        except (BodyNotDecodable, BodyTooLarge):
            yield refused(text[start:end][:4096].decode(errors="replace"))


def _decoded(text: bytes, start: int, limit: int) -> bytes:
    """What the `data` of the element at *start* holds."""
    data = [span for key, span in _members(text, start, alone=False) if key == "data"]
    if len(data) != 1:
        raise BodyNotDecodable("a record without data, or with several")
    [place] = data
    try:
        encoded = loads(text[slice(*place)])
    except ValueError:
        encoded = None
    if not isinstance(encoded, str):
        raise BodyNotDecodable("the data of a record is no text")
    return _from_base64(encoded, limit)


def _from_base64(text: str, limit: int) -> bytes:
    try:
        return decode_body(b64decode(text.encode(errors="replace"), validate=True), None, limit)
    except binascii.Error as error:
        raise BodyNotDecodable(f"no base64: {error}") from error


def _subscribed(text: bytes, limits: Limits) -> Iterator[Record]:
    """
    The events of CloudWatch's subscription messages, of which there may be several.

    A control message only asks whether somebody listens and has no events.
    """
    for start, end in jsoncut.values(text):
        try:
            members = _members(text, start, alone=False)
        except BodyNotDecodable:
            yield refused(text[start:end][:4096].decode(errors="replace"))
            continue
        kind, lists = dict(members).get("messageType"), _lists(text, members, "logEvents")
        if kind is not None and text[slice(*kind)] == b'"CONTROL_MESSAGE"':
            continue
        if not lists:
            yield refused("a message of CloudWatch without logEvents")
        for events in lists:
            for begin, over in jsoncut.elements(text, events + 1):
                yield _event(text[begin:over], limits.line_bytes)


def _event(raw: bytes, max_line: int) -> Record:
    event = _parsed(raw, 6 * max_line)
    if not isinstance(event, dict) or not isinstance(event.get("message"), str):
        return refused(raw[:4096].decode(errors="replace"))
    named = event.get("id")
    native = f"{CLOUDWATCH}:{named}" if isinstance(named, str | int) and named != "" else None
    origin = Origin(likely_time(event.get("timestamp")), native, (FIREHOSE, CLOUDWATCH))
    return record_of(event["message"], max_line, origin)


# ----------------------------------------------------------------------------- Pub/Sub


def pubsub(content_encoding: str | None) -> Reader:
    """
    Return the reader of one message that Pub/Sub pushes, given the header of that name.

    A message that is not understood comes again for days unless it is taken, so it is a record that is
    rejected, not a body that is refused.
    """

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes).removeprefix(BOM_UTF8)
        try:
            found = bounded(_pushed(text, limits))
            return Body(list(found), text)
        except BodyNotDecodable as error:
            return Body([refused(f"{error.detail}: {text[:2048].decode(errors='replace')}")], text)

    return read


def _pushed(text: bytes, limits: Limits) -> Iterable[bytes | Record]:
    members = _members(text) if text.lstrip()[:1] == b"{" else []
    places = [span for key, span in members if key == "message"]
    if len(places) > 1:
        raise BodyNotDecodable("several messages; one is pushed at a time")
    message = _parsed(text[slice(*places[0])], limits.body_bytes) if places else None
    if not isinstance(message, dict) or not message.keys() & {"data", "messageId", "attributes"}:
        return _records(text, limits)  # pushed without a wrapper
    encoded = message.get("data") or ""
    if not isinstance(encoded, str):
        raise BodyNotDecodable("the data of the message is no text")
    inner = _from_base64(encoded, limits.body_bytes)
    named = message.get("messageId") or message.get("message_id")
    time = message.get("publishTime") or message.get("publish_time")
    return _named(_records(inner, limits), likely_time(time), named)


def _named(records: Iterable[bytes | Record], time: object, named: object) -> Iterator[Record]:
    """The records of a message, with its time, and its id where they have none of their own."""
    number = 0
    for part in records:
        for record in lines_of(part) if isinstance(part, bytes) else (part,):
            native = None
            if isinstance(named, str) and named:
                native = f"{PUBSUB}:{named}" + (f":{number}" if number else "")
            number += 1
            yield record._replace(origin=Origin(time, native, (PUBSUB,)))


# ----------------------------------------------------------------------------- both


def _records(text: bytes, limits: Limits) -> Iterable[bytes | Record]:
    return body.records_of(text, limits)


def _lists(text: bytes, members: list[tuple[str, jsoncut.Span]], name: str) -> list[int]:
    """Where the member of this name, a list, begins; each of them, where there are several."""
    places = [start for key, (start, _) in members if key == name]
    return places if all(text[start] == 0x5B for start in places) else []


def _members(text: bytes, at: int = 0, *, alone: bool = True) -> list[tuple[str, jsoncut.Span]]:
    """
    The keys of an object's values and their places, of those keys that matter here.

    Raises:
        BodyNotDecodable: It is none, or repeats its keys very often; *alone*: or is not all of the text.
    """
    at = jsoncut.after_blank(text, at)
    end = jsoncut.end_of(text, at) if text[at : at + 1] == b"{" else None
    if end is None or (alone and jsoncut.after_blank(text, end) < len(text)):
        raise BodyNotDecodable("the body is not one JSON object; it may be cut")
    found = []
    for key, start, stop in jsoncut.members(text, at + 1):
        if key in _KEYS:
            found.append((key, (start, stop)))
            if len(found) > _MOST_MEMBERS:
                raise BodyNotDecodable(f"an object with more than {_MOST_MEMBERS} members")
    return found


def _parsed(raw: bytes, limit: int) -> Any:
    """A value that is not larger than *limit* bytes; None where it is, or no JSON."""
    try:
        return loads(raw) if len(raw) <= limit else None
    except ValueError:
        return None
