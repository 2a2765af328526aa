"""The direct way of calls that say nothing but labels and scores in one list of NumPy each, or the
ranking of such a list, and perhaps one plain quota, as most calls do.

Of these no question is left that the general way has to ask: none about libraries, devices,
weights, masks, groups and invalid rows.  None stands for all other calls, and for those with an
error, which the general way raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, namespace
from quotakernels.inputs.examples import good_labels
from quotakernels.inputs.quotas import known_mass
from quotakernels.ranking import Ranking, table_of_one_list


def table_of_positives(arguments: tuple[Any, ...]) -> Any:
    """The tie groups that hold positives, of labels and scores."""
    if (found := _good_list(arguments)) is None:
        return None
    scores, labels = found
    return ops.cumulative_groups(namespace(scores), scores, labels, None, by_positives=True)


def table_of_ranking(arguments: tuple[Any, ...], by_counts: bool) -> Any:
    """The table of a ranking, or what serves measures `by_counts`."""
    if len(arguments) != 1 or not isinstance(arguments[0], Ranking):
        return None
    table = table_of_one_list(arguments[0])
    if table is None or not by_counts:
        return table
    return ops.every_group(namespace(table.counts), table) or table


def table_at_quota(
    arguments: tuple[Any, ...], cut: dict[str, Any]
) -> tuple[ops.Around, Array] | None:
    """What one quota needs of labels and scores, and the mass that it stands for, shape (1,)."""
    if len(cut) != 1 or not (cut.keys() <= {"quota", "fraction"}):
        return None
    if (found := _good_list(arguments)) is None:
        return None
    scores, labels = found
    quota = cut.get("quota")
    mass = known_mass(scores.shape[0], quota, cut.get("fraction"))
    if mass is None or (quota is not None and 0 < mass < 1):  # of which there is a warning
        return None
    around = ops.around(namespace(scores), scores, labels, mass)
    return None if around is None else (around, around.wanted)


def _good_list(arguments: tuple[Any, ...]) -> tuple[Array, Array] | None:
    """Scores and flags in one list of NumPy each."""
    if len(arguments) != 2:
        return None
    labels, scores = arguments
    if type(scores) is not np.ndarray or type(labels) is not np.ndarray:
        return None
    flags = good_labels(scores, labels)
    return None if flags is None else (scores, flags)
