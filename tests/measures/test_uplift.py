"""Uplift: treated examples and controls among the best, against fractions over all tie orders."""

from __future__ import annotations

import csv
import functools
from fractions import Fraction
from importlib import metadata
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, missing, mode_fixture
from everything import MAIN
from exact import uplift as ex
from expected import as_floats
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk
from measures.test_budgets import DATA, SIZE, every_policy, every_way, of_each_list
from quotakernels.uplift import (
    autoc,
    auuc,
    qini_coefficient,
    qini_curve,
    toc_curve,
    uplift_at_quota,
    uplift_curve,
)

mode = mode_fixture([m for m in MODES if m.name in (*MAIN, "strictest", "jax64-jit")])
QUOTAS = (Fraction(0), Fraction(1), Fraction(17, 4), Fraction(10), Fraction(10**4))
UNITS = (None, "total", "perfect")
KINDS = ("uplift", "qini")


def measured(ranking: Any, quotas: Any) -> dict[str, Any]:
    """All measures of uplift, from one ranking."""
    found = {
        f"auuc {x} {unit}": auuc(ranking, curve=x, normalize=unit) for x in KINDS for unit in UNITS
    }
    found["qini"] = qini_coefficient(ranking)
    found["qini0"] = qini_coefficient(ranking, negative_effects=False)
    found["autoc"] = autoc(ranking)
    found["uplift"] = uplift_at_quota(ranking, quota=quotas, when_short="nan")
    return found


def wanted(
    y_true: Any,
    y_score: Any,
    treatment: Any,
    ties: str = "expected",
    quotas: Any = QUOTAS,
    **beside: Any,
) -> dict[str, Any]:
    """The same in fractions, and the heights of the curves."""
    columns = (x.tolist() for x in (y_true, y_score, treatment))
    rows = ex.people(*columns, **{name: x.tolist() for name, x in beside.items()})
    groups = ex.arm_groups(rows, ties)
    whole = ex.together(rows).mass
    found = {f"auuc {x} {unit}": [ex.auuc(rows, groups, x, unit)] for x in KINDS for unit in UNITS}
    found["qini"] = [ex.auuc(rows, groups, "qini", "perfect")]
    found["qini0"] = [ex.qini_without_negative_effects(rows, groups)]
    found["autoc"] = [ex.autoc(rows, ties)]
    found["toc curve"] = ex.toc_curve(groups)
    found["uplift"] = [ex.uplift(groups, x) if x <= whole else None for x in quotas]
    found |= {f"{x} curve": ex.curve(groups, ex.HEIGHTS[x]) for x in KINDS}
    return {name: as_floats(x) for name, x in found.items()}


def near(name: str, found: Any, exact: Any) -> None:
    """Differences of rates lose what they have in common."""
    rounding = 128 * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, exact, rtol=rounding, atol=rounding, err_msg=name)


def filled(curve: Any) -> Any:
    """The heights at cuts that differ; padding repeats the cut before it."""
    kept = np.append(True, np.diff(np.asarray(curve.quota, dtype=float)) > 0)
    return np.asarray(curve.value)[kept]


@pytest.mark.long_program
@every_way
@every_policy
def test_measures_are_those_of_the_tie_averaged_arms(mode: Mode, names: tuple[str, ...], ties: Any):
    quotas = mode.array([float(x) for x in QUOTAS])

    def computed(ranking: qk.Ranking) -> Any:
        curves = {"uplift": uplift_curve, "qini": qini_curve, "toc": toc_curve}
        return measured(ranking, quotas), {f"{k} curve": x(ranking) for k, x in curves.items()}

    for (numbers, curves), columns in of_each_list(mode, computed, "treatment", names, ties):
        exact = wanted(**columns, ties=ties)
        for name, value in numbers.items():
            near(name, value, exact[name] if name == "uplift" else exact[name][0])
        for name, curve in curves.items():
            near(name, filled(curve), exact[name])


@given(st.data())
def test_arms_are_means_over_all_orders_of_ties(data: st.DataObject):
    size = data.draw(st.integers(1, 5))
    y, t = (data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)) for _ in "yt")
    s = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    quota = data.draw(st.integers(1, size))
    rows = ex.people(y, s, t)
    mean = ex.mean_over_orders(rows, quota)
    assert mean == ex.arms_within(ex.arm_groups(rows), quota)
    found = float(uplift_at_quota(y, s, treatment=t, quota=quota))
    if not (mean.treated and mean.control):
        assert np.isnan(found)
    else:
        exact = mean.treated_positive / mean.treated - mean.control_positive / mean.control
        assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("curve", ["uplift", "qini"])
