"""One mechanism that lets every measure of a table take a table, or what tables are made of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    device,
    finished,
    from_host_view,
    host_view,
    result_float,
    wide_float,
)
from quotakernels.inputs.cuts import check_when_short, in_precision_of
from quotakernels.inputs.examples import Validated, good_rows, nan_unless_valid
from quotakernels.inputs.keywords import check_flag, refuse_unknown, show_value
from quotakernels.inputs.numbers import Domains, checked, in_library_of, numbers_like
from quotakernels.measures._measure import CUTS, Measure, flat
from quotakernels.measures._scale import usual_unit
from quotakernels.measures.tables.cells import (
    ClassTable,
    ConfusionTable,
    cells_at,
    cells_beyond,
    validate_cells,
    validate_class_cells,
)
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, TiePolicy, table_of


class CutMeasure(Measure):
    """A measure of a ranking at a cut: a threshold, a quota or a fraction."""

    validator = staticmethod(cells_at)
    at_quota_only = by_group = True

    def _cut(self, found: Validated, ties: TiePolicy, numbers: dict[str, Any]) -> Any:
        given = [name for name, x in numbers.items() if x is not None]
        check_when_short(numbers.get("when_short"))
        if found.groups is None and "threshold" in given and not set(CUTS) & set(given):
            check_flag("inclusive", inclusive := numbers.get("inclusive", True))
            whole = not isinstance(self, TableMeasure)
            if cells := cells_beyond(found, numbers["threshold"], inclusive, whole):
                return cells
        return super()._cut(found, ties, numbers)


class TableMeasure(CutMeasure):
    """A measure, callable on a table, on ``(y_true, y_score, ...)`` or on a `Ranking` with a cut.

    The wrapped function computes it from cells that are floats of any one shape; its keyword-only
    parameters are the measure's own numbers, which it is given as arrays that broadcast against
    the cells.  `of_classes` does the same for cells of shape (..., K, K).  `unit` gives the size of
    its values, of its own numbers, where they have a unit.  Values that are `in_masses` depend on
    the unit of the cells.  `domains` says where the own numbers are good.
    """

    def __init__(
        self,
        function: Callable[..., Array],
        *,
        greater_is_better: bool | None,
        of_classes: Callable[..., Array] | None = None,
        domains: Domains | None = None,
        unit: Callable[..., Array] | None = None,
        in_masses: bool = False,
        headline: str = "",
    ):
        super().__init__(function, greater_is_better=greater_is_better, headline=headline)
        self._of_classes, self._domains, self._unit = of_classes, domains or {}, unit
        self._in_masses = in_masses
        parameters = self.__signature__.parameters
        self._defaults = {x: parameters[x].default for x in self._options}
        self._required = [x for x, value in self._defaults.items() if value is Parameter.empty]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:  # noqa: D102  the measure's own
        refuse_unknown(self.__name__, keywords, ("table", "ranking"), self.__signature__.parameters)
        self.check_flags(keywords)
        own = self.take_own(keywords)
        if "table" in keywords:
            arguments = (keywords.pop("table"), *arguments)
        if arguments and isinstance(arguments[0], (ConfusionTable, ClassTable)):
            if len(arguments) > 1 or keywords:
                named = ", ".join(keywords) or "another argument"
                raise TypeError(
                    f"{self.__name__} of a table takes its own parameters only; got {named}"
                )
            return self._of_table(arguments[0], own)
        cut = {name: keywords.pop(name) for name in self._numbers if name in keywords}
        weighted = keywords.get("sample_weight") is not None
        ranking = in_library_of(self.ranking(arguments, keywords, own, **cut), *cut.values())
        if "threshold" in cut:
            cut["threshold"] = in_precision_of(ranking[0], cut["threshold"])
        if (on_host := host_view(ranking, *cut.values(), *flat(own))) is not None:
            found = self._at_cut(type(ranking)._make(on_host), own, cut, weighted)
            return from_host_view(found, ranking[0])
        return self._at_cut(ranking, own, cut, weighted)

    def _at_cut(
        self, ranking: Any, own: dict[str, Any], cut: dict[str, Any], weighted: bool
    ) -> Array:
        xp = namespace(ranking[0])
        dtype = result_float(xp, device(ranking[0]))
        with computing(xp):
            table = table_of(xp, ranking, by_group=True)
            cells, shape = cells_at(xp, table, **cut)
            if isinstance(ranking, Ranking):
                weighted = table.weighted
                cells = nan_unless_valid(xp, cells, good_rows(ranking))
            cells = ConfusionTable(*(xp.reshape(x, (*x.shape[:-1], *shape)) for x in cells))
            result = finished(xp, self.value(xp, cells, own, not weighted), dtype)
            return nan_unless_valid(xp, result, getattr(ranking, "good", None))

    def take_own(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """The measure's own numbers, taken out of the keywords."""
        own = {name: keywords.pop(name) for name in self._options if name in keywords}
        for name in self._required:
            if name not in own:
                raise TypeError(f"{self.__name__} needs {name}")
        return own

    def ranking(
        self,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        own: dict[str, Any],
        caller: str = "",
        **cut: Any,
    ) -> Any:
        """The ranking among the arguments, or of the labels and scores, beside the own numbers.

        Errors are told by the name of the caller, by default the measure's.
        """
        return in_library_of(self._ranking(arguments, keywords, cut, caller), *flat(own))

    def _of_table(self, table: ConfusionTable | ClassTable, own: dict[str, Any]) -> Array:
        """The measure of a caller's table."""
        cells: ConfusionTable | ClassTable
        if isinstance(table, ConfusionTable):
            xp, cells = validate_cells(table)
        else:
            xp, cells = validate_class_cells(table)
        cells = in_library_of(cells, *flat(own))
        xp = namespace(cells[0])
        dtype = result_float(xp, device(cells[0]))
        with computing(xp):
            return finished(xp, self.value(xp, cells, own), dtype)

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
            if self._of_classes is None:
                raise TypeError(
                    f"{self.__name__} is defined for two classes; pass a ConfusionTable, for "
                    "example that of ClassTable.by_class()"
                )
            function = self._of_classes
        wide = wide_float(xp, device(cells[0]))
        numbers = self._own_numbers(xp, cells, own)
        floats = type(cells)(*(cast(xp, x, wide) for x in cells))
        if not (self._in_masses or counted) and floats[0] is cells[0]:
            floats = compiled(in_usual_unit, xp)(floats)
        return compiled(function, xp)(floats, **numbers)

    def unit(self, xp: Namespace, cells: ConfusionTable, own: dict[str, Any]) -> Array | None:
        """How large values can be in each row of cells, shape (..., 1); None if they are shares."""
        if self._unit is None:
            return None
        size = self._unit(**self._own_numbers(xp, cells, own))
        return xp.max(size, axis=-1, keepdims=True) if size.ndim else size

    def _own_numbers(
        self, xp: Namespace, cells: ConfusionTable | ClassTable, own: dict[str, Any]
    ) -> dict[str, Any]:
        return {name: self._number(xp, cells, name, x) for name, x in own.items()}

    def _number(
        self, xp: Namespace, cells: ConfusionTable | ClassTable, name: str, value: Any
    ) -> Any:
        data = cells[0]
        if value is None and self._defaults[name] is None:
            return None
        if name == "impacts":
            several = isinstance(cells, ClassTable)
            return (class_impacts_like if several else impacts_like)(xp, data, value)
        fits = {name: self._domains[name]}
        return checked(xp, {name: numbers_like(data, name, value)}, fits)[name]


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
