"""What a quota or a fraction may be, for measures and for decisions."""

from __future__ import annotations

from typing import Any

import everything as every
import numpy as np
import pandas as pd
import polars as pl
import pytest
from backends import LAZY, MODES, Mode, available, parameters

import quotakernels as qk

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])
W = np.asarray([1.0, 0.5, 2, 1, 3, 0.25, 1, 1])
HIT_RATES = {0: np.nan, 1: 1.0, 2: 0.75, 2.5: 0.7, 3: 2 / 3, 4: 0.75, 8: 0.5}

EAGER = parameters(every.EAGER)
FEW = parameters(
    [m for m in MODES if m.name in ("numpy", "strictest-device1", "jax32", "torch", "cupy")]
)


def close(found: Any, wanted: Any) -> None:
    found = np.asarray(found)
    rtol = 4 * float(np.finfo(found.dtype).eps)
    np.testing.assert_allclose(found, wanted, rtol=rtol)


# what is refused


def test_a_quota_of_no_examples():
    """Whatever is asked for of nothing is undefined, but a bad number stays one."""
    for given in ({"quota": 0}, {"quota": 5}, {"fraction": 0.5}):
        assert np.isnan(qk.hit_rate([], [], **given))
        assert np.isnan(qk.qrecall([1], [0.5], where=[False], **given))
        assert np.isnan(qk.quota_threshold([1.0], sample_weight=[0.0], **given)).all()


def test_a_quota_of_mass():
    whole = W.sum()
    given: dict[str, Any] = {"sample_weight": W}
    assert qk.qrecall(Y, S, quota=whole, **given) == 1
    thirds = np.full(8, 1 / 3)
    for near in (thirds.sum(), 8 / 3, sum(thirds.tolist())):
        close(qk.qrecall(Y, S, quota=near, sample_weight=thirds), 1)


# what is accepted


def forms(numbers: list[float]) -> list[Any]:
    """The same quotas in every form."""
    array = np.asarray(numbers)
    found = [numbers, tuple(numbers), array, array.astype(np.float32), array.astype(">f8")]
    found += [pd.Series(numbers), pl.Series(numbers), array[::-1][::-1]]
    if all(number == int(number) for number in numbers):
        found += [array.astype(kind) for kind in ("i1", "u8", ">i4")]
        found += [[int(number) for number in numbers]]
    return found


@pytest.mark.parametrize("mode", FEW)
def test_arrays_of_quotas(mode: Mode):
    for numbers in ([1.0, 2.0, 8.0], [0.0, 2.5, 3.0]):
        wanted = [HIT_RATES[number] for number in numbers]
        for form in forms(numbers):
            close(mode.run(lambda y, s, q=form: qk.hit_rate(y, s, quota=q), Y, S), wanted)
        found = mode.run(lambda y, s, q: qk.hit_rate(y, s, quota=q), Y, S, np.asarray(numbers))
        close(found, wanted)


@pytest.mark.long_program
@every.main_modes
def test_the_shape_is_that_of_batch_and_quota(mode: Mode):
    quotas = np.asarray([[1, 2.5], [4, 0], [3, 8]])
    scores = np.stack([S, -S])

    def shaped(y: Any, s: Any, q: Any) -> Any:
        return qk.hit_rate(y, s, quota=q), qk.quota_threshold(s, quota=q).above

    found, above = mode.run(shaped, Y, scores, quotas)
    assert found.shape == above.shape == (2, 3, 2)
    close(found[0], [[HIT_RATES[q] for q in row] for row in quotas.tolist()])
    np.testing.assert_array_equal(above[0], [[0, 1], [3, 0], [1, 7]])


def test_whole_shares_are_whole_numbers():
    """A fraction of n that is whole but for rounding selects whole examples."""
    for n in (7, 10, 49, 100, 1000):
        scores = np.arange(n, dtype=float)
        for j in range(1, n + 1):
            for fraction in (j / n, j * (1 / n)):
                assert qk.quota_threshold(scores, fraction=min(fraction, 1)).threshold == n - j


# where the quota, or the data, cannot be read


