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
from quotakernels._array import Array, by_numpy, namespace
from quotakernels.inputs.cuts import known_mass
from quotakernels.inputs.examples import good_labels
from quotakernels.ranking import Ranking, table_of_one_list

Function: TypeAlias = Callable[..., Any]


def value_of_lists(function: Function, arguments: tuple[Any, ...]) -> Any:
    """Of labels and scores: of cumulative counts."""
    if (found := _good_lists(arguments)) is None:
        return None
    scores, labels = found
    labels = labels if labels.ndim == scores.ndim else np.broadcast_to(labels, scores.shape)
    table = ops.cumulative_groups(namespace(scores), scores, labels, None, by_positives=True)
    return None if table is None else by_numpy(function, table)


def value_of_ranking(function: Function, arguments: tuple[Any, ...]) -> Any:
    """Of a ranking."""
    if not isinstance(arguments[0], Ranking) or (table := table_of_one_list(arguments[0])) is None:
        return None
    return by_numpy(function, table)


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
