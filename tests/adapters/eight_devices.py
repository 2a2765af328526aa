"""A model trained on eight devices, and measured on them: to be run with so many.

The data is spread over the devices; each keeps states of the batches that it has seen, which become
one state at the end.  What comes out has to be what all scores at once give.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import quotakernels as qk
from quotakernels.adapters.jax import across_devices

DEVICES, BATCHES, SIZE, FEATURES = 8, 4, 16, 5
MEASURES = {
    "auc": qk.roc_auc,
    "hits": functools.partial(qk.hit_rate, quota=[10, 99.5]),
    "lift": functools.partial(qk.lift, fraction=0.1),
    "area": qk.pr_auc,
}
AXES = ("hosts", "chips")
EVERYWHERE, SPREAD = PartitionSpec(), PartitionSpec(None, AXES)
MESH = Mesh(np.asarray(jax.devices()).reshape(4, 2), AXES)


def examples() -> tuple[Any, Any]:
    """Batches of features and labels, spread over the devices along the second axis."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=(BATCHES, DEVICES * SIZE, FEATURES)).astype("float32")
    chance = 1 / (1 + np.exp(1 - x[..., 0] - x[..., 1] * x[..., 2]))
    y = (rng.random(chance.shape) < chance).astype("int32")
    return jax.device_put((x, y), NamedSharding(MESH, SPREAD))


def logits(params: dict[str, Any], x: Any) -> Any:
    hidden = jnp.tanh(x @ params["in"] + params["bias"])
    return hidden @ params["out"]


def loss(params: dict[str, Any], x: Any, y: Any) -> Any:
    z = logits(params, x)
    return jnp.mean(jnp.logaddexp(0, z) - y * z)


@jax.jit
def trained(params: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
    """Descent on all batches, again and again; the compiler spreads it as the data are."""

    def step(params: Any, batch: Any) -> tuple[Any, None]:
        slopes = jax.grad(loss)(params, *batch)
        return jax.tree.map(lambda p, g: p - 0.5 * g, params, slopes), None

    def epoch(_: Any, params: Any) -> Any:
        return jax.lax.scan(step, params, (x, y))[0]

    return jax.lax.fori_loop(0, 30, epoch, params)


@jax.jit
@functools.partial(
    jax.shard_map, mesh=MESH, in_specs=(EVERYWHERE, SPREAD, SPREAD), out_specs=(EVERYWHERE, SPREAD)
)
def evaluated(params: dict[str, Any], x: Any, y: Any) -> tuple[dict[str, Any], Any]:
    """States of all examples, and their scores; each device carries its own through a scan."""
    scores = jnp.zeros(1)
    states = {
        "bfloat16": qk.states.ScoreHistogram.empty(scores.astype(jnp.bfloat16)),
        "float32": qk.states.ScoreHistogram.empty(scores),
        "buffer": qk.states.FixedScoreBuffer.empty(scores, capacity=BATCHES * SIZE),
    }
    states = jax.lax.pcast(states, AXES, to="varying")

    def step(states: Any, batch: Any) -> tuple[Any, Any]:
        z = logits(params, batch[0])
        states = {k: s.update(batch[1], z.astype(s.like.dtype)) for k, s in states.items()}
        return states, z

    states, z = jax.lax.scan(step, states, (x, y))
    return {k: across_devices(s, AXES) for k, s in states.items()}, z


@jax.jit
def evaluated_by_the_compiler(params: dict[str, Any], x: Any, y: Any) -> Any:
    """The same without a word of devices."""
    z = jax.lax.map(functools.partial(logits, params), x).astype(jnp.bfloat16)
    start = qk.states.ScoreHistogram.empty(z[0])
    return jax.lax.scan(lambda s, batch: (s.update(*batch), None), start, (y, z))[0]


def exact_auc(labels: Any, scores: Any) -> Fraction:
    positive, negative = scores[labels == 1][:, None], scores[labels == 0]
    twice = 2 * np.sum(positive > negative) + np.sum(positive == negative)
    return Fraction(int(twice), 2 * positive.size * negative.size)


def main() -> None:
    assert jax.device_count() == DEVICES
    x, y = examples()
    start = np.random.default_rng(3).normal(size=(FEATURES, 6)).astype("float32")
    params = trained({"in": start, "bias": jnp.zeros(6), "out": jnp.zeros(6)}, x, y)
    states, z = evaluated(params, x, y)

    labels, scores = np.asarray(y).ravel(), np.asarray(z).ravel()
    for name in ("bfloat16", "buffer"):
        rounded = scores.astype(states[name].like.dtype)
        for measure, value in states[name].compute(MEASURES).items():
            wanted = np.asarray(MEASURES[measure](labels, rounded), dtype="float32")
            assert np.array_equal(value, wanted), (name, measure, value, wanted)

    spread = evaluated_by_the_compiler(params, x, y)
    assert np.array_equal(spread.counts, states["bfloat16"].counts)

    bounds = states["float32"].compute(qk.roc_auc)
    auc = exact_auc(labels, scores)
    assert Fraction(float(bounds.lower)) <= auc <= Fraction(float(bounds.upper))
    assert 0.75 < auc < 1, "the model has learnt something, and not all"
    assert bounds.width < 0.01
    print("equal")


if __name__ == "__main__":
    main()
