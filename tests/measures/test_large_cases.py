"""Up to a million examples against exact rationals, and ten million under JAX without x64."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, available, in_full, parameters
from expected import ulps
from large_tables import check_large, large_tables
from public_names import PUBLIC

import quotakernels as qk

MODES_64 = [m for m in MODES if m.name in ("numpy", "strict", "jax64", "torch", "cupy")]
QUOTAS = (1, 1000, 12_345, 77_777.5)


class Data(NamedTuple):
    labels: np.ndarray
    scores: np.ndarray


def tie_free(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(n).astype(np.float64)


def uniform(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random(n, dtype=np.float32)


def hundred_values(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 100, n).astype(np.float32)


def half_precision_logits(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal(n).astype(np.float16)


def one_score(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.full(n, 0.3)


@pytest.mark.parametrize("name", ["jax32-jit", "torch-vmap", "torch-compile"])
@pytest.mark.parametrize("bad", ["", "label", "score"])
def test_half_precision_in_programs(name: str, bad: str):
    """Where there are more scores than floats of their type, these are counted."""
    mode = next(m for m in MODES if m.name == name)
    if not available(mode.library):
        pytest.skip(f"{mode.library} is not available")
    rng = np.random.default_rng(5)
    scores = half_precision_logits(70_000, rng)
    scores[:8] = [np.inf, -np.inf, 0.0, -0.0, 6e-8, -6e-8, 65504, -65504]
    labels = (rng.standard_normal(scores.shape) < scores).astype(np.int64)
    masked = rng.random(scores.shape) < 0.8
    masked[9] = False
    if bad == "label":
        labels[9] = 2**30
    if bad == "score":
        scores[9] = np.nan

    def values(labels: Any, scores: Any, masked: Any) -> tuple[Any, Any]:
        return qk.roc_auc(labels, scores), qk.roc_auc(labels, scores, where=masked)

    whole, part = mode.run(values, labels, scores, masked)
    np.testing.assert_allclose(part, qk.roc_auc(labels, scores, where=masked), rtol=1e-7)
    expected = np.nan if bad else qk.roc_auc(labels, scores)
    np.testing.assert_allclose(whole, expected, rtol=1e-7)


MAKERS = (
    *(in_full(make) for make in (half_precision_logits, tie_free)),
    hundred_values,
    one_score,
)


@cache
def data(make: Any, n: int) -> Data:
    rng = np.random.default_rng(n)
    scores = make(n, rng)
    odds = 0.05 + 0.3 * (scores > np.median(scores))
    return Data(rng.random(n) < odds, scores)


@cache
def groups(make: Any, n: int) -> tuple[ex.Group, ...]:
    """The exact table, by a simple count of the distinct scores."""
    labels, scores = data(make, n)
    distinct, which = np.unique(scores, return_inverse=True)
    counts, positives = np.bincount(which), np.bincount(which, weights=labels).astype(int)
    rows = ex.groups_from_counts(distinct.tolist(), counts.tolist(), positives.tolist())
    return tuple(sorted(rows, key=lambda group: group.score, reverse=True))


def measures(mode: Mode, make: Any, n: int) -> dict[str, np.ndarray]:
    def all_of_them(y: Any, s: Any) -> dict[str, Any]:
        ranking = qk.rank(y, s)
        values: dict[str, Any] = qk.summary(ranking)._asdict()
        for measure in (qk.hit_rate, qk.qrecall, qk.pearson):
            values[measure.__name__] = measure(ranking, quota=list(QUOTAS))
        values["observed"] = qk.pearson(ranking, quota=list(QUOTAS), labels="observed")
        return values

    return mode.run(all_of_them, *data(make, n))


@cache
def wanted(make: Any, n: int) -> dict[str, np.ndarray]:
    ranking = groups(make, n)
    areas = ex.large_pem_areas(ranking)
    values = {
        "roc_auc": ex.large_roc_auc(ranking),
        "gini": ex.large_pem(ranking),
        "pem": ex.large_pem(ranking),
        "average_hit_rate": ex.large_average_hit_rate(ranking),
        "average_qrecall": ex.large_average_qrecall(ranking),
        "s1": areas.s1,
        "s2": areas.s2,
        "s3": areas.s3,
        "hit_rate": [ex.large_hit_rate(ranking, q) for q in QUOTAS],
        "qrecall": [ex.large_qrecall(ranking, q) for q in QUOTAS],
        "pearson": [ex.large_pearson(ranking, q) for q in QUOTAS],
        "observed": [ex.large_pearson(ranking, q, "observed") for q in QUOTAS],
    }
    as_float = np.vectorize(lambda x: np.nan if x is None else float(x), otypes=[float])
    return {name: as_float(np.asarray(value, dtype=object)) for name, value in values.items()}


@pytest.mark.parametrize("mode", parameters(MODES_64))
@pytest.mark.parametrize("make", MAKERS)
def test_measures_of_a_hundred_thousand_are_the_exact_values(mode, make):
    actual, exact = measures(mode, make, 100_000), wanted(make, 100_000)
    for name in ("roc_auc", "gini", "pem", "hit_rate", "qrecall"):
        np.testing.assert_array_equal(actual[name], exact[name], err_msg=name)
    assert ulps(actual["average_qrecall"], exact["average_qrecall"]) <= 1
    assert ulps(actual["average_hit_rate"], exact["average_hit_rate"]) <= 4
    for name in ("s1", "s2", "s3"):
        np.testing.assert_allclose(actual[name], exact[name], rtol=1e-13, atol=1e-10)
    tolerance = 1e-13 * max(1, spread_ratio(data(make, 100_000).scores))
    for name in ("pearson", "observed"):
        np.testing.assert_allclose(actual[name], exact[name], rtol=0, atol=tolerance)


def spread_ratio(scores: np.ndarray) -> float:
    scores = scores.astype(float)
    return abs(scores.mean()) / max(scores.std(), 1e-300) if scores.std() else 1.0


@pytest.mark.parametrize("method", ["sum", "area"])
@pytest.mark.parametrize("slope", [-0.4, 0, 0.4])
def test_areas_of_many_examples_are_those_of_their_ranking(slope, method):
    """Examples without ranking: rows on one side of chance are summed together."""
    rng = np.random.default_rng(3)
    scores = uniform(200_000, rng).round(5)
    labels = rng.random(scores.shape) < 0.3 + slope * (scores - 0.5)
    found = qk.pem_areas(labels, scores, method=method)
    wanted = qk.pem_areas(qk.rank(labels, scores), method=method)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_neighbouring_floats_with_weights_are_groups_of_their_own():
    """Even where a block of sorted examples ends within one."""
    draw, n = np.random.default_rng(0), 100_000
    place, y, weight = (draw.integers(0, k, n) for k in (8, 2, 5))
    weight = weight + 1.0
    neighbours = np.arange(8, dtype=np.int32) + np.float32(1).view(np.int32)
    score = neighbours.view(np.float32)[place]
    found, wanted = (qk.rank(y, x, sample_weight=weight) for x in (score, place))
    assert found.counts.shape == (8,)
    assert found.weights.tolist() == wanted.weights.tolist()


@pytest.mark.full
@pytest.mark.parametrize("mode", parameters([m for m in MODES_64 if m.name != "strict"]))
def test_measures_of_a_million_are_the_exact_values(mode):
    actual, exact = measures(mode, uniform, 10**6), _of_a_million()
    assert actual["roc_auc"] == exact["roc_auc"]
    assert actual["pem"] == exact["pem"]
    assert actual["hit_rate"][2] == exact["hit_rate"]
    assert actual["qrecall"][3] == exact["qrecall"]
    assert ulps(actual["average_qrecall"], np.float64(exact["average_qrecall"])) <= 1
    assert ulps(actual["average_hit_rate"], np.float64(exact["average_hit_rate"])) <= 4


@cache
def _of_a_million() -> dict[str, float]:
    ranking = groups(uniform, 10**6)
    names = ("roc_auc", "pem", "average_qrecall", "average_hit_rate")
    values = {name: getattr(ex, f"large_{name}")(ranking) for name in names}
    values["hit_rate"] = ex.large_hit_rate(ranking, QUOTAS[2])
    values["qrecall"] = ex.large_qrecall(ranking, QUOTAS[3])
    return {name: float(value) for name, value in values.items()}


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_ten_million_under_jax_without_x64():
    """Sums of order n² neither fit int32 nor float32; NumPy's float64 is the reference."""
    n = 10**7
    labels, scores = data(uniform, n)
    mode = next(m for m in MODES if m.name == "jax32")
    actual = mode.run(lambda y, s: _some(qk.rank(y, s)), labels, scores)
    for name, value in _some(qk.rank(labels, scores)).items():
        assert actual[name].dtype == np.float32
        if name == "pearson":
            np.testing.assert_allclose(actual[name], value, rtol=0, atol=1e-5)
        else:
            assert ulps(actual[name], np.asarray(value)) <= 4, name


