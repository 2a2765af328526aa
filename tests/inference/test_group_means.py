"""Means over groups in resamples, comparisons and folds: groups drawn whole are groups repeated."""

from __future__ import annotations

import functools
import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters, random_state

import quotakernels as qk

RNG = np.random.default_rng(23)
N, GROUPS = 90, 12
G = RNG.choice([g for g in range(GROUPS) if g != 7], N)
Y = RNG.integers(0, 2, N) * (G != 3)
S = RNG.choice([0.25, 0.5, 1.0, 2.0, 4.0], (2, N)) + Y * [[0.0], [0.25]]
CLUSTERS = RNG.permutation(GROUPS)[G] // 3
MASK = RNG.random(N) < 0.8
KNOWN: dict[str, Any] = {"groups": G, "num_groups": GROUPS}
mean_modes = [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32-jit")]


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(mean_modes))
def test_every_library_gives_an_interval(mode: Mode):
    def intervals(y: Any, s: Any, g: Any) -> Any:
        data = {"groups": g, "num_groups": GROUPS, "n_resamples": 400}
        data["random_state"] = random_state(mode)
        measure = qk.group_mean(qk.roc_auc, weights="positives")
        found = qk.bootstrap(measure, y, s, method="bca", **data)
        each = qk.bootstrap(qk.hit_rate, y, s, quota=2, poisson=True, **data)
        return *found, each

    value, defined, each = mode.run(intervals, Y, S, G)
    wanted = qk.group_mean(qk.roc_auc, Y, S, weights="positives", **KNOWN)
    np.testing.assert_allclose(value.estimate, wanted.value, rtol=1e-6)
    assert defined.estimate.tolist() == wanted.defined.tolist()
    more: dict[str, Any] = {"n_resamples": 2000, "random_state": 1, "method": "bca", **KNOWN}
    exact = qk.bootstrap(qk.group_mean(qk.roc_auc, weights="positives"), Y, S, **more)
    np.testing.assert_allclose(value.lower, exact.value.lower, atol=0.06)
    np.testing.assert_allclose(value.standard_error, exact.value.standard_error, rtol=0.2)
    np.testing.assert_allclose(each.estimate, qk.hit_rate(Y, S, quota=2, **KNOWN), rtol=1e-6)
    assert each.resamples.shape == (2, GROUPS, 400)


FEW = np.random.default_rng(8)
EXAMPLES: dict[str, np.ndarray] = {
    "y_true": np.array([1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1]),
    "y_score": FEW.integers(0, 3, 12) / 2,
    "groups": np.repeat([4, 7, 9], [3, 4, 5]),
    "sample_weight": FEW.integers(1, 5, 12) / 2,
    "where": np.arange(12) != 4,
}
KINDS: tuple[tuple[str, ...], ...] = ((), ("where",), ("sample_weight",))


