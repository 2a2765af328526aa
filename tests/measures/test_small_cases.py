"""All labels on three score levels up to n = 5, in nearly every mode, against exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import DISTINCT, MODES, any_quota, in_full, mode_fixture, of_fast_forms, parameters
from expected import QUOTAS, as_floats, check, computed, expected

import quotakernels as qk

LENGTH = 5
POLICIES = ("expected", "optimistic", "pessimistic", "given")
QUOTA_ARRAY = np.array([float(q) for q in QUOTAS])
RNG = np.random.default_rng(20)

mode = mode_fixture([m for m in DISTINCT if m.name != "torch-compile"])  # which runs the same steps


@lru_cache(maxsize=2)
def padded_cases(
    longest: int = LENGTH, of: Callable[[int], Iterable[Any]] = ex.ordered_cases
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and mask of all cases; what the mask hides is made to look like data."""
    cases = list(of(longest))
    labels = RNG.integers(0, 2, (len(cases), longest))
    scores = RNG.choice([2.0, 0.5, -1.0], (len(cases), longest))
    mask = np.zeros((len(cases), longest), dtype=bool)
    for row, (y, s) in enumerate(cases):
        labels[row, : len(y)], scores[row, : len(y)], mask[row, : len(y)] = y, s, True
    return labels, scores, mask


@lru_cache(maxsize=4)
def wanted(ties: str) -> dict[str, np.ndarray]:
    rows = [expected(ex.groups(y, s, ties=ties), QUOTAS) for y, s in ex.ordered_cases(LENGTH)]
    return {name: as_floats([row[name] for row in rows]) for name in rows[0]}


def check_all_cases(ties: str, actual: dict[str, np.ndarray]) -> None:
    assert actual.keys() == wanted(ties).keys()
    for name, value in wanted(ties).items():
        check(name, actual[name], value)


def test_every_measure_is_right_on_every_small_case(mode):
    def measures(y: Any, s: Any, mask: Any) -> dict[str, Any]:
        return computed(qk.rank(y, s, where=mask), mode.array(QUOTA_ARRAY))

    check_all_cases("expected", mode.run(measures, *padded_cases()))


def in_one_batch(columns: tuple[np.ndarray, ...]) -> np.ndarray:
    """A column of several tables, of which the narrower ones get empty rows."""
    width = max(x.shape[-1] for x in columns)
    empty = np.nan if columns[0].dtype.kind == "f" else 0
    padding = [((0, 0), (0, width - x.shape[-1])) for x in columns]
    return np.concatenate(
        [np.pad(x, p, constant_values=empty) for x, p in zip(columns, padding, strict=True)]
    )


POLICY_MODES = ("numpy", "strictest", "jax64-jit", "torch", "cupy")
EAGER = [m for m in MODES if m.name in POLICY_MODES]


@pytest.mark.full
@pytest.mark.parametrize("mode", parameters(EAGER))
@pytest.mark.long_program
def test_every_tie_policy_is_right_on_every_small_case(mode):
    """The tables of all policies are one batch, so that the measures are compiled once."""

    def tables(y: Any, s: Any, mask: Any) -> dict[str, qk.Ranking]:
        return {ties: qk.rank(y, s, where=mask, ties=ties) for ties in POLICIES[1:]}

    def measures(*columns: Any) -> dict[str, Any]:
        return computed(qk.Ranking(*columns), mode.array(QUOTA_ARRAY))

    found = mode.run(tables, *padded_cases())
    columns = zip(*(table[:5] for table in found.values()), strict=True)  # without gains
    actual = mode.run(measures, *(in_one_batch(x) for x in columns))
    size = len(padded_cases()[0])
    for place, ties in enumerate(found):
        rows = slice(place * size, (place + 1) * size)
        check_all_cases(ties, {name: x[rows] for name, x in actual.items()})


@of_fast_forms
@pytest.mark.parametrize(
    ("ties", "longest"),
    [
        ("expected", LENGTH - 1),
        in_full("expected", LENGTH),
        *(in_full(ties, LENGTH - 1) for ties in POLICIES[1:]),
    ],
)
def test_compact_tables_are_right_on_every_small_case(ties, longest):
    """One list of scores at a time takes another path than a batch."""
    for y, s in ex.cases(longest):
        quotas = [q for q in QUOTAS if q <= len(y)]
        ranking = qk.rank(y, s, ties=ties)
        actual = computed(ranking, [float(q) for q in quotas])
        for name, value in expected(ex.groups(y, s, ties=ties), quotas).items():
            check(name, actual[name], as_floats(value))
        rows = zip(*(column.tolist() for column in ranking[:3]), strict=True)
        assert list(rows) == [g[:3] for g in ex.groups(y, s, ties=ties)]


@pytest.mark.long_program
def test_weighted_measures_are_right_on_every_small_case(mode):
    cases = [(y, s, [float(x) for x in w]) for y, s, w in ex.weighted_cases(3) if len(y) == 3]
    labels, scores, weights = (np.array(column) for column in zip(*cases, strict=True))
    quotas = QUOTAS[:4]

    def measures(y: Any, s: Any, w: Any) -> dict[str, Any]:
        ranking = qk.rank(y, s, sample_weight=w)
        return computed(ranking, mode.array(QUOTA_ARRAY[:4]), weighted=True)

    actual = mode.run(measures, labels, scores, weights)
    rows = [expected(ex.groups(y, s, w), quotas, weighted=True) for y, s, w in cases]
    for name in rows[0]:
        check(name, actual[name], as_floats([row[name] for row in rows]), weighted=True)


@pytest.mark.long_program
@any_quota
def test_selection_is_right_on_every_small_case(mode):
    quotas = (0.0, 0.5, 1.0, 2.5, 5.0)
    cases = [s for _, s in ex.ordered_cases(LENGTH, LENGTH) if _ == (0,) * LENGTH]
    scores = np.array(cases)

    def decisions(s: Any) -> tuple[Any, ...]:
        ends = qk.quota_threshold(s, quota=list(quotas))
        return ends, tuple(qk.select(s, quota=quota) for quota in quotas)

    ends, shares = mode.run(decisions, scores)
    for k, quota in enumerate(quotas):
        np.testing.assert_allclose(
            shares[k],
            as_floats([ex.select(s, quota) for s in cases]),
            rtol=1e-7 if mode.float32 else 4e-16,
        )
        wanted_ends = as_floats([ex.quota_threshold(s, quota) for s in cases])
        np.testing.assert_array_equal(np.stack([x[..., k] for x in ends], axis=-1), wanted_ends)
