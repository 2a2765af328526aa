"""Which of several models is better: paired tests of all pairs, against enumeration and SciPy."""

from __future__ import annotations

import functools
import itertools
import math
import string
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, available, in_full, parameters

import quotakernels as qk
from quotakernels import ops
from quotakernels.inference._distributions import as_best, chi_square_p_value
from quotakernels.inference.comparing import of_permutations, of_resamples

RNG = np.random.default_rng(11)
N = 60
Y = RNG.random(N) < 0.4
GOOD, FAIR, BAD = (RNG.normal(scale * Y).round(1) for scale in (3, 1, 0))
MODELS = {"fair": FAIR, "bad": BAD, "good": GOOD, "same": 2 * GOOD + 7}
MASK = np.arange(N) % 5 > 0
TESTS = ("bootstrap", "permutation", "delong")  # of areas
main_modes = [
    m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32", "cupy")
]


def compared(test: str | None, models: Any = None, measure: Any = qk.roc_auc, **given: Any) -> Any:
    given = {"n_resamples": 500, "random_state": 1, **given}
    return qk.compare(measure, Y, MODELS if models is None else models, test=test, **given)


# single pairs


def mid_ranks(scores: list[float]) -> list[Fraction]:
    return [sum((x > other) + Fraction(x == other, 2) for other in scores) for x in scores]


LABELS = [1, 0, 1, 1, 0, 0, 1, 0]
SCORES = [[5, 1, 4, 9, 3, 2, 1, 7], [0.5, 0.5, 0.1, 0.9, 0.2, 0.2, 0.5, 0.9]]
VALID = [True] * 7 + [False]


def every_coin(units: int) -> Any:
    """In the place of coins that are drawn, each way in which they may fall."""
    ways = np.asarray(list(itertools.product([False, True], repeat=units)))
    return lambda _xp, _source, numbers, _like: ways[numbers.start : numbers.stop]


def test_exchanges_are_those_of_every_coin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(ops.namespace(Y)), "coins", every_coin(8))
    given: dict[str, Any] = {"test": "permutation", "n_resamples": 2**8}
    found = qk.compare(qk.roc_auc, LABELS, SCORES, where=VALID, **given)
    ranks = [mid_ranks(scores[:7]) for scores in SCORES]
    wanted = []
    for flips in itertools.product([0, 1], repeat=7):
        a, b = ([ranks[f ^ k][i] for i, f in enumerate(flips)] for k in (0, 1))
        areas = (ex.roc_auc(ex.groups(LABELS[:7], x)) for x in (a, b))
        wanted += 2 * [next(areas) - next(areas)]  # the last coin is of no account
    p_value = Fraction(1 + sum(abs(x) >= abs(wanted[0]) for x in wanted), 1 + len(wanted))
    assert found.p_value[0, 1] == float(p_value)


@pytest.mark.filterwarnings("ignore:the measure is undefined in")
@pytest.mark.parametrize(
    ("measure", "given"), [(qk.roc_auc, {}), (qk.precision, {"threshold": GOOD.max() - 0.05})]
)
def test_bootstrap_differences_are_of_the_same_resamples(measure: Any, given: Any):
    """Of those in which both models have a value: some select nobody."""
    models = {name: scores + GOOD.max() - scores.max() for name, scores in MODELS.items()}
    found = compared("bootstrap", models, measure, **given)
    given = {"n_resamples": 500, "random_state": 1, **given}
    resamples = qk.bootstrap(measure, Y, np.stack([*models.values()]), **given).resamples
    assert np.isnan(resamples).any() == (measure is qk.precision)
    places = [list(MODELS).index(name) for name in found.names]
    for i, j in itertools.combinations(range(4), 2):
        apart = resamples[places[i]] - resamples[places[j]]
        apart = apart[~np.isnan(apart)]
        ends = np.quantile(apart, [0.025, 0.975])
        assert (found.lower[i, j], found.upper[i, j]) == pytest.approx(tuple(ends), abs=1e-15)
        least = min((apart <= 0).sum(), (apart >= 0).sum())
        assert found.p_value[i, j] == min(1, 2 * (1 + least) / (1 + apart.size))


@pytest.mark.full
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_what_the_best_of_several_models_is_expected_to_have(greater_is_better: bool):
    """Resample by resample, also where less is better: BAD turned round is then the best."""
    found = compared("bootstrap", greater_is_better=greater_is_better, n_resamples=240)
    stack = np.stack(list(MODELS.values()))
    drawn = qk.bootstrap(qk.roc_auc, Y, stack, n_resamples=240, random_state=1)
    pick = max if greater_is_better else min
    more = Fraction(0)
    for values in drawn.resamples.T:
        best = pick(range(len(values)), key=values.__getitem__)
        more += Fraction(values[best]) - Fraction(drawn.estimate[best])
    assert found.expected == pytest.approx(float(Fraction(found.estimate[0]) - more / 240))
    assert (found.expected < found.estimate[0]) == greater_is_better
    assert np.isnan(compared("permutation", n_resamples=240).expected)