def repeated(rows: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Examples by their places, those that are masked left out."""
    rows = [x for x in rows if "where" not in names or EXAMPLES["where"][x]]
    return {k: EXAMPLES[k][rows] for k in ("y_true", "y_score", "groups", *set(names) - {"where"})}


def found_among(resamples: np.ndarray, possible: list[Any]) -> int:
    """How many of the possible values were drawn; nothing else was."""
    kept = np.asarray(possible).reshape(len(possible), -1)
    each = resamples.reshape(-1, resamples.shape[-1]).T[:, None]
    near = np.isclose(each, kept, rtol=1e-13, atol=1e-13, equal_nan=True).all(axis=-1)
    assert near.any(axis=1).all()
    return int(near.any(axis=0).sum())


@pytest.mark.parametrize("names", KINDS)
@pytest.mark.parametrize("weights", [None, "examples", "positives", "own"])
def test_a_group_that_is_drawn_twice_is_there_twice(weights: Any, names: tuple[str, ...]):
    """Of three groups there are ten resamples."""
    given = {k: EXAMPLES[k] for k in ("y_true", "y_score", "groups", *names)}
    of_own = np.array([1.0, 0.5, 2.0]) if weights == "own" else weights
    measure = qk.group_mean(qk.roc_auc, weights=of_own)
    drawn = qk.bootstrap(measure, **given, n_resamples=300, random_state=1).value.resamples
    parts = [repeated(np.flatnonzero(EXAMPLES["groups"] == g), names) for g in (4, 7, 9)]
    values = [qk.group_mean(qk.roc_auc, **x).value for x in parts]
    counted = {
        "examples": lambda x, w: w.sum(),
        "positives": lambda x, w: w[x["y_true"] == 1].sum(),
    }
    by = [
        of_own[k]
        if weights == "own"
        else counted.get(weights, lambda *_: 1.0)(
            x, x.get("sample_weight", np.ones(len(x["y_true"])))
        )
        for k, x in enumerate(parts)
    ]
    possible = [
        np.average([values[k] for k in each], weights=[by[k] for k in each])
        for each in itertools.combinations_with_replacement(range(3), 3)
    ]
    assert found_among(drawn, possible) == 10


@pytest.mark.parametrize("names", KINDS)
@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
def test_examples_that_are_drawn_are_examples_repeated(names: tuple[str, ...], ties: Any):
    few = slice(0, 6)
    given = {k: EXAMPLES[k][few] for k in ("y_true", "y_score", "groups", *names)}
    drawn = qk.bootstrap(qk.roc_auc, **given, ties=ties, n_resamples=400, random_state=1).resamples
    there = range(6) if "where" not in names else [k for k in range(6) if EXAMPLES["where"][k]]
    possible = []
    for rows in itertools.combinations_with_replacement(there, len(there)):
        columns = repeated(rows, names)
        ids = (columns.pop("groups") == 7).astype(int)
        possible.append(qk.roc_auc(**columns, groups=ids, num_groups=2, ties=ties))
    assert found_among(drawn, possible) > 20


@pytest.mark.parametrize("weights", [None, "examples", "positives"])
def test_intervals_of_means_are_those_of_the_jackknife(weights: Any):
    """With Student's t for as many groups as tell as much (Kish), of those that have a value."""
    stats = pytest.importorskip("scipy.stats")
    mean = qk.group_mean(qk.roc_auc, weights=weights)
    found = qk.bootstrap({"mean": mean}, Y, S, groups=G, n_resamples=20)["mean"].value
    values, (_, *sizes) = qk.roc_auc(Y, S, groups=G), qk.group_counts(qk.rank(Y, S, groups=G))
    size = dict(zip(("examples", "positives"), sizes, strict=True)).get(weights, sizes[0] * 0 + 1)[
        0
    ]
    there, own = ~np.isnan(values[0]), np.nan_to_num(values)
    total = size * there
    without = [np.average(np.delete(own, k, 1), 1, np.delete(total, k)) for k in range(size.size)]
    error = np.std(without, axis=0) * np.sqrt(size.size - 1)
    freedom = min(size.sum() ** 2 / (size**2).sum(), there.sum()) - 1
    wide = stats.t.ppf(0.975, freedom) * error
    np.testing.assert_allclose(found.lower, found.estimate - wide, rtol=1e-12)
    np.testing.assert_allclose(found.upper, found.estimate + wide, rtol=1e-12)


@pytest.mark.parametrize("method", [None, "percentile", "expanded"])
def test_groups_are_drawn_unless_clusters_say_otherwise(method: Any):
    draw = functools.partial(qk.bootstrap, n_resamples=50, random_state=2, method=method)
    mean = qk.group_mean(qk.roc_auc)
    plain = draw(mean, Y, S, groups=G)
    for other in (
        draw(mean, Y, S, groups=G, clusters=G),
        draw(functools.partial(qk.group_mean, qk.roc_auc), Y, S, groups=G),
        draw({"a": mean}, Y, S, groups=np.char.zfill(G.astype(str), 2))["a"],
    ):
        for one, same in zip(plain.value, other.value, strict=True):
            np.testing.assert_array_equal(one, same)
    together = draw(mean, Y, S, groups=G, clusters=CLUSTERS).value.resamples
    assert np.unique(together[0]).size <= 4**4
    alone = draw(mean, Y, S, groups=CLUSTERS, clusters=G).value.resamples
    assert np.unique(alone[0].round(12)).size > 40
    order = RNG.permutation(N)
    moved = draw(mean, Y[order], S[:, order], groups=G[order])
    np.testing.assert_array_equal(moved.value.resamples, plain.value.resamples)


def test_clusters_that_split_groups_draw_examples():
    """Each group, as a part of the examples, grows and shrinks with the clusters in it."""
    given: dict[str, Any] = {"n_resamples": 20, "random_state": 2, "clusters": np.arange(N) % 30}
    found = qk.bootstrap(qk.group_mean(qk.roc_auc), Y, S, **KNOWN, **given)
    each = qk.bootstrap(qk.roc_auc, Y, S, **KNOWN, **given)
    wanted = np.nanmean(each.resamples, axis=1)
    np.testing.assert_allclose(found.value.resamples, wanted, rtol=1e-14)
    assert found.defined.resamples.tolist() == (~np.isnan(each.resamples)).sum(axis=1).tolist()


def test_resamples_without_a_value_do_not_count():
    y, s, g = [1, 0, 1, 1, 0, 0], [3, 2, 1, 2, 1, 3], [0, 0, 1, 1, 2, 2]
    found = qk.bootstrap(qk.group_mean(qk.roc_auc), y, s, groups=g, random_state=1).value
    without = np.isnan(found.resamples)
    assert found.undefined == without.sum() > 200  # (2/3)**3 of 1000
    assert set(found.resamples[~without]) == {1.0}


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters([m for m in mean_modes if m.name != "numpy"]))
def test_a_bad_value_that_is_not_read_spoils_the_mean(mode: Mode):
    bad = np.where(np.arange(N) == 5, np.nan, S[0])

    def mean(y: Any, s: Any, g: Any) -> Any:
        given = {"groups": g, "num_groups": GROUPS, "validate": False, "n_resamples": 9}
        given["random_state"] = random_state(mode)
        return qk.bootstrap(qk.group_mean(qk.roc_auc), y, s, **given).value

    found = mode.run(mean, Y, bad, G)
    assert all(np.isnan(x).all() for x in (*found[:4], found.resamples))


