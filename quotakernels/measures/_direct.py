"""The direct way of calls that say nothing but labels and scores in arrays of NumPy, or the ranking
of one list, and perhaps one plain quota, as most calls do.

Of these no question is left that the general way has to ask: none about libraries, devices,
weights, masks, groups and invalid rows.  None stands for all other calls, and for those with an
error, which the general way raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, by_numpy, like_tuple, namespace
from quotakernels.inputs.cuts import known_mass
from quotakernels.inputs.examples import good_labels
from quotakernels.ranking import Ranking, table_of_one_list

Function: TypeAlias = Callable[..., Any]
LONG = 2**15
"""Lists of a batch that are at least as long are measured one by one."""


def value_of_lists(function: Function, arguments: tuple[Any, ...], by_moments: bool) -> Any:
    """Of labels and scores: of their moments, or of the tie groups that hold positives."""
    if (found := _good_lists(arguments)) is None:
        return None
    scores, labels = found
    if scores.ndim > 1 and scores.shape[-1] >= LONG:
        labels = np.broadcast_to(labels, scores.shape)
        every = [_value(function, scores[i], labels[i], by_moments) for i in _lists(scores)]
        return None if any(x is None for x in every) else _joined(every, scores.shape[:-1])
    return _value(function, scores, labels, by_moments)


def _lists(scores: Array) -> Any:
    return np.ndindex(scores.shape[:-1])


def _value(function: Function, scores: Array, labels: Array, by_moments: bool) -> Any:
    xp = namespace(scores)
    if by_moments:
        table: Any = ops.moments_of(xp, scores, labels)
    else:
        if labels.ndim < scores.ndim:
            labels = np.broadcast_to(labels, scores.shape)
        table = ops.cumulative_groups(xp, scores, labels, None, by_positives=True)
    return None if table is None else by_numpy(function, table)


def _joined(every: list[Any], shape: tuple[int, ...]) -> Any:
    """The results of all lists, numbers or records of numbers, as those of the batch."""
    if isinstance(every[0], tuple):
        return like_tuple(every[0], (np.reshape(x, shape) for x in zip(*every, strict=True)))
    return np.reshape(every, shape)


def value_of_ranking(function: Function, arguments: tuple[Any, ...], by_counts: bool) -> Any:
    """Of a ranking; of measures `by_counts` as if each of its groups held positives."""
    if not isinstance(arguments[0], Ranking) or (table := table_of_one_list(arguments[0])) is None:
        return None
    found: Any = ops.every_group(namespace(table.counts), table) if by_counts else None
    return by_numpy(function, found or table)


def value_at_quota(function: Function, arguments: tuple[Any, ...], cut: dict[str, Any]) -> Any:
    """Of labels and scores of one list, and one quota."""
    if len(cut) != 1 or not (cut.keys() <= {"quota", "fraction"}):
        return None
    if (found := _good_lists(arguments)) is None or found[0].ndim > 1:
        return None
    scores, labels = found
    quota = cut.get("quota")
    mass = known_mass(scores.shape[0], quota, cut.get("fraction"))
    if mass is None or (quota is not None and 0 < mass < 1):  # of which there is a warning
        return None
    around = ops.around(namespace(scores), scores, labels, mass)
    return None if around is None else by_numpy(function, around, around.wanted)[0]


def _good_lists(arguments: tuple[Any, ...]) -> tuple[Array, Array] | None:
    """Scores and flags, of one list or several."""
    if len(arguments) != 2:
        return None
    labels, scores = arguments
    if type(scores) is not np.ndarray or type(labels) is not np.ndarray:
        return None
    flags = good_labels(scores, labels)
    return None if flags is None else (scores, flags)