def test_what_the_best_is_expected_to_have_in_closed_form():
    """Of two normal estimates s·φ(d/s) less; of several as by resamples."""
    dice = np.random.default_rng(2)
    noisy = {str(k): Y + 1.5 * dice.normal(size=N) for k in range(5)}
    pair = {name: noisy[name] for name in ("0", "1")}
    found, narrow = (compared("delong", pair, confidence_level=x) for x in (0.95, 0.1))
    error = float(narrow.upper[0, 1] - narrow.lower[0, 1]) / 2 / NormalDist().inv_cdf(0.55)
    less = error * NormalDist().pdf(found.difference[0, 1] / error)
    assert found.estimate[0] - found.expected == pytest.approx(less, rel=0.1)
    rates = compared("score", noisy, qk.hit_rate, quota=12)
    assert rates.estimate[0] > rates.expected
    closed, drawn = (compared(x, noisy, n_resamples=400).expected for x in ("delong", "bootstrap"))
    assert closed == pytest.approx(drawn, abs=0.005)


def test_the_best_is_told_by_its_own_pairs():
    """The largest p counts once, the k-th largest for all pairs of k + 1 models, none for more than
    a larger one; a weak model changes nothing.
    """
    p = np.random.default_rng(1).random((6, 6)) ** 4
    p = np.minimum(p, p.T)
    found = as_best(p)
    for i, row in enumerate(p):
        others = [k for k in np.argsort(-row) if k != i]
        wanted = np.minimum.accumulate([row[x] * k * (k + 1) / 2 for k, x in enumerate(others, 1)])
        assert found[i, others] == pytest.approx(np.minimum(wanted, 1))
        assert found[i, i] == 1
    weak = np.pad(p, (0, 1), constant_values=1e-9)
    assert (as_best(weak)[:-1, :-1] == found).all()
    assert np.isnan(as_best(np.full((2, 2), np.nan))).all()
    models = {"a": GOOD, "b": FAIR, "c": BAD}
    every = qk.compare(qk.hit_rate, Y, models, quota=N)  # where nothing can differ
    assert not np.any([every.lower, every.upper, every.p_value != 1])


def test_delong_is_that_of_two_models():
    found = compared("delong", measure=qk.gini)
    i, j = (found.names.index(name) for name in ("fair", "bad"))
    wanted = qk.inference.delong_test(Y, [FAIR, BAD], measure="gini")
    assert found.p_value[i, j] == found.p_value[j, i] == wanted.p_value
    assert (found.lower[i, j], found.upper[i, j]) == (wanted.lower, wanted.upper)
    assert found.difference[i, j] == pytest.approx(wanted.difference)


# one-sided tests, margins, and all models at once

AT: dict[str, tuple[Any, dict[str, Any]]] = {
    "bootstrap": (qk.roc_auc, {}),
    "permutation": (qk.roc_auc, {}),
    "delong": (qk.gini, {}),
    "score": (qk.hit_rate, {"quota": 15}),
}


@pytest.mark.parametrize("test", AT)
def test_one_sided_tests_are_of_both_directions(test: Any):
    measure, at = AT[test]
    both, greater, less = (
        compared(test, MODELS, measure, alternative=x, **at)
        for x in ("two-sided", "greater", "less")
    )
    assert np.array_equal(greater.p_value, less.p_value.T)
    assert greater.letters == less.letters == both.letters
    off = ~np.eye(4, dtype=bool)
    adjusted = holm(greater.p_value[off])
    assert np.allclose(np.sort(adjusted), np.sort(greater.p_adjusted[off]), rtol=1e-15)
    sides = np.minimum(greater.p_value, less.p_value)[off]
    if test == "permutation":
        assert np.all(sides <= both.p_value[off])
        assert np.isnan(greater.lower[off]).all()
        return
    assert np.allclose(np.minimum(1, 2 * sides), both.p_value[off])
    narrow = compared(test, MODELS, measure, confidence_level=0.9, **at)
    assert np.allclose(greater.lower, narrow.lower)
    assert np.allclose(less.upper, narrow.upper)
    assert np.all(greater.upper[off] == np.inf)
    assert np.all(less.lower[off] == -np.inf)


