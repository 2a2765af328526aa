"""Curves and families that cannot be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quotakernels as qk

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


def test_two_libraries():
    torch = pytest.importorskip("torch")
    other = qk.rank(torch.tensor([1, 0, 1, 0]), torch.tensor([4, 3, 2, 1]))
    with pytest.raises(TypeError, match=r"^b\.thresholds is an array of torch and a\.thres"):
        qk.dominates(A, other)
    with pytest.raises(TypeError, match=r"^models\['t'\]\..* is an array of torch"):
        qk.compare_curves({"n": A, "t": other})


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
