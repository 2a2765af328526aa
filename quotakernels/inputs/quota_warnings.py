"""Warnings of quotas and thresholds that were meant otherwise in all likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Array, is_array, may_warn, readable, to_numpy
from quotakernels.inputs.warned import warn_once


def warn_below_one(quota: Any) -> None:
    """Warn of a single quota between 0 and 1, which was meant as a fraction in all likelihood."""
    plain = type(quota) in (int, float)
    single = plain or (is_array(quota) and quota.ndim == 0 and readable(quota))
    if single and 0 < quota < 1:
        number = f"{float(quota):.7g}"
        warn_once(
            f"quota={number} is less than one example; for a share of all examples pass "
            f"fraction={number}"
        )


def warn_of_one_each(name: str, given: Any, groups: int) -> None:
    """Warn of a number for each group, unless they only rise or only fall, as those for all do."""
    if not (isinstance(given, (list, tuple)) or (is_array(given) and readable(given))):
        return
    numbers = to_numpy(given) if is_array(given) else np.asarray(given)
    if numbers.shape != (groups,) or groups == 1:
        return
    steps = numbers[1:] - numbers[:-1]
    if not (np.all(steps > 0) or np.all(steps < 0)):
        warn_once(
            f"{name} has {groups} numbers for {groups} groups, and every group gets all of them; "
            f"for one number for each group pass an array of shape ({groups}, 1)"
        )


def warn_of_nan(scores: Array, threshold: Any) -> None:
    """Warn of a threshold of these scores that is NaN, unless it is the first of several.

    There curves have the cut that selects nothing.
    """
    if type(threshold) in (int, float) and threshold == threshold:
        return  # as most are, in a fraction of the time
    if not may_warn(scores) or (is_array(threshold) and not readable(threshold)):
        return
    given = np.atleast_1d(to_numpy(threshold) if is_array(threshold) else np.asarray(threshold))
    if given.dtype.kind != "f" or given.shape[-1] == 0:
        return
    missing = np.isnan(given)
    if np.any(missing[..., 1:] & ~missing[..., :-1] if given.shape[-1] > 1 else missing):
        warn_once("threshold is NaN, and selects nothing")
