"""Dominance, and regions in batches, against the exact reference."""

from __future__ import annotations

import operator
import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, mode_fixture, parameters
from expected import assert_compact
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk
from quotakernels.measures import dominance

mode = mode_fixture(QUICK)

AXES = ("quota", "fpr", "recall")
SPACES = ("roc", "pr")
WEIGHTS = (0.5, 1.0, 3.0)
MODELS, WIDTH = 3, 7
EXACT = parameters([m for m in MODES if m.name in ("numpy", "strictest", "jax32-jit", "torch")])


def draw_labels(dice: random.Random, n: int) -> list[int]:
    return [0, 1] + [dice.randint(0, 1) for _ in range(n - 2)]


def draw_scores(dice: random.Random, n: int, levels: int = 4) -> list[int]:
    top = dice.randint(1, levels)
    return [dice.randint(0, top) for _ in range(n)]


def batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and a mask of 20 families; what is masked is garbage; three are undefined."""
    dice = random.Random(11)
    y = np.zeros((20, MODELS, WIDTH), dtype=int)
    s = np.full(y.shape, np.nan)
    valid = np.zeros(y.shape, dtype=bool)
    for row in range(len(y)):
        places = sorted(dice.sample(range(WIDTH), dice.randint(2, WIDTH)))
        y[row][:, places] = draw_labels(dice, len(places))
        valid[row][:, places] = True
        for model in range(MODELS):
            s[row, model, places] = draw_scores(dice, len(places))
    y[0], y[1], valid[2] = 0, 1, False
    s[3, 1] = s[3, 0]
    return y, s, valid


def compared(y: Any, s: Any, valid: Any) -> dict[str, Any]:
    models = [
        qk.rank(y[..., k, :], s[..., k, :], where=valid[..., k, :], ties=ties)
        for k, ties in enumerate(("expected", "expected", "optimistic"))  # the last has more rows
    ]
    pairs = (("roc", 0, 1), ("roc", 0, 2), ("pr", 1, 0), ("pr", 2, 0))
    found = {
        f"{space}.{i}.{j}": qk.dominates(models[i], models[j], space=space) for space, i, j in pairs
    }
    found |= {axis: qk.compare_curves(models, axis=axis) for axis in AXES}
    found["family.quota"] = qk.compare_curves(qk.rank(y, s, where=valid))
    return found


def families(y: Any, s: Any, valid: Any) -> list[dict[str, list]]:
    """The rankings of each row of the batch, under both sets of tie policies."""
    expected = []
    for labels, scores, masks in zip(y.tolist(), s.tolist(), valid.tolist(), strict=True):
        plain = [
            ex.groups(*columns[:2], None, columns[2])
            for columns in zip(labels, scores, masks, strict=True)
        ]
        last = ex.groups(labels[2], scores[2], None, masks[2], ties="optimistic")
        expected.append({"": [*plain[:2], last], "family.": plain})
    return expected


def check_regions(found: Any, models: list, axis: str, rtol: float = 1e-13) -> None:
    """The regions are the exact ones, followed by empty ones if the shape is fixed."""
    wanted = ex.best_regions(models, axis) if ex.dominates_roc(models[0], models[0]) else None
    start, stop, best = (np.asarray(x) for x in found)
    if wanted is None:
        assert np.isnan(start).all()
        assert np.isnan(stop).all()
        assert not best.any()
        return
    size = len(wanted)
    end = float(wanted[-1].stop)
    np.testing.assert_allclose(start[:size], [float(x.start) for x in wanted], rtol, 0)
    np.testing.assert_allclose(stop[:size], [float(x.stop) for x in wanted], rtol, 0)
    assert best[:size].tolist() == [list(x.best) for x in wanted]
    assert (start[size:] == end).all()
    assert (stop[size - 1 :] == end).all()
    assert (best[size:] == best[size - 1]).all()


def real_regions(found: Any) -> Any:
    """Of one family: the regions that are not empty; where values can be read no others are."""
    real = found.stop > found.start
    assert_compact(real)
    return type(found)(*(x[real] for x in found))


@pytest.mark.long_program
def test_batches_with_masks_in_every_mode(mode: Mode):
    y, s, valid = batch()
    s = np.where(valid, s, np.nan)
    found = mode.run(compared, y, s, valid)
    rtol = 1e-13 if found["quota"].start.dtype == np.float64 else 1e-6
    for row, policies in enumerate(families(y, s, valid)):
        models = policies[""]
        for name in (name for name in found if name[:2] in ("ro", "pr")):
            space, i, j = name.split(".")
            wanted = getattr(ex, f"dominates_{space}")(models[int(i)], models[int(j)])
            undefined = ex.dominates_roc(models[0], models[0]) is None
            assert found[name][row] == (bool(wanted) and not undefined), (row, name)
        for name in (name for name in found if name.endswith(AXES)):
            prefix, axis = name[: -len(name.split(".")[-1])], name.split(".")[-1]
            check_regions([x[row] for x in found[name]], policies[prefix], axis, rtol)


@pytest.mark.parametrize("mode", EXACT)
@pytest.mark.long_program
def test_single_rankings(mode: Mode):
    """Without a batch; where values can be read nothing is padded."""
    dice = random.Random(5)
    y = draw_labels(dice, WIDTH)
    s = [draw_scores(dice, WIDTH) for _ in range(MODELS)]

    def of_one(y: Any, *s: Any) -> dict[str, Any]:
        models = [qk.rank(y, x) for x in s]
        return {axis: qk.compare_curves(models, axis=axis) for axis in AXES} | {
            "dominates": qk.dominates(models[0], models[1])
        }

    found = mode.run(of_one, np.asarray(y), *map(np.asarray, s))
    models = [ex.groups(y, x) for x in s]
    assert found["dominates"].shape == ()
    assert found["dominates"] == ex.dominates_roc(*models[:2])
    for axis in AXES:
        check_regions(found[axis], models, axis, 1e-6 if "32" in mode.name else 1e-13)
        if mode.name in ("numpy", "torch"):
            assert len(real_regions(found[axis]).start) == len(ex.best_regions(models, axis))


# dominance


def all_rankings(n: int, positives: int) -> tuple[list[qk.Ranking], list[list]]:
    kept = [case for case in ex.cases(n, n) if sum(case[0]) == positives]
    return [qk.rank(*case) for case in kept], [ex.groups(*case) for case in kept]


@pytest.mark.full
@pytest.mark.parametrize("space", SPACES)
def test_dominance_is_a_partial_order(space: str):
    """All rankings of four examples, on three levels: reflexive, transitive, and the exact one."""
    found, models = all_rankings(4, 2)
    order = np.array([[qk.dominates(a, b, space=space) for b in found] for a in found])
    wanted = [[ex.dominates_roc(a, b) for b in models] for a in models]
    np.testing.assert_array_equal(order, wanted)
    assert order.diagonal().all()
    assert not ((order.astype(int) @ order > 0) & ~order).any()
    points = [{(v.fp, v.tp) for v in ex.roc_hull(model)} for model in models]
    for i, j in np.argwhere(order & order.T):
        assert points[i] == points[j]


@st.composite
def two_models(draw: Any, weighted: bool = False) -> tuple[qk.Ranking, qk.Ranking]:
    n = draw(st.integers(2, 12))
    y = [0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    levels = draw(st.integers(0, 5))
    scores = st.lists(st.integers(0, levels), min_size=n, max_size=n)
    weights = st.lists(st.sampled_from(WEIGHTS), min_size=n, max_size=n)
    given = {"sample_weight": draw(weights)} if weighted else {}
    return qk.rank(y, draw(scores), **given), qk.rank(y, draw(scores), **given)


@pytest.mark.full
@given(two_models(), two_models(weighted=True))
def test_theorem_3_2(plain, weighted):
    """Dominance in ROC space is dominance in precision-recall space, with ties too."""
    for a, b in (plain, weighted, plain[::-1], weighted[::-1]):
        assert qk.dominates(a, b) == qk.dominates(a, b, space="pr")


@pytest.mark.full
@given(two_models(), two_models(weighted=True))
def test_hulls_of_one_ranking(plain, weighted):
    for ranking, other in (plain, weighted):
        hulls = (qk.roc_hull(ranking), qk.achievable_pr_curve(ranking))
        curves = (ranking, of_points(qk.roc_curve(ranking)), of_points(qk.pr_curve(ranking)))
        for space in SPACES:
            for a, b in product(curves, curves):
                assert qk.dominates(a, b, space=space)
            for hull, curve in product(map(of_points, hulls), curves):
                assert qk.dominates(hull, curve, space=space)
                convex = qk.roc_hull_auc(ranking) <= qk.roc_auc(ranking) + 1e-12
                assert qk.dominates(curve, hull, space=space) == convex
            answer = qk.dominates(other, ranking, space=space)
            assert qk.dominates(of_points(qk.roc_curve(other)), curves[2], space=space) == answer


def of_points(curve: Any) -> qk.Ranking:
    return qk.Ranking.from_points(curve.fp, curve.tp)


@pytest.mark.parametrize("mode", EXACT)
@pytest.mark.parametrize("bits", [5, 19])
def test_counts_are_compared_finely(mode: Mode, bits: int):
    """A point as near to the diagonal as a point of whole numbers can be, above and below it."""
    positives, negatives = 2**bits - 1, 2**bits - 3

    tp = pow(negatives, -1, positives)
    fp = (tp * negatives - 1) // positives
    assert tp * negatives - fp * positives == 1
    for x, y, above in ((fp, tp, True), (negatives - fp, positives - tp, False)):
        cuts = np.array([[x + y, negatives + positives - x - y], [negatives + positives, 0]])
        hits = np.array([[y, positives - y], [positives, 0]])
        scores = np.array([[2.0, 1.0], [2.0, 1.0]])

        def answers(scores: Any, cuts: Any, hits: Any) -> tuple:
            bent, straight = (
                qk.Ranking.from_counts(scores[k, :], cuts[k, :], hits[k, :]) for k in (0, 1)
            )
            pairs = ((bent, straight), (straight, bent))
            return tuple(qk.dominates(*p, space=space) for p in pairs for space in SPACES)

        if mode.float32:
            with mode.context():  # JAX without x64 would not take the counts inside a trace
                found = [bool(x) for x in answers(scores, cuts, hits)]
        else:
            found = [bool(x) for x in mode.run(answers, scores, cuts, hits)]
        assert found == [above, above, not above, not above]


def test_batches_are_broadcast():
    y = [1, 0, 1, 0]
    one = qk.rank(y, [4, 3, 2, 1])
    three = qk.rank(y, [[1, 2, 3, 4], [4, 3, 2, 1], [4, 1, 3, 2]])
    assert qk.dominates(one, three).tolist() == [True, True, False]
    assert qk.dominates(three, one).tolist() == [False, True, True]
    single = qk.compare_curves({"one": one, "three": three})
    assert single.best.shape[::2] == (3, 2)
    for row in range(3):
        alone = qk.compare_curves([one, three.map(operator.itemgetter(row))])
        size = len(alone.start)
        assert single.best[row, :size].tolist() == alone.best.tolist()
        np.testing.assert_array_equal(single.start[row, :size], alone.start)


# weights


def test_rounding_of_masses_does_not_count():
    """The same weights in another order have other sums; the curves are still equal, also where
    they are so steep that an abscissa's rounding is more than that of the heights.
    """
    dice = np.random.default_rng(3)
    y, s = dice.integers(0, 2, 5000), dice.integers(0, 2000, 5000)
    weights = dice.exponential(size=5000) * 10.0 ** dice.integers(-3, 4, 5000)
    order = dice.permutation(5000)
    a = qk.rank(y, s, sample_weight=weights)
    b = qk.rank(y[order], s[order], sample_weight=weights[order])
    for space in SPACES:
        assert qk.dominates(a, b, space=space)
        assert qk.dominates(b, a, space=space)
    same = (np.stack([y, y[order]]), np.stack([s, s[order]]))
    together = qk.rank(*same, sample_weight=np.stack([weights, weights[order]]))
    padded = [together.map(operator.itemgetter(slice(k, k + 1))) for k in (0, 1)]
    for axis in AXES:
        regions = real_regions(qk.compare_curves([a, b], axis=axis))
        assert regions.best.tolist() == [[True, True]]
        assert regions.start == 0
        np.testing.assert_allclose(regions.stop, weights.sum() if axis == "quota" else 1, 1e-13)
        assert qk.compare_curves(padded, axis=axis).best.all()
    assert a.positive_weights.sum() != b.positive_weights.sum() or (a[3] != b[3]).any()


@pytest.mark.parametrize("seed", range(10))
def test_weighted_regions(seed: int):
    dice = random.Random(seed)
    y, weights = draw_labels(dice, 8), [dice.choice(WEIGHTS) for _ in range(8)]
    s = [draw_scores(dice, 8) for _ in range(MODELS)]
    models = [qk.rank(y, x, sample_weight=weights) for x in s]
    wanted = [ex.groups(y, x, [Fraction(w) for w in weights]) for x in s]
    for axis in AXES:
        check_regions(qk.compare_curves(models, axis=axis), wanted, axis)
    for i, j in product(range(MODELS), repeat=2):
        answer = ex.dominates_roc(wanted[i], wanted[j])
        assert [qk.dominates(models[i], models[j], space=space) for space in SPACES] == [answer] * 2


def test_totals_of_float32_masses():
    """They are the same to a share of 2**-20, which some roundings of float32 come to."""
    total = 2.0**23

    def of_total(negatives: float) -> Any:
        masses = (np.asarray([x], np.float32) for x in (total, negatives))
        fields = dict(zip(("positive_weights", "negative_weights"), masses, strict=True))
        return qk.rank([1, 0], [1, 1])._replace(**fields)

    assert qk.dominates(of_total(total), of_total(total + 6))
    with pytest.raises(ValueError, match="negatives"):
        qk.dominates(of_total(total), of_total(total + 12))


# the regions in which models are best: crossing lines, sampled points, and no region at all


def test_several_lines_overtake_between_two_cuts():
    early, late = (10, 9, 7, 4, 4), (40, 44, 47, 50, 48)
    tables = [
        ((3, 2, 1), (10, 80, 10), (a, b - a, 50 - b)) for a, b in zip(early, late, strict=True)
    ]
    models = [qk.Ranking.from_counts(*table) for table in tables]
    wanted = [ex.groups_from_counts(*table) for table in tables]
    for axis in AXES:
        check_regions(qk.compare_curves(models, axis=axis), wanted, axis)
    start, _, best = real_regions(qk.compare_curves(models))
    assert best.argmax(axis=-1).tolist() == [0, 1, 2, 3]
    assert not best[:, 4].any()
    inside = start[1:]
    assert (inside > 10).all()
    assert (inside < 90).all()


@pytest.mark.parametrize("seed", range(5))
def test_regions_of_larger_families_by_sampling(seed: int):
    """Any point inside a region has exactly its models as the best, by another function."""
    dice = np.random.default_rng(seed)
    y, s = dice.integers(0, 2, 60), dice.integers(0, 40, (6, 60))
    ranking = qk.rank(y, s)
    start, stop, best = qk.compare_curves(ranking)
    real = stop > start
    start, stop, best = start[real], stop[real], best[real]
    assert (start[0], stop[-1]) == (0, 60)
    np.testing.assert_array_equal(start[1:], stop[:-1])
    assert all((a != b).any() for a, b in pairwise(best))
    for share in (0.001, 0.5, 0.999):
        quota = start + share * (stop - start)
        heights = qk.qrecall(ranking, quota=quota)
        np.testing.assert_array_equal((heights >= heights.max(axis=0) - 1e-9).T, best)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_stretches_change_nothing(monkeypatch: pytest.MonkeyPatch, weighted: bool):
    dice = np.random.default_rng(1)
    y, s = dice.integers(0, 2, 80), dice.integers(0, 60, (7, 80))
    ranking = qk.rank(y, s, sample_weight=dice.random(80) if weighted else None)
    whole = qk.compare_curves(ranking)
    monkeypatch.setattr(dominance, "_HEIGHTS_AT_ONCE", 7 * 11)
    for x, y in zip(qk.compare_curves(ranking), whole, strict=True):
        np.testing.assert_array_equal(x, y)


# curves and families that cannot be compared


A = qk.rank([1, 0, 1, 0], [4, 3, 2, 1])


@pytest.mark.full
def test_different_examples_that_cannot_be_read():
    jax = pytest.importorskip("jax")
    y = np.array([[1, 0, 1, 0], [1, 0, 0, 0]])

    @jax.jit
    def compared(y: Any, s: Any) -> Any:
        one, two = qk.rank(y[0], s[0]), qk.rank(y, s)
        return qk.dominates(one, two), qk.compare_curves([one, two])

    found, regions = compared(y, np.array([[4, 3, 2, 1]] * 2))
    assert found.tolist() == [True, False]
    assert np.isnan(regions.start).any(axis=-1).tolist() == [False, True]
    assert regions.best.any(axis=(-2, -1)).tolist() == [True, False]


def test_a_bad_row_is_empty_and_no_error():
    scores = np.array([[4, np.nan, 2, 1], [4, 3, 2, 1]])
    bad = qk.rank([1, 0, 1, 0], scores, validate=False)
    assert qk.dominates(A, bad).tolist() == [False, True]
    assert qk.dominates(bad, A, space="pr").tolist() == [False, True]
    assert np.isnan(qk.compare_curves([A, bad]).stop).any(axis=-1).tolist() == [True, False]


@pytest.mark.full
def test_numpy_beside_jax():
    pytest.importorskip("jax")
    import jax.numpy as jnp

    other = qk.rank(jnp.asarray([1, 0, 1, 0]), jnp.asarray([1, 2, 3, 4]))
    for found in (qk.dominates(A, other), qk.compare_curves([A, other]).best):
        assert isinstance(found, jnp.ndarray)
    assert bool(qk.dominates(A, other))


@pytest.mark.full
def test_float32_curves_of_jax():
    """Weighted points of curves are rounded to float32 there, and still of one curve."""
    jax = pytest.importorskip("jax")
    dice = np.random.default_rng(1)
    y, s, w = dice.integers(0, 2, 200), dice.integers(0, 50, 200), dice.exponential(size=200)
    with jax.enable_x64(False):
        ranking = qk.rank(jax.numpy.asarray(y), s.astype(np.float32), sample_weight=w)
        curves = qk.roc_curve(ranking), qk.roc_hull(ranking)
        assert curves[0].fp.dtype == np.float32
        curve, hull = (qk.Ranking.from_points(x.fp, x.tp) for x in curves)
        assert bool(qk.dominates(hull, curve))
        assert bool(qk.dominates(hull, curve, space="pr"))
        assert not bool(qk.dominates(curve, hull))