def test_a_mean_is_called_as_a_measure_is():
    measure = qk.group_mean(qk.hit_rate, weights="examples", quota=2)
    wanted = qk.group_mean(qk.hit_rate, Y, S, groups=G, quota=2, weights="examples", where=MASK)
    for found in (
        measure(Y, S, groups=G, where=MASK),
        measure(Y, y_score=S, groups=G, where=MASK, quota=2),
        measure(qk.rank(Y, S, groups=G, where=MASK)),
        qk.group_mean(qk.hit_rate, weights="examples")(Y, S, groups=G, where=MASK, quota=2),
    ):
        for one, same in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, same)


# comparisons and folds

MODELS = {"one": S[0], "two": S[1]}
MEAN = qk.group_mean(qk.roc_auc, weights="examples")


@pytest.mark.parametrize(("measure", "units"), [(MEAN, "groups"), (qk.roc_auc, "clusters")])
def test_few_groups_or_clusters_are_compared_by_the_t_test(measure: Any, units: str):
    """Of models on the same resamples; 10 of them have a positive."""
    stats = pytest.importorskip("scipy.stats")
    given: dict[str, Any] = {units: G, "n_resamples": 200, "random_state": 1}
    found = qk.compare(measure, Y, MODELS, test="bootstrap", **given)
    drawn = qk.bootstrap(measure, Y, S, method="basic", **given)
    drawn = getattr(drawn, "value", drawn)
    first = found.names.index("two")
    apart = drawn.estimate[1] - drawn.estimate[0]
    error = np.std(drawn.resamples[1] - drawn.resamples[0], ddof=1) * np.sqrt(10 / 9)
    ends = apart + stats.t.ppf([0.025, 0.975], 9) * error
    np.testing.assert_allclose(found.lower[first, 1 - first], ends[0], rtol=1e-9)
    np.testing.assert_allclose(found.upper[first, 1 - first], ends[1], rtol=1e-9)
    assert found.p_value[0, 1] == pytest.approx(2 * stats.t.sf(abs(apart) / error, 9))
    above = qk.compare(measure, Y, MODELS, test="bootstrap", alternative="greater", **given)
    one_sided = stats.t.sf(apart / error, 9)
    assert above.p_value[first, 1 - first] == pytest.approx(one_sided)


