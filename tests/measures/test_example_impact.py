"""What decisions bring where every example has a gain of its own, against the exact reference."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, any_quota, mode_fixture, parameters
from expected import as_floats, compact
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk

mode = mode_fixture(QUICK)
WITHOUT_COMPILER = ("numpy", "strictest-device1", "torch", "torch-vmap", "cupy")
few_modes = pytest.mark.parametrize(
    "mode", parameters([m for m in MODES if m.name in WITHOUT_COMPILER])
)
QUOTAS = (0.0, 0.5, 1.0, 2.0, 2.5, 4.0)
ROWS, SIZE = 60, 6
UNIT = 2.0**-53


def draws(seed: int = 3) -> dict[str, np.ndarray]:
    """Small cases of every kind, one in each row; NaN and ∞ where an example does not take part."""
    dice = np.random.default_rng(seed)
    shape = (ROWS, SIZE)
    where = dice.random(shape) < 0.8
    where[:, 0] = True
    weight = dice.choice([0.0, 0.5, 1.0, 3.0], shape)
    weight[:, 0] = 2.0
    columns = {
        "score": dice.choice([0.5, -1.0, 2.0], shape),
        "gain": dice.integers(-5, 6, shape).astype(float),
        "other": dice.integers(-3, 4, shape).astype(float),
    }
    absent = ~where
    columns = {k: np.where(absent, np.nan, x) for k, x in columns.items()}
    columns["gain"] = np.where((weight == 0) & where, np.inf, columns["gain"])
    return columns | {"weight": weight, "where": where}


CASES = draws()
WHOLE = {**CASES, "gain": np.where(np.isinf(CASES["gain"]), 0.0, CASES["gain"])}


def exact_rows(columns: dict[str, np.ndarray], weighted: bool, other: bool) -> Any:
    """The exact tie groups of each row; values that do not take part are replaced."""
    masked = ~columns["where"] | (weighted & (columns["weight"] == 0))
    clean = {k: np.where(masked, 0.0, columns[k]).tolist() for k in ("score", "gain", "other")}
    beside = (columns[k].tolist() for k in ("weight", "where"))
    return [
        ex.impact.gain_groups(s, g, r if other else 0, w if weighted else None, m)
        for s, g, r, w, m in zip(*clean.values(), *beside, strict=True)
    ]


def exact_totals(rows: Sequence[Any], quotas: Sequence[float] = QUOTAS) -> np.ndarray:
    """Shape (rows, quotas, 4); undefined where there is less mass than the quota."""

    def totals(row: Any, quota: float) -> list[Any]:
        enough = quota <= sum(group.weight for group in row)
        return list(ex.impact.example_impact(row, Fraction(quota))) if enough else [None] * 4

    return as_floats([[totals(row, quota) for quota in quotas] for row in rows])


def scale_of(rows: Sequence[Any]) -> np.ndarray:
    """Of each row Σ w(|gain| + |rejected|) at least, by groups, as the reference has them."""
    sums = [
        sum((abs(x.selected) + abs(x.rejected) for x in row), Fraction(0)) + Fraction(40)
        for row in rows
    ]
    return as_floats(sums)


def both(s: Any, g: Any, **given: Any) -> Any:
    given["gain"] = g
    return qk.impact_at_quota(None, s, quota=QUOTAS, **given), qk.best_quota(None, s, **given)


def rejected(s: Any, g: Any, r: Any, m: Any) -> Any:
    return both(s, g, gain_rejected=r, where=m)


def weighted(s: Any, g: Any, w: Any, m: Any) -> Any:
    return both(s, g, sample_weight=w, where=m)


def check_best(found: Any, rows: Sequence[Any], near: Any, whole: bool) -> None:
    """Every field; curves of padded tables repeat the cut before."""
    for index, row in enumerate(rows):
        best = ex.impact.best_example_quota(row)
        curve = ex.impact.example_impact_curve(row)
        quota, value, threshold = (
            np.asarray(x[index], dtype=float)
            for x in (found.curve.quota, found.curve.value, found.curve.threshold)
        )
        steps = np.flatnonzero(np.diff(quota, prepend=-1.0))
        assert quota[steps].tolist() == [float(point.quota) for point in curve]
        wanted = as_floats([point.value for point in curve])
        near(value[steps], wanted, index)
        near(found.value[index], np.asarray(float(best.value)), index)
        assert found.quota[index] == float(best.quota)
        np.testing.assert_array_equal(found.threshold[index], as_floats(best.threshold))
        np.testing.assert_array_equal(
            threshold[steps], as_floats([point.threshold for point in curve])
        )
        if whole:
            assert found.optima[index][steps].tolist() == list(best.optima)
            assert found.optima[index].sum() == sum(best.optima)


def check_exactly(totals: Any, best: Any) -> None:
    rows = exact_rows(WHOLE, False, True)
    for field, exact in zip(totals._fields, np.moveaxis(exact_totals(rows), -1, 0), strict=True):
        found = getattr(totals, field)
        np.testing.assert_array_equal(found, exact.astype(found.dtype), err_msg=field)
    check_best(best, rows, lambda x, wanted, _: np.testing.assert_array_equal(x, wanted), True)


@pytest.mark.long_program
def test_whole_gains_are_exact(mode: Mode):
    columns = (WHOLE[k] for k in ("score", "gain", "other", "where"))
    check_exactly(*mode.run(rejected, *columns))


def grouped(columns: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What a ``GROUP BY score`` gives, worst score first, with rows of no examples at the end."""
    found = []
    for s, g, r, there in zip(
        *(columns[k] for k in ("score", "gain", "other", "where")), strict=True
    ):
        classes = np.arange(SIZE) % 2 == 0
        rows = []
        for score in sorted(set(s[there])):
            each = there & (s == score)
            sums = [x[each & y].sum() for x in (g, r) for y in (classes, ~classes)]
            rows.append([score, each.sum(), (each & classes).sum(), *sums])
        found.append(rows + [[0.0] * 7] * (3 - len(rows)))
    thresholds, counts, positives, *gains = np.moveaxis(np.asarray(found), -1, 0)
    return [thresholds, counts.astype(np.int64), positives.astype(np.int64), *gains]


