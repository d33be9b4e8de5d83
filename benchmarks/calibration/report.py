"""The tables, as Markdown and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.calibration.scenarios import Reference
from benchmarks.calibration.summary import Bin, EffectRow, StoppedRow

REFERENCE_BINS = {
    0.0: 0.05,
    0.1: 0.22,
    0.3: 0.56,
    0.5: 0.81,
    0.7: 0.77,
    0.9: 0.95,
    0.95: 0.92,
    0.99: 0.97,
}
REFERENCE_BRIER = 0.088


def effect_text(row: EffectRow) -> str:
    """One scenario as a line."""
    end = f"  MISSED: {'; '.join(row.missed)}" if row.missed else ""
    return (
        f"{row.case:5} coverage {_percent(row.found.coverage)} of {row.intervals}, "
        f"reduced {_percent(row.found.reduced)} (robust {_percent(row.robust)}), "
        f"no change {_percent(row.found.no_change)}, increased {_percent(row.found.increased)}, "
        f"not enough {_percent(row.found.not_enough)}, "
        f"cannot separate {_percent(row.found.cannot_separate)}, "
        f"median {_ratio(row.found.ratio)} (true {_ratio(row.truth)}){end}"
    )


def stopped_text(row: StoppedRow) -> str:
    """One process as a line."""
    end = f"  MISSED: {'; '.join(row.missed)}" if row.missed else ""
    return (
        f"{row.process:26} while alive {_percent(row.false_stopped)} / "
        f"{_percent(row.false_probably)}, found {_percent(row.found_stopped)} / "
        f"{_percent(row.found_probably)}{end}"
    )


def markdown(
    run: dict[str, str],
    effects: Sequence[EffectRow],
    planned: Sequence[EffectRow],
    stops: Sequence[StoppedRow],
    bins: Sequence[Bin],
    score: float | None,
) -> str:
    """The whole report."""
    lines = [
        "# How often the verdicts are right",
        "",
        (
            f"Written by `python3 dev.py bench calibration --write` on {run['date']}: {run['runs']} histories "
            f"a row, made from fixed seeds with the truth known (`benchmarks/calibration`), each put to the "
            f"product's own estimators; {run['took']}. In brackets: what the simulation found from which the "
            "estimators were chosen. It has other seeds and, for the processes, other rates, so a few points "
            "apart are chance."
        ),
        "",
        *_missed([*effects, *planned], stops),
    ]
    if effects:
        lines += ["", "## Did notifications help?", "", *_effects(effects), "", *_adjusted(effects)]
    if planned:
        lines += [
            "",
            "## A roll-out in two waves, read by randomisation inference",
            "",
            *_planned(planned),
        ]
    if stops:
        lines += ["", "## Has everyone stopped?", "", *_stops(stops), "", *_bins(bins, score)]
    return "\n".join(lines) + "\n"


def as_json(
    run: dict[str, str],
    effects: Sequence[EffectRow],
    planned: Sequence[EffectRow],
    stops: Sequence[StoppedRow],
    bins: Sequence[Bin],
    score: float | None,
) -> dict[str, Any]:
    """The same for a machine."""
    return {
        "run": run,
        "effect": [asdict(row) for row in effects],
        "planned": [asdict(row) for row in planned],
        "stopped": [asdict(row) for row in stops],
        "bins": [asdict(each) for each in bins],
        "brier": score,
    }


def _missed(effects: Sequence[EffectRow], stops: Sequence[StoppedRow]) -> list[str]:
    missed = [f"{row.case}: {', '.join(row.missed)}" for row in effects if row.missed]
    missed += [f"{row.process}: {', '.join(row.missed)}" for row in stops if row.missed]
    if not missed:
        return ["Every limit is kept."]
    return ["Limits that are not kept:", "", *(f"- {each}" for each in missed)]


def _effects(rows: Sequence[EffectRow]) -> list[str]:
    head = (
        "scenario",
        "truth",
        "median ratio",
        "interval holds the truth",
        "reduced",
        "of it robust",
    )
    more = ("no detectable change", "increased", "not enough data", "cannot separate")
    lines = _table_head((*head, *more))
    for row in rows:
        found, ref = row.found, row.reference
        if ref is None:
            continue
        lines.append(
            _table_row(
                f"{row.case}: {row.says}",
                _ratio(row.truth),
                _beside(_ratio(found.ratio), _ratio(ref.ratio)),
                _beside(f"{_percent(found.coverage)} of {row.intervals}", _percent(ref.coverage)),
                _beside(_percent(found.reduced), _percent(ref.reduced)),
                _percent(row.robust),
                *(
                    _beside(_percent(getattr(found, name)), _percent(getattr(ref, name)))
                    for name in ("no_change", "increased", "not_enough", "cannot_separate")
                ),
            )
        )
    return lines


def _adjusted(rows: Sequence[EffectRow]) -> list[str]:
    lines = ["With a trend by how early a client was notified (the second opinion):", ""]
    lines += _table_head(
        ("scenario", "truth", "median ratio", "interval holds the truth", "below 1")
    )
    for row in rows:
        if row.adjusted_intervals:
            lines.append(
                _table_row(
                    row.case,
                    _ratio(row.truth),
                    _ratio(row.adjusted_ratio),
                    f"{_percent(row.adjusted_coverage)} of {row.adjusted_intervals}",
                    _percent(row.adjusted_reduced),
                )
            )
    return lines


def _planned(rows: Sequence[EffectRow]) -> list[str]:
    head = ("scenario", "truth", "median ratio", "interval holds the truth", "reduced")
    lines = _table_head((*head, "no detectable change", "increased", "not enough data"))
    for row in rows:
        found: Reference = row.found
        lines.append(
            _table_row(
                f"{row.case}: {row.says}",
                _ratio(row.truth),
                _ratio(found.ratio),
                f"{_percent(found.coverage)} of {row.intervals}",
                *(
                    _percent(getattr(found, name))
                    for name in ("reduced", "no_change", "increased", "not_enough")
                ),
            )
        )
    return lines


def _stops(rows: Sequence[StoppedRow]) -> list[str]:
    lines = _table_head(
        (
            "process",
            'said while alive: "stopped"',
            '"stopped" or "probably stopped"',
            'said 60 days after: "stopped"',
            '"stopped" or "probably stopped"',
        )
    )
    for row in rows:
        found = (
            row.false_stopped,
            row.false_probably,
            row.found_stopped,
            row.found_probably,
        )
        reference = row.reference or (None,) * 4
        lines.append(
            _table_row(
                row.process,
                *(
                    _beside(_percent(value), None if ref is None else _percent(ref))
                    for value, ref in zip(found, reference, strict=True)
                ),
            )
        )
    return lines


def _bins(bins: Sequence[Bin], score: float | None) -> list[str]:
    lines = [
        (
            "The reference does not say all rates of its processes: ours are such that about as much is found "
            "60 days after a stop. A process without brackets is held to no limit: a client that fades to a "
            "call a month, in fits and starts, cannot be told from one that left."
        ),
        "",
        (
            f"Half of the histories stop at an instant of their own. Brier score "
            f"{_beside(_ratio(score, 3), _ratio(REFERENCE_BRIER, 3))}."
        ),
        "",
        *_table_head(("probability that was stated", "histories", "share that had stopped")),
    ]
    for each in bins:
        reference = REFERENCE_BINS.get(each.low)
        lines.append(
            _table_row(
                f"{each.low:g} to {each.high:g}",
                str(each.runs),
                _beside(_ratio(each.stopped), None if reference is None else _ratio(reference)),
            )
        )
    return lines


def _table_head(names: Sequence[str]) -> list[str]:
    return [_table_row(*names), _table_row(*("---",) * len(names))]


def _table_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _beside(found: str, reference: str | None) -> str:
    return found if reference is None else f"{found} ({reference})"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"


def _ratio(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
