"""Confusion tables: how they are made, and the mechanism of all measures of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, is_compiling, is_tensor
from quotakernels._records import plainly
from quotakernels._types import A, Generic, NumberOf, T
from quotakernels.inputs.classes import validate_predictions
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.cuts import (
    check_when_short,
    cut_ends,
    in_precision_of,
    thresholds_beside,
    wanted_masses,
)
from quotakernels.inputs.examples import Examples, Validated, good_rows, nan_unless_valid
from quotakernels.inputs.groups import MOST_CLASSES, size_of
from quotakernels.inputs.keywords import public, refuse_unknown, show_value
from quotakernels.inputs.numbers import (
    AMOUNT,
    RATE,
    Domains,
    checked,
    in_library_of,
    numbers_like,
    of_numbers,
    validate_numbers,
)
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import CUTS, Measure, Validator, flat, measure
from quotakernels.measures._units import in_usual_units, usual_unit
from quotakernels.measures.at_quota import above_cuts, below_cuts, positives_at
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, TiePolicy


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
        dtype = xp.result_float(device(given))
        with xp.computing():
            whole = xp.of_kind(given.dtype, "integral")
            table = _each_class(xp, xp.cast(given, xp.int64) if whole else floats.cells)
            return xp.finished(table, dtype)


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
    with xp.computing():
        cells = {name: xp.wide(x) for name, x in arrays.items()}
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
    with xp.computing():
        cells = xp.wide(cells)
        return xp, ClassTable(**checked(xp, {"cells": cells}, {"cells": _CELL}))


def same_class(xp: Namespace, cells: Array) -> Array:
    """Which cells are on the diagonal, shape (K, K)."""
    number = xp.arange(cells.shape[-1], dtype=xp.int64, device=device(cells))
    return number[:, None] == number[None, :]


def wanted_cut(
    xp: Namespace,
    table: ops.TieTable,
    *,
    threshold: Any = None,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    inclusive: bool = True,
    when_short: Any = None,
) -> tuple[Array, tuple[int, ...]]:
    """The thresholds, shape (K,), or the masses, (..., K), and the shape for which K stands."""
    given = sum(x is not None for x in (threshold, quota, fraction, budget))
    if given != 1 and (given or table.wanted is None):  # what has its quota needs none
        hint = "; for decisions use tables.confusion_table_from_predictions(y_true, y_pred)"
        names = "quota= and fraction=" if budget is None else "quota=, fraction= and budget="
        raise TypeError(f"give exactly one of threshold=, {names}{'' if given else hint}")
    if threshold is not None:
        wanted = thresholds_beside(table.thresholds, threshold)
        if table.groups and wanted.ndim > 1:
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


def at_cuts(at_quotas: Callable[..., Any], at_thresholds: Callable[..., Any]) -> Validator:
    """The validator that gives what one function makes of masses, or the other of thresholds.

    Arrays of both have the shape (..., K), or (..., S, K) of groups.
    """

    @functools.wraps(wanted_cut, assigned=())
    def made(xp: Namespace, table: Any, **cut: Any) -> tuple[Any, tuple[int, ...]]:
        def find() -> tuple[Any, tuple[int, ...]]:
            wanted, shape = wanted_cut(xp, table, **cut)
            if cut.get("threshold") is None:
                return xp.compiled(at_quotas)(table, wanted), shape
            at = xp.compiled(at_thresholds, ("inclusive",))
            return at(table, wanted, inclusive=cut.get("inclusive", True)), shape

        check_when_short(cut.get("when_short"))
        return table.at_cut(find)

    return made


@in_usual_units
def _cells_at_quotas(table: ops.TieTable | ops.QuotaCut, wanted: Array) -> ConfusionTable:
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


def cells_at_thresholds(
    table: ops.TieTable, wanted: Array, *, inclusive: bool = True
) -> ConfusionTable:
    """The cells at each threshold, exact integers or masses, shape (..., K), or (..., S, K)."""
    xp = namespace(table.counts)
    if table.groups:
        return _cells_of_groups(xp, table, wanted, inclusive)
    table = xp.filled_first(table)
    wanted = xp.broadcast_to(wanted, (*table.counts.shape[:-1], *wanted.shape))
    ends = cut_ends(xp, table, wanted, inclusive)
    return ConfusionTable(*(xp.take_last_axis(x, ends) for x in cut_cells(xp, table)))


cells_at = at_cuts(_cells_at_quotas, cells_at_thresholds)


def _cells_of_groups(
    xp: Namespace, table: ops.TieTable, wanted: Array, inclusive: bool
) -> ConfusionTable:
    """The cells of each group of examples at each threshold, shape (..., S, K)."""
    classes = [
        x if table.weighted else xp.cast(x, xp.int64) for x in (table.positive, table.negative)
    ]

    def found(reached: Array) -> list[Array]:
        return [xp.group_total(table, xp.where(reached, x, xp.zeros_like(x))) for x in classes]

    cells = []
    for k in range(wanted.shape[-1]):
        reached = xp.reaching(table.thresholds, wanted[..., k], inclusive)
        (tp, fp), (fn, tn) = found(reached), found(~reached)
        cells.append((tp, fp, fn, tn))
    return ConfusionTable(*(xp.stack(x, axis=-1) for x in zip(*cells, strict=True)))


def cut_cells(xp: Namespace, table: ops.TieTable) -> ConfusionTable:
    """The cells at every cut, shape (..., G + 1); without weights whole numbers, exact.

    Masses are summed from either end, since in a difference of sums a small one is lost.
    """
    fp, tp = (above_cuts(xp, table, x) for x in (table.negative, table.positive))
    if table.weighted or table.groups:
        tn, fn = (below_cuts(xp, table, x) for x in (table.negative, table.positive))
    else:
        fp, tp = xp.cast(fp, xp.int64), xp.cast(tp, xp.int64)
        tn, fn = (x[..., -1:] - x for x in (fp, tp))
    return ConfusionTable(tp, fp, fn, tn)


def cells_as_floats(xp: Namespace, cells: Any) -> Any:
    """Cells as the widest floats."""
    return type(cells)(*(xp.wide(x) for x in cells))


class CellsBeyond(NamedTuple):
    """The cells at one threshold, shape (..., 1), and which rows of the batch are good."""

    tp: Array
    fp: Array
    fn: Array
    tn: Array
    good: Array | None

    def at_cut(self, _find: Callable[[], Any]) -> tuple[ConfusionTable, tuple[()]]:
        """The cells themselves: there is no other cut."""
        return ConfusionTable(*self[:4]), ()


def cells_beyond(
    found: Validated, threshold: Any, inclusive: bool, whole: bool
) -> CellsBeyond | None:
    """The cells of checked examples at one threshold; None of several thresholds.

    Those of measures that are free of the unit of the masses are floats, the others' are `whole`
    numbers, or masses in the caller's unit.
    """
    examples = in_library_of(found.masked, threshold)
    scores, xp = examples.scores, namespace(examples.scores)
    with xp.computing():
        wanted: Any = in_precision_of(scores, threshold)
        plain = type(wanted) is float and is_tensor(scores) and not is_compiling()
        if not (plain and xp.of_kind(scores.dtype, "real floating")):
            wanted = thresholds_beside(scores, threshold)
            if wanted.ndim:
                return None
        find = xp.compiled(_cells_beyond, ("inclusive", "whole"))
        cells = find(examples, wanted, inclusive=inclusive, whole=whole)
        if examples.weights is not None and not whole:
            cells = xp.compiled(in_usual_unit)(cells)
        return CellsBeyond._make((*(x[..., None] for x in cells), found.good))


def _cells_beyond(
    examples: Examples, wanted: Any, *, inclusive: bool, whole: bool
) -> ConfusionTable:
    selected = namespace(examples.scores).reaching(examples.scores, wanted, inclusive)
    return _binary_cells(examples._replace(scores=selected), whole=whole)


def _binary_cells(examples: Examples, *, whole: bool = True) -> ConfusionTable:
    """Counts, as `whole` numbers or as floats, or masses of the four outcomes; shape (...)."""
    truth: Array = examples.labels
    predicted, _, weights, valid, _ = examples
    xp = namespace(predicted)
    hits = truth & predicted
    if weights is None:
        parts = [hits, predicted, truth]
        counts = xp.counts(parts if valid is None else [*(x & valid for x in parts), valid])
        if not whole:
            counts = xp.wide(counts)
        tp, selected, positive, *every = (counts[..., k] for k in range(counts.shape[-1]))
        fp, fn = selected - tp, positive - tp
        rest = every[0] - selected if every else truth.shape[-1] - selected
        return ConfusionTable(tp, fp, fn, rest - fn)

    def found(outcome: Array) -> Array:
        outcome = outcome if valid is None else outcome & valid
        return xp.total(xp.where(outcome, weights, xp.zeros_like(weights)))

    others = (~truth & predicted, truth & ~predicted, ~(truth | predicted))
    return ConfusionTable(found(hits), *(found(x) for x in others))


def _class_cells(examples: Examples, *, size: int) -> ClassTable:
    """The cells of a number of classes: the tie groups of the cells' numbers, put in order."""
    truth: Array = examples.labels
    predicted, _, weights, valid, _ = examples
    xp = namespace(predicted)
    integer = xp.int32 if size**2 < 2**31 else xp.int64
    cell = xp.cast(truth * size + predicted, integer)
    everywhere = xp.ones_like(cell, dtype=xp.bool)
    table = xp.tie_groups((cell, everywhere, weights, valid, {}))
    table = xp.filled_first(table)
    batch = tuple(table.counts.shape[:-1])
    wanted = xp.arange(size**2, dtype=integer, device=device(cell))
    wanted = xp.broadcast_to(wanted, (*batch, size**2))
    before, upto = (cut_ends(xp, table, wanted, inclusive) for inclusive in (False, True))
    place = xp.clip(before, max=table.counts.shape[-1] - 1)
    there = (upto > before) & (xp.take_last_axis(table.counts, place) > 0)
    mass = xp.take_last_axis(table.positive, place)
    mass = mass if table.weighted else xp.cast(mass, xp.int64)
    cells = xp.where(there, mass, xp.zeros_like(mass))
    return ClassTable(xp.reshape(cells, (*batch, size, size)))