def by_array(y: Any, s: Any, where: Any, quota: Any, fraction: Any) -> Any:
    return (
        qk.hit_rate(y, s, where=where, quota=quota),
        qk.hit_rate(y, s, where=where, fraction=fraction),
        qk.quota_threshold(s, where=where, quota=quota).tied,
        qk.select(s, where=where, quota=quota[1]),
    )


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(LAZY))
def test_bad_quotas_are_nan_where_they_cannot_be_read(mode: Mode):
    quotas = np.asarray([9, 4, -1, np.nan, np.inf, 2.5, 6])
    fractions = np.asarray([0.5, 0, -0.1, 1.5, np.nan, 0.25, 1])
    where = np.ones((2, 8), dtype=bool)
    where[1, 5:] = False
    labels, scores = np.stack([Y, Y]), np.stack([S, S])
    rates, shares, tied, chosen = mode.run(by_array, labels, scores, where, quotas, fractions)
    nan = np.nan
    close(rates, [[nan, 0.75, nan, nan, nan, 0.7, 0.5], [nan, 0.75, nan, nan, nan, 0.7, nan]])
    close(
        shares,
        [[0.75, nan, nan, nan, nan, 0.75, 0.5], [0.7, nan, nan, nan, nan, 1.125 / 1.25, 0.6]],
    )
    close(tied, [[nan, 1, nan, nan, nan, 2, 2], [nan, 1, nan, nan, nan, 2, nan]])
    np.testing.assert_array_equal(chosen, [[1, 1, 1, 1, 0, 0, 0, 0]] * 2)


@pytest.mark.parametrize("mode", EAGER)
def test_a_quota_above_one_masked_row_is_nan_there(mode: Mode):
    where = np.ones((2, 8), dtype=bool)
    where[1, 5:] = False

    def rates(y: Any, s: Any, m: Any) -> Any:
        return qk.hit_rate(y, s, where=m, quota=6), qk.select(s, where=m, quota=6)

    found, chosen = mode.run(rates, np.stack([Y, Y]), np.stack([S, S]), where)
    close(found, [0.5, np.nan])
    assert np.isnan(chosen[1]).all()
    np.testing.assert_array_equal(chosen[0], [1, 1, 1, 1, 1, 1, 0, 0])


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_a_traced_quota():
    import jax
    import jax.numpy as jnp

    y, s = jnp.asarray(Y), jnp.asarray(S, dtype=jnp.float32)
    ranking = qk.rank(y, s)
    for quota in (4, jnp.asarray(4), 2.5):
        close(jax.jit(lambda q: qk.hit_rate(ranking, quota=q))(quota), HIT_RATES[float(quota)])
    close(jax.jit(lambda q: qk.hit_rate(y, s, quota=q))(3), HIT_RATES[3])
    assert np.isnan(jax.jit(lambda q: qk.hit_rate(y, s, quota=q))(9))
    quotas = jnp.asarray([1.0, 2.5, 8.0])
    found = jax.vmap(lambda q: qk.hit_rate(ranking, quota=q))(quotas)
    close(found, [HIT_RATES[q] for q in quotas.tolist()])
    above = jax.jit(jax.vmap(lambda q: qk.quota_threshold(s, quota=q).above))(quotas)
    np.testing.assert_array_equal(above, [0, 1, 7])


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_a_mapped_quota_of_torch():
    import torch

    y, s = torch.as_tensor(Y), torch.as_tensor(S)
    quotas = torch.tensor([1.0, 2.5, 9.0])
    found = torch.func.vmap(lambda q: qk.hit_rate(y, s, quota=q))(quotas)
    close(found, [1, 0.7, np.nan])
    chosen = torch.func.vmap(lambda q: qk.select(s, quota=q))(quotas)
    assert torch.isnan(chosen[2]).all()
    np.testing.assert_array_equal(chosen[0], [1, 0, 0, 0, 0, 0, 0, 0])


# less than one example

