"""What was said each Monday. All frozen; no text of a client is in a saying but in its subject."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Question(StrEnum):
    """What is asked each Monday."""

    EFFECT = "effect"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Subject:
    """
    Whom a word is about: a server, or one retired name of it (`name` None: all together); all clients
    together, or one (`client` None: all; "" for the calls that name none; else its key).
    """

    server: str
    name: str | None
    client: str | None


@dataclass(frozen=True, slots=True)
class Saying:
    """
    One word about one subject, and what was shown with it.

    `figures` are what JSON can hold. They name no client, so that a client that is to be forgotten goes
    with its subjects.
    """

    subject: Subject
    word: str
    strength: str | None
    figures: Mapping[str, Any]
