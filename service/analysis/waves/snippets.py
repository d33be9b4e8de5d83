"""What whoever sends notifications pastes in: the wave of a client from its name, and its instant."""

import json
from collections.abc import Mapping
from importlib import resources
from typing import Literal

from service.clock import SECOND_US
from service.names import TEXT_LIMIT

Language = Literal["python", "typescript"]
LANGUAGES: tuple[Language, ...] = ("python", "typescript")


def snippet(
    language: Language, key: bytes, instants_us: tuple[int, int], same: Mapping[str, str]
) -> str:
    """
    The code, without dependencies, with the plan in it.

    Args:
        language: Of the code.
        key: The key of the plan.
        instants_us: When each wave is told.
        same: Client keys that are read as others.

    Names come from strangers: they stand in a text of ASCII that both languages read alike, and only
    JSON's own reader takes apart.
    """
    plan = {
        "key": key.hex(),
        "from": [instant / SECOND_US for instant in instants_us],
        "same": {name[:TEXT_LIMIT]: other for name, other in sorted(same.items())},
    }
    text = json.dumps(json.dumps(plan))
    template = resources.files(__package__).joinpath(f"wave_{language}.txt")
    return template.read_text(encoding="utf-8").replace("@PLAN@", text)