def margins(xp: Namespace, cells: Array) -> tuple[Array, Array, Array]:
    """The cells of K classes summed over rows, over columns and over all, the last shape (...)."""
    truth = xp.sum(cells, axis=-1)
    return truth, xp.sum(cells, axis=-2), xp.sum(truth, axis=-1)


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


# measures of tables


@dataclass(eq=False, repr=False, kw_only=True)
class CutMeasure(Measure):
    """A measure of a ranking at a cut: a threshold, a quota or a fraction."""

    numbers: Validator = cells_at
    by_group: bool = True
    at_quota_only = True

    def _cut(self, found: Validated, ties: TiePolicy, numbers: dict[str, Any]) -> Any:
        given = [name for name, x in numbers.items() if x is not None]
        if found.groups is None and "threshold" in given and not set(CUTS) & set(given):
            inclusive = numbers.get("inclusive", True)
            whole = not isinstance(self, TableMeasure) or self.in_masses
            if cells := cells_beyond(found, numbers["threshold"], inclusive, whole):
                return cells
        return super()._cut(found, ties, numbers)


@dataclass(eq=False, repr=False, kw_only=True)
class TableMeasure(CutMeasure):
    """A measure, callable on a table, on ``(y_true, y_score, ...)`` or on a `Ranking` with a cut.

    The wrapped function computes it from cells that are floats of any one shape; its keyword-only
    parameters are the measure's own numbers, which it is given as arrays that broadcast against
    the cells.  `of_classes` does the same for cells of shape (..., K, K).  `unit` gives the size of
    its values, of its own numbers, where they have a unit.  Values that are `in_masses` depend on
    the unit of the cells.  `domains` says where the own numbers are good.
    """

    of_classes: Callable[..., Array] | None = None
    domains: Domains = field(default_factory=dict)
    unit: Callable[..., Array] | None = None
    of_numbers = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._defaults = {x: self.__signature__.parameters[x].default for x in self.options}

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:  # noqa: D102  the measure's own
        if "table" in keywords:
            arguments = (keywords.pop("table"), *arguments)
        if not (arguments and isinstance(arguments[0], (ConfusionTable, ClassTable))):
            return super().__call__(*arguments, **keywords)
        refuse_unknown(self.__name__, keywords, ("ranking",), self.__signature__.parameters)
        numbers, own = self.take_own(keywords)
        if len(arguments) > 1 or numbers or keywords:
            named = ", ".join(numbers | keywords) or "another argument"
            raise TypeError(
                f"{self.__name__} of a table takes its own parameters only; got {named}"
            )
        self.check_required(own)
        return self._of_table(arguments[0], own)

    def _computed(self, ranking: Any, numbers: dict[str, Any], options: dict[str, Any]) -> Any:
        """The measure of the cells at a cut, of which K is the last axis until they are cells."""
        xp = namespace(ranking[0])
        dtype = xp.result_float(device(ranking[0]))
        with xp.computing():
            table = self._table(xp, ranking)
            cells, shape = self.numbers(xp, table, **numbers)
            weighted = isinstance(ranking, Ranking) and table.weighted
            if isinstance(ranking, Ranking):
                cells = nan_unless_valid(xp, cells, good_rows(ranking))
            in_shape = (xp.reshape(x, (*x.shape[:-1], *(shape or ()))) for x in cells)
            value = self.value(xp, ConfusionTable(*in_shape), options, not weighted)
            result = xp.finished(value, dtype)
            return nan_unless_valid(xp, result, getattr(ranking, "good", None))

    def _of_table(self, table: ConfusionTable | ClassTable, own: dict[str, Any]) -> Array:
        """The measure of a caller's table."""
        cells: ConfusionTable | ClassTable
        if isinstance(table, ConfusionTable):
            xp, cells = validate_cells(table)
        else:
            xp, cells = validate_class_cells(table)
        cells = in_library_of(cells, *flat(own))
        xp = namespace(cells[0])
        dtype = xp.result_float(device(cells[0]))
        with xp.computing():
            return xp.finished(self.value(xp, cells, own), dtype)

    def value(
        self,
        xp: Namespace,
        cells: ConfusionTable | ClassTable,
        own: dict[str, Any],
        counted: bool = False,
    ) -> Array:
        """The measure of checked cells; to be called where `computing`.

        Those that are not whole may be masses, or be made of what was `counted`.
        """
        function = self._function
        if isinstance(cells, ClassTable):
            if self.of_classes is None:
                raise TypeError(
                    f"{self.__name__} is defined for two classes; pass a ConfusionTable, for "
                    "example that of ClassTable.by_class()"
                )
            function = self.of_classes
        numbers = self._own_numbers(xp, cells, own)
        floats = cells_as_floats(xp, cells)
        if not (self.in_masses or counted) and floats[0] is cells[0]:
            floats = xp.compiled(in_usual_unit)(floats)
        return xp.compiled(function)(floats, **numbers)

    def unit_of(self, xp: Namespace, cells: ConfusionTable, own: dict[str, Any]) -> Array | None:
        """How large values can be in each row of cells, shape (..., 1); None if they are shares."""
        if self.unit is None:
            return None
        size = self.unit(*self._own_numbers(xp, cells, own).values())
        return xp.max(size, axis=-1, keepdims=True) if size.ndim else size

    def _own_numbers(
        self, xp: Namespace, cells: ConfusionTable | ClassTable, own: dict[str, Any]
    ) -> dict[str, Any]:
        """The measure's own numbers as arrays like the cells."""
        found = dict(own)
        for name, value in own.items():
            if name == "impacts":
                like = class_impacts_like if isinstance(cells, ClassTable) else impacts_like
                found[name] = like(xp, cells[0], value)
            elif value is not None or self._defaults[name] is not None:
                number = {name: numbers_like(cells[0], name, value)}
                found |= checked(xp, number, {name: self.domains[name]})
        return found


