"""Whole cases for a quota or a budget, on the host: which of them fit depends on the order."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, device, namespace, readable, to_numpy
from quotakernels.inputs.columns import MASS_ROUNDING
from quotakernels.inputs.examples import Examples

NDArray = np.ndarray[Any, Any]


def whole_cases(examples: Examples, limit: Array, codes: Array | None, random_state: Any) -> Array:
    """1 for each example that is taken, 0 for others: best first, all that still fit the limit.

    Limits are of shape (..., 1), or (..., S, 1) of groups; NaN where there are none.
    """
    xp = namespace(limit)
    amounts = [x for x in (examples.weights, examples.cost) if x is not None]
    given = [ops.order_key(xp, examples.scores), limit, *amounts]
    if not all(map(readable, given)):
        raise TypeError("whole=True needs scores that the host can read, outside of programs")
    key, limits, *factors = map(to_numpy, given)
    shape = (-1, key.shape[-1])

    def rows(x: Any) -> NDArray:
        return np.broadcast_to(x, key.shape).reshape(shape)

    there = rows(True if examples.valid is None else to_numpy(examples.valid))
    price = np.prod([rows(1.0), *map(rows, factors)], axis=0)
    limits = limits.reshape(-1, 1 if codes is None else limits.shape[-2])
    groups = rows(0 if codes is None else to_numpy(codes))
    generator = np.random.default_rng(ops.entropy(random_state))
    columns = zip(rows(key), price, there, groups, limits, strict=True)
    taken = np.stack([_taken(*each, generator.random(shape[-1])) for each in columns])
    return xp.asarray(taken.reshape(key.shape), dtype=limit.dtype, device=device(limit))


def _taken(
    key: NDArray, price: NDArray, there: NDArray, group: NDArray, limit: NDArray, draws: NDArray
) -> NDArray:
    """Of one list; equal keys are in the order of the draws."""
    order = np.lexsort((draws, key))[::-1]
    order = order[there[order]]
    left, slack = limit.tolist(), (MASS_ROUNDING * limit).tolist()
    chosen = []
    columns = (order, price[order], group[order])
    for place, cost, of in zip(*(x.tolist() for x in columns), strict=True):
        if cost <= left[of] + slack[of]:
            left[of] -= cost
            chosen.append(place)
    taken = np.where(np.isnan(limit[group]), np.nan, 0.0)
    taken[chosen] = 1.0
    return taken
