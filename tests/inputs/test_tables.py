"""Tables that are counted elsewhere: bad rows, padding, and more examples than fit anywhere."""

from __future__ import annotations

from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import LAZY, MODES, Mode, available, parameters
from expected import as_floats, ulps

import quotakernels as qk

make = qk.Ranking.from_counts
T = np.asarray([0.875, 0.5, 0.25, 0.125])
COUNTS = np.asarray([2, 3, 1, 4])
POSITIVES = np.asarray([2, 1, 0, 1])
MASSES = np.asarray([2.5, 3.0, 0.5, 4.0])
HITS = np.asarray([2.5, 0.75, 0.0, 1.0])
GAINS = np.asarray([4.0, -1.0, 0.0, 2.0])
LOSSES = np.asarray([0.0, -3.5, 1.0, -2.0])

LAZY_MODES = parameters(LAZY)


def measures(ranking: qk.Ranking) -> dict[str, Any]:
    found = {f.__name__: f(ranking) for f in (qk.roc_auc, qk.pem, qk.average_qrecall)}
    return found | {"hit_rate": qk.hit_rate(ranking, quota=2.5)}


def of_table(t: Any, c: Any, p: Any) -> dict[str, Any]:
    return measures(make(t, c, p))


def of_weighted(*columns: Any) -> dict[str, Any]:
    ranking = make(**dict(zip(GOOD, columns, strict=True)))
    impact = qk.impact_at_quota(ranking, quota=2.5)
    return measures(ranking) | impact._asdict() | {"best": qk.best_quota(ranking).value}


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        assert ulps(value, np.asarray(wanted[name])) <= 4, name


# bad rows

BAD: dict[str, list[tuple[int, float]]] = {
    "thresholds": [(1, np.nan), (2, 0.875)],
    "counts": [(2, -1), (3, 2**63 - 6), (1, 2**63 - 1)],
    "positives": [(0, -1), (1, 4)],
    "weights": [(0, -1.0), (3, np.nan), (3, np.inf), (3, 1e308)],
    "positive_weights": [(1, -0.5), (1, 3.5), (0, 2.0), (1, np.nan), (2, 0.25)],
    "positive_gains": [(1, np.nan), (1, 1e308), (2, 0.5)],
    "negative_gains": [(1, -1e308), (3, -np.inf), (0, 0.5)],
    "positive_gains_rejected": [(2, 1.0)],
    "negative_gains_rejected": [(0, 1.0)],
}
"""Of each column places and values of which the table of refusals has the messages."""
GOOD = {
    "thresholds": T,
    "counts": COUNTS,
    "positives": POSITIVES,
    "weights": MASSES,
    "positive_weights": HITS,
    "positive_gains": GAINS,
    "negative_gains": LOSSES,
    "positive_gains_rejected": -2 * GAINS,
    "negative_gains_rejected": 0 * LOSSES,
}


def invalid(name: str, place: int, value: Any) -> dict[str, np.ndarray]:
    columns = {key: x.copy() for key, x in GOOD.items()}
    columns[name][place] = value
    return columns


def in_modes_reach(mode: Mode, value: Any) -> bool:
    most = 2**31 if isinstance(value, int) else 2.0**128
    return not (mode.float32 and most <= abs(value) < np.inf)


@pytest.mark.parametrize("mode", LAZY_MODES)
@pytest.mark.long_program
def test_a_bad_table_of_a_batch_is_nan_and_leaves_the_others_alone(mode: Mode):
    bad = [(name, *x) for name, each in BAD.items() for x in each if in_modes_reach(mode, x[1])]
    tables = [GOOD, *(invalid(*row) for row in bad), GOOD]
    found = mode.run(of_weighted, *(np.stack([table[key] for table in tables]) for key in GOOD))
    wanted = of_weighted(*GOOD.values())
    for index in range(len(tables)):
        values = every.of_row(found, index)
        if index in (0, len(tables) - 1):
            same(values, wanted)
        else:
            every.assert_undefined(values)


def test_masses_of_positives_alone_may_differ_by_rounding():
    ranking = make([2, 1], [3, 2], [3, 1], weights=[0.3, 1.0], positive_weights=[0.1 + 0.2, 0.5])
    np.testing.assert_array_equal(ranking.negative_weights, [0.0, 0.5])


# what is accepted


