"""Changes of the input that must change nothing: order, scale, padding, splitting, repeating."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import everything as every
import numpy as np
import pytest
from backends import MODES, Mode, parameters
from expected import ulps
from public_names import PUBLIC

import quotakernels as qk

N = 12
PERMUTATIONS = 30


def modes(*names: str) -> list[Any]:
    return parameters([mode for mode in MODES if mode.name in names])


QUICK = modes("numpy", "strict", "strictest-device1", "torch", "torch-vmap", "cupy")
COMPILED = modes("jax64-jit", "jax32-vmap")


def tie_structures() -> list[tuple[np.ndarray, np.ndarray]]:
    """Labels and scores (sixteenths, so that every map is exact) without, with some, only ties."""
    steps = np.arange(1, N + 1) / 16
    mixed = np.asarray([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1])
    return [
        (mixed, steps),
        (mixed, np.repeat(steps[::3], 3)),
        (mixed, np.asarray([1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 9, 9]) / 16),
        (mixed, np.full(N, 0.25)),
        (mixed[::-1], np.where(np.arange(N) < 7, 0.0625, 0.75)),
        ((np.arange(N) > 8).astype(int), np.repeat(steps[:6], 2)),
        ((np.arange(N) == 3).astype(int), steps[::-1]),
        ((steps > 0.3).astype(int), steps),
    ]


MAPS = [
    lambda x: x,
    lambda x: 1000 * x - 3,
    np.exp,
    np.log,
    np.cbrt,
    lambda x: -1 / x,
    lambda x: x * 2.0**-120,
    lambda x: x**3 - 1,
    lambda x: np.floor(16 * x),
]
MASKS = [
    np.arange(N) % 3 != 0,
    np.arange(N) < 7,
    np.arange(N) >= 8,
    np.isin(np.arange(N), [0, 4, 5, 7, 11]),
]


@lru_cache(maxsize=1)
def batch() -> dict[str, np.ndarray]:
    """Rows that are permuted, rows that are mapped, and rows that are masked, and their origin."""
    rng = np.random.default_rng(12)
    rows: list[tuple[Any, ...]] = []
    for origin, (labels, scores) in enumerate(tie_structures()):
        everyone = np.ones(N, dtype=bool)
        for _ in range(PERMUTATIONS):
            order = rng.permutation(N)
            rows.append((origin, "order", order, labels[order], scores[order], everyone))
        mapped = (change(scores) for change in MAPS)
        rows += [(origin, "map", np.arange(N), labels, x, everyone) for x in mapped]
        for mask in MASKS:
            noise = np.where(rng.random(N) < 0.5, np.nan, np.inf)
            garbage = rng.choice([np.nan, 7.0, -1.0, 1.0], N)
            masked = (np.where(mask, labels, garbage), np.where(mask, scores, noise), mask)
            rows.append((origin, "mask", np.arange(N), *masked))
    names = ("origin", "kind", "order", "labels", "scores", "where")
    return {name: np.stack(x) for name, x in zip(names, zip(*rows, strict=True), strict=True)}


def masked(y: Any, s: Any, where: Any) -> dict[str, Any]:
    return every.everything(y, s, None, where)


def of_scores(name: str) -> bool:
    """Whether a value is computed with the scores: it changes when they are mapped."""
    return "pearson" in name or "threshold" in name


def check_rows(found: dict[str, np.ndarray], kinds: tuple[str, ...]) -> None:
    rows = batch()
    for origin in range(len(tie_structures())):
        here = {kind: (rows["origin"] == origin) & (rows["kind"] == kind) for kind in kinds}
        first = int(np.flatnonzero(here["order"])[0])
        every.assert_exact(
            every.of_row(found, first), *(rows[x][first] for x in ("labels", "scores"))
        )
        for name, value in found.items():
            for kind in kinds[:2]:
                if kind == "map" and of_scores(name):
                    continue
                values = value[here[kind]]
                if name == "select":
                    back = np.argsort(rows["order"][here[kind]], axis=-1)
                    values = np.take_along_axis(values, back, axis=-1)
                    reference = np.take_along_axis(
                        value[first], np.argsort(rows["order"][first]), 0
                    )
                else:
                    reference = value[first]
                wanted = np.broadcast_to(reference, values.shape)
                np.testing.assert_array_equal(values, wanted, err_msg=f"{name} {kind} {origin}")


def check_masked(found: dict[str, np.ndarray]) -> None:
    rows = batch()
    for index in np.flatnonzero(rows["kind"] == "mask"):
        y, s, where = (rows[name][index] for name in ("labels", "scores", "where"))
        values = every.of_row(found, index)
        chosen = values.pop("select")
        assert (chosen[~where] == 0).all()
        every.assert_exact({**values, "select": chosen[where]}, y[where], s[where])


@pytest.mark.parametrize("mode", [*QUICK, *COMPILED])
@pytest.mark.long_program
def test_order_scale_and_masked_garbage_change_nothing(mode: Mode):
    """The spread over orders is 0, not small: what is not weighted is counted."""
    rows = batch()
    found = mode.run(masked, rows["labels"], rows["scores"], rows["where"])
    check_rows(found, ("order", "map"))
    check_masked(found)


@pytest.mark.parametrize("mode", modes("numpy", "torch", "jax32"))
def test_compact_tables_do_not_depend_on_the_order(mode: Mode):
    """One list at a time takes another path than a batch."""
    rows = batch()
    function = every.everything if mode.library != "jax" else lambda y, s: {"auc": qk.roc_auc(y, s)}
    for origin, (labels, scores) in enumerate(tie_structures()):
        wanted = mode.run(function, labels.astype(float), scores)
        for index in np.flatnonzero((rows["origin"] == origin) & (rows["kind"] == "order"))[::6]:
            found = mode.run(function, rows["labels"][index], rows["scores"][index])
            for name, value in found.items():
                back = np.argsort(rows["order"][index])
                value = value[back] if name == "select" else value
                np.testing.assert_array_equal(value, wanted[name], err_msg=name)


# weights

WEIGHTED = modes("numpy", "strict", "torch", "jax64-jit", "cupy")


def weighted(y: Any, s: Any, w: Any) -> dict[str, Any]:
    ranking = qk.rank(y, s, sample_weight=w)
    names = ("roc_auc", "gini", "pem", "average_hit_rate", "average_qrecall")
    found = {name: PUBLIC[name](ranking) for name in names}
    for measure in (qk.hit_rate, qk.qrecall, qk.lift):
        found[measure.__name__] = measure(ranking, fraction=[0.125, 0.5, 1])
    found["pearson"] = qk.pearson(ranking, fraction=[0.5, 1])
    table = qk.lift_table(ranking, bins=4)
    return found | {"lift_table.lift": table.lift, "lift_table.qrecall": table.qrecall}


ITEMS = ("average_hit_rate", "average_qrecall")
"""Measures whose positions are items: a weight of 2 is not two of them."""


@pytest.mark.parametrize("mode", WEIGHTED)
@pytest.mark.long_program
def test_a_weight_of_two_is_a_row_repeated(mode: Mode):
    weights = np.random.default_rng(13).integers(1, 4, (8, N))
    labels, scores = (np.stack(x) for x in zip(*tie_structures(), strict=True))
    found = mode.run(weighted, labels, scores, weights.astype(float))
    for index in range(8):
        again = np.repeat(np.arange(N), weights[index])
        y, s = labels[index][again], scores[index][again]
        wanted = weighted(y, s, np.ones(y.size))
        for name, value in found.items():
            if name in ITEMS:
                continue
            if name == "pearson" or name.startswith("lift_table"):
                np.testing.assert_allclose(value[index], wanted[name], 1e-12, 1e-12, err_msg=name)
            else:
                assert ulps(value[index], np.asarray(wanted[name])) <= 4, name
        assert found["average_hit_rate"][index] <= 1


@pytest.mark.long_program
@pytest.mark.parametrize("mode", WEIGHTED)
def test_weights_of_one_and_the_scale_of_weights_change_nothing(mode: Mode):
    labels, scores = (np.stack(x) for x in zip(*tie_structures(), strict=True))
    scales = np.asarray([1, 0.25, 3, 1e-20, 1e20, 7, 1e6, 0.1])[:, None]
    found = mode.run(weighted, labels, scores, np.broadcast_to(scales, labels.shape))
    for index in range(8):
        ranking = qk.rank(labels[index], scores[index])
        for name in ("roc_auc", "average_hit_rate", "average_qrecall"):
            assert ulps(found[name][index], np.asarray(PUBLIC[name](ranking))) <= 4, name
        for name in ("hit_rate", "qrecall", "lift"):
            value = PUBLIC[name](ranking, fraction=[0.125, 0.5, 1])
            np.testing.assert_allclose(found[name][index], value, 1e-14, err_msg=name)


@pytest.mark.long_program
@pytest.mark.parametrize("mode", WEIGHTED)
def test_order_and_rows_of_weight_zero_hardly_change_weighted_measures(mode: Mode):
    """Sums of weights are rounded, in an order that may depend on that of the rows.

    A sum of N terms is off by N·eps at most.  There are two in a quotient and five in a
    correlation, on either side.
    """
    labels, scores = tie_structures()[2]
    rng, eps = np.random.default_rng(14), float(np.finfo(float).eps)
    weights = rng.random(N) * 10.0 ** rng.integers(-3, 3, N)
    weights[[2, 5, 9]] = 0
    orders = np.stack([np.arange(N), *(rng.permutation(N) for _ in range(7))])
    noisy = np.where(weights == 0, np.nan, scores)
    found = mode.run(weighted, labels[orders], noisy[orders], weights[orders])
    there = weights > 0
    wanted = weighted(labels[there], scores[there], weights[there])
    for name, value in found.items():
        near = 2 * (5 if name == "pearson" else 2) * N * eps
        for row in value:
            np.testing.assert_allclose(row, wanted[name], near, near, err_msg=name)
