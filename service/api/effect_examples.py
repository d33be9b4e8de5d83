"""What the routes about the effect answer, for the reference."""

from typing import Any, Final

from service.api import schemas

_FRAME = schemas.example([])
_KEPT = ("range", "as_of", "coverage", "generated_at")
EFFECT: Final[dict[str, Any]] = {
    "server": "maps",
    "other_servers": 0,
    "verdict": "reduced",
    "strength": "robust",
    "words": {
        "sentence": "After being notified, 19 clients called the old names 788 times "
        "where 2,038 were expected: 61 % fewer, 95 % interval 41–75 %.",
        "sure": "The comparison is with clients that had not been notified yet, in "
        "the same weeks. Moved two weeks back, it shows no effect, as it "
        "should; and it holds, too, if clients that were notified early were "
        "leaving on a trend of their own. “After”, not “because”: chance did "
        "not decide who was notified when.",
        "next": "Go on notifying. Reactions says which clients do not list again, To "
        "do what would cure them.",
    },
    "reason": None,
    "rate_ratio": 0.387,
    "interval": [0.253, 0.59],
    "p_value": 0.000155,
    "observed": 788,
    "expected": 2038.1,
    "avoided": 1250.1,
    "clients_notified": 19,
    "clients_used": 19,
    "clients_left_out": [
        {"server": "maps", "client": None, "why": "not named in the log", "calls": 12}
    ],
    "clients_left_out_count": 1,
    "left_out_share": 0.004,
    "much_left_out": False,
    "support": 1.0,
    "placebo": {"rate_ratio": 1.24, "interval": [0.604, 2.56]},
    "trend": {
        "delta": 2.27,
        "t": 1.31,
        "rate_ratio": 0.152,
        "interval": [0.0301, 0.771],
        "grouped": False,
    },
    "exposure": "sessions",
    "missing": None,
    "naive_ratio": 0.48,
    "uncovered": 0.0,
    "guards": [
        {
            "name": "notified clients",
            "outcome": "passed",
            "question": "Was any client that calls an old name notified?",
            "found": "19",
            "needed": "at least 1",
        },
        {
            "name": "stale calls of notified clients",
            "outcome": "passed",
            "question": "Did notified clients make enough stale calls?",
            "found": "2,057",
            "needed": "at least 30",
        },
    ],
    "refreshed": {
        "clients": 19,
        "verdict": "reduced",
        "reason": None,
        "why": None,
        "rate_ratio": 0.387,
        "interval": [0.253, 0.59],
        "observed": 788,
        "expected": 2038.1,
    },
    "ignored": None,
    "neither_refreshed_nor_ignored": 0,
    "unheard_notifications": 0,
    "first_day": "2026-07-06",
    "last_day": "2026-09-27",
} | {key: _FRAME[key] for key in _KEPT}
CLIENTS: Final = schemas.example(
    [
        {
            "server": "maps",
            "client": "claude-code",
            "notified_at": "2026-08-08T20:05:08.739Z",
            "basis": "others",
            "before": 26,
            "observed": 10,
            "expected": 34.0,
            "rate_ratio": 0.294,
            "low": 0.0341,
            "high": 1.57,
            "p_value": 0.192,
            "significant": False,
            "verdict": "not enough data",
            "dispersion": 4.44,
        }
    ]
)
NAMES: Final = schemas.example(
    [
        {
            "server": "maps",
            "name": "tomtom-ev-routing",
            "verdict": "reduced",
            "strength": "robust",
            "why": None,
            "observed": 232,
            "expected": 582.7,
            "rate_ratio": 0.398,
            "low": 0.313,
            "high": 0.508,
            "p_value": 3.55e-07,
            "significant": True,
        }
    ],
    other_names=0,
)
WEEKS: Final = schemas.example(
    [
        {
            "week": "2026-07-20",
            "notified": 10,
            "expected": 50.9,
            "low": 0.0,
            "high": 16502969575.9,
            "others": 219,
            "fitted": 219.0,
            "notified_clients": 1,
            "other_clients": 20,
            "covered": 1.0,
        }
    ]
)
SINCE: Final = schemas.example(
    [
        {
            "week": 0,
            "clients": 15,
            "observed": 72,
            "expected": 291.9,
            "rate_ratio": 0.247,
            "low": 0.183,
            "high": 0.335,
        }
    ]
)