@pytest.mark.parametrize(("most", "scale"), [(7, 7.0), (9, -1.0), (12, -7.0)])
def test_every_exchange_of_groups(most: int, scale: float):
    """Each group's values change places, whatever the models' scales are; 3 has one class."""
    few = most > G
    y, s, g = Y[few], S[:, few] * [[1], [scale]], G[few]
    found = qk.compare(MEAN, y, s, groups=g, n_resamples=2**11)
    values = qk.roc_auc(y, s, groups=g)
    counts = np.bincount(g)[np.unique(g)] * ~np.isnan(values[0])
    by = np.nan_to_num(np.subtract(*values[[int(x) for x in found.names]]))
    signs = np.asarray([*itertools.product([1, -1], repeat=np.unique(g).size)])

    def p_value(apart: float) -> float:
        sums = signs @ ((by - apart) * counts)
        return float(np.mean(np.abs(sums) >= abs(sums[0]) - 1e-12))

    assert found.p_value[0, 1] == p_value(0)
    for end in (found.lower[0, 1], found.upper[0, 1]):
        away = 1e-9 * np.sign(end - found.difference[0, 1])
        assert p_value(end + away) <= 0.05 < p_value(end - away)
    again = qk.compare(MEAN, y, s, groups=g, clusters=g, test="permutation", n_resamples=300)
    np.testing.assert_allclose(again.p_value, found.p_value, atol=0.1)
    side: dict[str, Any] = {"alternative": "greater", "margin": -found.lower[0, 1] + 1e-9}
    beyond = qk.compare(MEAN, y, s, groups=g, n_resamples=2**11, confidence_level=0.975, **side)
    assert beyond.p_value[0, 1] <= 0.025 == pytest.approx(1 - 0.975)
    assert beyond.lower[0, 1] == found.lower[0, 1]


@pytest.mark.parametrize("mode", parameters([m for m in mean_modes if "jit" not in m.name]))
@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_every_library_compares_means(mode: Mode, test: Any):
    wanted = qk.compare(MEAN, Y, MODELS, test=test, groups=G, random_state=1)
    with mode.context():
        y, g = mode.array(Y), mode.array(G)
        models = {name: mode.array(x) for name, x in MODELS.items()}
        given: dict[str, Any] = {"groups": g, "num_groups": GROUPS, "n_resamples": 300}
        found = qk.compare(MEAN, y, models, test=test, random_state=1, **given)
    assert found.names == wanted.names
    np.testing.assert_allclose(found.estimate, wanted.estimate, rtol=1e-6)
    np.testing.assert_allclose(found.p_value, wanted.p_value, atol=0.1)


GRADE = np.random.default_rng(5).integers(0, 4, N)
NDCG = qk.group_mean(qk.retrieval.ndcg, quota=3)


@pytest.mark.parametrize("mode", parameters([m for m in mean_modes if "jit" not in m.name]))
def test_grades_have_means_too(mode: Mode):
    """Whole groups are drawn, change places and are in folds, each with a value of its own."""
    pytest.importorskip("scipy")
    near = {"rtol": 1e-6 if mode.float32 else 1e-14}
    with mode.context():
        s, g, gain = map(mode.array, (S, G, GRADE))
        given: dict[str, Any] = {"groups": g, "num_groups": GROUPS, "gain": gain}
        drawn = qk.bootstrap(NDCG, None, s, n_resamples=20, random_state=2, **given).value
        folds = qk.inference.fold_summary(NDCG, None, s, G % 3, **given).value
        drawn, folds = (mode.to_numpy(x) for x in (drawn.estimate, folds.values))
    values = qk.retrieval.ndcg(None, S, gain=GRADE, quota=3, **KNOWN)
    np.testing.assert_allclose(drawn, np.nanmean(values, axis=1), **near)
    for k in range(3):
        here = np.arange(GROUPS) % 3 == k
        np.testing.assert_allclose(folds[:, k], np.nanmean(values[:, here], axis=1), **near)