def in_usual_unit(cells: ConfusionTable | ClassTable) -> Any:
    """The cells in a unit in which their products neither overflow nor vanish."""
    xp = namespace(cells[0])
    parts, whole = list(cells), sum(cells)
    if isinstance(cells, ClassTable):
        parts, whole = [], xp.sum(cells.cells, axis=(-2, -1), keepdims=True)
    unit = usual_unit(xp, whole, parts)
    return cells if unit is None else type(cells)(*(x * unit for x in cells))


def impacts_like(xp: Namespace, data: Array, impacts: Any) -> ConfusionTable:
    """Four impacts as floats of the library and on the device of the data."""
    names = [f"i_{cell}" for cell in ConfusionTable._fields]
    try:
        named = dict(zip(names, impacts, strict=True))
    except (TypeError, ValueError):
        raise TypeError(
            f"impacts must be four: {', '.join(names)}; got {show_value(impacts)}"
        ) from None
    numbers = {name: numbers_like(data, name, x) for name, x in named.items()}
    return ConfusionTable(*checked(xp, numbers, dict.fromkeys(names, FINITE)).values())


def class_impacts_like(xp: Namespace, cells: Array, impacts: Any) -> Array:
    """K×K impacts as floats of the library and on the device of the cells."""
    if impacts is None or isinstance(impacts, ConfusionTable):
        raise TypeError(
            f"impacts of a ClassTable must be an array of shape (K, K); got {show_value(impacts)}"
        )
    number = numbers_like(cells, "impacts", impacts)
    size = cells.shape[-1]
    if number.ndim < 2 or tuple(number.shape[-2:]) != (size, size):
        raise ValueError(
            f"impacts of {size} classes must have shape ({size}, {size}) or (..., {size}, {size}); "
            f"got shape {tuple(number.shape)}"
        )
    return checked(xp, {"impacts": number}, {"impacts": FINITE})["impacts"]


