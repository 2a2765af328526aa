"""Confusion tables, how their cells are found (at cuts, at quotas, from predictions), and sums."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    device,
    finished,
    is_compiling,
    is_tensor,
    of_kind,
    result_float,
    wide_float,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.classes import Predictions
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.cuts import (
    check_when_short,
    cut_ends,
    in_precision_of,
    thresholds_beside,
    wanted_masses,
    warn_of_nan,
)
from quotakernels.inputs.examples import Validated
from quotakernels.inputs.keywords import check_flag
from quotakernels.inputs.numbers import checked, in_library_of, validate_numbers
from quotakernels.inputs.totals import Totals
from quotakernels.measures._scale import in_usual_units
from quotakernels.measures.at_quota.curves import above_cuts, below_cuts
from quotakernels.measures.at_quota.hit_rate import positives_at
from quotakernels.ops import namespace


@plainly
class ConfusionTable(NamedTuple, Generic[T]):
    """Selected and rejected examples of two classes.

    The cells are counts or masses, numbers or arrays of one shape.  Make a table yourself, or by
    `confusion_table`, `confusion_table_from_predictions` or `confusion_table_from_rates`.  It is a
    named tuple of arrays only, so it passes through ``jax.jit``, ``jax.vmap`` and
    ``torch.func.vmap`` as it is.

    Attributes
    ----------
    tp, fp : array, shape (...)
        Selected positives and negatives (true and false positives).
    fn, tn : array, shape (...)
        Rejected positives and negatives (false and true negatives).

    Examples
    --------
    >>> from quotakernels import precision, recall
    >>> from quotakernels.tables import ConfusionTable
    >>> table = ConfusionTable(tp=3, fp=1, fn=2, tn=4)
    >>> print(precision(table), recall(table))
    0.75 0.6
    """

    tp: T
    fp: T
    fn: T
    tn: T


@plainly
class ClassTable(NamedTuple, Generic[T]):
    """Labels and predictions of K classes.

    Attributes
    ----------
    cells : array, shape (..., K, K)
        Counts or masses; row t and column p hold the examples of class t predicted as class p.
    """

    cells: T

    def by_class(self) -> ConfusionTable:
        """Each class against the rest: a `ConfusionTable` with cells of shape (..., K).

        Whole numbers stay whole; their sum must be less than 2**63.

        Examples
        --------
        >>> from quotakernels import f_score
        >>> from quotakernels.tables import confusion_table_from_predictions
        >>> table = confusion_table_from_predictions([0, 1, 2, 2], [0, 2, 2, 2], num_classes=3)
        >>> print(f_score(table.by_class()))
        [1.  0.  0.8]
        """
        xp, floats = validate_class_cells(self)
        given = as_column("cells", self.cells)
        dtype = result_float(xp, device(given))
        with computing(xp):
            whole = of_kind(xp, given.dtype, "integral")
            table = _each_class(xp, cast(xp, given, xp.int64) if whole else floats.cells)
            return finished(xp, table, dtype)  # type: ignore[no-any-return]


def _each_class(xp: Namespace, cells: Array) -> ConfusionTable:
    """The diagonal, what else is in its columns and rows, and what is in neither."""
    diagonal, nothing = same_class(xp, cells), xp.zeros_like(cells)
    tp = xp.sum(xp.where(diagonal, cells, nothing), axis=-1)
    rest = xp.where(diagonal, nothing, cells)
    fp, fn = xp.sum(rest, axis=-2), xp.sum(rest, axis=-1)
    others = xp.sum(cells, axis=(-2, -1))[..., None] - (tp + fp + fn)
    return ConfusionTable(tp, fp, fn, xp.clip(others, 0))


_CELL = (lambda x: ~((x < 0) | (x == float("inf"))), "a count or a mass, finite and not negative")


def validate_cells(table: ConfusionTable) -> tuple[Namespace, ConfusionTable]:
    """The cells of a caller's table as floats of one shape; NaN stays, as undefined."""
    xp, arrays = validate_numbers(table._asdict())
    shapes = {name: tuple(x.shape) for name, x in arrays.items() if x.ndim}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"the cells of a ConfusionTable must have one shape; got {shapes}")
    shape = next(iter(shapes.values()), ())
    with computing(xp):
        cells = {name: cast(xp, x, wide_float(xp, device(x))) for name, x in arrays.items()}
        cells = checked(xp, cells, dict.fromkeys(cells, _CELL))
        return xp, ConfusionTable(*(xp.broadcast_to(x, shape) for x in cells.values()))


