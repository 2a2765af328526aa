"""Rankings of Dask arrays and columns of Dask data frames.

Every partition becomes a table of its tie groups on its own worker.  Only tables are sent and
combined, as a tree.  The last step has one row per distinct score in memory, not the examples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels import Ranking, ops
from quotakernels._array import library
from quotakernels.adapters import requiring
from quotakernels.adapters._tables import Ids, merged, ranking_of_merged
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.examples import check_grouped_ties
from quotakernels.inputs.keywords import forwarding
from quotakernels.ops import namespace
from quotakernels.ranking import TiePolicy, rank, ranked, table_of

with requiring("Dask", "dask"):
    import dask
    import dask.array
    import dask.dataframe

__all__ = ["ranking"]

_COMBINED_AT_ONCE = 8


class _Partial(NamedTuple):
    """The table of some partitions, the first of which has a number.

    Also the negative label found beside `pos_label`, and where; and the group of each row, if there
    are groups.
    """

    number: int
    negative: tuple[Any, int] | None
    table: ops.TieTable
    ids: Ids


@forwarding(rank, without=("validate", "num_groups"))
def ranking(
    y_true: Any,
    y_score: Any,
    *,
    data: Any = None,
    pos_label: Any = None,
    ties: TiePolicy = "expected",
    gain_rejected: Any = 0,
    **columns: Any,
) -> Ranking:
    """Rank scores in partitions: `rank` for Dask.

    It uses the current scheduler (``dask.config``, or a ``distributed.Client``).  Counts are added
    as integers.  So without weights the result equals that of `rank` on all examples at once, bit
    for bit, for any partitions, even if a scheduler runs a task twice.

    Parameters
    ----------
    y_true, y_score : dask arrays of one axis, or columns of dask data frames
        Labels and scores.  Arrays are rechunked like `y_score`.  Columns of data frames must have
        the same number of partitions; rows belong together by position, and an index is ignored.
    data : dask data frame, optional
        With it, the other arguments may be names of its columns.
    sample_weight, where : as `y_true`, optional
        Weights; False for examples to leave out.
    gain, gain_rejected : as `y_true`, optional
        What each example brings if it is selected, and if it is not, one number or a column; with
        them `y_true` may be None.
    groups : as `y_true`, optional
        The group of each example; a group may lie in several partitions.  Groups
        whose examples are all left out do not appear.
    cost, treatment : as `y_true`, optional
        What each example costs if it is selected, and 1 for each that was treated.
    pos_label : optional
        The label of the positive class, if labels are not 0 and 1.
    ties : {"expected", "optimistic", "pessimistic"}
        Whether equal scores count by the mean over their orders, or with the positives first, or
        last.

    Returns
    -------
    Ranking
        Of NumPy arrays, a row per distinct score, or per score and group, in the dtype of the
        scores.  With weights, the masses of a score's partitions are added in the order of the
        partitions.

    Raises
    ------
    TypeError
        Arguments that are neither dask arrays nor columns; partitions that are not NumPy or pandas;
        dtypes that `rank` refuses, or that change between partitions, also of the ids.
    ValueError
        Lengths or numbers of partitions that differ; values that `rank` refuses (NaN scores,
        missing values, labels that are not 0 and 1, …), with the partition and the position in it.

    Examples
    --------
    >>> import dask.array
    >>> from quotakernels import roc_auc
    >>> from quotakernels.adapters.dask import ranking
    >>> y_true = dask.array.from_array([1, 0, 1, 1, 0], chunks=2)
    >>> y_score = dask.array.from_array([0.9, 0.8, 0.8, 0.6, 0.1], chunks=2)
    >>> print(roc_auc(ranking(y_true, y_score)))
    0.75
    """
    check_grouped_ties(ties)
    one_for_all = type(gain_rejected) in (int, float)
    given = {"y_score": y_score, "y_true": y_true, **columns}
    given |= {"gain_rejected": None if one_for_all else gain_rejected}
    columns = {name: _column(data, x) for name, x in given.items() if x is not None}
    same = {"y_true": None, "gain_rejected": gain_rejected if one_for_all else 0}
    partitions = enumerate(_partitions(columns))
    parts = [dask.delayed(_partial)(number, x, pos_label, same) for number, x in partitions]
    while len(parts) > 1:
        starts = range(0, len(parts), _COMBINED_AT_ONCE)
        parts = [dask.delayed(_together)(parts[k : k + _COMBINED_AT_ONCE]) for k in starts]
    (found,) = dask.compute(*parts)
    return ranking_of_merged(found.table, found.ids, ties)


def _column(data: Any, x: Any) -> Any:
    return data[x] if data is not None and isinstance(x, str) else x


def _partitions(columns: dict[str, Any]) -> list[Any]:
    """For each partition, its delayed part of each column."""
    kinds = (dask.array.Array, dask.dataframe.Series)
    for kind, divided in zip(kinds, (_blocks, _frame_partitions), strict=True):
        if all(isinstance(x, kind) for x in columns.values()):
            return divided(columns)
    kinds_of = ", ".join(f"{name} is a {type(x).__name__}" for name, x in columns.items())
    raise TypeError(f"pass dask arrays alone, or columns of dask data frames alone; {kinds_of}")


def _blocks(arrays: dict[str, Any]) -> list[Any]:
    scores = arrays["y_score"]
    for name, x in arrays.items():
        if x.ndim != 1:
            raise ValueError(f"{name} must have one axis, that of the examples; got {x.ndim}")
        known = not np.isnan(x.shape[0] + scores.shape[0])
        if known and x.shape != scores.shape:
            raise ValueError(f"{name} has {x.shape[0]} examples and y_score {scores.shape[0]}")
        arrays[name] = x.rechunk(scores.chunks) if known else x
    _check_numbers({name: x.numblocks[0] for name, x in arrays.items()}, "blocks")
    # Unoptimized graphs share the keys of what several columns are computed from.
    blocks = [x.to_delayed(optimize_graph=False).ravel().tolist() for x in arrays.values()]
    return [dict(zip(arrays, block, strict=True)) for block in zip(*blocks, strict=True)]


def _frame_partitions(columns: dict[str, Any]) -> list[Any]:
    _check_numbers({name: x.npartitions for name, x in columns.items()}, "partitions")
    # One step reads them all, so that a partition behind several columns is computed once.
    named = dask.dataframe.map_partitions(
        _named,
        list(columns),
        *columns.values(),
        meta=(None, object),
        enforce_metadata=False,
        align_dataframes=False,
    )
    partitions: list[Any] = named.to_delayed()
    return partitions


def _named(names: list[str], *columns: Any) -> dict[str, Any]:
    return dict(zip(names, columns, strict=True))


def _check_numbers(numbers: dict[str, int], of_what: str) -> None:
    for name, number in numbers.items():
        if number != numbers["y_score"]:
            raise ValueError(
                f"{name} has {number} {of_what} and y_score {numbers['y_score']}; "
                "divide them in the same way"
            )


def _partial(number: int, part: dict[str, Any], pos_label: Any, same: dict[str, Any]) -> _Partial:
    """The table of one partition, from its columns and shared options; errors name it."""
    try:
        arrays: dict[str, Any] = {name: _on_host(name, x) for name, x in part.items()}
        table = ranked(**same | arrays, pos_label=pos_label)
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error
    negative = None if pos_label is None else _negative_label(arrays, pos_label)
    found = None if negative is None else (negative[0], number)
    rows = table_of(namespace(table.counts), table, by_group=True)
    if not rows.groups:
        return _Partial(number, found, *merged([rows]))
    ids, of_row = rows.groups.ids, rows.groups.of_row
    named = ids[of_row] if len(ids) else np.zeros(len(of_row), ids.dtype)
    return _Partial(number, found, *merged([rows], [named]))


def _on_host(name: str, x: Any) -> np.ndarray:
    column = as_column(name, x)
    if not isinstance(column, np.ndarray):
        raise TypeError(f"{name} is an array of {library(column)}; expected one of NumPy or pandas")
    return column


def _negative_label(arrays: dict[str, np.ndarray], pos_label: Any) -> list[Any] | None:
    """The label of the first example that counts and is not positive, if there is one."""
    labels = arrays["y_true"]
    labels = labels if labels.dtype.kind in "biuf" else labels.astype(object)
    counted = labels != pos_label
    counted &= arrays.get("where", True) & (arrays.get("sample_weight", 1) != 0)
    return labels[counted][:1].tolist() or None


def _together(parts: list[_Partial]) -> _Partial:
    """The merged tables of several partitions, which must have the same negative label."""
    found = [part.negative for part in parts if part.negative is not None]
    for label, number in found:
        if label != found[0][0]:
            raise ValueError(
                f"y_true is {label!r} in partition {number} and {found[0][0]!r} in partition "
                f"{found[0][1]}; expected one label beside pos_label"
            )
    _check_types("y_score", {part.number: part.table.thresholds.dtype for part in parts})
    ids = {part.number: part.ids for part in parts if part.ids is not None}
    _check_types("groups", {number: _kind(x) for number, x in ids.items() if len(x)})
    rows = merged([part.table for part in parts], [*ids.values()])
    return _Partial(parts[0].number, found[0] if found else None, *rows)


def _kind(ids: np.ndarray) -> str:
    """The type of ids, whatever the length of texts or the unit of dates."""
    return {"U": "str", "M": "date"}.get(ids.dtype.kind, str(ids.dtype))


def _check_types(name: str, types: dict[int, Any]) -> None:
    """Raise unless all partitions have ids of one type."""
    (first, wanted), *others = types.items() or [(0, None)]
    for number, found in others:
        if found != wanted:
            raise TypeError(
                f"{name} is of dtype {found} in partition {number} and of {wanted} in partition "
                f"{first}; expected one dtype"
            )