def test_an_area_in_a_unit_of_nothing_is_undefined(curve: str):
    """Both arms respond alike, so that the curve ends at 0."""
    given: dict[str, Any] = {"treatment": [0, 1, 1, 0], "curve": curve}
    assert qk.uplift.auuc([1, 0, 1, 0], [4, 3, 2, 1], **given) != 0
    assert np.isnan(qk.uplift.auuc([1, 0, 1, 0], [4, 3, 2, 1], normalize="total", **given))


@given(st.data())
def test_small_cases(data: st.DataObject):
    size = data.draw(st.integers(1, 7))
    y, t = (
        np.asarray(data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
        for _ in "yt"
    )
    s = np.asarray(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    quotas = [Fraction(k, 2) for k in range(2 * size + 1)]
    found = measured(qk.rank(y, s, treatment=t), [float(x) for x in quotas])
    exact = wanted(y, s, t, quotas=quotas)
    for name, value in found.items():
        near(name, np.asarray(value), exact[name] if name == "uplift" else exact[name][0])


@pytest.mark.parametrize("unit", [1e-200, 1e200, 3.0])
def test_the_unit_of_weights_does_not_matter(unit: float):
    y, s, t, w = DATA["y"], DATA["s"][0], DATA["treatment"], DATA["w"]
    plain = measured(qk.rank(y, s, treatment=t, sample_weight=w), [3.0])
    found = measured(qk.rank(y, s, treatment=t, sample_weight=unit * w), [3.0 * unit])
    for name, value in found.items():
        np.testing.assert_allclose(value, plain[name], rtol=1e-12, err_msg=name)


def test_arms_of_very_unequal_weights():
    """A difference of sums would lose the lighter arm."""
    weights = np.array([1e18, 1.0, 1e18, 2.0, 1.0])
    y, t = [1, 1, 0, 0, 1], [1, 0, 1, 0, 0]
    assert uplift_at_quota(y, np.zeros(5), treatment=t, sample_weight=weights, fraction=1) == 0


def test_an_arm_that_is_not_there():
    y, s = DATA["y"], DATA["s"][0]
    for t in (np.zeros(SIZE), np.ones(SIZE, dtype=bool)):
        found = measured(qk.rank(y, s, treatment=t), [1.0, 3.0])
        assert all(np.isnan(value).all() for value in found.values())
        assert np.isnan(uplift_curve(y, s, treatment=t).value).all()


# beside the measures of scikit-uplift, and the definitions of causalml


lacking = missing("sklift")
quiet = pytest.mark.filterwarnings("ignore::FutureWarning")  # it calls scikit-learn so


def with_peer(test: Any) -> Any:
    return pytest.mark.skipif(bool(lacking), reason=lacking)(quiet(test))


def arms(seed: int, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Responses, scores and arms of a campaign that helps those with high scores."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 300))
    score = rng.integers(1, levels + 1, n) / levels if levels < n else rng.permutation(n) / n
    treated = rng.integers(0, 2, n)
    return (rng.random(n) < 0.2 + 0.4 * treated * score).astype(int), score, treated


@with_peer
@pytest.mark.parametrize("levels", [9, 1000])
@pytest.mark.parametrize("seed", range(10))
def test_areas_and_curves(seed: int, levels: int):
    y, s, t = arms(seed, levels)
    are_those_of_the_peer(y, s, t)


def are_those_of_the_peer(y: np.ndarray, s: np.ndarray, t: np.ndarray) -> None:
    from sklift import metrics

    perfect = {"treatment": t, "normalize": "perfect"}
    near = functools.partial(pytest.approx, rel=1e-12, abs=1e-14)
    qini, above = (metrics.qini_auc_score(y, s, t, negative_effect=x) for x in (True, False))
    assert auuc(y, s, curve="uplift", **perfect) == near(metrics.uplift_auc_score(y, s, t))
    assert auuc(y, s, curve="qini", **perfect) == near(qini)
    assert qini_coefficient(y, s, treatment=t) == near(qini)
    assert qini_coefficient(y, s, treatment=t, negative_effects=False) == near(above)
    for name in ("uplift_curve", "qini_curve"):
        quotas, heights = getattr(metrics, name)(y, s, t)
        curve = getattr(qk.uplift, name)(y, s, treatment=t)
        ours = np.interp(quotas, curve.quota, curve.value)
        np.testing.assert_allclose(ours, heights, rtol=1e-12, atol=1e-12, err_msg=name)


@with_peer
@pytest.mark.skipif(bool(missing("lifelines")), reason=missing("lifelines") or "")
def test_a_randomised_experiment():
    """Financial aid for half of 432 released convicts: who was not arrested again within a year."""
    files = metadata.files("lifelines") or []
    path = next(x for x in files if x.name == "rossi.csv").locate()
    with open(str(path), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    arrested, aid, convictions = (
        np.asarray([int(row[name]) for row in rows]) for name in ("arrest", "fin", "prio")
    )
    free = 1 - arrested
    effect = qk.uplift.uplift_at_quota(free, convictions, treatment=aid, quota=432)
    assert effect == pytest.approx(66 / 216 - 48 / 216, rel=1e-12)
    are_those_of_the_peer(free, convictions, aid)


@with_peer
@pytest.mark.parametrize("seed", range(10))
def test_at_a_quota(seed: int):
    from sklift import metrics

    y, s, t = arms(seed, 1000)
    quota = int(0.3 * len(y))
    theirs = metrics.uplift_at_k(y, s, t, strategy="overall", k=quota)
    ours = qk.uplift.uplift_at_quota(y, s, treatment=t, quota=quota)
    assert ours == pytest.approx(theirs, rel=1e-12)


def as_causalml(y: np.ndarray, s: np.ndarray, t: np.ndarray, curve: str) -> tuple[np.ndarray, int]:
    """The curve at 0, 1, …, n positions, and the first one at which both arms are there; by its
    definition, read in 0.17, not run.

    Up to there the line from 0 stands for it, of gains for the difference of the rates.
    """
    order = np.argsort(-s, kind="stable")
    y, t, places = y[order], t[order], np.arange(1, len(y) + 1)
    treated, treated_positive = np.cumsum(t), np.cumsum(t * y)
    control, control_positive = places - treated, np.cumsum((1 - t) * y)
    first = int(np.argmax((treated > 0) & (control > 0)))
    there = np.arange(first, len(y))
    if curve == "qini":
        heights = treated_positive - control_positive * treated / np.maximum(control, 1)
    else:
        rates = treated_positive / np.maximum(treated, 1), control_positive / np.maximum(control, 1)
        heights = rates[0] - rates[1]
    known = np.concatenate([[0], there + 1]), np.concatenate([[0], heights[there]])
    found = np.interp(np.arange(len(y) + 1), *known)
    return (found if curve == "qini" else found * np.arange(len(y) + 1)), first + 1


@pytest.mark.parametrize("seed", range(10))
def test_definitions_of_causalml(seed: int):
    """The same from the first cut at which both arms are there; a mean over 0, 1, …, n, not the
    area; and chance is the straight line.
    """
    y, s, t = arms(seed, 1000)
    n, ranking = len(y), qk.rank(y, s, treatment=t)
    for name, curve in (("uplift", qk.uplift.uplift_curve), ("qini", qk.uplift.qini_curve)):
        theirs, first = as_causalml(y, s, t, name)
        ours = curve(ranking).value
        np.testing.assert_allclose(ours[first:], theirs[first:], rtol=1e-12, atol=1e-12)
        score = np.mean(theirs) / abs(theirs[-1])
        before = (ours - theirs)[:first].sum() / abs(theirs[-1])
        total = qk.uplift.auuc(ranking, curve=name, normalize="total")
        end = np.sign(theirs[-1])
        assert n * total + end / 2 == pytest.approx((n + 1) * score + before, rel=1e-12)
        if name == "qini":
            chance = np.mean(np.linspace(0, theirs[-1], n + 1)) / abs(theirs[-1])
            assert chance == pytest.approx(end / 2, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_autoc_is_that_of_scores_by_the_definition_of_grf(seed: int):
    """The mean over j of the mean score of the best j, ties averaged, less the mean of all."""
    y, s, t = arms(seed, 9)
    scores = np.where(t == 1, y / t.mean(), -y / (1 - t.mean()))
    averaged = np.asarray([scores[s == x].mean() for x in s])[np.argsort(-s, kind="stable")]
    at = np.arange(1, len(y) + 1)
    wanted = (np.cumsum(averaged) / at).mean() - scores.mean()
    assert autoc(y, s, treatment=t) == pytest.approx(wanted, rel=1e-12)
    of_scores = qk.impact_at_quota(None, s, gain=scores, quota=at).whole / at
    assert of_scores.mean() - scores.mean() == pytest.approx(wanted, rel=1e-12)


def test_toc_of_causalml():
    """causalml 0.18, get_toc, with scores of the effect as ``treatment_effect_col``; no ties."""
    bought, treated = [1, 0, 1, 0, 1, 0, 1, 0], [1, 1, 0, 1, 0, 0, 1, 0]
    curve = toc_curve(bought, [8, 7, 6, 5, 4, 3, 2, 1], treatment=treated)
    assert curve.value[1:] == pytest.approx([2, 1, 0, 0, -0.4, -1 / 3, 0, 0], abs=1e-15)