def validate_class_cells(table: ClassTable) -> tuple[Namespace, ClassTable]:
    """The cells of a caller's table as floats; NaN stays, as undefined."""
    xp, arrays = validate_numbers({"cells": table.cells})
    cells = arrays["cells"]
    if cells.ndim < 2 or cells.shape[-1] != cells.shape[-2] or cells.shape[-1] == 0:
        raise ValueError(
            f"cells must have shape (K, K) or (..., K, K); got shape {tuple(cells.shape)}"
        )
    with computing(xp):
        cells = cast(xp, cells, wide_float(xp, device(cells)))
        return xp, ClassTable(**checked(xp, {"cells": cells}, {"cells": _CELL}))


def same_class(xp: Namespace, cells: Array) -> Array:
    """Which cells are on the diagonal, shape (K, K)."""
    number = xp.arange(cells.shape[-1], dtype=xp.int64, device=device(cells))
    return number[:, None] == number[None, :]


def cells_at(
    xp: Namespace,
    table: Any,
    *,
    threshold: Any = None,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    inclusive: bool = True,
    when_short: Any = None,
) -> tuple[ConfusionTable, tuple[int, ...]]:
    """The cells at one kind of cut, shape (..., K), and the cuts' own shape, for which K stands."""
    if isinstance(table, CellsBeyond):
        return ConfusionTable(*table[:4]), ()
    wanted, shape = wanted_cut(
        xp,
        table,
        threshold=threshold,
        quota=quota,
        fraction=fraction,
        budget=budget,
        inclusive=inclusive,
        when_short=when_short,
    )
    if threshold is None:
        return compiled(_CELLS_AT_QUOTAS, xp)(table, wanted), shape
    find = compiled(_cells_at_thresholds, xp, ("inclusive",))
    return find(table, wanted, inclusive=inclusive), shape


def wanted_cut(
    xp: Namespace,
    table: ops.Groups,
    *,
    threshold: Any,
    quota: Any,
    fraction: Any,
    budget: Any,
    inclusive: bool,
    when_short: Any = None,
) -> tuple[Array, tuple[int, ...]]:
    """The thresholds, shape (K,), or the masses, (..., K), and the shape for which K stands."""
    given = sum(x is not None for x in (threshold, quota, fraction, budget))
    if given != 1 and (given or not isinstance(table, ops.Around)):  # which has its quota
        hint = "; for decisions use tables.confusion_table_from_predictions(y_true, y_pred)"
        names = "quota= and fraction=" if budget is None else "quota=, fraction= and budget="
        raise TypeError(f"give exactly one of threshold=, {names}{'' if given else hint}")
    check_flag("inclusive", inclusive)
    check_when_short(when_short)
    if threshold is not None:
        wanted = thresholds_beside(table.thresholds, threshold)
        warn_of_nan(table.thresholds, threshold)
        if table.segments and wanted.ndim > 1:
            raise ValueError(
                f"threshold has shape {tuple(wanted.shape)}; with groups pass a number or a list "
                "of them, for all groups"
            )
        return xp.reshape(wanted, (-1,)), tuple(wanted.shape)
    if not inclusive:
        raise TypeError(
            "inclusive=False is for a threshold=, not for a quota=, fraction= or budget="
        )
    (wanted,), shape = wanted_masses(
        xp, table, quota=quota, fraction=fraction, budget=budget, when_short=when_short
    )
    return wanted, shape