FINITE = (lambda x: (x > -float("inf")) & (x < float("inf")), "a finite number")


def largest(*numbers: Array) -> Array:
    """The largest absolute value among numbers that broadcast together."""
    xp = namespace(numbers[0])
    return functools.reduce(xp.maximum, (xp.abs(x) for x in numbers))


# tables of rankings, predictions and rates


@measure(CutMeasure, greater_is_better=None)
def confusion_table(
    table: ops.TieTable,  # noqa: ARG001
    tp: Array,
    fp: Array,
    fn: Array,
    tn: Array,
) -> ConfusionTable:
    """Confusion table at a threshold, a quota, a fraction or a budget.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    threshold : number or array, shape Q, optional
        The cut selects ``score >= threshold``; with NaN, nothing, as the first cut of a curve
        does.  A NaN elsewhere has a warning.  A number of Python, also in a list, is rounded to the
        type of floating scores, as array libraries do.  Arrays and NumPy scalars are compared by
        their exact values: the float32 nearest to 0.9 is below ``np.float64(0.9)``.
    quota, fraction : number or array, shape Q, optional
        How many of the best examples the cut selects (with weights, how much mass), or which share
        of all.  It need not be whole.
    budget : number or array, shape Q, optional
        What the selected may cost together: the cut selects the best until it is spent.  Exactly
        one of `threshold`, `quota`, `fraction` and `budget` is given.
    inclusive : bool
        With False a threshold selects ``score > threshold`` ([AR] eq. 2).
    when_short : {"all", "nan"}, optional
        For a quota above the number of examples, or a budget above what they all cost: "all"
        selects all of them, the default with `groups`; "nan" gives NaN.

    Returns
    -------
    ConfusionTable
        Cells of shape (..., *Q).  At a threshold they are exact integers, or masses if there are
        weights.  At a quota they are expectations over the order of ties ([AR] eq. 5), which need
        not be whole.  Where values cannot be read, integers come as floats (float64 if the device
        has it), so that the cells of a row of the batch with a bad value can be NaN.

    Raises
    ------
    TypeError
        None or several of `threshold`, `quota`, `fraction` and `budget`, one that is not a number,
        a budget without costs.
    ValueError
        A quota or budget that `hit_rate` refuses.  Where values cannot be read, cells at such a
        quota are NaN, and so are all cells of a row of the batch with a bad value.

    See Also
    --------
    confusion_table_from_predictions, confusion_table_from_rates : other ways to a table.
    table_curve, best_cut : a measure of the tables at all cuts.

    Notes
    -----
    Measures of tables take a `ConfusionTable`, or what this function takes; some take a
    `ClassTable` too.  They refuse cells that are negative or infinite.  Their results have the
    shape of the cells, of a `ClassTable` without its last two axes, and are floats as `rank`
    describes them.

    The thresholds of curves and of `best_cut` are the scores of the last selected examples.  So
    the table at ``roc_curve(ranking).threshold`` has the ``tp`` and ``fp`` of its vertices.

    References
    ----------
    [AR] eq. 1-3.

    Examples
    --------
    >>> from quotakernels import confusion_table, rank
    >>> ranking = rank([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(*confusion_table(ranking, threshold=0.8))
    2 1 1 1
    >>> print(*confusion_table(ranking, threshold=0.8, inclusive=False))
    1 0 2 2
    >>> print(*confusion_table(ranking, quota=2))
    1.5 0.5 1.5 1.5
    """
    return ConfusionTable(tp, fp, fn, tn)


@public
def confusion_table_from_predictions(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> ConfusionTable | ClassTable:
    """Confusion table of predicted classes, two or K.

    Parameters
    ----------
    y_true : array, shape (n,) or that of `y_pred`
        Labels 0 and 1, of any dtype, or any two labels with `pos_label`; with `num_classes`, the
        classes 0 to K - 1.
    y_pred : array, shape (..., n)
        Predicted labels of the same kind.
    num_classes : int, optional
        K, for a `ClassTable`; not together with `pos_label`.
    sample_weight, where : array, shape of `y_true` or of `y_pred`, optional
        Weights, not negative; False for examples to leave out.
    pos_label : optional
        The label of the positive class, if labels are not 0 and 1.
    validate : bool
        With False no value is read on the host; bad values then give NaN instead of an error.

    Returns
    -------
    ConfusionTable or ClassTable
        Exact integers, or masses where there are weights.  Where values cannot be read, the
        integers come as floats, so that they can be NaN.

    Raises
    ------
    ValueError
        Labels or predictions that are none of the classes.  Where values cannot be read, all cells
        of a row of the batch with a bad value are NaN.

    References
    ----------
    [AR] Table 1.

    Examples
    --------
    >>> from quotakernels.tables import confusion_table_from_predictions
    >>> print(*confusion_table_from_predictions([1, 0, 1, 1, 0], [1, 1, 1, 0, 0]))
    2 1 1 1
    >>> print(confusion_table_from_predictions([0, 1, 2, 2], [0, 2, 2, 1], num_classes=3).cells)
    [[1 0 0]
     [0 0 1]
     [0 1 1]]
    """
    size = None if num_classes is None else size_of("num_classes", num_classes, most=MOST_CLASSES)
    if not (size is None or pos_label is None):
        raise TypeError("pos_label is for two classes and cannot be combined with num_classes")
    examples, good = validate_predictions(
        y_true, y_pred, size, sample_weight, where, pos_label, validate
    )
    xp = namespace(examples.scores)
    dtype = xp.result_float(device(examples.scores))
    with xp.computing():
        if size is None:
            table: Any = xp.compiled(_binary_cells)(examples)
        else:
            table = xp.compiled(_class_cells, ("size",))(examples, size=size)
        return nan_unless_valid(xp, xp.finished(table, dtype), good)


@public
def confusion_table_from_rates(
    *,
    prevalence: NumberOf[A],
    tpr: NumberOf[A] | None = None,
    fpr: NumberOf[A] | None = None,
    lr_positive: NumberOf[A] | None = None,
    lr_negative: NumberOf[A] | None = None,
    n: NumberOf[A] = 1.0,
) -> ConfusionTable[A]:
    """Confusion table of given rates: (TPR, FPR), or both likelihood ratios.

    From likelihood ratios, TPR = LR₊·(1 - LR₋)/(LR₊ - LR₋) and FPR = (1 - LR₋)/(LR₊ - LR₋).

    Parameters
    ----------
    prevalence : number or array
        π, the share of positives, from 0 to 1.
    tpr, fpr : numbers or arrays, optional
        True and false positive rate, from 0 to 1; NaN is taken as undefined.
    lr_positive, lr_negative : numbers or arrays, optional
        LR₊ = TPR/FPR and LR₋ = FNR/TNR, not negative; one may be infinite.
    n : number or array
        The number of examples, or their mass.  All are broadcast together.

    Returns
    -------
    ConfusionTable
        Masses that add up to `n`.  NaN for LR₊ = LR₋ = 1, which does not determine the rates.

    Raises
    ------
    TypeError
        Not exactly one of the two pairs.
    ValueError
        Rates outside 0…1, negative ratios or `n`, ratios that no rates have (both above 1 or both
        below 1); NaN instead where values cannot be read.

    References
    ----------
    [EL] section 7.3, both likelihood ratios.

    Examples
    --------
    >>> from quotakernels.tables import confusion_table_from_rates
    >>> print(*confusion_table_from_rates(prevalence=0.25, tpr=0.5, fpr=0.25, n=16))
    2.0 3.0 2.0 9.0
    >>> print(*confusion_table_from_rates(prevalence=0.5, lr_positive=4, lr_negative=0.25, n=10))
    4.0 1.0 1.0 4.0
    """
    pairs = {"tpr": tpr, "fpr": fpr}, {"lr_positive": lr_positive, "lr_negative": lr_negative}
    given = [pair for pair in pairs if any(x is not None for x in pair.values())]
    if len(given) != 1 or any(x is None for x in given[0].values()):
        raise TypeError("give either tpr= and fpr=, or lr_positive= and lr_negative=")
    by_rates = "tpr" in given[0]

    def cells(xp: Namespace, prevalence: Array, n: Array, *pair: Array) -> ConfusionTable:
        found = (pair[0], 1 - pair[0], pair[1], 1 - pair[1]) if by_rates else _rates(xp, *pair)
        tpr, fnr, fpr, tnr = found
        positive, negative = n * prevalence, n * (1 - prevalence)
        cells = (positive * tpr, negative * fpr, positive * fnr, negative * tnr)
        shaped = sum(xp.zeros_like(x) for x in cells)
        return ConfusionTable(*(x + shaped for x in cells))

    named = {"prevalence": prevalence, "n": n, **given[0]}
    result: ConfusionTable = of_numbers(cells, named, _DOMAINS_OF_RATES if by_rates else _DOMAINS)
    return result


def _rates(xp: Namespace, positive: Array, negative: Array) -> tuple[Array, ...]:
    """TPR, FNR, FPR and TNR of two likelihood ratios, without a difference of nearly equal ones.

    A ratio r stands as a pair of min(r, 1) and 1/max(r, 1), of which r is the quotient.
    """
    negative = negative + xp.zeros_like(positive)
    fits = {
        "lr_negative": (
            lambda x: ~((positive - 1) * (1 - x) < 0),
            "a ratio that goes with lr_positive",
        )
    }
    negative = checked(xp, {"lr_negative": negative}, fits)["lr_negative"]
    over, under = xp.clip(positive, max=1.0), 1 / xp.clip(positive, min=1.0)
    top, bottom = xp.clip(negative, max=1.0), 1 / xp.clip(negative, min=1.0)
    informed, safe = over - under, bottom - top
    whole = over * bottom - under * top
    return (
        over * safe / whole,
        top * informed / whole,
        under * safe / whole,
        bottom * informed / whole,
    )


_RATIO = (lambda x: ~(x < 0), "a ratio, not negative")
_DOMAINS_OF_RATES: Domains = {"prevalence": RATE, "n": AMOUNT, "tpr": RATE, "fpr": RATE}
_DOMAINS: Domains = {"prevalence": RATE, "n": AMOUNT, "lr_positive": _RATIO, "lr_negative": _RATIO}