def _some(ranking: qk.Ranking) -> dict[str, Any]:
    names = ("roc_auc", "pem", "average_hit_rate", "average_qrecall")
    values = {name: x for name, x in qk.summary(ranking)._asdict().items() if name in names}
    for measure in (qk.hit_rate, qk.qrecall, qk.pearson):
        values[measure.__name__] = measure(ranking, quota=1_000_000)
    return values


# tables of more examples than fit a float, or memory: exact counts, and measures near exact


make = qk.Ranking.from_counts


def large(t: Any, c: Any, p: Any) -> dict[str, Any]:
    ranking = make(t, c, p)
    names = ("roc_auc", "gini", "pem", "average_qrecall", "average_hit_rate")
    found = {name: PUBLIC[name](ranking) for name in names}
    for measure in (qk.hit_rate, qk.qrecall, qk.lift):
        found[measure.__name__] = measure(ranking, fraction=[0.25, 0.5, 1])
    curve = qk.qrecall_curve(ranking)
    return found | {"ends": curve.quota, "recalls": curve.value}


def columns_of(tables: Any) -> tuple[np.ndarray, ...]:
    counts, positives = (np.asarray(x) for x in zip(*tables, strict=True))
    return np.broadcast_to([4.0, 3, 2, 1], counts.shape), counts, positives


