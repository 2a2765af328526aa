"""Bootstrap intervals: each resample is the rows really repeated, and the intervals are SciPy's."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, in_full, parameters, random_state
from expected import ulps
from public_names import PUBLIC
from resamples import counts_drawn

import quotakernels as qk
from quotakernels.inference import bootstrapping as values

RNG = np.random.default_rng(7)
N = 60
Y = RNG.random(N) < 0.4
S = np.stack([RNG.normal(Y).round(1), RNG.normal(size=N), RNG.integers(0, 4, N) / 2])
W = RNG.integers(0, 3, N) / 2
M = np.arange(N) % 7 != 0
CLUSTERS = np.arange(N) // 4 % 11
MEASURES = {
    "auc": qk.roc_auc,
    "ahr": qk.average_hit_rate,
    "aqr": qk.average_qrecall,
    "ap": qk.average_precision,
    "eap": qk.expected_average_precision,
    "hull": qk.roc_hull_auc,
    "hits": functools.partial(qk.hit_rate, quota=[1, 7.5, 20]),
    "pearson": functools.partial(qk.pearson, quota=20),
    "curve": lambda ranking: qk.qrecall(ranking, fraction=[0.1, 0.5]),
}
main_modes = [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32-jit")]


SHARING = {name for name, x in PUBLIC.items() if getattr(x, "sums", None) is not None}


@pytest.mark.parametrize("given", [{}, {"sample_weight": W}, {"where": M}])
@pytest.mark.parametrize("name", sorted(SHARING))
def test_measures_that_share_a_pass_have_their_own_values(name: str, given: dict[str, Any]):
    """A function is called for each resample; a measure says of which sums it is made."""
    measure = PUBLIC[name]
    models = {"shared": measure, "own": lambda ranking: measure(ranking), "auc": qk.roc_auc}
    found = qk.bootstrap(
        models, Y, S[0], n_resamples=20, random_state=3, method="percentile", **given
    )
    for shared, own in zip(found["shared"], found["own"], strict=True):
        np.testing.assert_allclose(shared, own, 1e-13, 1e-14)


def repeated(scores: np.ndarray, counts: np.ndarray, weights: Any) -> qk.Ranking:
    index = np.repeat(np.arange(N), counts)
    return qk.rank(
        Y[index], scores[index], sample_weight=None if weights is None else weights[index]
    )


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "stratified": {"stratified": True},
    "clusters": {"clusters": CLUSTERS},
    "poisson": {"poisson": True},
    "masked": {"where": M},
    "weighted": {"sample_weight": W},
}


@pytest.mark.filterwarnings("ignore:roc_hull_auc takes the best")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("few", [0, 64 * N], ids=["lists", "batch"])
def test_a_resample_is_measured_as_rows_that_are_repeated(
    kind: str, few: int, monkeypatch: pytest.MonkeyPatch
):
    """In the order of the input: several models, of which each has an order of its own."""
    monkeypatch.setattr(values, "LONG", few)
    given = KINDS[kind]
    single = dict(MEASURES)
    if kind == "weighted":
        del single["eap"]  # which needs positions
    drawn = {name: x for name, x in given.items() if name != "sample_weight"}
    counts = counts_drawn(Y, 4, **{"where": given.get("sample_weight")} | drawn)
    for name, measure in single.items():  # one by one, since some merge rows and others may not
        found = qk.bootstrap(measure, Y, S, n_resamples=4, random_state=3, **given).resamples
        for number, taken in enumerate(counts):
            for model, scores in enumerate(S):
                wanted = measure(repeated(scores, taken, given.get("sample_weight")))
                value = found[model, ..., number]
                near = np.abs(value - wanted) <= 2**-50  # Pearson's sums cancel where it is near 0
                assert np.all((ulps(value, wanted) <= 4) | near), name


def test_resamples_have_the_size_that_they_should():
    counts = counts_drawn(Y, 200)
    assert np.all(counts.sum(axis=-1) == N)
    assert np.all(np.abs(counts.mean(axis=0) - 1) < 0.4)
    stratified = counts_drawn(Y, 20, stratified=True)
    assert np.all(stratified[:, Y].sum(axis=-1) == Y.sum())
    assert np.all(stratified.sum(axis=-1) == N)
    grouped = counts_drawn(Y, 20, clusters=CLUSTERS)
    assert all(np.ptp(grouped[:, g == CLUSTERS], axis=-1).max() == 0 for g in range(11))
    assert np.all(
        grouped[:, [np.flatnonzero(g == CLUSTERS)[0] for g in range(11)]].sum(axis=-1) == 11
    )
    poisson = counts_drawn(Y, 300, poisson=True)
    assert 0.9 < poisson.mean() < 1.1
    assert 0.9 < poisson.var() < 1.1


@pytest.mark.parametrize(
    ("length", "resamples", "parts", "clusters"),
    [
        (N, 99, N, None),
        (N, 99, 11, CLUSTERS),
        *((300, resamples, parts, None) for resamples, parts in ((2, 20), (50, 50), (250, 200))),
    ],
)
def test_as_many_parts_are_left_out_for_bca_as_there_are_resamples(
    length: int, resamples: int, parts: int, clusters: Any
):
    """Each example, or cluster, is in one of them."""
    lacking: list[np.ndarray] = []

    def measure(ranking: qk.Ranking) -> Any:
        lacking.append(1 - ranking.counts)
        return qk.roc_auc(ranking)

    labels = np.resize(Y, length)
    qk.bootstrap(
        measure, labels, np.arange(length), clusters=clusters, method="bca", n_resamples=resamples
    )
    assert len(lacking) == 1 + resamples + parts
    assert np.all(np.sum(lacking[1 + resamples :], axis=0) == 1)


@pytest.mark.parametrize("method", ["percentile", "expanded"])
@pytest.mark.parametrize("models", [0, slice(None)])
def test_clusters_that_the_mask_leaves_empty_are_not_drawn(method: Any, models: Any):
    """A mask is the same as a subset, bit for bit."""
    there = np.isin(CLUSTERS, [1, 4, 5, 9]) & M
    given: dict[str, Any] = {"method": method, "random_state": 1, "n_resamples": 50}
    masked = qk.bootstrap(qk.roc_auc, Y, S[models], clusters=CLUSTERS, where=there, **given)
    clusters, scores = CLUSTERS[there], S[models][..., there]
    subset = qk.bootstrap(qk.roc_auc, Y[there], scores, clusters=clusters, **given)
    for one, other in zip(masked, subset, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_a_cluster_without_a_name_is_refused_where_it_counts():
    names = np.where(np.arange(N) == 7, np.nan, CLUSTERS)
    kept = np.arange(N) != 7
    qk.bootstrap(qk.roc_auc, Y, S[0], clusters=names, where=kept, n_resamples=5)


def test_clusters_need_a_mask_that_can_be_read():
    jax = pytest.importorskip("jax")

    def lower(there: Any) -> Any:
        return qk.bootstrap(
            qk.roc_auc, Y, S[0], clusters=CLUSTERS, where=there, n_resamples=5
        ).lower

    with pytest.raises(TypeError, match="with clusters, the mask must be readable"):
        jax.eval_shape(lower, jax.numpy.asarray(M))


def test_parts_that_cannot_be_left_out_do_not_count():
    """Without the only positive there is no AUC; without any example the quota is too large."""
    labels = np.arange(20) == 3
    found = qk.bootstrap(qk.roc_auc, labels, S[0][:20], method="bca", random_state=1)
    assert found.lower < found.estimate < found.upper
    found = qk.bootstrap(qk.hit_rate, Y, S[0], quota=N, method="bca", n_resamples=50)
    assert found.lower < found.estimate < found.upper
    assert found.undefined == 0


def test_bca_where_the_estimate_is_beyond_all_resamples_or_a_part_decides():
    """As if half a resample were beyond it; and an acceleration that leaves nothing to shift to."""

    def ends(estimate: float, parts: list[float], level: float) -> tuple[float, float]:
        """Of a measure that is 0 to 8 in the resamples, and what is given without each example."""
        values = iter([estimate, *range(9), *parts])
        given: dict[str, Any] = {"method": "bca", "n_resamples": 9, "confidence_level": level}
        size = len(parts)
        found = qk.bootstrap(lambda _: np.asarray(next(values)), Y[:size], S[0][:size], **given)
        return float(found.lower), float(found.upper)

    lower, upper = ends(9.0, [1.0] * 5, 0.95)
    assert 4 < lower < upper
    assert upper == pytest.approx(8, abs=1e-5)
    lower, upper = ends(4.0, [0.0] * 8 + [-9.0], 1 - 1e-12)
    assert upper == 8
    assert 0 <= lower < 0.01


def test_expanded_intervals_are_bca_with_the_tails_of_t():
    """Of the fewer class, by Kish with weights, and of clusters and groups that are drawn."""
    stats = pytest.importorskip("scipy.stats")
    few, weights = np.arange(N) < 6, np.where(np.arange(N) < 3, 1.0, 0.5)
    cases: list[tuple[int | float, dict[str, Any]]] = [
        (5, {}),
        (4.5**2 / (3 + 3 / 4) - 1, {"sample_weight": weights}),
        (2, {"clusters": np.arange(N) // 2}),
        (4, {"where": np.arange(N) > 0}),
    ]
    for freedom, given in cases:
        level = float(2 * stats.norm.cdf(stats.t.ppf(0.975, freedom)) - 1)
        given |= {"random_state": 1, "n_resamples": 300}
        found = qk.bootstrap(qk.roc_auc, few, S, **given)
        bca = qk.bootstrap(qk.roc_auc, few, S, method="bca", confidence_level=level, **given)
        np.testing.assert_allclose(found.lower, bca.lower, rtol=1e-9)
        np.testing.assert_allclose(found.upper, bca.upper, rtol=1e-9)
    group = np.arange(N) % 2
    each = qk.bootstrap(qk.roc_auc, few, S[0], groups=group, random_state=1, n_resamples=300)
    level = float(2 * stats.norm.cdf(stats.t.ppf(0.975, 2)) - 1)
    given = {"groups": group, "random_state": 1, "n_resamples": 300, "method": "bca"}
    bca = qk.bootstrap(qk.roc_auc, few, S[0], confidence_level=level, **given)
    np.testing.assert_allclose(each.lower, bca.lower, rtol=1e-9)


def test_the_best_of_many_cuts_is_warned_of():
    for measure in (qk.roc_hull_auc, {"best": functools.partial(qk.achievable_pr_auc)}):
        with pytest.warns(UserWarning, match="auc takes the best of many cuts. In resamples"):
            qk.bootstrap(measure, Y, S[0], n_resamples=5)
    qk.compare(qk.roc_hull_auc, Y, S, n_resamples=240, confidence_level=0.9)


SHORT: dict[str, tuple[Any, dict[str, Any], str]] = {
    "hit rates": (qk.bootstrap, {"measure": qk.hit_rate, "quota": 30}, "of hit rates and their av"),
    "AP": (qk.inference.average_precision_interval, {}, "of hit rates and their averages"),
    "band": (qk.inference.curve_band, {"curve": "roc", "simultaneous": True}, "simultaneous bands"),
    "cut": (
        qk.inference.best_cut_interval,
        {"best": qk.best_boundary, "impacts": (3, -1, 0, 0)},
        "the interval of `expected`",
    ),
    "folds": (qk.inference.fold_summary, {"measure": qk.hit_rate, "fraction": 0.2}, "over folds"),
}
"""Intervals that fall short with few positives, and what is said."""


@pytest.mark.parametrize("what", SHORT)
@pytest.mark.parametrize("positives", [20, 30])
def test_intervals_that_few_positives_or_scores_decide_are_warned_of(what: str, positives: int):
    function, own, said = SHORT[what]
    resamples = {} if what in ("AP", "folds") else {"n_resamples": 40, "random_state": 1}
    if what == "folds":
        own = {**own, "folds": np.arange(200) % 5}
    dice, labels = np.random.default_rng(0), np.arange(200) % 100 < positives // 2
    scores = dice.normal(labels)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        function(y_true=labels, y_score=scores, **own, **resamples)
        few = [str(x.message) for x in noted]
        function(y_true=labels, y_score=scores.round(), **own, **resamples)
    told = [str(x.message) for x in noted][len(few) :]
    assert len(few) == (positives < 30)
    assert not few or (few[0].startswith("only 20 positives:") and said in few[0])
    assert any("distinct scores: " in x for x in told) == (what in ("band", "cut"))
    assert {x.filename for x in noted} <= {__file__}


def test_few_clusters_are_warned_of():
    few = "^only 11 clusters: intervals are too narrow with fewer than 60$"
    with pytest.warns(UserWarning, match=few) as noted:
        qk.bootstrap(qk.roc_auc, Y, S[0], clusters=CLUSTERS, n_resamples=5)
    assert [x.filename for x in noted] == [__file__]


@pytest.mark.parametrize(
    ("labels", "groups", "few"),
    [
        ([1] * 4 + [0] * 9, None, "4 positives"),
        ([1] * 9 + [0], None, "1 negative"),
        ([1, 0] * 6 + [1] * 3, [0] * 10 + [1] * 5, "1 negative in a group"),
        ([1, 0] * 5, None, None),
        ([1, 0] * 10, [0, 0, 1, 1] * 5, None),
        ([1, 0] * 5 + [0] * 9, [0] * 10 + [1] * 9, None),
    ],
)
def test_few_examples_of_a_class_are_warned_of(labels: Any, groups: Any, few: str | None):
    """In any group that has some at all."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        scores = np.arange(len(labels)) * 7 % 11
        qk.bootstrap(qk.roc_auc, labels, scores, groups=groups, n_resamples=5)
    told = [f"only {few}: intervals are too narrow with fewer than 5"] if few else []
    assert [str(x.message) for x in noted] == told
    assert all(x.filename == __file__ for x in noted)


