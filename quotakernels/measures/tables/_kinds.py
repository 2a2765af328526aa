"""The kinds of measures of confusion tables, by how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Unpack, overload

from quotakernels._types import A, ArrayOf, AtFraction, AtQuota, AtThreshold, NumberOf, Numpy, T
from quotakernels.measures._measure import Measure, ValueMeasure
from quotakernels.measures.tables.cells import ClassTable, ConfusionTable, cells_at
from quotakernels.measures.tables.measure import TableMeasure
from quotakernels.ranking import Ranking

R = TypeVar("R")
C = TypeVar("C")
AnyTable: TypeAlias = ConfusionTable[T] | ClassTable[T]


class CellMeasure(TableMeasure, ValueMeasure):
    """A measure of a table without numbers of its own."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, table: AnyTable[A]) -> A: ...
        @overload
        def __call__(self, table: AnyTable[Any]) -> Numpy: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, quota: NumberOf[Any]) -> T: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, fraction: NumberOf[Any]) -> T: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, threshold: NumberOf[Any], inclusive: bool = True
        ) -> T: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtQuota[A]]
        ) -> A: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtFraction[A]]
        ) -> A: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtThreshold[A]]
        ) -> A: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class BetaMeasure(TableMeasure, ValueMeasure):
    """A measure with a weight of recall."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, table: AnyTable[A], *, beta: NumberOf[Any] = 1.0) -> A: ...
        @overload
        def __call__(self, table: AnyTable[Any], *, beta: NumberOf[Any] = 1.0) -> Numpy: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, quota: NumberOf[Any], beta: NumberOf[Any] = 1.0
        ) -> T: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, fraction: NumberOf[Any], beta: NumberOf[Any] = 1.0
        ) -> T: ...
        @overload
        def __call__(
            self,
            ranking: Ranking[T],
            *,
            threshold: NumberOf[Any],
            inclusive: bool = True,
            beta: NumberOf[Any] = 1.0,
        ) -> T: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            beta: NumberOf[A] = 1.0,
            **at: Unpack[AtQuota[A]],
        ) -> A: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            beta: NumberOf[A] = 1.0,
            **at: Unpack[AtFraction[A]],
        ) -> A: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            beta: NumberOf[A] = 1.0,
            **at: Unpack[AtThreshold[A]],
        ) -> A: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class LogarithmMeasure(TableMeasure, ValueMeasure):
    """A measure with a base of its logarithms."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, table: AnyTable[A], *, base: NumberOf[Any] | None = None) -> A: ...
        @overload
        def __call__(self, table: AnyTable[Any], *, base: NumberOf[Any] | None = None) -> Numpy: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, quota: NumberOf[Any], base: NumberOf[Any] | None = None
        ) -> T: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, fraction: NumberOf[Any], base: NumberOf[Any] | None = None
        ) -> T: ...
        @overload
        def __call__(
            self,
            ranking: Ranking[T],
            *,
            threshold: NumberOf[Any],
            inclusive: bool = True,
            base: NumberOf[Any] | None = None,
        ) -> T: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            base: NumberOf[A] | None = None,
            **at: Unpack[AtQuota[A]],
        ) -> A: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            base: NumberOf[A] | None = None,
            **at: Unpack[AtFraction[A]],
        ) -> A: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            base: NumberOf[A] | None = None,
            **at: Unpack[AtThreshold[A]],
        ) -> A: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class CostMeasure(TableMeasure, ValueMeasure):
    """A measure with a cost of each kind of error."""

    if TYPE_CHECKING:

        @overload
        def __call__(
            self, table: AnyTable[A], *, cost_fp: NumberOf[Any], cost_fn: NumberOf[Any]
        ) -> A: ...
        @overload
        def __call__(
            self, table: AnyTable[Any], *, cost_fp: NumberOf[Any], cost_fn: NumberOf[Any]
        ) -> Numpy: ...
        @overload
        def __call__(
            self,
            ranking: Ranking[T],
            *,
            quota: NumberOf[Any],
            cost_fp: NumberOf[Any],
            cost_fn: NumberOf[Any],
        ) -> T: ...
        @overload
        def __call__(
            self,
            ranking: Ranking[T],
            *,
            fraction: NumberOf[Any],
            cost_fp: NumberOf[Any],
            cost_fn: NumberOf[Any],
        ) -> T: ...
        @overload
        def __call__(
            self,
            ranking: Ranking[T],
            *,
            threshold: NumberOf[Any],
            inclusive: bool = True,
            cost_fp: NumberOf[Any],
            cost_fn: NumberOf[Any],
        ) -> T: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            cost_fp: NumberOf[A],
            cost_fn: NumberOf[A],
            **at: Unpack[AtQuota[A]],
        ) -> A: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            cost_fp: NumberOf[A],
            cost_fn: NumberOf[A],
            **at: Unpack[AtFraction[A]],
        ) -> A: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            cost_fp: NumberOf[A],
            cost_fn: NumberOf[A],
            **at: Unpack[AtThreshold[A]],
        ) -> A: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class ImpactMeasure(TableMeasure, Generic[R, C]):
    """A measure with an impact of each cell: a record of two classes, and one of several."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, table: ConfusionTable[Any], *, impacts: Any) -> R: ...
        @overload
        def __call__(self, table: ClassTable[Any], *, impacts: Any) -> C: ...
        @overload
        def __call__(self, ranking: Ranking[Any], *, quota: NumberOf[Any], impacts: Any) -> R: ...
        @overload
        def __call__(
            self, ranking: Ranking[Any], *, fraction: NumberOf[Any], impacts: Any
        ) -> R: ...
        @overload
        def __call__(
            self,
            ranking: Ranking[Any],
            *,
            threshold: NumberOf[Any],
            inclusive: bool = True,
            impacts: Any,
        ) -> R: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[Any],
            y_score: ArrayOf[Any],
            *,
            impacts: Any,
            **at: Unpack[AtQuota[Any]],
        ) -> R: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[Any],
            y_score: ArrayOf[Any],
            *,
            impacts: Any,
            **at: Unpack[AtFraction[Any]],
        ) -> R: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[Any],
            y_score: ArrayOf[Any],
            *,
            impacts: Any,
            **at: Unpack[AtThreshold[Any]],
        ) -> R: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class CutMeasure(Measure):
    """What a cut of a ranking gives: a table."""

    validator = staticmethod(cells_at)
    local = True
    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: Ranking[T], *, quota: NumberOf[Any]) -> ConfusionTable[T]: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, fraction: NumberOf[Any]
        ) -> ConfusionTable[T]: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, threshold: NumberOf[Any], inclusive: bool = True
        ) -> ConfusionTable[T]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtQuota[A]]
        ) -> ConfusionTable[A]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtFraction[A]]
        ) -> ConfusionTable[A]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtThreshold[A]]
        ) -> ConfusionTable[A]: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