def _cells_at_quotas(table: ops.Groups | ops.Around, wanted: Array) -> ConfusionTable:
    """Expected cells; each class is averaged over ties by itself, and no rounding makes it < 0.

    A cut of everything takes every mass, also one that vanishes in the sum of the others.
    """
    xp = namespace(wanted)
    whole, *classes = (xp.expand_dims(x, axis=-1) for x in Totals(xp, table))
    found = [positives_at(xp, table, wanted), positives_at(xp, table.swapped(), wanted)]
    if table.weighted:
        every = wanted >= whole
        found = [xp.where(every, mass, x) for mass, x in zip(classes, found, strict=True)]
    rest = (xp.clip(mass - x, 0) for mass, x in zip(classes, found, strict=True))
    return ConfusionTable(*found, *rest)


_CELLS_AT_QUOTAS = in_usual_units(_cells_at_quotas)


def _cells_at_thresholds(
    table: ops.Groups, wanted: Array, *, inclusive: bool = True
) -> ConfusionTable:
    xp = namespace(table.counts)
    if table.segments:
        return _cells_of_groups(xp, table, wanted, inclusive)
    table = ops.filled_first(xp, table)
    wanted = xp.broadcast_to(wanted, (*table.counts.shape[:-1], *wanted.shape))
    ends = cut_ends(xp, table, wanted, inclusive)
    return ConfusionTable(*(xp.take_last_axis(x, ends) for x in cut_cells(xp, table)))


def _cells_of_groups(
    xp: Namespace, table: ops.Groups, wanted: Array, inclusive: bool
) -> ConfusionTable:
    """The cells of each group of examples at each threshold, shape (..., S, K)."""
    classes = [
        x if table.weighted else cast(xp, x, xp.int64) for x in (table.positive, table.negative)
    ]

    def found(reached: Array) -> list[Array]:
        return [ops.group_total(xp, table, xp.where(reached, x, xp.zeros_like(x))) for x in classes]

    cells = []
    for k in range(wanted.shape[-1]):
        reached = ops.reaching(xp, table.thresholds, wanted[..., k], inclusive)
        (tp, fp), (fn, tn) = found(reached), found(~reached)
        cells.append((tp, fp, fn, tn))
    return ConfusionTable(*(xp.stack(x, axis=-1) for x in zip(*cells, strict=True)))


def cut_cells(xp: Namespace, table: ops.Groups) -> ConfusionTable:
    """The cells at every cut, shape (..., G + 1); without weights whole numbers, exact.

    Masses are summed from either end, since in a difference of sums a small one is lost.
    """
    fp, tp = (above_cuts(xp, table, x) for x in (table.negative, table.positive))
    if table.weighted or table.segments:
        tn, fn = (below_cuts(xp, table, x) for x in (table.negative, table.positive))
    else:
        fp, tp = cast(xp, fp, xp.int64), cast(xp, tp, xp.int64)
        tn, fn = (x[..., -1:] - x for x in (fp, tp))
    return ConfusionTable(tp, fp, fn, tn)


class CellsBeyond(NamedTuple):
    """The cells at one threshold, shape (..., 1), and which rows of the batch are good."""

    tp: Array
    fp: Array
    fn: Array
    tn: Array
    good: Array | None


def cells_beyond(
    found: Validated, threshold: Any, inclusive: bool, whole: bool
) -> CellsBeyond | None:
    """The cells of checked examples at one threshold, counts as whole numbers; None of several."""
    examples = in_library_of(found.examples._replace(valid=found.mask), threshold)
    scores, labels, weights, valid, *_ = examples
    xp = namespace(scores)
    with computing(xp):
        wanted: Any = in_precision_of(scores, threshold)
        plain = type(wanted) is float and is_tensor(scores) and not is_compiling()
        if not (plain and of_kind(xp, scores.dtype, "real floating")):
            wanted = thresholds_beside(scores, threshold)
            if wanted.ndim:
                return None
        warn_of_nan(scores, threshold)
        pairs = Predictions(labels, labels, weights, valid, None)
        find = compiled(_cells_beyond, xp, ("inclusive", "whole"))
        cells = find(scores, pairs, wanted, inclusive=inclusive, whole=whole)
        return CellsBeyond._make((*(x[..., None] for x in cells), found.good))