def of_counts(*columns: Any) -> Any:
    names = ("positive_gains", "negative_gains")
    names += tuple(f"{name}_rejected" for name in names)
    sums = dict(zip(names, columns[3:], strict=True))
    ranking = qk.Ranking.from_counts(*columns[:3], **sums)
    return qk.impact_at_quota(ranking, quota=QUOTAS), qk.best_quota(ranking)


@pytest.mark.long_program
def test_gains_that_are_summed_elsewhere_are_exact_too(mode: Mode):
    check_exactly(*mode.run(of_counts, *grouped(WHOLE)))


@pytest.mark.long_program
@every.main_modes
def test_weights_and_what_does_not_take_part(mode: Mode):
    columns = {k: CASES[k] for k in ("score", "gain", "weight", "where")}
    rows = exact_rows(CASES, True, False)
    totals, best = mode.run(weighted, *columns.values())
    scale = scale_of(rows)
    unit = 16 * UNIT if totals.whole.dtype == np.float64 else 2.0**-23

    def near(found: Any, exact: np.ndarray, index: int) -> None:
        np.testing.assert_allclose(found, exact, rtol=0, atol=unit * scale[index])

    wanted = exact_totals(rows)
    for field, exact in zip(totals._fields, np.moveaxis(wanted, -1, 0), strict=True):
        for index in range(ROWS):
            near(getattr(totals, field)[index], exact[index], index)
    check_best(best, rows, near, True)


# properties

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
examples = st.lists(
    st.tuples(st.integers(0, 5), numbers, numbers, st.floats(0.001, 1000.0)),
    min_size=1,
    max_size=30,
)


@any_quota
@given(rows=examples, share=st.floats(0.0, 1.0))
def test_rounding_is_bounded(rows: Any, share: float):
    s, g, r, w = (list(x) for x in zip(*rows, strict=True))
    for weights in (None, w):
        groups = ex.impact.gain_groups(s, g, r, weights)
        mass = sum(group.weight for group in groups)
        quota = min(share * float(mass), float(np.sum(np.ones(len(s)) if weights is None else w)))
        quota = min(quota, float(mass)) if Fraction(float(mass)) <= mass else quota * (1 - 1e-15)
        found = qk.impact_at_quota(
            None, s, gain=g, gain_rejected=r, sample_weight=weights, quota=quota
        )
        each = np.abs(g) + np.abs(r)
        scale = np.sum(each * (1 if weights is None else w))
        scale += 0 if weights is None else 2 * np.sum(w) * each.max()
        near = (len(s) + 8) * UNIT * scale
        exact = ex.impact.example_impact(groups, Fraction(quota))
        for field, value in exact._asdict().items():
            assert abs(Fraction(float(getattr(found, field))) - value) <= near, (field, weights)


