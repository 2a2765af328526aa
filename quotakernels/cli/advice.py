"""What to select, and what it brings, in sentences that somebody can act on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quotakernels.cli.evaluation import Brought, Evaluation, Values
from quotakernels.cli.quota import Quota, plain

__all__ = ["advice"]

_CAUTION = "Best cuts were chosen on these rows; on others they bring less. Choose on tuning data."


def advice(evaluation: Evaluation) -> Iterator[str]:
    """Say how many to select by which model, with free choice and at each quota."""
    brought = evaluation.brought
    if brought is None or not evaluation.rows:
        return
    yield _most(evaluation, brought)
    for quota, values in brought.at_quota.items():
        yield _at_quota(evaluation, brought, quota, values)
    yield _CAUTION


def _most(evaluation: Evaluation, brought: Brought) -> str:
    values, gains = brought.at_best_cut, brought.gains
    model = _first_best(values)
    quota, threshold = (float(values.of(name)[model]) for name in ("quota", "threshold"))
    if not quota:
        return f"Select nobody: no cut of any model brings more than that, {gains.nobody:z,.2f}."
    total = values.of("brings")[model]
    if quota == evaluation.total:
        return f"Select all: no cut of any model brings more than that, {total:z,.2f}."
    return (
        f"Best: select the {plain(quota)} that {evaluation.task.scores[model]} puts first "
        f"(score >= {threshold}). That brings {total:z,.2f}: "
        f"{total - gains.everybody:z,.2f} more than to select all, "
        f"{total - gains.nobody:z,.2f} more than to select nobody."
    )


def _at_quota(evaluation: Evaluation, brought: Brought, quota: Quota, values: Values) -> str:
    model, gains = _first_best(values), brought.gains
    total, places = values.of("brings")[model], evaluation.places(quota)
    share = places / evaluation.total
    random = share * gains.everybody + (1 - share) * gains.nobody
    return (
        f"With {plain(places)} places, {evaluation.task.scores[model]} brings {total:z,.2f}, "
        f"and a random choice {random:z,.2f}."
    )


def _first_best(values: Values) -> int:
    """The model that brings the most; of equal ones the first."""
    return int(np.nanargmax(values.of("brings")))