def losing(*pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of 40 positives and 50 negatives, and scores by which the last positives lose so many
    pairs each, and all others none.
    """
    place = np.concat([np.full(40 - len(pairs), -1), 2 * np.asarray(pairs) - 1])
    return np.arange(90) < 40, -np.concat([place, 2 * np.arange(50)])


@pytest.mark.parametrize(
    ("pairs", "enough"), [((40,), 150), ((29, 30), 102), ((30, 30), None), ((), 3000), ((1,), 3000)]
)
def test_few_examples_near_an_area_of_1_are_warned_of(pairs: tuple[int, ...], enough: int | None):
    """So few that they lose fewer pairs than 3 that lose all."""
    labels, scores = losing(*pairs)
    assert qk.roc_auc(labels, scores) == pytest.approx(1 - sum(pairs) / 2000)
    few = f"only 40 positives: intervals near an AUC of 1 are too narrow with fewer than {enough}"
    weights = np.where(np.arange(90) < 20, 2.0, 1.0)
    kish = "only 36 positives of equal weight (Kish): intervals near an AUC of 1"
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        qk.bootstrap(qk.average_hit_rate, labels, [scores, -scores], n_resamples=5)
        assert [str(x.message) for x in noted] == ([few] if enough else [])
        qk.bootstrap(qk.average_hit_rate, labels, scores, n_resamples=5, sample_weight=weights)
        assert not enough or str(noted[-1].message).startswith(kish)
        groups, told = np.zeros(90, np.int64), len(noted)
        qk.bootstrap(qk.hit_rate, labels, scores, n_resamples=5, quota=30)
        qk.bootstrap(qk.average_hit_rate, labels, scores, n_resamples=5, groups=groups)
        assert len(noted) == told
    assert all(x.filename == __file__ for x in noted)


EQUAL = "have the same hit rate, which does not mean certainty: intervals of hit rates near 0 or 1"


def test_hit_rates_that_all_resamples_have_are_warned_of():
    labels, scores = losing(50, 50)
    rate = qk.hit_rate.with_options(quota=9)
    given: dict[str, Any] = {"random_state": 1, "n_resamples": 20}
    for measure in (rate, {"AHR": qk.average_hit_rate, "rate": rate}):
        with pytest.warns(UserWarning, match=f"^all resamples {EQUAL}") as noted:
            qk.bootstrap(measure, labels, [scores, np.roll(scores, 3)], **given)
        assert [x.filename for x in noted] == [__file__]
    models, weighted = [scores, np.roll(scores, 3)], {"sample_weight": np.ones(90)}
    with pytest.warns(UserWarning, match=f"^all resamples {EQUAL}") as noted:
        qk.compare(qk.hit_rate, labels, models, quota=9, n_resamples=99, **weighted)
    assert [x.filename for x in noted] == [__file__]
    folds = np.arange(90) % 5
    with pytest.warns(UserWarning, match=f"^all folds {EQUAL}"):
        qk.inference.fold_summary(qk.hit_rate, labels, scores, folds, fraction=0.1)
    qk.bootstrap(qk.hit_rate, labels, scores, quota=9, random_state=1, n_resamples=19)
    qk.bootstrap(qk.hit_rate, labels, scores, quota=60, **given)
    qk.bootstrap(qk.qrecall, labels, scores, fraction=1, **given)
    qk.inference.curve_band("hit_rate", labels, scores, fraction=[0.1], **given)
    qk.inference.fold_summary(qk.hit_rate, labels, scores, folds, fraction=0.7)


def test_hit_rates_that_nearly_all_resamples_have_are_warned_of():
    """Of 1000, a few of which have another one, the interval has no width either."""
    labels, scores = [1] * 20 + [0] * 80, np.arange(100, 0, -1)
    with pytest.warns(UserWarning, match=f"^nearly all resamples {EQUAL}"):
        found = qk.bootstrap(qk.hit_rate, labels, scores, quota=10, random_state=0)
    assert found.lower == found.upper == 1
    assert 0 < np.count_nonzero(found.resamples < 1) < 25


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_intervals_are_those_of_scipy(method: Any):
    """Of the same resamples."""
    stats = pytest.importorskip("scipy.stats")
    found = qk.bootstrap(qk.roc_auc, Y, S[0], method=method, random_state=1, n_resamples=400)

    def auc(index: np.ndarray) -> float:
        return float(qk.roc_auc(Y[index.astype(int)], S[0][index.astype(int)]))

    class Same:
        """What SciPy keeps of resamples that were drawn before."""

        bootstrap_distribution = found.resamples

    wanted = stats.bootstrap(
        (np.arange(N),),
        auc,
        vectorized=False,
        n_resamples=0,
        method=method if method != "bca" else "BCa",
        bootstrap_result=Same(),
    )
    assert found.lower == pytest.approx(wanted.confidence_interval.low, abs=1e-12)
    assert found.upper == pytest.approx(wanted.confidence_interval.high, abs=1e-12)
    assert found.standard_error == pytest.approx(np.std(found.resamples, ddof=1), rel=1e-12)
    assert found.estimate == qk.roc_auc(Y, S[0])


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(main_modes))
def test_every_library_gives_an_interval(mode: Mode):
    """They draw differently, so they agree as far as 300 resamples do."""

    def intervals(y: Any, s: Any) -> dict[str, Any]:
        state = random_state(mode)
        kinds = {"method": "bca"}, {"stratified": True}, {"poisson": True}
        found = [
            qk.bootstrap(qk.roc_auc, y, s, n_resamples=300, random_state=state, **kind)
            for kind in (kinds if mode.name != "jax32-jit" else kinds[:2])
        ]
        return {str(k): result for k, result in enumerate(found)}

    found = mode.run(intervals, Y, S[:2])
    wanted = qk.bootstrap(qk.roc_auc, Y, S[:2], n_resamples=2000, random_state=1)
    for result in found.values():
        assert np.allclose(result.estimate, wanted.estimate, atol=1e-6)
        assert np.allclose(result.lower, wanted.lower, atol=0.06)
        assert np.allclose(result.upper, wanted.upper, atol=0.06)
        assert np.allclose(result.standard_error, wanted.standard_error, rtol=0.2)
        assert result.resamples.shape == (2, 300)


def test_a_seed_gives_the_same_again_whatever_the_order_and_the_threads():
    first = qk.bootstrap(qk.pem, Y, S[0], n_resamples=50, random_state=1)
    order = np.random.default_rng(0).permutation(N)
    again = qk.bootstrap(qk.pem, Y[order], S[0][order], n_resamples=50, random_state=1)
    other = qk.bootstrap(qk.pem, Y, S[0], n_resamples=50, random_state=2)
    assert np.array_equal(first.resamples, again.resamples)
    assert not np.array_equal(first.resamples, other.resamples)
    generator = qk.bootstrap(qk.pem, Y, S[0], random_state=np.random.default_rng(1), n_resamples=5)
    assert generator.resamples.shape == (5,)


def test_models_may_come_by_name():
    models = {"one": S[0], "other": list(-S[0])}
    stacked = np.stack([S[0], -S[0]])
    for measure in (qk.roc_auc, {"auc": qk.roc_auc, "areas": qk.pem_areas}):
        given = {"where": M, "n_resamples": 20, "random_state": 3}
        found, wanted = (qk.bootstrap(measure, Y, x, **given) for x in (models, stacked))
        assert list(found) == ["one", "other"]
        for k, each in enumerate(found.values()):
            pairs = [(each, wanted)] if measure is qk.roc_auc else zip_values(each, wanted)
            for one, both in pairs:
                assert np.array_equal(one.resamples, both.resamples[k])
                assert one.estimate == both.estimate[k]


def zip_values(each: Any, wanted: Any) -> list[tuple[Any, Any]]:
    return [(each["auc"], wanted["auc"]), (each["areas"].s1, wanted["areas"].s1)]


@pytest.mark.parametrize("few", [in_full(0), 64 * N], ids=["lists", "batch"])
def test_measures_that_share_a_pass_are_those_of_their_own_calls(
    few: int, monkeypatch: pytest.MonkeyPatch
):
    several = {
        "auc": qk.roc_auc,
        "pem": qk.pem,
        "hits": functools.partial(qk.hit_rate, quota=20),
        "ahr": qk.average_hit_rate,
        "aqr": qk.average_qrecall,
    }
    monkeypatch.setattr(values, "LONG", few)
    for given in ({}, {"sample_weight": W + 0.5}):
        found = qk.bootstrap(several, Y, S, n_resamples=9, random_state=4, **given)
        assert list(found) == list(several)
        for name, measure in several.items():
            alone = qk.bootstrap(measure, Y, S, n_resamples=9, random_state=4, **given)
            assert all(np.array_equal(*pair) for pair in zip(found[name], alone, strict=True))


def test_a_measure_of_whole_numbers_has_an_interval_of_floats():
    given: dict[str, Any] = {"n_resamples": 20, "random_state": 1, "method": "basic"}
    found = qk.bootstrap(lambda x: x.positives[..., :2].sum(-1), Y, S[0], **given)
    wanted = qk.bootstrap(lambda x: x.positives[..., :2].sum(-1) * 1.0, Y, S[0], **given)
    assert found.standard_error > 0
    assert all(np.array_equal(*pair) for pair in zip(found, wanted, strict=True))


def test_records_and_mappings_keep_their_form():
    found = qk.bootstrap({"all": qk.summary}, Y, S[0], n_resamples=20, random_state=1)
    assert isinstance(found["all"], qk.results.Summary)
    assert found["all"].pem.lower <= found["all"].pem.estimate


def test_one_field_of_a_curve_of_every_cut_fits_several_models():
    """They have as many cuts as they have scores, so that the curves do not."""
    given: dict[str, Any] = {"gain": np.where(Y, 3.0, -1.0), "n_resamples": 9, "random_state": 3}
    found = qk.bootstrap(lambda ranking: qk.best_quota(ranking).value, Y, S, **given)
    assert found.resamples.shape == (3, 9)


# where a measure is undefined


def test_resamples_without_a_class_are_counted():
    labels, scores = np.arange(8) == 3, np.arange(8) / 8
    found = qk.bootstrap(qk.roc_auc, labels, scores, n_resamples=500, random_state=1)
    share = float(found.undefined) / 500
    assert abs(share - (7 / 8) ** 8) < 0.07
    assert np.isnan(found.resamples).sum() == found.undefined
    assert 0 <= found.lower < found.estimate < found.upper <= 1
    assert found.standard_error > 0
    kept = qk.bootstrap(qk.roc_auc, labels, scores, stratified=True, random_state=1)
    assert kept.undefined == 0


def test_nothing_to_say_is_nan():
    found = qk.bootstrap(qk.roc_auc, [1, 1, 1], [0.1, 0.2, 0.3], n_resamples=20)
    assert np.all(np.isnan(np.asarray(found[:4])))
    assert found.undefined == 20
    perfect = qk.bootstrap(qk.roc_auc, [1, 1, 0], [0.3, 0.2, 0.1], stratified=True, n_resamples=20)
    assert (perfect.lower, perfect.upper, perfect.standard_error) == (1, 1, 0)


def test_a_quota_beyond_a_small_resample_is_undefined_there():
    found = qk.bootstrap(qk.hit_rate, Y, S[0], quota=N, poisson=True, random_state=1)
    assert 300 < found.undefined < 700


@pytest.mark.parametrize("few", [0, values.LONG])
def test_other_quotas_are_not_concerned(few: int, monkeypatch: pytest.MonkeyPatch):
    """Resample by resample, and in batches."""
    monkeypatch.setattr(values, "LONG", few)
    given: dict[str, Any] = {"method": "bca", "random_state": 1, "n_resamples": 50}
    one = qk.bootstrap(qk.hit_rate, Y, S[0], quota=20, **given)
    several = qk.bootstrap(qk.hit_rate, Y, S[0], quota=[20, N], **given)
    assert (several.lower[0], several.upper[0]) == (one.lower, one.upper)
    alone = qk.bootstrap(qk.hit_rate, Y, S[0], quota=N, **given)
    assert (several.lower[1], several.upper[1]) == (alone.lower, alone.upper)
    assert list(several.undefined) == [0, 0]


# bad calls


def test_the_level_may_be_of_numpy():
    found = (
        qk.bootstrap(qk.roc_auc, Y, S[0], n_resamples=9, random_state=1, confidence_level=level)
        for level in (0.75, np.float64(0.75), np.float32(0.75))
    )
    assert len({(float(x.lower), float(x.upper)) for x in found}) == 1


def test_the_number_of_resamples_may_be_of_numpy():
    found = qk.bootstrap(qk.roc_auc, Y, S[0], n_resamples=np.int32(5), random_state=1)
    assert found.resamples.shape == (5,)


def test_progress_is_told():
    told: list[tuple[int, int]] = []
    qk.bootstrap(qk.roc_auc, Y, S[0], n_resamples=260, progress=lambda *x: told.append(x))
    assert told == [(256, 260), (260, 260)]


# progress


@pytest.mark.parametrize(
    ("progress", "terminal", "patience", "written"),
    [
        (True, False, 1e9, True),
        (True, True, 1e9, True),
        (None, True, 1e9, False),
        (None, True, -1.0, True),
        (None, False, -1.0, False),
        (False, True, -1.0, False),
    ],
)
def test_a_line_is_written_at_once_or_to_a_terminal_once_it_takes_long(
    progress: bool | None,
    terminal: bool,
    patience: float,
    written: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(values, "PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    tell = values.reporter(progress, "resamples")
    tell(1, 2)
    tell(2, 2)
    line = "\rresamples: 1 of 2\rresamples: 2 of 2\n"
    assert capsys.readouterr().err == (line if written else "")
