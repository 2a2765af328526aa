"""Data that are too few for what intervals and tests say of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Array, Namespace, cast, computing, readable, to_numpy
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import warn_once
from quotakernels.inputs.models import host_floats
from quotakernels.measures._facts import title_of
from quotakernels.ops import namespace

NDArray = np.ndarray[Any, Any]
ENOUGH_CLUSTERS = 60
"""Of 40 clusters tests at 5 % found a difference in 7 %, and intervals of 95 % held AHR in 91 %."""
ENOUGH_GROUPS = 20
"""Intervals of means, of 95 %, held 75 to 84 % with 4 groups, 86 to 96 with 6 to 15."""
ENOUGH_LOST, NEAR_ONE, NEAREST = 3.0, 0.97, 0.999
"""Above such an AUC intervals of 95 % mostly held 80 to 93 % where (1 - AUC), times how many there
are of the rarer class, was less.  Beyond the last it is hardly known how near 1 an AUC is.
"""

_SEVERAL = {"resamples": 20, "folds": 2}
"""Of fewer resamples some are alike by chance."""


class Purpose(NamedTuple):
    """How many examples of a class are enough, or how many clusters with one, by simulations; and
    what is wrong with fewer.
    """

    examples: int
    clusters: int
    wrong: str


INTERVALS = Purpose(5, 5, "intervals are too narrow")
TESTS = Purpose(
    30, ENOUGH_CLUSTERS, "p-values are too small, and intervals near an AUC of 1 too narrow,"
)


def warn_of_few(
    purpose: Purpose,
    examples: Examples,
    clusters: Any = None,
    groups: Array | None = None,
    unit: str = "cluster",
    area: float = 0.5,
) -> None:
    """Warn of few examples of a class, of few clusters that have one, or few in one of the groups.

    Where there are none of a class there is nothing to say.  Examples of unequal weights amount to
    fewer (Kish).  The nearer the `area` under the ROC curve is to 1, the more are few.
    """
    fewest, kind = min(
        (_fewest(flags, clusters, groups), kind) for kind, flags in flags_of(examples).items()
    )
    if fewest == 0:
        return
    some = kind if fewest > 1 else kind.removesuffix("s")
    if clusters is not None:
        _warn_below(
            fewest, f"{unit}{'s' * (fewest > 1)} with {kind}", purpose.wrong, purpose.clusters
        )
    elif groups is not None:
        _warn_below(fewest, f"{some} in a group", purpose.wrong, purpose.examples)
    else:
        counts: list[tuple[float, str]] = [(fewest, some)]
        if examples.weights is not None:
            counts.append(_of_equal_weight(examples))
        if not any(_warn_below(*x, purpose.wrong, purpose.examples) for x in counts):
            near = "intervals near an AUC of 1 are too narrow"
            _warn_below(*counts[-1], near, enough_near_one(area))


def enough_near_one(area: float) -> int:
    """How many examples of a class are enough near an AUC of 1; 0 elsewhere."""
    return math.ceil(ENOUGH_LOST / (1 - min(area, NEAREST))) if area > NEAR_ONE else 0


def _of_equal_weight(examples: Examples) -> tuple[float, str]:
    """As how many of equal weight the examples of one class tell, the class that has fewer."""
    weights = host_floats(examples.weights)
    xp = namespace(weights)
    with computing(xp):
        told = {kind: kish(xp, x, weights) for kind, x in flags_of(examples).items()}
    fewest, kind = min((float(np.min(x)), kind) for kind, x in told.items())
    return round(fewest, 1), f"{kind} of equal weight (Kish)"


def kish(xp: Namespace, flags: Array, weights: Array) -> Array:
    """How many equal weights tell as much as those of the raised flags, shape (..., 1); NaN of
    none.
    """
    own = xp.where(flags, weights, xp.zeros_like(weights))
    own = own / xp.max(own, axis=-1, keepdims=True)
    total, squares = (xp.total(x)[..., None] for x in (own, own * own))
    return total * total / squares


def _fewest(flags: NDArray, clusters: Any, groups: Array | None) -> int:
    """How many there are; in the group that has the fewest of those that have some."""
    if groups is None:
        return units_of(flags, clusters)
    own = host_floats(groups).reshape(-1, flags.shape[-1])[0].astype(np.int64)
    each = np.bincount(own[flags])
    return int(each[each > 0].min(initial=flags.shape[-1])) if flags.any() else 0


def flags_of(examples: Examples) -> dict[str, NDArray]:
    """On the host, which examples are of each class and count for any of the models."""
    xp = namespace(examples.scores)
    with computing(xp):
        valid, positive = examples.valid, cast(xp, examples.labels, xp.bool)
        flags = [x if valid is None else x & valid for x in (positive, ~positive)]
        both = host_floats(cast(xp, xp.stack(flags), xp.float32))
    good, bad = np.any(both.reshape(2, -1, both.shape[-1]) > 0, axis=1)
    return {"positives": good, "negatives": bad}


def units_of(flags: NDArray, clusters: Any) -> int:
    """How many examples these are, or how many clusters have one of them."""
    if clusters is None:
        return int(np.count_nonzero(flags))
    return int(np.unique(to_numpy(as_column("clusters", clusters))[flags]).shape[0])


def few_clusters(units: int) -> bool:
    """Whether so few are drawn whole that resamples vary less than others would; warns of it."""
    return _warn_below(units, "clusters", INTERVALS.wrong, ENOUGH_CLUSTERS)


def few_groups(units: int) -> bool:
    """Whether so few groups are drawn that intervals of their mean are too narrow; warns of it."""
    return _warn_below(units, "groups", INTERVALS.wrong, ENOUGH_GROUPS)


def warn_of_equal_rates(measure: Any, values: Any, lists: int, what: str = "resamples") -> None:
    """Warn where the middle 95% of the resamples of a list have one hit rate, as where nearly all
    of the selected are positive; lists have so many axes, and a curve has one more.
    """
    if isinstance(measure, Mapping):
        for name, each in measure.items():
            warn_of_equal_rates(each, values[name], lists, what)
    elif title_of(measure) == "hit_rate" and values.ndim == lists + 1 and readable(values):
        found = np.sort(host_floats(values), axis=-1)
        apart = found.shape[-1] // 40
        if found.shape[-1] < _SEVERAL[what]:
            return
        if np.any(found[..., apart] == found[..., found.shape[-1] - 1 - apart]):
            every = "all" if np.any(found[..., 0] == found[..., -1]) else "nearly all"
            warn_once(
                f"{every} {what} have the same hit rate, which does not mean certainty: intervals "
                "of hit rates near 0 or 1 are too narrow"
            )


def _warn_below(number: float, what: str, wrong: str, enough: int) -> bool:
    if number < enough:
        warn_once(f"only {number} {what}: {wrong} with fewer than {enough}")
    return number < enough
