"""States in programs of JAX: steps, scans, tasks side by side, and several devices as one."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from backends import in_full

import quotakernels as qk

jax = pytest.importorskip("jax")
jnp = jax.numpy
from quotakernels.adapters.jax import across_devices, emptied  # noqa: E402

BATCHES, SIZE, CAPACITY = 3, 40, 150
MEASURES = {"auc": qk.roc_auc, "hits": functools.partial(qk.hit_rate, quota=[5, 17.5])}
fixed_buffer = functools.partial(qk.states.FixedScoreBuffer.empty, capacity=CAPACITY)


class Case(NamedTuple):
    """A kind of state, the type of its scores, and whether JAX runs with x64."""

    name: str
    make: Callable[..., Any]
    dtype: str
    x64: bool

    def arrays(self) -> tuple[Any, Any]:
        labels, scores = data()
        return jnp.asarray(labels), jnp.asarray(scores, dtype=self.dtype)

    def wanted(self, labels: Any, scores: Any, **options: Any) -> dict[str, Any]:
        """What NumPy gives for all examples at once, in the floats that JAX has."""
        columns = (np.asarray(x).reshape(-1) for x in (labels, scores))
        ranking = qk.rank(*columns, **{k: np.asarray(x).reshape(-1) for k, x in options.items()})
        dtype = "float64" if self.x64 else "float32"
        return {name: np.asarray(f(ranking)).astype(dtype) for name, f in MEASURES.items()}


CASES = [
    Case("histogram-x32", qk.states.ScoreHistogram.empty, "bfloat16", False),
    Case("histogram-x64", qk.states.ScoreHistogram.empty, "float16", True),
    Case("buffer-x32", fixed_buffer, "float32", False),
    Case("buffer-x64", fixed_buffer, "float64", True),
]


def each(*cases: Any) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@pytest.fixture(autouse=True)
def precision(request: pytest.FixtureRequest) -> Iterator[None]:
    """That of the case of a test, if it has one; else what the test chooses itself."""
    callspec = getattr(request.node, "callspec", None)
    case = callspec.params.get("case") if callspec else None
    with jax.enable_x64(case is not None and case.x64):
        yield


def data() -> tuple[Any, Any]:
    """Batches of labels and scores, of which some are tied."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, (BATCHES, SIZE)).astype("int32")
    return labels, np.round(rng.normal(size=labels.shape), 1) + labels / 4


def same(found: Any, wanted: Any) -> bool:
    """Whether all numbers are equal, bit for bit, and of equal types."""
    pairs = list(zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True))
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


@pytest.mark.full
@each(*CASES)
def test_steps_and_scans_give_what_all_examples_at_once_give(case: Case):
    labels, scores = case.arrays()
    step = jax.jit(lambda state, *batch: state.update(*batch), donate_argnums=0)
    state = case.make(scores[0])
    for batch in zip(labels, scores, strict=True):
        state = step(state, *batch)

    @jax.jit
    def program(start: Any) -> Any:
        last, _ = jax.lax.scan(lambda s, x: (s.update(*x), None), start, (labels, scores))
        return last, last.compute(MEASURES)

    scanned, found = program(case.make(scores[0]))
    assert same(scanned, state)
    assert same(found, case.wanted(labels, scores))


@each(in_full(CASES[1]), in_full(CASES[2]))
def test_tasks_side_by_side_are_the_tasks_one_by_one(case: Case):
    labels, scores = case.arrays()

    @jax.jit
    @jax.vmap
    def evaluate(labels: Any, scores: Any) -> Any:
        return case.make(scores).update(labels, scores).compute(MEASURES)

    found = evaluate(labels, scores)
    for i in range(BATCHES):
        assert same({k: x[i] for k, x in found.items()}, case.wanted(labels[i], scores[i]))


@jax.jit
@functools.partial(jax.vmap, axis_name="devices", in_axes=(None, 0, 0))
def own_and_joined(start: Any, columns: Any, options: Any) -> tuple[Any, Any]:
    own = start.update(*columns, **options)
    return own, across_devices(own, "devices")


def on_each(start: Any, *columns: Any, **options: Any) -> tuple[Any, list[Any]]:
    """The state of all devices, as one of them has it, and their own."""
    own, joined = own_and_joined(start, columns, options)
    devices = columns[0].shape[0]
    with jax.enable_x64(True):
        parts = [jax.tree.map(lambda x: x[i], own) for i in range(devices)]  # noqa: B023
        return jax.tree.map(lambda x: x[-1], joined), parts


@pytest.mark.full
@each(CASES[0], CASES[3])
def test_devices_give_what_merged_states_give(case: Case):
    labels, scores = case.arrays()
    where = jnp.arange(labels.size).reshape(labels.shape) % 3 > 0
    joined, parts = on_each(case.make(scores[0]), labels, scores, where=where)
    if isinstance(joined, qk.states.FixedScoreBuffer):
        assert (joined.capacity, int(joined.filled)) == (BATCHES * CAPACITY, labels.size)
        parts = [emptied(joined), *parts]
    assert same(joined, parts[0].merge(*parts[1:]))
    assert same(joined.compute(MEASURES), case.wanted(labels, scores, where=where))
    assert not same(joined, emptied(joined))


