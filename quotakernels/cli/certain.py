"""What is said of how sure an evaluation is: pairs of models, sentences, and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from quotakernels._text import formatted, number
from quotakernels.cli.certainty import CLOSED_FORMS, Differences, Ends
from quotakernels.cli.evaluation import Brought, Evaluation
from quotakernels.cli.measures import Measure

__all__ = [
    "BETTER_INTERVALS",
    "DIFFERENCES",
    "certainty_json",
    "ends_json",
    "in_sentences",
    "notes_of_intervals",
    "pair_rows",
    "pairs_table",
]

BETTER_INTERVALS = ": see auc_interval and hit_rate_interval"
_CHOSEN_HERE = (
    "Best cuts: each resample has its own. What they bring on other rows is the estimate less as "
    "much as the resamples' own best cuts bring more on them than on all rows."
)
_BY_WILSON = "What a quota brings: from Wilson's intervals of the hit rates of selected and others."
_TWO_OF_EACH = "AUC and Gini have no intervals: DeLong's variance needs two rows of each class."
_FEW_SCORES = 20
_CHOSEN_ELSEWHERE = "What the best cuts bring: the cuts as they are, on resamples of these rows."
DIFFERENCES = {"roc_auc": "Differences of AUC", "hit_rate": "Differences of the hit rate"}


def pairs_table(differences: Differences) -> Table:
    """A row for each pair: the better model first, the difference, its interval, and p."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("better", overflow="fold", max_width=20)
    table.add_column("than", overflow="fold", max_width=20)
    for heading in ("by", "[lower, upper]", "p (Holm)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in pair_rows(differences):
        table.add_row(*map(Text, row))
    return table


def pair_rows(differences: Differences) -> Iterator[tuple[str, ...]]:
    """The better model, the other one, the difference, its interval, and p."""
    found = differences.found
    for i, j in _pairs(differences):
        yield (
            found.names[i],
            found.names[j],
            _number(found.difference[i, j], 4),
            f"[{_number(found.lower[i, j], 3)}, {_number(found.upper[i, j], 3)}]",
            _number(found.p_adjusted[i, j], 4),
        )


def _pairs(differences: Differences) -> list[tuple[int, int]]:
    return list(combinations(range(len(differences.found.names)), 2))


def _number(value: float, digits: int) -> str:
    return "undefined" if math.isnan(value) else formatted(value, f".{digits}f")


def in_sentences(differences: Differences, rows: int) -> str:
    """Which models can be told apart, and which cannot."""
    found = differences.found
    if differences.too_few:
        return "Too few resamples to tell any models apart."
    alike = [group for group in found.groups if len(group) > 1]
    lines = [
        f"{_listed(group)} cannot be told apart by these {number(rows)} rows." for group in alike
    ]
    for k, name in enumerate(found.names):
        worse = [
            other
            for j, other in enumerate(found.names)
            if j > k and not set(found.letters[k]) & set(found.letters[j])
        ]
        if worse:
            lines.append(f"{name} is better than {_listed(tuple(worse))}.")
    return "\n".join(lines)


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def notes_of_intervals(evaluation: Evaluation) -> Iterator[str]:
    """Say of which measures there are no intervals, and which of them say less than they seem to.

    Where all resamples are undefined, so is the interval that is shown.
    """
    found, certainty = evaluation.intervals, evaluation.task.certainty
    if found is None or certainty is None:
        return
    if evaluation.brought is not None:
        yield from _of_gains(evaluation, evaluation.brought)
    if evaluation.task.weight is None:
        classes = evaluation.positives, evaluation.rows - evaluation.positives
        if min(classes) == 1:
            yield _TWO_OF_EACH
    yield (
        "No intervals of hull AUC and achievable AUC-PR: as maxima over cuts they are higher in "
        "resamples."
    )
    tables = {"": [found.over_all, found.areas]}
    tables |= {f" at quota {quota}": [ends] for quota, ends in found.at_quota.items()}
    shown = [
        (f"{_in_a_line(measure)}{where}", ends.lower[:, k], ends.upper[:, k], ends.undefined[:, k])
        for where, several in tables.items()
        for ends in several
        for k, measure in enumerate(ends.measures)
        if measure.heading
    ]
    if any(np.any(lower == upper) for _, lower, upper, _ in shown):
        yield (
            "Where an interval has no width all resamples agree, which does not mean certainty"
            f"{BETTER_INTERVALS}."
        )
    for row, name in enumerate(evaluation.task.scores):
        counts = {what: int(lost[row]) for what, _, _, lost in shown}
        if told := _counted({k: x for k, x in counts.items() if 0 < x < certainty.resamples}):
            yield f"Undefined resamples of {name}, left out of its intervals: {told}."


def _of_gains(evaluation: Evaluation, brought: Brought) -> Iterator[str]:
    """What the intervals of best cuts and of quotas are, and where the expected is too low."""
    task = evaluation.task
    yield _CHOSEN_HERE if task.tune is None else _CHOSEN_ELSEWHERE
    impacts = task.unit is not None and task.unit.impacts is not None
    if impacts and task.quotas and task.weight is None:
        yield _BY_WILSON
    if brought.ends is None or brought.ends.expected is None:
        return
    coarse = [
        name
        for name, ranking in zip(task.scores, evaluation.rankings, strict=True)
        if np.count_nonzero(ranking.counts) < _FEW_SCORES
    ]
    if coarse:
        yield (
            f"Scores with few values ({', '.join(coarse)}): there is little luck in the choice of "
            "a cut; what is expected on other rows is too low."
        )


def _in_a_line(measure: Measure) -> str:
    return measure.heading.replace("\n", " ")


def _counted(counts: dict[str, int]) -> str:
    """Each number once, and what it is the number of."""
    return "; ".join(
        f"{number} ({', '.join(what for what, x in counts.items() if x == number)})"
        for number in sorted(set(counts.values()))
    )


def ends_json(row: int, *tables: Ends) -> dict[str, dict[str, Any]]:
    """Both ends by measure, null where undefined, and the numbers of undefined resamples."""
    intervals, undefined = {}, {}
    for ends in tables:
        for k, measure in enumerate(ends.measures):
            both = ends.lower[row, k], ends.upper[row, k]
            intervals[measure.name] = [_defined(x) for x in both]
            undefined[measure.name] = int(ends.undefined[row, k])
    return {"intervals": intervals, "undefined": undefined}


def certainty_json(evaluation: Evaluation) -> dict[str, Any]:
    """How resamples were drawn, and the tests of differences."""
    certainty = evaluation.task.certainty
    if certainty is None:
        return {}
    drawn: dict[str, Any] = {
        "level": certainty.tested_level,
        "resamples": certainty.resamples,
        "seed": certainty.seed,
    }
    if certainty.test_resamples != certainty.resamples:
        drawn["test_resamples"] = certainty.test_resamples
    if certainty.level is not None:
        drawn["closed_forms"] = CLOSED_FORMS if evaluation.task.weight is None else {}
    tests = [_differences_json(x) for x in evaluation.differences]
    return {"confidence": drawn, **({"differences": tests} if tests else {})}


def _differences_json(differences: Differences) -> dict[str, Any]:
    found, quota = differences.found, differences.quota
    return {
        "measure": differences.measure,
        "quota": None if quota is None else str(quota),
        "pairs": [
            {
                "better": found.names[i],
                "worse": found.names[j],
                "difference": _defined(found.difference[i, j]),
                "interval": [_defined(found.lower[i, j]), _defined(found.upper[i, j])],
                "p_value": _defined(found.p_value[i, j]),
                "p_adjusted": _defined(found.p_adjusted[i, j]),
            }
            for i, j in _pairs(differences)
        ],
        "notes": list(differences.notes),
        "not_told_apart": [list(group) for group in found.groups if len(group) > 1],
    }


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
