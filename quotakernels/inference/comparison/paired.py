"""The tests that `compare` offers, each a function of two of the models."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from quotakernels._array import tolerance
from quotakernels.inference._areas import area_name
from quotakernels.inference.comparison.multiple_testing import PairTest, of_exchanges, of_resamples
from quotakernels.inference.comparison.permutation import differences, exchange_of
from quotakernels.inference.comparison.small_samples import warn_of_few, warn_of_undefined
from quotakernels.inference.delong.difference import delong_test
from quotakernels.inference.resampling.bootstrap import bootstrap
from quotakernels.inference.resampling.progress import reporter
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.gains import admitted
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.models import host_floats
from quotakernels.inputs.quotas import silently

__all__ = ["Task", "TestName", "Tested", "by_test", "check_test"]

NDArray = np.ndarray[Any, Any]
TestName: TypeAlias = Literal["bootstrap", "permutation", "delong"]
Tested: TypeAlias = Callable[[int, int], PairTest]
_ROUNDING = 2.0**-40
"""Of the largest estimate: differences below it count as 0."""
_SAME = 2.0**-30
"""Of an estimate: how far that of the ranks may be from it in a measure of nothing but order."""
_STEPS = {"bootstrap": 2, "permutation": 1}
"""The smallest p-value of each test, in units of 1/(1 + R)."""


class Task(NamedTuple):
    """What is compared: a measure of the scores of M models, shape (M, n), and its estimates.

    `data` goes with labels and scores, `drawn` says how resamples are drawn.
    """

    measure: Any
    y_true: Any
    scores: Any
    estimate: NDArray
    confidence_level: float
    data: dict[str, Any]
    drawn: dict[str, Any]

    @property
    def examples(self) -> Examples:
        """Labels and scores, with what is given beside them."""
        return admitted(self.y_true, self.scores, **self.data).examples

    @property
    def rounding(self) -> float:
        """The difference that is put down to rounding."""
        finite = self.estimate[np.isfinite(self.estimate)]
        largest = np.max(np.abs(finite), initial=0)
        return float(largest) * tolerance(self.estimate, _ROUNDING)

    def difference(self, first: int, second: int) -> float:
        """The first estimate less the second; NaN of two that are infinite."""
        with np.errstate(invalid="ignore"):
            return float(self.estimate[first]) - float(self.estimate[second])


def check_test(
    test: str, models: int, n_resamples: int, confidence_level: float, stratified: bool
) -> None:
    """Raise for a test that there is not, and warn of one that cannot find anything."""
    if test not in (*_STEPS, "delong"):
        raise ValueError(f'test must be "bootstrap", "permutation" or "delong"; got {brief(test)}')
    if stratified and test != "bootstrap":
        raise ValueError(f'stratified has no meaning for test="{test}", which keeps all labels')
    if test == "delong":
        return
    needed = _STEPS[test] * models * (models - 1) / 2 / (1 - confidence_level) - 1
    if n_resamples < round(needed, 6):
        warnings.warn(
            f"{n_resamples} resamples cannot tell any of {models} models apart; "
            f"pass n_resamples={math.ceil(round(needed, 6))} or more",
            stacklevel=5,
        )


def by_test(test: TestName, task: Task, stratified: bool) -> Tested:
    """A function of the places of two models; warns where the test's p-values are too small."""
    if test == "permutation":
        return _exchanged(task)
    tested = _bootstrapped(task, stratified) if test == "bootstrap" else _by_delong(task)
    if "gain" not in task.data:  # which may come without classes
        warn_of_few(task.examples, task.drawn["clusters"])
    return tested


def _bootstrapped(task: Task, stratified: bool) -> Tested:
    drawn = {**task.data, **task.drawn}
    with silently():
        found = bootstrap(task.measure, task.y_true, task.scores, stratified=stratified, **drawn)
    values = host_floats(found.resamples).astype(np.float64)
    warn_of_undefined(np.isnan(values).sum(axis=-1), values.shape[-1])

    def tested(first: int, second: int) -> PairTest:
        with np.errstate(invalid="ignore"):
            apart = values[first] - values[second]
        return of_resamples(
            task.difference(first, second), apart, task.confidence_level, task.rounding
        )

    return tested


def _exchanged(task: Task) -> Tested:
    drawn = dict(task.drawn)
    number, progress = drawn.pop("n_resamples"), drawn.pop("progress")
    effort = {name: drawn.pop(name) for name in ("workers", "max_memory")}
    exchange = exchange_of(task.measure, task.examples, **drawn)
    _check_of_order(task, exchange.values(*exchange.examples[::3]))
    models = task.estimate.shape[0]
    whole, tell = number * models * (models - 1) // 2, reporter(progress, "compare")
    done = itertools.count()

    def tested(first: int, second: int) -> PairTest:
        start = next(done) * number
        apart = differences(
            exchange, (first, second), number, **effort, tell=lambda k: tell(start + k, whole)
        )
        return of_exchanges(task.difference(first, second), apart, task.rounding)

    return tested


def _check_of_order(task: Task, of_ranks: NDArray) -> None:
    """Raise unless ranks in the place of the scores leave the measure as it is."""
    relative = tolerance(task.estimate, _SAME)
    if not np.allclose(of_ranks, task.estimate, relative, relative, equal_nan=True):
        raise ValueError(
            'test="permutation" puts ranks in the place of scores, and this measure depends on the '
            'scores\' values; use test="bootstrap"'
        )


def _by_delong(task: Task) -> Tested:
    name = area_name(task.measure)
    if name is None:
        raise ValueError('test="delong" is for roc_auc, gini and pem without options of their own')
    if task.drawn["clusters"] is not None:
        raise ValueError('test="delong" is for single examples; with clusters use test="bootstrap"')
    if task.drawn["ties"] != "expected":
        raise ValueError('test="delong" counts ties half; use ties="expected" or test="bootstrap"')

    given = {**task.data, "measure": name, "confidence_level": task.confidence_level}

    def tested(first: int, second: int) -> PairTest:
        pair = [task.scores[model, ...] for model in (first, second)]
        found = delong_test(task.y_true, pair, **given)
        ends = [float(host_floats(x)) for x in (found.lower, found.upper, found.p_value)]
        alike = found.difference == 0 and found.standard_error == 0
        return PairTest(0.0, 0.0, 1.0) if alike else PairTest(*ends)

    return tested