@pytest.mark.full
def test_a_bad_batch_of_one_device_counts_for_all():
    labels, scores = CASES[2].arrays()
    invalid = scores.at[1, 3].set(jnp.nan)
    joined, parts = on_each(fixed_buffer(scores[0]), labels, invalid)
    assert [int(x.bad) for x in (*parts, joined)] == [0, 1, 0, 1]
    with pytest.warns(UserWarning, match="^all measures of this state are NaN: 1 batch held a bad"):
        assert np.isnan(joined.compute(qk.roc_auc))


@pytest.mark.full
def test_too_many_examples_of_one_device_are_seen_by_all():
    labels, scores = CASES[2].arrays()
    step = jax.jit(lambda state: state.update(labels[0], scores[0]))
    full = step(fixed_buffer(scores[0], capacity=60))
    joined, parts = on_each(full, labels[:, :21], scores[:, :21])
    assert [int(x.filled) for x in (*parts, joined)] == [61, 61, 61, 3 * 60 + 3]
    with pytest.raises(ValueError, match="has place for 180 examples and 183 came, 3 too many"):
        joined.compute(qk.roc_auc)
    joined, _ = on_each(full, labels[:, :20], scores[:, :20])
    assert int(joined.filled) == 3 * 60
    assert joined.compute(qk.roc_auc) > 0


@pytest.mark.full
def test_growing_buffers_of_devices_keep_gains():
    labels, scores = CASES[2].arrays()
    gains = {"gain": scores * 3 - 1, "gain_rejected": -scores}
    joined, parts = on_each(qk.states.ScoreBuffer.empty(scores[0]), labels, scores, **gains)
    assert same(joined.examples(), parts[0].merge(*parts[1:]).examples())
    found = joined.compute(qk.impact_at_quota, quota=17.5)
    given = {name: x.reshape(-1) for name, x in gains.items()}
    assert same(found, qk.impact_at_quota(None, scores.reshape(-1), quota=17.5, **given))
    assert found.rejected != 0


@pytest.mark.full
@pytest.mark.full
@pytest.mark.parametrize("make", [fixed_buffer, qk.states.ScoreBuffer.empty])
def test_buffers_of_devices_keep_groups(make: Callable[..., Any]):
    labels, scores = CASES[0].arrays()
    ids = jnp.arange(labels.size).reshape(labels.shape) * 7 % 4

    def of_one(y: Any, s: Any, groups: Any) -> Any:
        state = make(scores[0], num_groups=5).update(y, s, groups=groups)
        return across_devices(state, "data").compute(qk.roc_auc)

    found = jax.vmap(of_one, axis_name="data")(labels, scores, ids)
    columns = (x.reshape(-1) for x in (labels, scores))
    wanted = qk.roc_auc(*columns, groups=ids.reshape(-1), num_groups=5)
    assert all(np.array_equal(x, wanted, equal_nan=True) for x in found)


@pytest.mark.full
def test_masses_of_devices_are_summed_without_rounding():
    """In whatever order the devices are added, what each small mass brings is there."""
    scores = jnp.zeros((5, 1), jnp.bfloat16)
    weights = [2.0**53, 1.0, 0.75, 3 * 2.0**52, 1 / 3]
    with jax.enable_x64(True):
        start = qk.states.ScoreHistogram.empty(scores[0], weighted=True)
        columns = jnp.ones((5, 1), int), scores
        joined, _ = on_each(start, *columns, sample_weight=jnp.asarray(weights)[:, None])
        found = [Fraction(float(x.max())) for x in jnp.moveaxis(joined.columns["weight"], -1, 0)]
    assert abs(sum(found) - sum(map(Fraction, weights))) < 2**-50


@pytest.mark.parametrize("start", [2**62, 2**60], ids=["to 0", "below 0"])
def test_sums_that_leave_the_integers_are_undefined(start: int):
    labels, scores = jnp.zeros((8, 2), int), jnp.zeros((8, 2), jnp.int8)
    with jax.enable_x64(True):
        state = qk.states.ScoreHistogram.empty(scores[0])
        state = state._replace(counts=state.counts.at[7, 1].set(start))
        joined, _ = on_each(state, labels, scores)
    assert int(joined.bad) == 1


def test_empty_arrays_are_new():
    """A buffer given away to a program twice, or a state and its like, would be an error."""
    _, scores = CASES[2].arrays()
    state = fixed_buffer(scores[0], weighted=True)
    arrays = [*jax.tree.leaves(state), *jax.tree.leaves(emptied(state))]
    assert len({x.unsafe_buffer_pointer() for x in arrays}) == len(arrays)
    assert same(emptied(state.update([1] * SIZE, scores[0])), state)
    assert (
        emptied(qk.states.ScoreBuffer.empty(scores[0]).update([1] * SIZE, scores[0])).pieces == ()
    )


def test_pickles_keep_types_without_x64():
    labels, scores = CASES[0].arrays()
    growing = qk.states.ScoreBuffer.empty(scores[0]).update(
        labels[0], scores[0], where=labels[1] == 1
    )
    for state in (
        growing,
        fixed_buffer(scores[0]),
        qk.states.ScoreHistogram.empty(scores[0], bits=4),
    ):
        again = pickle.loads(pickle.dumps(state))
        assert jax.tree.structure(again) == jax.tree.structure(state)
        assert same(again, state)


# what runs on several devices, in a process that has them


HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]


@pytest.mark.full
def test_a_model_on_eight_devices_is_measured_as_on_one():
    pytest.importorskip("jax")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    devices = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    done = subprocess.run(
        [sys.executable, str(HERE.with_name("eight_devices.py"))],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **devices, "PYTHONPATH": str(ROOT)},
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr
