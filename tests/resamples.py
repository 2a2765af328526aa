"""How often each example is in each resample, told by a measure of the resamples."""

from typing import Any

import numpy as np

import quotakernels as qk


def counts_drawn(
    labels: np.ndarray, n_resamples: int, where: Any = None, clusters: Any = None, **kind: Any
) -> np.ndarray:
    """Those of any models with these labels, shape (R, n), where a mask or weights let them count.

    Models share their resamples, and the first one here has the examples in the order of the input.
    """
    there = np.ones(len(labels), bool) if where is None else where != 0
    first = -np.arange(np.count_nonzero(there))
    found = qk.bootstrap(
        lambda ranking: ranking.counts,
        labels[there],
        np.stack([first, first]),
        n_resamples=n_resamples,
        clusters=None if clusters is None else clusters[there],
        random_state=3,
        method="percentile",
        **kind,
    )
    counts = np.zeros((n_resamples, len(labels)), np.int64)
    counts[:, there] = found.resamples[0].T
    return counts