def test_equal_totals_are_told_by_the_size_of_the_gains():
    """0.1 + 0.2 - 0.3 is not 0 in floats; 1e-9 is something where all gains are that small."""
    s = [4, 3, 2, 1]
    assert qk.best_quota(None, s, gain=[0.1, 0.2, -0.3, 0.3]).optima.tolist() == [0, 0, 1, 0, 1]
    assert qk.best_quota(None, s, gain=[1e17, 0.1, -1e17, 1e17]).optima.sum() == 3
    small = qk.best_quota(None, s, gain=[1e-20, 2e-20, -2e-20, 1e-20])
    assert small.optima.tolist() == [0, 0, 1, 0, 0]
    assert small.quota == 2
    rejected = qk.best_quota(None, s[:3], gain=[0, 0, 0], gain_rejected=[0.3, -0.1, -0.2])
    assert rejected.optima.tolist() == [1, 0, 0, 1]
    absent: dict[str, Any] = {"where": [True] * 4 + [False]}
    for anything in (np.nan, np.inf, 1e30):
        gains = [0.1, 0.2, -0.3, 0.3, anything]
        best = qk.best_quota(None, [*s, 0], gain=gains, **absent)
        (optima,) = compact(best.curve.quota, best.optima)
        assert optima.tolist() == [0, 0, 1, 0, 1]
        assert best.optima.sum() == 2


def test_selecting_all_leaves_nothing_among_the_rejected():
    """Also where the last weight is lost in the sum of the others."""
    light: dict[str, Any] = {"gain_rejected": 1e20, "sample_weight": [1e20, 1e-20]}
    for cut in ({"fraction": 1}, {"quota": 1e20}):
        found = qk.impact_at_quota(None, [2, 1], gain=[0, 1e20], **light, **cut)
        assert (found.selected, found.rejected) == (1, 0)
    dice = np.random.default_rng(0)
    for _ in range(50):
        s, g, r = dice.integers(0, 4, 7), dice.normal(size=7), dice.normal(size=7)
        w = dice.random(7) * 10.0 ** dice.integers(-9, 9, 7)
        for weights in (None, w):
            given: dict[str, Any] = {"gain_rejected": r, "sample_weight": weights}
            assert qk.impact_at_quota(None, s, gain=g, fraction=1, **given).rejected == 0
            assert qk.impact_at_quota(None, s, gain=g, quota=0, **given).selected == 0


@few_modes
def test_weights_of_any_scale(mode: Mode):
    """A power of two comes out as it went in."""
    s, g, w = (CASES[k] for k in ("score", "gain", "weight"))
    m = CASES["where"]

    def run(s: Any, g: Any, w: Any, m: Any, scale: Any) -> Any:
        given: dict[str, Any] = {"gain_rejected": 3, "sample_weight": w, "where": m}
        found = qk.impact_at_quota(None, s, gain=g, fraction=[0.3, 0.8], **given)
        best = qk.best_quota(None, s, gain=g, **given)
        return tuple(x / scale for x in (*found, best.value, best.quota)), best.optima

    plain = mode.run(run, s, g, w, m, np.asarray(1.0))
    for power in (-600.0, 600.0):
        scale = np.asarray(2.0**power)
        scaled = mode.run(run, s, g, w * scale, m, scale)
        np.testing.assert_array_equal(np.stack([*scaled[0][:4]]), np.stack([*plain[0][:4]]))
        np.testing.assert_array_equal(np.stack([*scaled[0][4:]]), np.stack([*plain[0][4:]]))
        np.testing.assert_array_equal(scaled[1], plain[1])


@few_modes
def test_no_examples(mode: Mode):
    def run(s: Any, m: Any) -> Any:
        nobody = {"of none": (s[..., :0], None), "masked": (s, m)}
        found = {}
        for name, (scores, where) in nobody.items():
            given: dict[str, Any] = {"where": where}
            best = qk.best_quota(None, scores, gain=scores, **given)
            totals = qk.impact_at_quota(None, scores, gain=scores, quota=[0, 1], **given)
            found |= {f"{name}.{k}": x for k, x in totals._asdict().items()}
            found |= {f"{name} {k}": getattr(best, k) for k in ("value", "threshold", "quota")}
            found[f"{name} curve"] = best.curve.value
        return found

    every.assert_undefined(mode.run(run, np.ones((2, 3)), np.zeros((2, 3), dtype=bool)))


def test_gains_of_the_largest_sums():
    most = float(np.finfo(float).max) / 6
    best = qk.best_quota(None, [1.0, 2, 3], gain=[most, most, -most])
    np.testing.assert_array_equal(best.curve.value, [0, -most, 0, most])
    assert (best.value, best.threshold, best.quota) == (most, 1, 3)
    np.testing.assert_array_equal(best.optima, [False, False, False, True])
    both = qk.best_quota(None, [1.0, 2], gain=[most, -most], gain_rejected=[-most / 2, 0.0])
    assert (both.value, both.quota) == (0, 2)