def test_few_groups_are_told():
    """Of quantiles of resamples of groups, and of too few exchanges."""
    few = "^only 19 groups: intervals are too narrow with fewer than 20$"
    with pytest.warns(UserWarning, match=few) as noted:
        qk.bootstrap(MEAN, Y, S[0], groups=np.arange(Y.size) % 19, n_resamples=5, method="bca")
    assert [x.filename for x in noted] == [__file__]
    qk.bootstrap(MEAN, Y, S[0], groups=np.arange(Y.size) % 20, n_resamples=5, method="bca")
    qk.bootstrap(MEAN, Y, S[0], groups=np.arange(Y.size) % 5, n_resamples=5)
    qk.compare(MEAN, Y, MODELS, groups=np.arange(Y.size) % 6, n_resamples=63)
    with pytest.warns(UserWarning, match="^only 5 groups: fewer than 6 cannot tell any two models"):
        few_groups = qk.compare(MEAN, Y, MODELS, groups=np.arange(Y.size) % 5)
    assert np.isnan(few_groups.lower[0, 1])


@pytest.mark.filterwarnings("ignore:.*groups have examples in several folds")
@pytest.mark.parametrize("mode", parameters([m for m in mean_modes if "jit" not in m.name]))
def test_folds_have_the_means_of_their_groups(mode: Mode):
    pytest.importorskip("scipy")
    folds = np.arange(N) % 4
    with mode.context():
        y, s, g = map(mode.array, (Y, S, G))
        given: dict[str, Any] = {"groups": g, "num_groups": GROUPS}
        found = qk.inference.fold_summary(MEAN, y, s, folds, pooled=True, **given).value
        tested = qk.inference.fold_test(MEAN, y, s, folds, **given).value
        values, pooled, apart = map(mode.to_numpy, (found.values, found.pooled, tested.values))
    wanted = np.stack(
        [
            MEAN(qk.rank(Y[folds == k], S[:, folds == k], groups=G[folds == k])).value
            for k in range(4)
        ],
        axis=-1,
    )
    np.testing.assert_allclose(values, wanted, rtol=1e-6)
    np.testing.assert_allclose(apart, wanted[0] - wanted[1], atol=1e-6)
    np.testing.assert_allclose(pooled, MEAN(qk.rank(Y, S, groups=G)).value, rtol=1e-6)


def test_groups_that_are_split_over_folds_are_told():
    pytest.importorskip("scipy")
    split = np.where(G == 3, np.arange(N) % 2, G % 2)  # of all groups only one
    count = np.unique(G).size
    told = rf"^1 of {count} groups have examples in several folds: each fold measures its part"
    with pytest.warns(UserWarning, match=told):
        qk.inference.fold_summary(MEAN, Y, S, split, groups=G)
    with pytest.warns(UserWarning, match=told):
        qk.inference.fold_test({"auc": MEAN}, Y, S, split, groups=G)
    repeats = np.stack([G % 2, split])
    with pytest.warns(UserWarning, match=told):
        qk.inference.fold_summary(MEAN, Y, S, repeats, groups=G)
    with pytest.warns(UserWarning, match=rf"^{count} of {count} groups have examples in several"):
        qk.inference.fold_summary(MEAN, Y, S, np.arange(N) % 2, groups=G)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        qk.inference.fold_summary(MEAN, Y, S, G % 2, groups=G)
        qk.inference.fold_summary(MEAN, Y, S, split, groups=G, where=(G != 3) | (split == 1))
        qk.inference.fold_summary(qk.hit_rate, Y, S, np.arange(N) % 3, groups=G % 2, quota=2)


def test_folds_of_repeats_take_their_own_groups():
    pytest.importorskip("scipy")
    folds = np.stack([np.arange(N) % 3, np.arange(N) // 30])
    with pytest.warns(UserWarning, match="^hit_rate is undefined for some groups in 6 of 6 folds"):
        found = qk.inference.fold_summary(qk.hit_rate, Y, S, folds, quota=2, **KNOWN)
    for repeat in (0, 1):
        for k in range(3):
            here = folds[repeat] == k
            wanted = qk.hit_rate(
                Y[here], S[repeat][here], quota=2, groups=G[here], num_groups=GROUPS
            )
            np.testing.assert_array_equal(found.values[:, repeat, k], wanted)
