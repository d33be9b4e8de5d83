"""
Profiles: how one logger's records look. They are data, one TOML file a logger.

A profile says which places (`requires`) its records have, under which places (`under`) the usual
spellings of fields are looked for, where the rest is (`paths`), which fields tell events apart
(`key_fields`), and which messages and methods are which kind (`kinds`, on top of the shared table).

It is for JSON unless `format` names a form of text; in text, only keys of `head` may stand in front of what
says the kind.

A place is dotted text, or a list of keys where a key has a dot in it; alternatives are a list of
places: `tool = ["data.tool", ["attributes", "gen_ai.tool.name"]]`.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any, Final

from service.ingest.profiles.profile import FIELDS, KEY_FIELDS, BadProfile, Path, Profile
from service.ingest.profiles.toml import Reader

__all__ = ["FIELDS", "KEY_FIELDS", "BadProfile", "Path", "Profile", "load_profiles", "read_profile"]

_SHARED: Final = "shared.toml"


def load_profiles(extra: Sequence[FilePath] = ()) -> tuple[Profile, ...]:
    """
    Return the profiles in the order in which they are tried: *extra* files first, as given, then
    the built-in ones.

    Raises:
        BadProfile: A file cannot be read, is not TOML, or has a key or value of no use.
    """
    own = []
    for path in extra:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadProfile(f"{path}: cannot be read as UTF-8 text ({error})") from error
        own.append(read_profile(text, str(path)))
    return (*own, *_built_in())


def read_profile(text: str, source: str) -> Profile:
    """
    Read one profile from TOML; *source* names it in errors.

    Raises:
        BadProfile: Not TOML, or a key or value of no use.
    """
    return Reader(_parse(text, source), _shared(), source).profile()


@lru_cache(maxsize=1)
def _built_in() -> tuple[Profile, ...]:
    found = []
    for entry in files(__name__).iterdir():
        if entry.name.endswith(".toml") and entry.name != _SHARED:
            text = entry.read_text(encoding="utf-8")
            number = re.match(r"\d+", entry.name)
            order = _parse(text, entry.name).get("order", int(number[0]) if number else 1000)
            profile = replace(read_profile(text, entry.name), built_in=True)
            found.append((order, entry.name, profile))
    return tuple(profile for _, _, profile in sorted(found, key=lambda item: item[:2]))


@lru_cache(maxsize=1)
def _shared() -> dict[str, Any]:
    return _parse((files(__name__) / _SHARED).read_text(encoding="utf-8"), _SHARED)


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadProfile(f"{source}: not TOML: {error}") from error
