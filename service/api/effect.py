"""Whether notifications helped: the verdict, and what it looks like by client, name and week."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.api import effect_examples, parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["read"])

CLIENTS = schemas.page_of("EffectClients", answers.EffectClientRow)
NAMES = schemas.page_of("EffectNames", answers.EffectNameRow, other_names=int)
WEEKS = schemas.page_of("EffectWeeks", answers.EffectWeekRow)
SINCE = schemas.page_of("EffectSince", answers.EffectSinceRow)


@dataclass(frozen=True, slots=True)
class EffectLine:
    """The verdict as one line of a table."""

    server: str | None
    verdict: str
    strength: str | None
    sentence: str
    reason: str | None
    rate_ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    observed: int | None
    expected: float | None
    avoided: float | None
    clients_notified: int
    clients_used: int
    clients_left_out_count: int
    support: float | None
    placebo_rate_ratio: float | None
    placebo_low: float | None
    placebo_high: float | None
    exposure: str
    naive_ratio: float | None
    uncovered: float | None
    first_day: str | None
    last_day: str | None


def _line(row: answers.EffectRow) -> EffectLine:
    low, high = row.interval or (None, None)
    placebo_low, placebo_high = row.placebo.interval or (None, None)
    return EffectLine(
        server=row.server,
        verdict=row.verdict,
        strength=row.strength,
        sentence=row.words.sentence,
        reason=row.reason,
        rate_ratio=row.rate_ratio,
        low=low,
        high=high,
        p_value=row.p_value,
        observed=row.observed,
        expected=row.expected,
        avoided=row.avoided,
        clients_notified=row.clients_notified,
        clients_used=row.clients_used,
        clients_left_out_count=row.clients_left_out_count,
        support=row.support,
        placebo_rate_ratio=row.placebo.rate_ratio,
        placebo_low=placebo_low,
        placebo_high=placebo_high,
        exposure=row.exposure,
        naive_ratio=row.naive_ratio,
        uncovered=row.uncovered,
        first_day=row.first_day,
        last_day=row.last_day,
    )


@router.get(
    "/effect",
    summary="Did notifications help?",
    response_model=schemas.single_of("Effect", answers.EffectRow),
    responses=schemas.documented(effect_examples.EFFECT),
    dependencies=[Readable],
)
def effect(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Effect, Query()]
) -> Response:
    """
    Whether stale calls became fewer after clients were notified than they would have become without,
    told from clients of the same server that were not notified yet in the same weeks (without `server`, of
    the one with the most stale calls). The answer may be that it cannot be told; `words` says all of it in plain words, `guards` what was checked. With `client`, that client
    against all others. Only whole UTC days of the
    range are looked at, the last 400 of them.
    """
    return respond(request, db, now, asked, answers.effect, EffectLine, flat=_line)


@router.get(
    "/effect/clients",
    summary="What notifications did, by client",
    response_model=CLIENTS,
    responses=schemas.documented(effect_examples.CLIENTS, conflict=True),
    dependencies=[Readable],
)
def effect_clients(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Rows, Query()]
) -> Response:
    """Every notified client with its own ratio and interval; few of them can be judged by themselves."""
    return respond(request, db, now, asked, answers.effect_clients, answers.EffectClientRow)


@router.get(
    "/effect/names",
    summary="What notifications did, by name",
    response_model=NAMES,
    responses=schemas.documented(effect_examples.NAMES, conflict=True),
    dependencies=[Readable],
)
def effect_names(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.EffectNames, Query()]
) -> Response:
    """The same question for each of the 50 names with the most stale calls, where there are two at least."""
    return respond(request, db, now, asked, answers.effect_names, answers.EffectNameRow)


@router.get(
    "/effect/weeks",
    summary="Stale calls observed and expected, by week",
    response_model=WEEKS,
    responses=schemas.documented(effect_examples.WEEKS),
    dependencies=[Readable],
)
def effect_weeks(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.EffectSeries, Query()]
) -> Response:
    """Stale calls of notified clients beside what was expected, by weeks from Monday (UTC)."""
    return respond(request, db, now, asked, answers.effect_weeks, answers.EffectWeekRow)


@router.get(
    "/effect/since",
    summary="Stale calls observed and expected, by weeks since notification",
    response_model=SINCE,
    responses=schemas.documented(effect_examples.SINCE),
    dependencies=[Readable],
)
def effect_since(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.EffectSeries, Query()]
) -> Response:
    """The ratio by weeks since each client was notified; weeks before show whether a trend was there."""
    return respond(request, db, now, asked, answers.effect_since, answers.EffectSinceRow)