def _cells_beyond(
    scores: Array, pairs: Predictions, wanted: Any, *, inclusive: bool, whole: bool
) -> ConfusionTable:
    xp = namespace(scores)
    selected = ops.reaching(xp, scores, wanted, inclusive)
    return binary_cells(pairs._replace(predicted=selected), whole=whole)


def binary_cells(pairs: Predictions, *, whole: bool = True) -> ConfusionTable:
    """Counts, as `whole` numbers or as floats, or masses of the four outcomes; shape (...)."""
    xp = namespace(pairs.truth)
    truth, predicted, weights, valid, _ = pairs
    hits = truth & predicted
    if weights is None:
        parts = [hits, predicted, truth]
        counts = xp.counts(parts if valid is None else [*(x & valid for x in parts), valid])
        if not whole:
            counts = cast(xp, counts, wide_float(xp, device(counts)))
        tp, selected, positive, *every = (counts[..., k] for k in range(counts.shape[-1]))
        fp, fn = selected - tp, positive - tp
        rest = every[0] - selected if every else truth.shape[-1] - selected
        return ConfusionTable(tp, fp, fn, rest - fn)

    def found(outcome: Array) -> Array:
        outcome = outcome if valid is None else outcome & valid
        return xp.total(xp.where(outcome, weights, xp.zeros_like(weights)))

    others = (~truth & predicted, truth & ~predicted, ~(truth | predicted))
    return ConfusionTable(found(hits), *(found(x) for x in others))


def class_cells(pairs: Predictions, *, size: int) -> ClassTable:
    """The cells of a number of classes: the tie groups of the cells' numbers, put in order."""
    xp = namespace(pairs.truth)
    integer = xp.int32 if size**2 < 2**31 else xp.int64
    cell = cast(xp, pairs.truth * size + pairs.predicted, integer)
    everywhere = xp.ones_like(cell, dtype=xp.bool)
    table = ops.tie_groups(xp, cell, everywhere, pairs.weights, pairs.valid, False)
    table = ops.filled_first(xp, table)
    batch = tuple(table.counts.shape[:-1])
    wanted = xp.arange(size**2, dtype=integer, device=device(cell))
    wanted = xp.broadcast_to(wanted, (*batch, size**2))
    before, upto = (cut_ends(xp, table, wanted, inclusive) for inclusive in (False, True))
    place = xp.clip(before, max=table.counts.shape[-1] - 1)
    there = (upto > before) & (xp.take_last_axis(table.counts, place) > 0)
    mass = xp.take_last_axis(table.positive, place)
    mass = mass if table.weighted else cast(xp, mass, xp.int64)
    cells = xp.where(there, mass, xp.zeros_like(mass))
    return ClassTable(xp.reshape(cells, (*batch, size, size)))


class Margins(NamedTuple):
    """Sums of the cells of K classes: over rows, over columns, and over all."""

    truth: Array
    predicted: Array
    whole: Array


def margins(xp: Namespace, cells: Array) -> Margins:
    """The sums of the cells, shapes (..., K), (..., K) and (...)."""
    truth = xp.sum(cells, axis=-1)
    return Margins(truth, xp.sum(cells, axis=-2), xp.sum(truth, axis=-1))


def diagonal(xp: Namespace, cells: Array) -> Array:
    """The diagonal, shape (..., K)."""
    return xp.sum(xp.where(same_class(xp, cells), cells, xp.zeros_like(cells)), axis=-1)


def off_diagonal(xp: Namespace, cells: Array) -> Array:
    """The sum of all other cells."""
    other = xp.where(same_class(xp, cells), xp.zeros_like(cells), cells)
    return xp.sum(other, axis=(-2, -1))


def off_diagonal_by_chance(xp: Namespace, rows: Array, columns: Array) -> Array:
    """n² times the probability that independent draws from the two margins differ."""
    return off_diagonal(xp, rows[..., :, None] * columns[..., None, :])