@pytest.mark.long_program
@every.main_modes
def test_rows_in_any_order(mode: Mode):
    orders = np.asarray([[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]])
    found = mode.run(of_table, *(x[orders] for x in (T, COUNTS, POSITIVES)))
    labels, scores = np.repeat(T, COUNTS), np.repeat(T, COUNTS)
    labels = np.concatenate([np.arange(c) < p for c, p in zip(COUNTS, POSITIVES, strict=True)])
    wanted = measures(qk.rank(labels, scores))
    for index in range(4):
        same(every.of_row(found, index), wanted)


@pytest.mark.long_program
@every.main_modes
def test_padding_is_harmless(mode: Mode):
    """Rows of no examples may hold any threshold, NaN or one that another row has."""
    thresholds = np.asarray([0.5, np.nan, 0.875, 0.875, 0.1, 0.5, 0.3, 0.875])
    counts = np.asarray([3, 0, 0, 2, 4, 0, 1, 0])
    positives = np.asarray([1, 0, 0, 2, 1, 0, 0, 0])
    same(mode.run(of_table, thresholds, counts, positives), of_table(T, COUNTS, POSITIVES))
    tied = np.asarray([[3.0, 1, 1, 0]] * 2)
    padded = mode.run(lambda y, s: make(*qk.rank(y, s)[:3]), POSITIVES > 0, tied)
    for row in range(2):
        kept = padded.counts[row] > 0
        np.testing.assert_array_equal(padded.thresholds[row][kept], [3, 1, 0])
        np.testing.assert_array_equal(padded.counts[row][kept], [1, 2, 1])


@every.main_modes
@pytest.mark.long_program
def test_groups_of_weight_zero_are_not_there(mode: Mode):
    columns = {key: np.insert(x, 1, 0) for key, x in GOOD.items()}
    columns["thresholds"][1], columns["counts"][1], columns["positives"][1] = 0.6, 50, 20
    columns["positive_gains"][1], columns["negative_gains_rejected"][1] = 7, 7
    same(mode.run(of_weighted, *columns.values()), of_weighted(*GOOD.values()))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
@pytest.mark.parametrize(
    "mode", parameters([m for m in MODES if m.name in ("numpy", "strict", "torch")])
)
def test_counts_of_every_dtype(mode: Mode, dtype: str):
    if dtype[0] == ">" and mode.name != "numpy":
        pytest.skip("NumPy's own")
    scale = np.iinfo(dtype).max // 4 if dtype[-1] < "8" else 1
    counts, positives = ((x * scale).astype(dtype) for x in (COUNTS, POSITIVES))
    *found, quota = mode.run(lambda t, c, p: every_count(make(t, c, p)), T, counts, positives)
    np.testing.assert_array_equal(quota, np.append(0, np.cumsum(counts.astype(np.int64))))
    rows = ex.groups_from_counts(T.tolist(), counts.tolist(), positives.tolist())
    for value, function in zip(found, (ex.large_roc_auc, ex.large_average_qrecall), strict=True):
        assert ulps(value, as_floats(function(rows))) <= 4


def every_count(ranking: qk.Ranking) -> Any:
    return qk.roc_auc(ranking), qk.average_qrecall(ranking), qk.hit_rate_curve(ranking).quota


@pytest.mark.parametrize(
    "thresholds",
    [
        np.asarray([True, False]),
        np.asarray([2**63 - 1, 2**63 - 2]),
        np.asarray([2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.asarray([5e-324, 0.0]),
        np.asarray([0.0, -np.inf]),
        np.asarray([1, 0], dtype=np.float16),
        np.asarray([1, 0], dtype=">f8"),
    ],
)
def test_thresholds_of_every_kind(thresholds: np.ndarray):
    for order in ([0, 1], [1, 0]):
        ranking = make(thresholds[order], [order[0] + 1] * 2, [0 + order[0], 0 + order[1]])
        assert ranking.thresholds.tolist() == thresholds.tolist()
        assert ranking.positives.tolist() == [0, 1]


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_counts_and_thresholds_beside_jax_are_not_rounded():
    import jax.numpy as jnp

    counts, positives = np.asarray([2**40, 2**33, 1]), np.asarray([2**39, 1, 1])
    close_by = np.asarray([0.5 + 2e-12, 0.5 + 1e-12, 0.5])
    ranking = make(close_by, jnp.asarray([2, 3, 4]), [1, 1, 1])
    assert (
        ulps(qk.roc_auc(ranking), np.asarray(qk.roc_auc(make(close_by, [2, 3, 4], [1, 1, 1])))) <= 1
    )
    ranking = make(jnp.asarray([3, 2, 1]), counts, positives)
    wanted = qk.roc_auc(make([3, 2, 1], counts, positives))
    assert ulps(qk.roc_auc(ranking), np.asarray(wanted)) <= 1
