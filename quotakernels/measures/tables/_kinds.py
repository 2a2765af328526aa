"""The kinds of several measures of confusion tables, by how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Unpack, overload

from quotakernels._types import (
    A,
    ArrayOf,
    AtBudget,
    AtFraction,
    AtQuota,
    AtThreshold,
    Number,
    NumberOf,
    T,
)
from quotakernels.measures._measure import ValueMeasure
from quotakernels.measures._unsorted import RankingAtQuota
from quotakernels.measures.tables.cells import ClassTable, ConfusionTable
from quotakernels.measures.tables.measure import TableMeasure
from quotakernels.ranking import Ranking

R = TypeVar("R")
C = TypeVar("C")
AnyTable: TypeAlias = ConfusionTable[NumberOf[A]] | ClassTable[NumberOf[A]]


class CellMeasure(TableMeasure, ValueMeasure):
    """A measure of a table without numbers of its own."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, table: AnyTable[A]) -> A: ...
        @overload
        def __call__(self, ranking: RankingAtQuota[T]) -> T: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, quota: Number) -> T: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, fraction: Number) -> T: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, budget: Number) -> T: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, threshold: Number, inclusive: bool = True
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
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtBudget[A]]
        ) -> A: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtThreshold[A]]
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
        def __call__(self, ranking: RankingAtQuota[Any], *, impacts: Any) -> R: ...
        @overload
        def __call__(self, ranking: Ranking[Any], *, quota: Number, impacts: Any) -> R: ...
        @overload
        def __call__(self, ranking: Ranking[Any], *, fraction: Number, impacts: Any) -> R: ...
        @overload
        def __call__(self, ranking: Ranking[Any], *, budget: Number, impacts: Any) -> R: ...
        @overload
        def __call__(
            self, ranking: Ranking[Any], *, threshold: Number, inclusive: bool = True, impacts: Any
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
            **at: Unpack[AtBudget[Any]],
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