@pytest.mark.parametrize("test", ["bootstrap", "delong", "score"])
def test_a_margin_is_left_out_by_the_bound(test: str):
    """The p-value is 5 % where the bound of 95 % is the margin."""
    (measure, at), near = AT[test], 0.02 if test == "bootstrap" else 1e-6
    found = compared(test, MODELS, measure, alternative="greater", **at)
    for i, j in itertools.permutations(range(4), 2):
        if found.estimate[i] == found.estimate[j]:
            continue
        pair = {found.names[k]: MODELS[found.names[k]] for k in (i, j)}
        p_values = []
        for margin in (-found.lower[i, j] - near, -found.lower[i, j] + near):
            again = compared(test, pair, measure, alternative="greater", margin=margin, **at)
            row, column = (again.names.index(found.names[k]) for k in (i, j))
            p_values.append(again.p_value[row, column])
        assert p_values[0] > 0.05 > p_values[1]


def test_one_sided_counts_of_resamples_and_exchanges():
    values = np.asarray([-2.0, -1, 0, 1, 2, 3, 4, 5, 6, np.nan])
    found = of_resamples(3.0, values, 0.8, 1e-12, 1.0)
    assert (found.greater, found.less) == ((1 + 2) / 10, (1 + 6) / 10)
    assert (found.error, found.if_equal) == pytest.approx((math.sqrt(7.5), math.sqrt(7.5)))
    turned = of_permutations(1.0, values, 1e-12)
    assert turned[2:5] == (9 / 10, (1 + 6) / 10, (1 + 4) / 10)


def test_identical_models_are_within_any_margin():
    alike = {"a": GOOD, "b": 2 * GOOD}
    asked: dict[str, Any] = {"alternative": "greater"}
    assert compared("delong", alike, **asked).p_value[0, 1] == 0.5
    assert compared("delong", alike, margin=0.01, **asked).p_value[0, 1] == 0
    hits = compared("score", alike, qk.hit_rate, quota=15, margin=0.2, **asked)
    error = -hits.lower[0, 1] / NormalDist().inv_cdf(0.95)
    assert hits.p_value[0, 1] == pytest.approx(NormalDist().cdf(-0.2 / error))


def test_the_joint_test_of_areas_is_that_of_delong():
    """From L·S·L' of all contrasts with the first model; a copy changes nothing."""
    stats = pytest.importorskip("scipy.stats")
    models = {name: MODELS[name] for name in ("fair", "bad", "good")}
    areas = qk.inference.auc_covariance(Y, np.stack(list(models.values())), measure="gini")
    contrasts = np.asarray([[1, -1, 0], [1, 0, -1]])
    apart = contrasts @ areas.estimate
    wanted = apart @ np.linalg.solve(contrasts @ areas.covariance @ contrasts.T, apart)
    for some in (models, MODELS):
        found = compared("delong", some, qk.gini).joint
        assert found.statistic == pytest.approx(wanted, rel=1e-10)
        assert found.degrees_of_freedom == 2
        assert found.p_value == pytest.approx(stats.chi2.sf(wanted, 2), rel=1e-10)


@pytest.mark.parametrize("test", ["delong", "score"])
def test_the_joint_test_of_two_models_is_their_test(test: str):
    measure, at = AT[test]
    found = compared(test, {"fair": FAIR, "bad": BAD}, measure, **at)
    assert found.joint.p_value == pytest.approx(found.p_value[0, 1], rel=1e-12)
    assert found.joint.degrees_of_freedom == 1


def test_where_there_is_no_joint_test():
    alike = compared("delong", {"a": GOOD, "b": 2 * GOOD, "c": GOOD}).joint
    assert alike == (0, 0, 1)
    drawn = compared("bootstrap").joint
    assert drawn.degrees_of_freedom == 2
    assert drawn.p_value < 0.01
    assert np.isnan(compared("permutation", n_resamples=119).joint.p_value)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 40])
def test_tails_of_chi_square(freedom: int):
    stats = pytest.importorskip("scipy.stats")
    for x in (0.0, 1e-9, 0.3, 5.0, 60.0, 900.0):
        assert chi_square_p_value(x, freedom) == pytest.approx(stats.chi2.sf(x, freedom), rel=1e-11)


# all pairs


def test_columns_of_a_data_frame_are_models():
    class Frame:
        """What data frames have in common."""

        columns = ("good", "bad")

        def __getitem__(self, name: str) -> Any:
            return MODELS[name].tolist()

    found, wanted = (compared("bootstrap", x) for x in (Frame(), {"good": GOOD, "bad": BAD}))
    assert all(np.array_equal(*pair) for pair in zip(found, wanted, strict=True))
    arrow = pytest.importorskip("pyarrow").table({"good": GOOD, "bad": BAD})
    assert np.array_equal(compared("bootstrap", arrow).p_value, wanted.p_value)