FOLDS = np.arange(8) % 2
GAINS = S - 0.5
AT_QUOTA = {
    "hit_rate": lambda **q: qk.hit_rate(Y, S, **q),
    "of a ranking": lambda **q: qk.qrecall(qk.rank(Y, S), **q),
    "of a batch": lambda **q: qk.lift([Y, Y], [S, -S], **q),
    "accuracy": lambda **q: qk.accuracy(Y, S, **q),
    "confusion_table": lambda **q: qk.confusion_table(Y, S, **q),
    "select": lambda **q: qk.select(S, **q),
    "quota_threshold": lambda **q: qk.quota_threshold(S, **q),
    "impact_at_quota": lambda **q: qk.impact_at_quota(None, S, gain=GAINS, **q),
    "mixture": lambda **q: qk.mixture(qk.roc_hull(Y, S), **q),
    "rank_at_quota": lambda **q: qk.hit_rate(qk.rank_at_quota(Y, S, **q)),
    "one_vs_rest": lambda **q: qk.one_vs_rest(qk.hit_rate, Y, np.stack([-S, S], -1), **q),
    "buffer": lambda **q: qk.states.ScoreBuffer.empty(S).update(Y, S).compute(qk.hit_rate, **q),
    "histogram": lambda **q: qk.states.ScoreHistogram.of(Y, S).compute(qk.hit_rate, **q),
    "hit_rate_interval": lambda **q: qk.inference.hit_rate_interval(Y, S, **q),
    "qrecall_interval": lambda **q: qk.inference.qrecall_interval(Y, S, **q),
    "compare_selections": lambda **q: qk.inference.compare_selections(Y, [S, -S], **q),
    "bootstrap": lambda **q: qk.bootstrap(
        qk.hit_rate, np.tile(Y, 2), np.tile(S, 2), n_resamples=9, **q
    ),
    "permutation": lambda **q: qk.compare(
        qk.hit_rate, Y, {"a": S, "b": -S}, test="permutation", n_resamples=99, **q
    ),
    "fold_summary": lambda **q: qk.inference.fold_summary(qk.hit_rate, Y, S, FOLDS, n_train=4, **q),
    "fold_test": lambda **q: qk.inference.fold_test(qk.hit_rate, Y, [S, -S], FOLDS, n_train=4, **q),
}


@pytest.mark.parametrize("name", AT_QUOTA)
def test_a_quota_below_one_example_warns_once(name: str):
    message = r"^quota=0\.05 is less than one example; .* pass fraction=0\.05$"
    with pytest.warns(UserWarning, match=message) as caught:
        AT_QUOTA[name](quota=0.05)
    told = [x.filename for x in caught if str(x.message).startswith("quota=")]
    assert told == [__file__]


@pytest.mark.parametrize("mode", FEW)
def test_quotas_below_one_example_that_warn(mode: Mode):
    """Whatever the one number is; where it cannot be read, and among several, there is none."""
    quotas = [0.05, np.float32(0.05), np.asarray(0.05)]
    if mode.name != "strictest-device1":
        quotas.append(mode.array([0.05])[0])
    for quota in quotas:
        with pytest.warns(UserWarning, match=r"^quota=0\.05 is less than one example"):
            mode.run(lambda s, y, quota=quota: qk.hit_rate(y, s, quota=quota), S, Y)
    mode.run(lambda s, y: qk.hit_rate(y, s, quota=[0.05, 0.5]), S, Y)
    mode.run(lambda s, y: qk.hit_rate(y, s, quota=0), S, Y)
    mode.run(lambda s, y: qk.hit_rate(y, s, fraction=0.05), S, Y)
    mode.run(lambda s, y, w: qk.hit_rate(y, s, quota=0.05, sample_weight=w), S, Y, W)


def test_a_number_below_one_is_warned_of_while_jax_traces():
    """Once, where the call stands, and not of what a program is given."""
    jax = pytest.importorskip("jax")
    y, s = jax.numpy.asarray([1, 0, 1]), jax.numpy.asarray([0.9, 0.8, 0.7])
    program = jax.jit(lambda y, s: qk.hit_rate(y, s, quota=0.05))
    with pytest.warns(UserWarning, match=r"^quota=0\.05 is less than one example") as noted:
        program(y, s), program(y, s)
    assert [x.filename for x in noted] == [__file__]
    jax.jit(lambda y, s, quota: qk.hit_rate(y, s, quota=quota))(y, s, 0.05)
