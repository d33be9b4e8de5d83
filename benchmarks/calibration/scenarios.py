"""
The scenarios, what a simulation of others measured for the same, and the limits a verdict must keep.

Limits are shares of the runs. A false "reduced" may come in 9 of 100 where nothing changed (5 of 100
is what a 95 % interval allows, on both sides), an interval must hold the truth in 90 of 100. Where
clients that are notified early update faster anyway (S14), every comparison of groups errs, and only
"robust" is held to the limit.
"""

from dataclasses import dataclass, replace

from benchmarks.calibration.traffic import Scenario


@dataclass(frozen=True, slots=True)
class Reference:
    """Shares and the median ratio that the reference simulation found; None: it gave none."""

    coverage: float | None
    reduced: float
    no_change: float
    increased: float
    not_enough: float
    cannot_separate: float
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario with what is known of it and the limits it is held to."""

    name: str
    says: str
    scenario: Scenario
    reference: Reference | None
    reduced_most: float | None = None
    increased_most: float | None = None
    robust_most: float | None = None
    coverage_least: float | None = None


FALSE = 18 / 200
FALSE_TRIGGERED = 30 / 200
COVERAGE = 180 / 200

_CASES = (
    Case(
        "S01",
        "70 % of the calls stop",
        Scenario(effect=0.7),
        Reference(0.94, 0.97, 0, 0, 0, 0.03, 0.29),
        coverage_least=COVERAGE,
    ),
    Case(
        "S02",
        "30 % of the calls stop",
        Scenario(effect=0.3),
        Reference(0.96, 0.80, 0.13, 0, 0.02, 0.04, 0.70),
        coverage_least=COVERAGE,
    ),
    Case(
        "S03",
        "nothing, and everybody declines by 3 % a day",
        Scenario(decline=0.03),
        Reference(0.94, 0.04, 0.92, 0.02, 0.01, 0.02, 1.01),
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "S04",
        "nothing, notified at a hello inside a spell",
        Scenario(notified="hello", spell=5.0),
        Reference(0.96, 0.02, 0.66, 0.01, 0.26, 0.05, 0.96),
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "S04b",
        "nothing, notified at a stale call inside a spell",
        Scenario(notified="stale call", spell=5.0),
        Reference(0.93, 0, 0.70, 0.07, 0.16, 0.07, 1.13),
        increased_most=FALSE_TRIGGERED,
    ),
    Case(
        "S05",
        "nothing, strong weeks, always notified on a Friday",
        Scenario(weekend=0.1, weekday=4),
        Reference(0.96, 0.04, 0.90, 0.01, 0.02, 0.04, 0.99),
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "S06",
        "nothing, six clients with a session a week",
        Scenario(clients=6, sessions=0.12, calls=2.0),
        Reference(1.00, 0, 0, 0, 0.10, 0.90, 0.30),
    ),
    Case(
        "S07",
        "80 % of the calls stop, half the clients ignore it",
        Scenario(effect=0.8, ignoring=0.5),
        Reference(0.95, 0.56, 0.10, 0, 0.28, 0.05, 0.61),
        coverage_least=COVERAGE,
    ),
    Case(
        "S08",
        "70 % stop, five calls were on their way",
        Scenario(effect=0.7, in_flight=5.0),
        Reference(0.96, 0.98, 0, 0, 0, 0.02, 0.29),
        coverage_least=COVERAGE,
    ),
    Case(
        "S09",
        "70 % stop, five days later on average",
        Scenario(effect=0.7, delay=5.0),
        Reference(0.94, 0.96, 0, 0, 0, 0.04, 0.37),
        coverage_least=COVERAGE,
    ),
    Case(
        "S10",
        "50 % stop, with releases and a decline of each client's own",
        Scenario(
            effect=0.5,
            releases=((20, 3.0), (41, 3.0), (62, 3.0)),
            decline=0.015,
            decline_spread=0.008,
        ),
        Reference(0.95, 0.86, 0.02, 0, 0.06, 0.06, 0.51),
        coverage_least=COVERAGE,
    ),
    Case(
        "S11",
        "nothing, all notified at once while all decline",
        Scenario(notified="once", never=0.0, decline=0.03),
        Reference(None, 0, 0, 0, 0, 1.00, None),
    ),
    Case(
        "S12",
        "80 % stop, a single client",
        Scenario(clients=1, never=0.0, effect=0.8, sessions=2.0),
        Reference(None, 0, 0, 0, 0, 1.00, None),
    ),
    Case(
        "S13",
        "50 % stop, notified at a hello inside a spell",
        Scenario(effect=0.5, notified="hello", spell=5.0),
        Reference(0.98, 0.85, 0, 0, 0.10, 0.04, 0.51),
        coverage_least=COVERAGE,
    ),
    Case(
        "S14",
        "nothing, clients notified early update faster anyway",
        Scenario(decline=0.01, early_decline=0.03),
        Reference(0.02, 0.76, 0.01, 0, 0.01, 0.22, 0.55),
        robust_most=FALSE,
    ),
    Case(
        "S15",
        "50 % stop, eight clients",
        Scenario(clients=8, effect=0.5),
        Reference(0.96, 0.26, 0.01, 0, 0.42, 0.32, 0.47),
        coverage_least=COVERAGE,
    ),
    Case(
        "S16",
        "nothing, eight clients, all decline by 3 % a day",
        Scenario(clients=8, decline=0.03),
        Reference(0.99, 0, 0.09, 0, 0.58, 0.32, 0.93),
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "S17",
        "nothing at all",
        Scenario(),
        Reference(0.96, 0.02, 0.93, 0.01, 0, 0.04, 0.99),
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "S18",
        "50 % of the calls stop, 200 clients",
        Scenario(clients=200, effect=0.5),
        Reference(0.89, 0.95, 0, 0, 0, 0.05, 0.51),
    ),
)

_WAVES = Scenario(notified="two waves", never=0.0, days=56)
_PLANNED = (
    Case(
        "R1",
        "nothing, 40 clients, all decline by 3 % a day",
        replace(_WAVES, decline=0.03),
        None,
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "R2",
        "nothing, eight clients",
        replace(_WAVES, clients=8),
        None,
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "R3",
        "nothing, 24 clients in spells",
        replace(_WAVES, clients=24, spell=5.0),
        None,
        reduced_most=FALSE,
        coverage_least=COVERAGE,
    ),
    Case(
        "R4",
        "50 % of the calls stop, 12 clients",
        replace(_WAVES, clients=12, effect=0.5),
        None,
        coverage_least=COVERAGE,
    ),
    Case(
        "R5",
        "50 % of the calls stop, 24 clients",
        replace(_WAVES, clients=24, effect=0.5),
        None,
        coverage_least=COVERAGE,
    ),
    Case(
        "R6",
        "50 % of the calls stop, 40 clients",
        replace(_WAVES, effect=0.5),
        None,
        coverage_least=COVERAGE,
    ),
)
CASES = {case.name: case for case in _CASES}
PLANNED = {case.name: case for case in _PLANNED}
"""Two waves two weeks apart, by lot: no reference, the same limits."""