def test_a_comparison_shows_its_p_values():
    found = compared("delong")
    _, first, *rows, last = repr(found).splitlines()
    assert " p = " not in first
    assert last == f"All alike: p = {found.joint.p_value:.2g}"
    said = [float(line.rpartition(" p = ")[2]) for line in rows]
    assert said == [float(f"{p:.2g}") for p in found.p_adjusted[0, 1:]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_comparison_is_a_frame_of_pairs(library: Any):
    pytest.importorskip(library)
    found = compared("delong")
    frame = found.to_frame(library)
    assert len(frame) == 6
    for k, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        assert (frame["first"][k], frame["second"][k]) == (found.names[i], found.names[j])
        for name in ("difference", "lower", "upper", "p_value", "p_adjusted"):
            assert frame[name][k] == getattr(found, name)[i, j]


@pytest.mark.parametrize("test", ["bootstrap", in_full("permutation"), "delong"])
def test_what_a_comparison_is(test: str):
    found = compared(test)
    assert found.names == ("good", "same", "fair", "bad")
    assert found.estimate.tolist() == [qk.roc_auc(Y, MODELS[name]) for name in found.names]
    assert np.array_equal(found.difference, found.estimate[:, None] - found.estimate)
    assert np.array_equal(found.lower, -found.upper.T, equal_nan=True)
    for table in (found.p_value, found.p_adjusted):
        assert np.array_equal(table, table.T)
        assert np.all(np.diag(table) == 1)
    pairs = np.triu_indices(4, 1)
    assert found.p_adjusted[pairs].tolist() == holm(found.p_value[pairs].tolist())
    assert found.groups[0] == ("good", "same")
    assert found.letters[0] == found.letters[1] == "a"
    assert "a" not in found.letters[2] + found.letters[3]
    if test == "permutation":
        assert np.all(np.isnan(found.lower[np.triu_indices(4, 1)]))
    else:
        assert np.all((found.lower <= found.difference) & (found.difference <= found.upper))


@pytest.mark.parametrize("test", ["bootstrap", in_full("permutation"), in_full("delong")])
def test_models_that_are_alike_never_differ(test: str):
    """By 0, and not by -0."""
    found = compared(test, {"a": GOOD, "b": 2 * GOOD, "c": GOOD.astype(np.float32)})
    assert np.all(found.p_value == 1)
    for ends in (found.lower, found.upper, found.difference):
        assert not np.signbit(ends).any()
    assert found.groups == (("a", "b", "c"),)


@pytest.mark.full
@pytest.mark.parametrize("test", TESTS)
def test_the_order_of_models_does_not_matter(test: str):
    given = {"n_resamples": 240, "where": MASK}
    found = compared(test, **given)
    again = compared(test, dict(reversed(MODELS.items())), **given)
    for name, x in found._asdict().items():
        other = getattr(again, name)
        listed = isinstance(x, (tuple, str))
        assert x == other if listed else np.array_equal(x, other, equal_nan=True), name


@pytest.mark.full
def test_less_is_better_for_errors():
    error = functools.partial(qk.tables.misclassification_rate, quota=24)
    found = compared("permutation", measure=error, n_resamples=119)
    most = compared("permutation", measure=qk.accuracy, quota=24, n_resamples=119)
    assert found.names == most.names
    assert found.estimate[0] < found.estimate[-1]
    assert np.array_equal(found.p_value, most.p_value)
    turned = compared("permutation", measure=error, greater_is_better=True, n_resamples=119)
    assert set(turned.estimate) == set(found.estimate)
    assert turned.estimate[0] > turned.estimate[-1]
    cost = {"cost_fp": 1, "cost_fn": 1, "quota": 24}
    cheap = compared("bootstrap", measure=qk.expected_cost, n_resamples=240, **cost)
    assert cheap.names == found.names


def test_weights_masks_and_clusters():
    """Groups of single examples change nothing; larger ones do, and weights count."""
    weights = RNG.integers(0, 3, N) / 2
    given = {"models": {"fair": FAIR, "bad": BAD}, "sample_weight": weights, "n_resamples": 300}
    singles = RNG.permutation(N)
    for test in TESTS[:2]:
        plain = compared(test, **given)
        grouped = compared(test, clusters=singles // 3, **given)
        assert plain.estimate[0] == qk.roc_auc(Y, FAIR, sample_weight=weights)
        assert plain.p_value[0, 1] != grouped.p_value[0, 1]
    masked = {"models": given["models"], "where": weights > 0}
    left_out = compared("delong", **masked).p_value[0, 1]
    there = weights > 0
    assert left_out == pytest.approx(
        qk.inference.delong_test(Y[there], [FAIR[there], BAD[there]]).p_value
    )


def test_areas_of_single_examples_are_compared_in_closed_form():
    for measure in (qk.roc_auc, qk.gini, functools.partial(qk.pem)):
        found, wanted = (compared(x, measure=measure, n_resamples=240) for x in (None, "delong"))
        assert found.test == "delong"
        np.testing.assert_array_equal(found.p_adjusted, wanted.p_adjusted)
    drawn = {"n_resamples": 240, "random_state": 1}
    others: list[dict[str, Any]] = [
        {"measure": qk.average_hit_rate},
        {"sample_weight": np.ones(N)},
        {"clusters": np.arange(N)},
        {"stratified": True},
        {"ties": "optimistic"},
    ]
    for given in others:
        assert compared(None, **given, **drawn).test == "bootstrap"


@pytest.mark.filterwarnings("ignore:all resamples have the same hit rate")  # of the best, 1
def test_hit_rates_of_single_examples_are_compared_by_the_score_test():
    at = {"quota": 12}
    found = compared(None, measure=functools.partial(qk.hit_rate, **at), where=MASK)
    assert found.test == "score"
    for i, j in itertools.combinations(range(4), 2):
        pair = [MODELS[found.names[k]] for k in (i, j)]
        wanted = qk.inference.compare_selections(Y, pair, where=MASK, **at)
        assert found.p_value[i, j] == wanted.p_value
        assert (found.lower[i, j], found.upper[i, j]) == (wanted.lower, wanted.upper)
    share = compared(None, measure=qk.hit_rate, fraction=0.25, where=MASK)
    np.testing.assert_array_equal(share.p_value, found.p_value)
    others: list[dict[str, Any]] = [
        {"measure": qk.qrecall, "quota": 12},
        {"measure": qk.hit_rate, "quota": 12, "sample_weight": np.ones(N)},
        {"measure": qk.hit_rate, "quota": 12, "clusters": np.arange(N)},
        {"measure": qk.hit_rate, "quota": 12, "stratified": True},
        {"measure": qk.hit_rate, "quota": 12, "ties": "optimistic"},
        {"measure": qk.hit_rate, "budget": 9.0, "cost": np.ones(N)},
    ]
    for given in others:
        assert compared(None, n_resamples=240, **given).test == "bootstrap"


def test_few_examples_of_a_class_and_undefined_resamples_are_warned_of():
    labels, models = np.arange(60) < 9, {"fair": FAIR, "bad": BAD}
    given: dict[str, Any] = {"n_resamples": 40, "random_state": 1}
    for test in ("bootstrap", "delong"):
        with pytest.warns(UserWarning, match="only 9 positives: p-values .* with fewer than 30$"):
            qk.compare(qk.roc_auc, labels, models, test=test, **given)
    half, heavy = np.arange(N) < N // 2, np.where(np.arange(N) % 2, 1e-9, 1.0)
    with pytest.warns(UserWarning, match=r"only 15 negatives of equal weight \(Kish\): p-"):
        qk.compare(qk.roc_auc, half, models, sample_weight=heavy, **given)
    qk.compare(qk.roc_auc, labels, models, test="permutation", **given)
    large, near = np.arange(90) < 40, np.r_[np.arange(90.0)[:0:-1], 25.5]
    few = "only 40 positives: intervals near an AUC of 1 are too narrow with fewer than "
    for measure in (qk.roc_auc, qk.gini, qk.pem):
        for test in ("bootstrap", "delong"):
            with pytest.warns(UserWarning, match=few):
                qk.compare(measure, large, [near, -near], test=test, **given)
    qk.compare(qk.average_hit_rate, large, [near, -near], **given)
    hidden = np.arange(N) > 7
    with pytest.warns(UserWarning, match="undefined in|only 1") as found:
        qk.compare(qk.roc_auc, labels, models, test="bootstrap", where=hidden, **given)
    undefined, few = (str(each.message) for each in found)
    assert few.startswith("only 1 positive:")
    assert undefined.startswith("the measure is undefined in 1")
    assert all(each.filename == __file__ for each in found)


@functools.cache
def on_numpy(test: str) -> Any:
    return compared(test, where=MASK)


@pytest.mark.full
@pytest.mark.parametrize("mode", parameters(main_modes))
def test_every_library_gives_a_comparison_on_the_host(mode: Mode):
    """They draw differently, so they agree as far as 240 resamples do."""
    with mode.context():
        y, mask = mode.array(Y), mode.array(MASK)
        models = {name: mode.array(x) for name, x in MODELS.items()}
        for test in TESTS[mode.library == "jax" :]:  # whose resamples take long to compile
            given = {"test": test, "n_resamples": 240, "where": mask, "random_state": 3}
            found, wanted = qk.compare(qk.roc_auc, y, models, **given), on_numpy(test)
            assert found.names == wanted.names
            assert found.letters == wanted.letters
            assert np.allclose(found.estimate, wanted.estimate, atol=1e-6)
            assert np.allclose(found.p_value, wanted.p_value, atol=0.15)
            assert np.allclose(found.lower, wanted.lower, atol=0.05, equal_nan=True)
            assert type(found.p_adjusted) is np.ndarray


@pytest.mark.full
def test_undefined_is_nan_and_not_told_apart():
    for test in TESTS:
        found = qk.compare(qk.roc_auc, [1, 1, 1], {"b": [1, 2, 3], "a": [3, 2, 1]}, test=test)
        assert found.names == ("a", "b")
        assert np.all(np.isnan(found.estimate))
        assert np.isnan(found.p_value[0, 1])
        assert found.groups == (("a", "b"),)


@pytest.mark.parametrize("test", TESTS)
def test_a_bad_score_that_is_not_read_leaves_other_models_alone(test: str):
    models = {"bad": np.where(Y, np.nan, BAD), "fair": FAIR, "good": GOOD}
    found = compared(test, models, validate=False, n_resamples=240)
    others = compared(test, {"fair": FAIR, "good": GOOD}, n_resamples=240)
    assert found.names == ("good", "fair", "bad")
    assert np.isnan(found.estimate[2])
    assert np.all(np.isnan(found.p_value[2, :2]))
    assert found.p_adjusted[0, 1] == others.p_adjusted[0, 1]
    assert found.letters == ("a", "b", "ab")


def test_scores_of_several_types_keep_their_order():
    models = {"whole": [3, 1, 2, 2**53], "float": [0.5, 0.25, 0.1, 0.2], "flag": [True, False] * 2}
    found = qk.compare(qk.roc_auc, [1, 0, 1, 0], models, test="permutation", n_resamples=240)
    aucs = {name: qk.roc_auc([1, 0, 1, 0], scores) for name, scores in models.items()}
    assert dict(zip(found.names, found.estimate, strict=True)) == aucs


@pytest.mark.full
def test_models_without_names_are_numbered():
    wanted = compared("permutation", {"0": FAIR, "1": GOOD, "2": BAD}, n_resamples=240)
    assert wanted.names == ("1", "0", "2")
    for models in ([FAIR, GOOD, BAD], np.stack([FAIR, GOOD, BAD])):
        np.testing.assert_equal(compared("permutation", models, n_resamples=240), wanted)


def test_a_pair_is_a_mapping_or_an_array_or_a_frame():
    functions = {
        "delong_test": qk.inference.delong_test,
        "compare_selections": functools.partial(qk.inference.compare_selections, quota=20),
        "fold_test": lambda y, models: qk.inference.fold_test(
            qk.roc_auc, y, models, np.arange(N) % 3
        ),
    }
    for name, function in functions.items():
        wanted = function(Y, {"one": GOOD, "two": BAD})
        for models in ([GOOD, BAD], (GOOD, BAD), np.stack([GOOD, BAD])):
            np.testing.assert_equal(function(Y, models), wanted, err_msg=name)
        turned = function(Y, {"two": BAD, "one": GOOD})
        assert turned.difference == pytest.approx(-wanted.difference) != 0


# bad calls


@pytest.mark.full
def test_too_few_resamples_are_warned_of():
    with pytest.warns(UserWarning, match="100 resamples .* 4 models apart; pass n_resamples=239"):
        compared("bootstrap", n_resamples=100)
    with pytest.warns(UserWarning, match="n_resamples=119"):
        compared("permutation", n_resamples=118)
    compared("permutation", n_resamples=119)


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_a_trace_has_no_values_to_compare():
    import jax

    for function in (
        lambda s: qk.compare(qk.roc_auc, Y, {"a": s, "b": BAD}).estimate,
        lambda s: qk.inference.compare_selections(Y, [s, BAD], quota=3).difference,
    ):
        with pytest.raises(TypeError, match="is traced, or holds shapes only.*: call it outside"):
            jax.jit(function)(GOOD)


def test_progress_is_told():
    told: list[tuple[int, int]] = []
    given: dict[str, Any] = {"n_resamples": 70, "confidence_level": 0.9}
    compared("permutation", [GOOD, BAD, FAIR], progress=lambda *x: told.append(x), **given)
    assert told == [(70, 210), (140, 210), (210, 210)]


# many pairs


def holm(p_values: list[float]) -> list[float]:
    """Each times the number of those that are no smaller, and no less than a smaller one's."""
    order = np.sort(p_values)
    least = np.minimum(np.maximum.accumulate(np.arange(order.size, 0, -1) * order), 1)
    return [float(least[order == p].min()) for p in p_values]


def test_letters_tell_what_the_tests_tell():
    dice = np.random.default_rng(2)
    shown = set()
    for level in np.linspace(0.05, 0.95, 20):
        models = {name: Y + dice.uniform(0.5, 4) * dice.normal(size=N) for name in "abcdefg"}
        found = compared("delong", models, confidence_level=level)
        differ = found.p_adjusted <= 1 - level
        for i, j in itertools.combinations(range(7), 2):
            assert bool(set(found.letters[i]) & set(found.letters[j])) != differ[i, j]
        groups = [set(group) for group in found.groups]
        assert not any(a < b for a in groups for b in groups)
        for letter, group in zip(string.ascii_letters, found.groups, strict=False):
            has = [x for x, own in zip(found.names, found.letters, strict=True) if letter in own]
            assert has == list(group)
        shown.add(found.letters)
    assert len(shown) > 10


# two selections at one quota, against sums over all examples


DRAW = np.random.default_rng(3)
COUNT = 80
TRUTH = DRAW.random(COUNT) < 0.4
A, B = DRAW.permutation(COUNT) + 20 * TRUTH, DRAW.permutation(COUNT) + 0.0


def test_the_examples_that_only_one_selects():
    found = qk.inference.compare_selections(TRUTH, [A, B], quota=25)
    in_a, in_b = (x > np.sort(x)[-26] for x in (A, B))
    only_a, only_b = in_a & ~in_b, in_b & ~in_a
    assert found.discordant == only_a.sum() == only_b.sum()
    assert found.positives_a == np.sum(TRUTH & only_a)
    assert found.positives_b == np.sum(TRUTH & only_b)
    hit_rates = [qk.hit_rate(TRUTH, x, quota=25) for x in (A, B)]
    assert found.difference == pytest.approx(hit_rates[0] - hit_rates[1], abs=1e-15)


def test_a_quota_that_cuts_a_tie_group():
    """By the selection probabilities; whole where both models cut the same group."""
    y, a, b = [1, 1, 0, 1, 0, 0], [4, 3, 3, 3, 1, 0], [4, 3, 0, 1, 3, 3]
    found = qk.inference.compare_selections(y, [a, b], quota=2)
    assert found.discordant == pytest.approx(2 / 3)
    assert (found.positives_a, found.positives_b) == pytest.approx((1 / 3, 0))
    assert found.difference == pytest.approx((4 / 3 - 4 / 3 + 1 / 3) / 2)
    same_group = [[5, 2, 2, 4, 1, 0], [5, 2, 2, 1, 0, 4]]
    assert qk.inference.compare_selections(y, same_group, quota=3)[-2:] == (1, 0)


def test_the_score_test():
    """Sums over all examples of (y - m₁)·[first] - (y - m₂)·[second], m the rate at the cut."""
    found = qk.inference.compare_selections(TRUTH, [A, B], quota=25)
    width = 25**0.8 / 2
    window = np.asarray([25 - width, 25 + width])
    within = [window * qk.hit_rate(TRUTH, x, quota=window) for x in (A, B)]
    m = [(x[1] - x[0] + 0.5) / (2 * width + 1) for x in within]
    chosen = [x > np.sort(x)[-26] for x in (A, B)]
    each = (TRUTH - m[0]) * chosen[0] - (TRUTH - m[1]) * chosen[1]
    halves = sum((1 - r) ** 2 + r**2 for r in m) / 2
    error = math.sqrt(COUNT * np.var(each) + halves)
    apart, size = found.positives_a - found.positives_b, found.discordant
    ends = [(apart + sign * 1.959963984540054 * error) / 25 for sign in (-1, 1)]
    assert (found.lower, found.upper) == pytest.approx(ends)

    around = [qk.select(x, quota=window[1]) - qk.select(x, quota=window[0]) for x in (A, B)]
    alone = chosen[0] * 1.0 - chosen[1]
    both = np.sum(alone * (around[0] - around[1])) / (2 * width + 1)
    assert both > 0
    expected = (found.positives_a + found.positives_b) / 2
    rate, mean = expected / size, sum(m) / 2
    square = max(0.0, (mean - rate) ** 2 - mean * (1 - mean) / (4 * width))
    mean = rate + math.copysign(math.sqrt(square), mean - rate)
    less = m[0] - m[1] - apart * both / (2 * size)
    m = [mean + less / 2, mean - less / 2]
    variance = sum(expected * (1 - r) ** 2 + (size - expected) * r**2 for r in m)
    variance += (np.sum(chosen[0] & chosen[1]) - 25**2 / COUNT) * less**2
    assert found.p_value == pytest.approx(2 * NormalDist().cdf(-abs(apart) / math.sqrt(variance)))
    turned = qk.inference.compare_selections(TRUTH, [B, A], quota=25)
    assert (turned.p_value, turned.lower) == pytest.approx((found.p_value, -found.upper))


def test_the_interval_never_contradicts_the_score_test():
    dice = np.random.default_rng(0)
    at_zero = 0
    for _ in range(400):
        y = dice.random(30) < 0.3
        models = [dice.normal(size=30) + shift * y for shift in (dice.choice([0, 1, 3]), 1)]
        pair = qk.inference.compare_selections(y, models, quota=int(dice.integers(1, 30)))
        if pair.p_value <= 0.05:
            assert not pair.lower < 0 < pair.upper
        else:
            assert pair.lower <= 0 <= pair.upper
        at_zero += 0 in (pair.lower, pair.upper)
        assert all(x or math.copysign(1, x) > 0 for x in pair[1:3])
    assert at_zero > 3


@pytest.mark.full
@pytest.mark.parametrize(("shift", "spread"), [(1.5, 1.0), (3.0, 0.5)])
def test_the_score_test_of_equal_hit_rates_and_of_others(shift: float, spread: float):
    """As many rejections as it says at an early quota, also of curves that cross, and more than
    95 % of those of Fisher's test with mid-p.
    """
    stats = pytest.importorskip("scipy.stats")
    dice, normal = np.random.default_rng(6), NormalDist()
    share, quota, count, runs = 0.1, 50, 1000, 400

    def rate(mean: float, sd: float) -> float:
        """The hit rate of the population, whose negatives are standard normal."""
        low, high = -9.0, 9.0
        for _ in range(60):
            cut = (low + high) / 2
            over = share * (1 - normal.cdf((cut - mean) / sd)) + (1 - share) * (1 - normal.cdf(cut))
            low, high = (cut, high) if over > quota / count else (low, cut)
        return share * (1 - normal.cdf((low - mean) / sd)) * count / quota

    def mean_for(wanted: float, sd: float) -> float:
        low, high = 0.0, 6.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if rate(middle, sd) < wanted else (low, middle)
        return low

    def rejected(first: tuple[float, float], second: tuple[float, float]) -> np.ndarray:
        found = np.zeros((runs, 2))
        for k in range(runs):
            y, common = dice.random(count) < share, dice.normal(size=count)
            models = []
            for mean, sd in (first, second):
                x = math.sqrt(0.5) * (common + dice.normal(size=count))
                models.append(np.where(y, mean + sd * x, x))
            pair = qk.inference.compare_selections(y, models, quota=quota)
            alone, a, b = (round(x) for x in pair[4:])
            law = stats.hypergeom(2 * alone, a + b, alone)
            mid = law.sf(max(a, b)) + law.pmf(max(a, b)) / 2
            found[k] = pair.p_value <= 0.05, 2 * mid <= 0.05
        return found.mean(axis=0)

    target = rate(shift, 1.0)
    level, _ = rejected((shift, 1.0), (mean_for(target, spread), spread))
    assert level < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    power, fisher = rejected((shift + 0.6, 1.0), (shift, 1.0))
    assert power > 0.95 * fisher - 0.02


def test_selections_that_are_alike():
    found = qk.inference.compare_selections(TRUTH, [A, 2 * A], fraction=0.3)
    assert (found.difference, found.p_value, found.discordant) == (0, 1, 0)
    assert found.lower == -found.upper < 0


@pytest.mark.parametrize("mode", parameters(main_modes))
def test_every_library(mode: Mode):
    mask = np.arange(COUNT) % 5 > 0
    wanted = qk.inference.compare_selections(TRUTH[mask], [A[mask], B[mask]], quota=20)
    with mode.context():
        y, a, b, there = (mode.array(x) for x in (TRUTH, A, B, mask))
        found = qk.inference.compare_selections(y, [a, b], quota=20, where=there)
    assert found == pytest.approx(wanted, rel=1e-6)
    assert all(type(x) is float for x in found)


def test_bad_values_that_cannot_be_read_are_nan():
    bad = {"labels": TRUTH * 2, "scores": A * np.nan}
    for y, a in ((bad["labels"], A), (TRUTH, bad["scores"])):
        found = qk.inference.compare_selections(y, [a, B], quota=3, validate=False)
        assert all(math.isnan(x) for x in found)
    assert all(math.isnan(x) for x in qk.inference.compare_selections(TRUTH, [A, B], quota=0))
    assert all(math.isnan(x) for x in qk.inference.compare_selections([], [[], []], fraction=0.5))
