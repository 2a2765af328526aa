"""Means over groups in resamples, comparisons and folds: groups drawn whole are groups repeated."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, parameters, random_state
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk
from quotakernels import ops
from quotakernels.inference._resamples import by_group, plan_of, resampled
from quotakernels.inference.bootstrapping import means_of, values_of, whole_groups
from quotakernels.inputs.examples import validated
from quotakernels.ranking import ranked_by_group, ranking_of

pytestmark = pytest.mark.filterwarnings("ignore:only .* with fewer than")  # the data are few
RNG = np.random.default_rng(23)
N, GROUPS = 90, 12
G = RNG.choice([g for g in range(GROUPS) if g != 7], N)
Y = RNG.integers(0, 2, N) * (G != 3)
S = RNG.choice([0.25, 0.5, 1.0, 2.0, 4.0], (2, N)) + Y * [[0.0], [0.25]]
W = RNG.choice([0.0, 0.5, 1.0, 2.0], N)
CLUSTERS = RNG.permutation(GROUPS)[G] // 3
MASK = RNG.random(N) < 0.8
OWN = np.arange(GROUPS) / 4.0
KNOWN: dict[str, Any] = {"groups": G, "num_groups": GROUPS}
mean_modes = [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32-jit")]


def exact_mean(counts: Any, scores: Any, weights: Any, sample: bool) -> tuple[float, int]:
    """The mean of the AUC of groups, each of them so often there, and how many have one."""
    values: list[Fraction] = []
    sizes: list[Fraction] = []
    for g, often in enumerate(counts):
        here = g == G
        w = [Fraction(x) for x in (W if sample else np.ones(N))[here].tolist()]
        table = ex.groups(Y[here].tolist(), scores[here].tolist(), w)
        value = ex.roc_auc(table) if here.any() else None
        by = {"examples": [1] * len(w), "positives": Y[here].tolist()}
        sums = {
            name: sum((a * b for a, b in zip(w, x, strict=True)), Fraction(0))
            for name, x in by.items()
        }
        if value is not None:
            sizes += [sums.get(weights, Fraction(1) if weights is None else Fraction(g, 4))] * often
            values += [value] * often
    total = sum(sizes, Fraction(0))
    mean = sum((a * b for a, b in zip(sizes, values, strict=True)), Fraction(0))
    return float(mean / total) if total else np.nan, len(values)


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(mean_modes))
@pytest.mark.parametrize("weights", [None, "examples", "positives", "own"])
@pytest.mark.parametrize("sample", [False, True])
def test_a_group_that_is_drawn_twice_is_there_twice(mode: Mode, weights: Any, sample: bool):
    drawn = np.random.default_rng(3).integers(0, 3, (4, GROUPS))
    drawn[3] = np.arange(GROUPS) == 3  # of one class

    def means(y: Any, s: Any, g: Any, w: Any, own: Any, drawn: Any) -> Any:
        given = {"sample_weight": w} if sample else {}
        ranking = qk.rank(y, s, groups=g, num_groups=GROUPS, **given)
        measure = qk.group_mean(qk.roc_auc, weights=own if weights == "own" else weights)
        return tuple(means_of(measure, ranking)(drawn))

    value, defined = mode.run(means, Y, S, G, W, OWN, drawn)
    for model, scores in enumerate(S):
        for k, counts in enumerate(drawn.tolist()):
            wanted = exact_mean(counts, scores, weights, sample)
            near = 1e-6 if mode.float32 else 1e-14
            np.testing.assert_allclose(value[model, k], wanted[0], rtol=near)
            assert defined[model, k] == wanted[1]


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
    more = {"n_resamples": 2000, "random_state": 1, **KNOWN}
    exact = qk.bootstrap(qk.group_mean(qk.roc_auc, weights="positives"), Y, S, **more)
    np.testing.assert_allclose(value.lower, exact.value.lower, atol=0.06)
    np.testing.assert_allclose(value.standard_error, exact.value.standard_error, rtol=0.2)
    np.testing.assert_allclose(each.estimate, qk.hit_rate(Y, S, quota=2, **KNOWN), rtol=1e-6)
    assert each.resamples.shape == (2, GROUPS, 400)


MEASURES = {
    "auc": qk.roc_auc,
    "ahr": qk.average_hit_rate,
    "hits": functools.partial(qk.hit_rate, quota=[1, 2.5]),
    "mean": qk.group_mean(qk.roc_auc, weights="examples"),
}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "masked": {"where": MASK},
    "weighted": {"sample_weight": W},
}


def drawn_and_repeated(
    scores: np.ndarray, counts: np.ndarray, found: dict[str, Any], ties: Any, **data: Any
) -> None:
    """Compare what was found of resamples with the examples really repeated."""
    for k in range(counts.shape[0]):
        index = np.repeat(np.arange(N), counts[k] * data.get("where", 1))
        w = {"sample_weight": W[index]} if "sample_weight" in data else {}
        labels, groups = Y[index], G[index]
        more = {"groups": groups, "num_groups": GROUPS, "ties": ties, **w}
        again = qk.rank(labels, scores[..., index], **more)
        for name, values in found.items():
            wanted = MEASURES[name](again)
            values, wanted = (x.value if name == "mean" else x for x in (values, wanted))
            np.testing.assert_allclose(values[..., k], wanted, rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_examples_that_are_drawn_are_examples_repeated(kind: str, ties: Any, dtype: Any):
    data, scores = KINDS[kind], S.astype(dtype)
    found = validated(Y, scores, **data, **KNOWN)
    plan = plan_of(found.examples, None, False, False, 3, ties, found.groups, found.good)
    ranking = ranked_by_group(found, ties)
    estimate = {name: f(ranking) for name, f in MEASURES.items()}
    drawn = values_of(MEASURES, estimate, 2**20, plan, range(4), lambda *_: None)
    counts = plan.counts(range(4))
    drawn_and_repeated(scores, counts, drawn, ties, **data)
    table = by_group(resampled(plan.examples, counts, ties=ties), plan.keys)
    batch = {
        name: np.moveaxis(MEASURES[name](ranking_of(table)), 0, -1) for name in ("auc", "hits")
    }
    drawn_and_repeated(scores, counts, batch, ties, **data)


def test_of_one_list_the_order_does_not_matter():
    found = validated(Y, S[0], **KNOWN)
    plan = plan_of(found.examples, None, False, False, 3, "expected", found.groups, found.good)
    estimate = qk.roc_auc(Y, S[0], **KNOWN)
    drawn = values_of(qk.roc_auc, estimate, 2**20, plan, range(4), lambda *_: None)
    counts = np.empty((4, N), dtype=np.int64)
    counts[:, np.lexsort((Y, -S[0], G))] = plan.counts(range(4))
    drawn_and_repeated(S[0], counts, {"auc": drawn}, "expected")


def test_whole_groups_are_those_that_one_cluster_holds():
    found = validated(Y, S, where=MASK, **KNOWN)
    units, owner = whole_groups(found, None)
    there = np.unique(G[MASK])
    assert units == there.size
    assert owner[there].tolist() == list(range(units))
    units, owner = whole_groups(found, CLUSTERS)
    assert np.array_equal(owner[G[MASK]], CLUSTERS[MASK])
    assert units == 4
    assert whole_groups(found, np.arange(N)) is None


@pytest.mark.parametrize("method", ["percentile", "bca", "expanded"])
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


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(2, 8))
def test_the_mean_of_every_group_once_is_the_estimate(seed: int, size: int, number: int):
    rng = np.random.default_rng(seed)
    y, s, w = rng.integers(0, 2, size), rng.integers(0, 4, size), rng.integers(0, 3, size)
    groups = rng.integers(0, number, size) * 5 - 9
    ranking = qk.rank(y, s, groups=groups, sample_weight=w)
    mean = qk.group_mean(qk.roc_auc, weights="examples")
    once = np.ones((1, np.unique(groups).size), dtype=np.int64)
    for one, all_of_them in zip(means_of(mean, ranking)(once), mean(ranking), strict=True):
        np.testing.assert_array_equal(one[0], all_of_them)


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


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_models_are_compared_by_one_field_of_a_record(clusters: Any):
    given: dict[str, Any] = {"gain": np.arange(N) % 8 - 3, "groups": G, "clusters": clusters}
    given |= {"n_resamples": 40, "random_state": 1}
    for measure in (qk.impact_at_quota.with_options(quota=2), qk.best_quota):
        mean = qk.group_mean(measure)
        found, drawn = qk.compare(mean, None, MODELS, **given), qk.bootstrap(mean, None, S, **given)
        value, first = drawn.value[0], found.names.index("two")
        np.testing.assert_allclose(np.sort(found.estimate), np.sort(value.estimate), rtol=1e-14)
        ends = np.quantile(value.resamples[1] - value.resamples[0], [0.025, 0.975])
        np.testing.assert_allclose(found.lower[first, 1 - first], ends[0], atol=1e-13)
        np.testing.assert_allclose(found.upper[first, 1 - first], ends[1], atol=1e-13)


def test_models_are_compared_on_the_same_groups():
    given: dict[str, Any] = {"groups": G, "n_resamples": 200, "random_state": 1}
    found = qk.compare(MEAN, Y, MODELS, **given)
    drawn = qk.bootstrap(MEAN, Y, S, **given).value
    apart = drawn.resamples[1] - drawn.resamples[0]
    first = found.names.index("two")
    np.testing.assert_array_equal(np.sort(found.estimate), np.sort(drawn.estimate))
    ends = np.quantile(apart, [0.025, 0.975])
    np.testing.assert_allclose(found.lower[first, 1 - first], ends[0], atol=1e-14)
    np.testing.assert_allclose(found.upper[first, 1 - first], ends[1], atol=1e-14)


def test_every_exchange_of_groups(monkeypatch: pytest.MonkeyPatch):
    """Each group's values change places, whatever the models' scales are."""
    few = G < 5
    y, s, g = Y[few], S[:, few] * [[1], [-7]], G[few]
    ways = np.asarray(list(itertools.product([False, True], repeat=np.unique(g).size)))
    monkeypatch.setattr(ops, "coins", lambda _x, _s, some, _l: ways[some.start : some.stop])
    found = qk.compare(MEAN, y, s, groups=g, test="permutation", n_resamples=len(ways))
    values = qk.roc_auc(y, s, groups=g)
    counts = np.bincount(g)[np.unique(g)] * ~np.isnan(values[0])
    by = np.nan_to_num(values[0] - values[1])
    wanted = np.asarray([(np.where(way, -by, by) * counts).sum() for way in ways])
    as_far = np.count_nonzero(np.abs(wanted) >= np.abs(wanted[0]) - 1e-12)
    assert found.p_value[0, 1] == (1 + as_far) / (1 + len(ways))


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


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_models_are_compared_by_grades(test: Any):
    given: dict[str, Any] = {"groups": G, "gain": GRADE, "n_resamples": 200, "random_state": 1}
    found = qk.compare(NDCG, None, MODELS, test=test, **given)
    values = qk.retrieval.ndcg(None, S, gain=GRADE, quota=3, groups=G)
    np.testing.assert_allclose(found.estimate, np.sort(np.nanmean(values, axis=1))[::-1])
    if test == "bootstrap":
        drawn = qk.bootstrap(NDCG, None, S, **given).value.resamples
        order = [int(x == "two") for x in found.names]
        ends = np.quantile(drawn[order[0]] - drawn[order[1]], [0.025, 0.975])
        np.testing.assert_allclose([found.lower[0, 1], found.upper[0, 1]], ends, atol=1e-14)


def test_few_groups_of_a_class_are_told():
    with pytest.warns(UserWarning, match="^only 4 groups with negatives: p-.* with fewer than 60$"):
        qk.compare(MEAN, Y, MODELS, groups=G % 4, n_resamples=40, random_state=1)


def test_few_groups_are_told():
    """Of resamples of groups; a permutation test draws none."""
    few = "^only 19 groups: intervals are too narrow with fewer than 20$"
    with pytest.warns(UserWarning, match=few) as noted:
        qk.bootstrap(MEAN, Y, S[0], groups=np.arange(Y.size) % 19, n_resamples=5)
    assert [x.filename for x in noted] == [__file__]
    qk.bootstrap(MEAN, Y, S[0], groups=np.arange(Y.size) % 20, n_resamples=5)
    qk.compare(MEAN, Y, MODELS, groups=np.arange(Y.size) % 19, n_resamples=19, test="permutation")


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


BY_POSITIVES = qk.group_mean(qk.retrieval.ndcg, weights="positives")
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no groups": (lambda: qk.bootstrap(MEAN, Y, S), "group_mean needs groups, the group of each"),
    "no groups of folds": (
        lambda: qk.inference.fold_summary(MEAN, Y, S, G % 3),
        "group_mean needs groups",
    ),
    "two kinds": (
        lambda: qk.bootstrap({"a": MEAN, "b": qk.roc_auc}, Y, S, groups=G),
        "group_mean draws groups, but the other measures draw examples: make two calls, or pass",
    ),
    "strata": (
        lambda: qk.bootstrap(MEAN, Y, S, groups=G, stratified=True),
        "stratified and group_mean cannot be combined: groups are drawn whole",
    ),
    "one group": (
        lambda: qk.bootstrap(MEAN, Y, S, groups=0 * G),
        "groups must have at least two different values; got one",
    ),
    "values of groups": (
        lambda: qk.compare(qk.roc_auc, Y, MODELS, groups=G),
        r"measure must give one number for each model, shape \(2,\); got shape .*; of groups pass",
    ),
    "split groups": (
        lambda: qk.compare(
            MEAN, Y, MODELS, groups=G, clusters=np.arange(N) % 9, test="permutation"
        ),
        'test="permutation" with groups exchanges whole groups, so it needs group_mean; use',
    ),
    "gains": (
        lambda: qk.bootstrap(MEAN, Y, S, groups=G, gain=W),
        r"gain is not for group_mean\(roc_auc\)",
    ),
    "a band": (
        lambda: qk.inference.curve_band("roc", Y, S[0], groups=G),
        "curve_band takes no groups; call it with one group's examples",
    ),
    "gains, called": (
        lambda: MEAN(Y, S, groups=G, gain=W),
        r"group_mean\(roc_auc\) got an unexpected keyword argument 'gain'",
    ),
    "no groups, called": (lambda: MEAN(Y, S), "group_mean needs groups, the group of each"),
    "weights, called": (
        lambda: MEAN(Y, S, groups=G, weights="examples"),
        "pass weights to group_mean, which made",
    ),
    "a ranking and more": (
        lambda: MEAN(qk.rank(Y, S, groups=G), groups=G),
        "groups cannot be combined with a Ranking",
    ),
    "classes without labels": (
        lambda: BY_POSITIVES(None, S, gain=W, groups=G),
        'weights="positives" needs y_true, which tells the classes',
    ),
    "drawn classes without labels": (
        lambda: qk.bootstrap(BY_POSITIVES, None, S, gain=W, groups=G),
        'weights="positives" needs y_true',
    ),
    "compared classes without labels": (
        lambda: qk.compare(BY_POSITIVES, None, MODELS, gain=W, groups=G),
        'weights="positives" needs y_true',
    ),
    "no scores": (
        lambda: qk.group_mean(qk.roc_auc, groups=G),
        "groups goes with labels and scores; group_mean has none",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_mean_over_groups(name: str):
    function, message = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        function()
