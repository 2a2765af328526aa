"""Warnings of data that are too few for the p-values that come of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from quotakernels._array import cast, computing, namespace, to_numpy
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.models import host_floats
from quotakernels.inputs.quotas import level_of_caller

ENOUGH = 10
"""With so many units of each class, tests about keep their level in simulations."""


def warn_of_few(examples: Examples, clusters: Any) -> None:
    """Warn where few examples are of one class, or few clusters have one of it.

    With none of a class there is nothing to test, and no need to warn.
    """
    fewest, kind = min(
        (units_of(flags, clusters), kind) for kind, flags in flags_of(examples).items()
    )
    if 0 < fewest < ENOUGH:
        some = kind if fewest > 1 else kind.removesuffix("s")
        found = some if clusters is None else f"cluster{'s' * (fewest > 1)} with {kind}"
        warnings.warn(
            f"only {fewest} {found}: with fewer than {ENOUGH} p-values are too small",
            stacklevel=level_of_caller(),
        )


def flags_of(examples: Examples) -> dict[str, np.ndarray[Any, Any]]:
    """On the host, which examples are of each class and count for any of the models."""
    xp = namespace(examples.scores)
    with computing(xp):
        valid, positive = examples.valid, cast(xp, examples.labels, xp.bool)
        flags = [x if valid is None else x & valid for x in (positive, ~positive)]
        both = host_floats(cast(xp, xp.stack(flags), xp.float32))
    good, bad = np.any(both.reshape(2, -1, both.shape[-1]) > 0, axis=1)
    return {"positives": good, "negatives": bad}


def units_of(flags: np.ndarray[Any, Any], clusters: Any) -> int:
    """How many examples these are, or how many clusters have one of them."""
    if clusters is None:
        return int(np.count_nonzero(flags))
    return int(np.unique(to_numpy(as_column("clusters", clusters))[flags]).shape[0])


def warn_of_undefined(undefined: np.ndarray[Any, Any], n_resamples: int) -> None:
    """Warn where some of the resamples of a model do not count; all of them give NaN anyway."""
    some = undefined[undefined < n_resamples]
    most = int(np.max(some, initial=0))
    if most:
        warnings.warn(
            f"the measure is undefined in {most} of {n_resamples} resamples: intervals and "
            "p-values are of the others",
            stacklevel=level_of_caller(),
        )