WIDE = [m for m in MODES if not m.float32 and m.name not in ("strictest", "jax64", "torch-compile")]


@pytest.mark.parametrize("mode", parameters(WIDE))
@pytest.mark.long_program
def test_any_number_of_examples(mode: Mode):
    check_large(mode.run(large, *columns_of(large_tables())), large_tables())


NARROW = [mode for mode in MODES if mode.float32]


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(NARROW[1:]))
def test_counts_whose_sums_leave_32_bits(mode: Mode):
    small = [table for table in large_tables() if max(table[0]) < 2**31]
    small.append(([2**31 - 1] * 4, [2**31 - 1, 5, 2**30, 0]))
    check_large(mode.run(large, *columns_of(small)), small)


@pytest.mark.parametrize("mode", parameters(NARROW[:1]))
def test_64_bit_counts_from_the_host_beside_32_bit_arrays(mode: Mode):
    thresholds, counts, positives = columns_of(large_tables())
    found = mode.run(lambda t: large(t, counts, positives), thresholds)
    check_large(found, large_tables())


def test_counts_are_exact():
    for counts, positives in large_tables():
        ranking = make([4, 3, 2, 1], counts, positives)
        assert ranking.counts.tolist() == counts
        assert ranking.positives.tolist() == positives
        assert int(ranking.counts.sum()) == sum(counts)
    limit = 2**63 - 1
    assert int(make([1, 0], [limit - 5, 5], [1, 1]).counts.sum()) == limit


def test_average_qrecall_is_undefined_where_positions_are_no_floats():
    at_most = make([2.0, 1], [2**53 - 2, 1], [1, 1])
    beyond = make([2.0, 1], [2**53 - 1, 1], [1, 1])
    for start in ("P", "P+1"):
        assert 0 < qk.average_qrecall(at_most, start=start) < 1
        assert np.isnan(qk.average_qrecall(beyond, start=start))
    assert np.isnan(qk.summary(beyond).average_qrecall)
