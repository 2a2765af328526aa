"""One quota over all, by group: exact in fractions, in every library, and what goes with it."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, any_quota, in_full, mode_fixture
from everything import MAIN
from exact.budgets import priced as priced_rows
from exact.budgets import priced_groups, quota_of_budget
from expected import as_floats, ulps
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk

SIZE, GROUPS = 40, 6
RNG = np.random.default_rng(5)
G = RNG.choice([0, 1, 2, 3, 5], SIZE)  # none of group 4
Y = RNG.integers(0, 2, SIZE) * (G != 2)
S = RNG.choice([-1.0, 0.25, 0.5, 3.0], (2, SIZE))
W = RNG.choice([0.0, 0.5, 1.0, 3.0], SIZE)
MASK = RNG.random(SIZE) < 0.8
QUOTAS = (Fraction(0), Fraction(1), Fraction(17, 2), Fraction(20))
OF_DIFFERENCES = ("equal_opportunity_difference", "split_cost")
mode = mode_fixture([m for m in MODES if m.name in (*MAIN, "strictest", "jax64-jit")])


def wanted(scores: np.ndarray, quota: Any, ties: str, w: Any, where: Any) -> ex.SelectionByGroup:
    weights = np.ones(SIZE) if w is None else w
    weights = weights if where is None else weights * where
    rows = list(zip(Y.tolist(), scores.tolist(), G.tolist(), weights.tolist(), strict=True))
    return ex.selection_by_group(rows, GROUPS, quota, ties)


def close(name: str, found: Any, exact: np.ndarray, weighted: bool) -> None:
    """Within 4 ulp; differences within these of the numbers that they are of."""
    if name in OF_DIFFERENCES:
        near = 1e-13 if np.asarray(found).dtype == np.float64 else 1e-5
        np.testing.assert_allclose(found, exact, rtol=0, atol=near * 10, err_msg=name)
    else:
        assert ulps(found, exact) <= (16 if weighted else 4), name


@pytest.mark.long_program
@pytest.mark.parametrize(
    ("beside", "ties"),
    [
        *((beside, "expected") for beside in ("alone", "weights", "mask", "both")),
        in_full("both", "optimistic"),
        in_full("weights", "given"),
    ],
)
def test_what_each_group_gets(mode: Mode, beside: str, ties: str):
    w = W if beside in ("weights", "both") else None
    where = MASK if beside in ("mask", "both") else None
    names = [name for name, x in (("sample_weight", w), ("where", where)) if x is not None]
    quotas = [float(q) for q in QUOTAS]

    def computed(y: Any, s: Any, g: Any, *more: Any) -> Any:
        data = dict(zip(names, more, strict=True), groups=g, num_groups=GROUPS, ties=ties)
        several = qk.groups.selection_by_group(y, s, quota=quotas, **data)
        return tuple(several), tuple(qk.groups.selection_by_group(y, s, quota=quotas[2], **data))

    arrays = [Y, S, G, *(x for x in (w, where) if x is not None)]
    if mode.name.endswith("-vmap"):
        arrays = [x if x.ndim == 2 else np.stack([x, x]) for x in arrays]
        rows = [mode.run(computed, *(x[k] for x in arrays)) for k in (0, 1)]
        several, one = (
            [np.stack(x) for x in zip(*(row[k] for row in rows), strict=True)] for k in (0, 1)
        )
    else:
        several, one = mode.run(computed, *arrays)
    for k, name in enumerate(qk.results.SelectionByGroup._fields):
        exact = [[getattr(wanted(s, q, ties, w, where), name) for q in QUOTAS] for s in S]
        exact = as_floats(exact)  # (models, quotas, ...)
        close(name, several[k], np.moveaxis(exact, 1, -1), w is not None)
        close(name, one[k], exact[:, 2], w is not None)


COST = RNG.choice([0.0, 1.0, 2.5], SIZE)
BUDGETS = (Fraction(0), Fraction(7), Fraction(25, 2))


@pytest.mark.long_program
@pytest.mark.parametrize("weighted", [in_full(False), True])
def test_what_each_group_gets_of_a_budget(mode: Mode, weighted: bool):
    budgets, w = [float(x) for x in BUDGETS], W if weighted else None

    def computed(y: Any, s: Any, g: Any, c: Any, *more: Any) -> Any:
        data = dict(zip(["sample_weight"], more, strict=False), groups=g, num_groups=GROUPS)
        return tuple(qk.groups.selection_by_group(y, s, cost=c, budget=budgets, **data))

    arrays = [Y, S[0], G, COST, *([W] if weighted else [])]
    found = mode.run(computed, *arrays)
    weights = np.ones(SIZE) if w is None else w
    rows = priced_groups(priced_rows(Y, S[0], COST, w))
    own = [g == G for g in range(GROUPS)]
    for k, budget in enumerate(BUDGETS):
        quota = quota_of_budget(rows, budget)
        whole = wanted(S[0], quota, "expected", w, None)
        parts = []
        for here in own:
            priced = priced_groups(priced_rows(Y[here], S[0][here], COST[here], weights[here]))
            money = budget * sum(x.cost for x in priced) / sum(x.cost for x in rows)
            table = ex.groups(Y[here].tolist(), S[0][here].tolist(), weights[here].tolist())
            parts.append(ex.T(table, quota_of_budget(priced, money) or 0))
        cost = sum(whole.found, Fraction(0)) - sum(parts, Fraction(0))
        exact = whole._replace(found_by_split=parts, split_cost=cost)
        for name, x, y in zip(exact._fields, found, exact, strict=True):
            close(name, np.asarray(x)[..., k], as_floats(y), weighted)


@any_quota
@given(st.integers(0, 2**32 - 1), st.integers(1, 50), st.integers(1, 6), st.integers(1, 8))
def test_it_is_select_summed_by_group_in_any_order(seed: int, size: int, number: int, levels: int):
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 2, size), rng.integers(0, levels, size).astype(np.float32)
    g = rng.integers(0, number, size)
    quota = float(rng.integers(0, 2 * size + 1)) / 2
    found = qk.groups.selection_by_group(y, s, groups=g, num_groups=number, fraction=0.5)
    share = qk.select(s, fraction=0.5)
    np.testing.assert_allclose(found.selected, np.bincount(g, share, number), rtol=1e-14)
    np.testing.assert_allclose(found.found, np.bincount(g, share * y, number), rtol=1e-14)
    ranking = qk.rank(y, s, groups=g)
    order = rng.permutation(size)
    moved = qk.groups.selection_by_group(y[order], s[order], groups=g[order], quota=quota)
    for one, other in zip(moved, qk.groups.selection_by_group(ranking, quota=quota), strict=True):
        np.testing.assert_array_equal(one, other)
    whole = qk.hit_rate(y, s, quota=quota) * quota if quota else 0.0
    np.testing.assert_allclose(np.sum(moved.found), whole, atol=1e-12)


@pytest.mark.long_program
def test_a_bad_value_that_is_not_read_spoils_all_groups_of_its_list(mode: Mode):
    bad = S.copy()
    bad[0, 3] = np.nan

    def computed(y: Any, s: Any, g: Any) -> Any:
        data = {"groups": g, "num_groups": GROUPS, "validate": False}
        return tuple(qk.groups.selection_by_group(y, s, quota=9, **data))

    if mode.name.endswith("-vmap"):
        pytest.skip("of batches")
    found = mode.run(computed, Y, bad, G)
    good = mode.run(computed, Y, S, G)
    for one, other in zip(found, good, strict=True):
        assert np.isnan(one[0]).all()
        np.testing.assert_array_equal(one[1], other[1])


def test_resamples_are_measured_as_examples_repeated():
    data: dict[str, Any] = {"groups": G, "num_groups": GROUPS}
    measure = functools.partial(qk.groups.selection_by_group, quota=9)
    drawn = qk.bootstrap(measure, Y, S, n_resamples=300, random_state=1, **data)
    for x, estimate in zip(drawn, measure(Y, S, **data), strict=True):
        np.testing.assert_array_equal(x.estimate, estimate)
        assert x.resamples.shape == (*estimate.shape, 300)
    total = np.nansum(drawn.selected.resamples, axis=-2)
    np.testing.assert_allclose(total, 9, rtol=1e-13)
    gap = drawn.qrecall.resamples
    defined = ~np.isnan(gap).all(axis=1)
    widest = np.nanmax(gap, axis=1) - np.nanmin(gap, axis=1)
    difference = drawn.equal_opportunity_difference.resamples
    np.testing.assert_allclose(difference[defined], widest[defined], atol=1e-15)
    clustered = qk.bootstrap(
        measure, Y, S, clusters=np.arange(SIZE) // 2, n_resamples=20, random_state=1, **data
    )
    assert clustered.split_cost.resamples.shape == (2, 20)


def test_no_quota_gives_no_columns():
    found = qk.groups.selection_by_group(Y, S[0], quota=[], groups=G, num_groups=GROUPS)
    assert found.selected.shape == (GROUPS, 0)
    assert found.split_cost.shape == (0,)


def test_a_place_is_part_of_a_light_example():
    found = qk.groups.selection_by_group(
        [1, 0, 1], [3, 2, 1], quota=0.75, groups=[0, 1, 0], sample_weight=[0.5, 0.5, 0.5]
    )
    assert found.selected.tolist() == [0.5, 0.25]
