"""What all libraries need to draw resamples: where their seeds come from, and a distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels.inputs.keywords import show_value


def entropy(random_state: Any) -> Any:
    """Whole numbers that seed NumPy's generators."""
    if isinstance(random_state, np.random.Generator):
        return [int(x) for x in random_state.integers(2**32, size=4)]
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if whole and random_state < 0:
        raise ValueError(f"random_state must be a whole number from 0 on; got {random_state}")
    if random_state is None or whole:
        return np.random.SeedSequence(random_state).entropy
    raise TypeError(
        "random_state must be None, a whole number or a random generator of the scores' library; "
        f"got {show_value(random_state)}"
    )


def poisson_steps() -> np.ndarray[Any, Any]:
    """The probabilities that a Poisson variable of mean 1 is at most 0, 1, 2, …; up to 1."""
    factorials = np.cumprod(np.append(1.0, np.arange(1.0, 20.0)))
    steps: np.ndarray[Any, Any] = np.minimum(np.cumsum(np.exp(-1.0) / factorials), 1.0)
    return steps
