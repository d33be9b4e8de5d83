r"""
Text that comes from strangers: how it is cleaned, bounded and, for client names, read.

>>> read_client("Claude-AI  (via mcp-remote 0.1.29)")
ClientName(key='claude-ai', name='Claude-AI', via='mcp-remote', version=None)
>>> read_client("cursor/0.42")
ClientName(key='cursor', name='cursor', via=None, version='0.42')
>>> read_client("Anthropic/ClaudeAI").key
'anthropic/claudeai'

What cannot be seen tells no clients apart:

>>> read_client("my \x01 \u200bclient\u202e").key
'my client'
"""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from service.errors import BadParameter

TEXT_LIMIT = 256
"""Characters of a text that are kept; a longer one ends in a hash of the whole."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters that are no white space
    r"\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
"""Control characters, and format characters (Cf) of no width: directions, joiners, soft hyphens. The
format characters that show, or that spell a flag, are not among them."""
_JOINERS = "\u200c\u200d"
"""They decide how their neighbours are drawn: emoji of several people, Persian endings."""
_VIA = re.compile(r"\s*\(via ([^()\s]+)[^()]*\)\s*$", re.IGNORECASE)
_VERSION = re.compile(r"v?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClientName:
    """What a raw spelling of a client says."""

    key: str
    """Groups spellings of one client: normalised and case-folded."""
    name: str
    """The spelling to show, without `via` and `version`."""
    via: str | None
    """The bridge that renamed the client, e.g. `mcp-remote`."""
    version: str | None
    """A version that was written into the name."""


def clean(text: str) -> str:
    """Drop NUL and replace each lone surrogate by U+FFFD, so that every database can hold the text."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", ""))


def bounded(text: str) -> str:
    """Cut text of more than `TEXT_LIMIT` characters and end it in a hash of the whole."""
    if len(text) <= TEXT_LIMIT:
        return text
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return f"{text[:TEXT_LIMIT]}…#{digest}"


def _plain(text: str, *, keep: str = "") -> str:
    """Invisible characters removed (but for those in *keep*), NFC, white space collapsed, trimmed."""
    seen = _INVISIBLE.sub(lambda found: found[0] if found[0] in keep else "", text)
    return " ".join(unicodedata.normalize("NFC", seen).split())


FEED_LIMIT = 128
"""Characters of the name of a server or a source that an operator gives."""


def feed_name(parameter: str, value: str | None) -> str | None:
    """
    Read the name of a server or source; None where it is blank.

    Raises:
        BadParameter: It is longer than `FEED_LIMIT`.
    """
    cleaned = clean(value or "").strip()
    if len(cleaned) > FEED_LIMIT:
        raise BadParameter(parameter, f"at most {FEED_LIMIT} characters, this has {len(cleaned)}")
    return cleaned or None


@lru_cache(maxsize=4096)
def read_client(raw: str) -> ClientName | None:
    """
    Read a client's raw spelling; None where nothing is left of it (that client is unattributed).

    A bridge's suffix `(via X …)` becomes `via`. `name/version` is split only where the right side
    looks like a version, so that `Anthropic/ClaudeAI` stays whole. The name to show keeps the
    joiners that it is drawn with, the key does not.
    """
    plain, via, version = _parts(_plain(raw))
    if not plain:
        return None
    joined = any(joiner in raw for joiner in _JOINERS)
    name = _parts(_plain(raw, keep=_JOINERS))[0] if joined else plain
    return ClientName(key=bounded(plain.casefold()), name=bounded(name), via=via, version=version)


def shown_key(name: str) -> str:
    """
    The key of a client as it is shown: nothing is cut off a second time.

    >>> shown_key("Gateway (via outer)")
    'gateway (via outer)'
    """
    return _plain(name).casefold()


def is_like(text: str, pattern: str) -> bool:
    """
    Whether a whole text is like a pattern, in which `*` stands for any text, or none.

    What lies between two `*` is looked for once, from where the one before it ended: the first place is as
    good as any later one, so that no number of `*` makes this slow, as it does a regular expression.

    >>> is_like("mcp-probe-7", "mcp-*-*"), is_like("mcp-probe", "mcp-*-*"), is_like("ab", "ab*b")
    (True, False, False)
    """
    first, *between = pattern.split("*")
    if not between:
        return text == pattern
    last = between.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in between:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _parts(name: str) -> tuple[str, str | None, str | None]:
    """Cut (name, via, version) out of a spelling."""
    via = None
    if found := _VIA.search(name):
        via, name = found[1], name[: found.start()].strip()
    version = None
    left, slash, right = name.rpartition("/")
    if slash and left.strip() and _VERSION.match(right):
        name, version = left.strip(), right
    return name, via, version