@pytest.mark.parametrize("mode", parameters([m for m in QUICK if m.lazy and not m.float32]))
def test_gains_whose_sum_is_beyond_all_floats(mode: Mode):
    """As weights and costs are: where they cannot be read the row is NaN.

    Those of 32 bits are summed in 64.
    """
    scores, good = np.asarray([[3.0, 2, 1]] * 2), np.ones((2, 3))
    large = np.stack([np.full(3, np.finfo(np.float64).max / 5), -np.ones(3)])

    def run(s: Any, g: Any, r: Any) -> Any:
        return qk.impact_at_quota(None, s, gain=g, gain_rejected=r, quota=1).net

    for gains in ((large, good / 2), (good, large)):
        np.testing.assert_array_equal(np.isnan(mode.run(run, scores, *gains)), [True, False])


# what the examples of each cell of a table bring on average, against the exact reference


def exact_cells(labels: np.ndarray, weighted: bool, quotas: Sequence[float]) -> np.ndarray:
    """Shape (rows, quotas, 4); undefined where a cell is empty, or there is too little mass."""
    masked = ~CASES["where"] | (weighted & (CASES["weight"] == 0))
    names = ("score", "gain", "other")
    columns = [np.where(masked, 0.0, CASES[k] if weighted else WHOLE[k]).tolist() for k in names]
    rows = zip(labels.tolist(), *columns, CASES["weight"].tolist(), (~masked).tolist(), strict=True)
    found: list[Any] = []
    for y, s, g, r, w, m in rows:
        mass = sum(x if weighted else 1 for x, there in zip(w, m, strict=True) if there)
        given: dict[str, Any] = {"sample_weight": w if weighted else None, "where": m}
        found.append(
            [
                list(ex.impact.category_means(y, s, g, r, Fraction(quota), **given))
                if quota <= mass
                else [None] * 4
                for quota in quotas
            ]
        )
    return as_floats(found)


LABELS = np.random.default_rng(9).integers(0, 2, (ROWS, SIZE))


@pytest.mark.long_program
@every.main_modes
def test_means_of_the_cells_at_quotas(mode: Mode):
    def run(y: Any, s: Any, g: Any, r: Any, w: Any, m: Any) -> Any:
        given: dict[str, Any] = {"gain_rejected": r, "where": m, "quota": QUOTAS}
        return qk.tables.cell_impacts(y, s, gain=g, sample_weight=w, **given)

    columns = (CASES[k] for k in ("score", "gain", "other", "weight", "where"))
    found = mode.run(run, LABELS, *columns)
    wanted = exact_cells(LABELS, True, QUOTAS)
    near = 1e-13 if found.tp.dtype == np.float64 else 2e-6
    for field, exact in zip(found._fields, np.moveaxis(wanted, -1, 0), strict=True):
        np.testing.assert_allclose(getattr(found, field), exact, atol=near, err_msg=field)


def test_means_of_whole_gains_are_exact():
    given: dict[str, Any] = {"gain_rejected": WHOLE["other"], "where": WHOLE["where"]}
    found = qk.tables.cell_impacts(
        LABELS, WHOLE["score"], gain=WHOLE["gain"], quota=QUOTAS, **given
    )
    wanted = exact_cells(LABELS, False, QUOTAS)
    for field, exact in zip(found._fields, np.moveaxis(wanted, -1, 0), strict=True):
        np.testing.assert_array_equal(getattr(found, field), exact, err_msg=field)


THRESHOLDS = (np.nan, -2.0, -1.0, 0.5, 0.7, 2.0, 3.0)


@pytest.mark.long_program
@every.main_modes
def test_means_of_the_cells_at_thresholds(mode: Mode):
    """They are sums over masks, and of one list as of a batch."""

    def run(y: Any, s: Any, g: Any, m: Any) -> Any:
        given: dict[str, Any] = {"gain_rejected": 2, "where": m, "threshold": list(THRESHOLDS)}
        cuts = [qk.tables.cell_impacts(y, s, gain=g, inclusive=x, **given) for x in (True, False)]
        return tuple(cuts)

    s, g, m = (WHOLE[k] for k in ("score", "gain", "where"))
    found = mode.run(run, LABELS, s, g, m)
    for inclusive, cells in zip((True, False), found, strict=True):
        for k, threshold in enumerate(THRESHOLDS):
            chosen = (s >= threshold) if inclusive else (s > threshold)
            for field in cells._fields:
                inside = m & ((field in ("tp", "fn")) == LABELS) & (chosen == (field[1] == "p"))
                brought = np.where(inside, g if field[1] == "p" else 2.0, 0.0).sum(axis=-1)
                with np.errstate(invalid="ignore"):
                    wanted = brought / inside.sum(axis=-1)
                np.testing.assert_allclose(getattr(cells, field)[:, k], wanted, rtol=1e-6)
