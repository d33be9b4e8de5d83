"""
Has everyone stopped? Active days in, probabilities and words out; `docs/adr/0024` says why so.

`extinction` holds the published tests, `models` the chance of a silence under four of them, `rule` judges
one client and name, `everyone` all clients of a name.
"""

from service.analysis.stopped.everyone import Everyone, everyone, unseen_chance
from service.analysis.stopped.extinction import End
from service.analysis.stopped.models import LEAST_DAYS
from service.analysis.stopped.opinions import Opinions, opinions
from service.analysis.stopped.rule import (
    STOP_WORDS,
    WORDS,
    History,
    Judged,
    Reason,
    Word,
    judge,
    rate_bound,
)

__all__ = [
    "LEAST_DAYS",
    "STOP_WORDS",
    "WORDS",
    "End",
    "Everyone",
    "History",
    "Judged",
    "Opinions",
    "Reason",
    "Word",
    "everyone",
    "judge",
    "opinions",
    "rate_bound",
    "unseen_chance",
]
