"""Many pairs of models: Holm's correction, and letters for groups that cannot be told apart."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]


def groups_alike(differ: NDArray) -> list[tuple[int, ...]]:
    """The largest groups without two models that differ, by insertion and absorption.

    In the order of their first members; a model may be in several.
    """
    groups = [frozenset(range(differ.shape[0]))]
    for pair in np.argwhere(np.triu(differ)).tolist():
        split = []
        for group in groups:
            split += [group - {model} for model in pair] if group.issuperset(pair) else [group]
        split = list(dict.fromkeys(split))
        groups = [group for group in split if not any(group < other for other in split)]
    return sorted(tuple(sorted(group)) for group in groups)


def letters_of(groups: list[tuple[int, ...]], number: int) -> tuple[str, ...]:
    """For each model the letters of the groups that it is in: a, b, …; beyond 52 their numbers."""
    alphabet = string.ascii_letters
    names = [alphabet[k] if k < len(alphabet) else f"({k + 1})" for k in range(len(groups))]
    return tuple(
        "".join(name for name, group in zip(names, groups, strict=True) if model in group)
        for model in range(number)
    )


def holm(p_values: NDArray) -> NDArray:
    """p-values adjusted for their number by Holm's step-down method; NaN are not counted."""
    adjusted = np.full(p_values.shape, np.nan)
    order = np.argsort(p_values, kind="stable")  # NaN last
    number = np.count_nonzero(~np.isnan(p_values))
    order = order[:number]
    factors = np.arange(number, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted
