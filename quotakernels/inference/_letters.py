"""Which of several models cannot be told apart: a compact letter display."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

__all__ = ["letters_of", "together"]

NDArray = np.ndarray[Any, Any]


def together(differ: NDArray) -> list[tuple[int, ...]]:
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
