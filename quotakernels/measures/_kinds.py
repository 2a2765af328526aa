"""The kinds of measures that most are of, by how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

from quotakernels._types import (
    A,
    ArrayOf,
    AtBudget,
    AtFraction,
    AtQuota,
    Data,
    GroupedData,
    Number,
    T,
    TiePolicy,
    WhenShort,
)
from quotakernels.inputs.cuts import masses_or_all, wanted_masses
from quotakernels.measures._measure import Validator, ValueMeasure
from quotakernels.measures._unsorted import RankingAtQuota
from quotakernels.ranking import Ranking


class NumberMeasure(ValueMeasure):
    """A measure of a ranking that is a number."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: Ranking[T]) -> T: ...

        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            sample_weight: ArrayOf[A] | None = None,
            where: ArrayOf[A] | None = None,
            pos_label: Any = None,
            ties: TiePolicy = "expected",
            validate: bool = True,
            groups: ArrayOf[Any] | None = None,
            num_groups: int | None = None,
        ) -> A: ...

        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class OneListMeasure(ValueMeasure):
    """A measure of one list of scores that is a number."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: Ranking[T]) -> T: ...

        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **data: Unpack[Data[A]]
        ) -> A: ...

        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class QuotaMeasure(ValueMeasure):
    """A measure of the rows of the table in which wanted masses, shape (..., K), end."""

    validator = staticmethod(wanted_masses)
    at_quota_only = True

    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: RankingAtQuota[T]) -> T: ...

        @overload
        def __call__(
            self, ranking: Ranking[T], *, quota: Number, when_short: WhenShort | None = None
        ) -> T: ...

        @overload
        def __call__(self, ranking: Ranking[T], *, fraction: Number) -> T: ...

        @overload
        def __call__(
            self, ranking: Ranking[T], *, budget: Number, when_short: WhenShort | None = None
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

        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class CutoffMeasure(ValueMeasure):
    """A measure of the positions within wanted masses, shape (..., K), or of all positions."""

    validator: Validator = staticmethod(masses_or_all)
    cut_optional = True

    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: Ranking[T]) -> T: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, quota: Number, when_short: WhenShort | None = None
        ) -> T: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, fraction: Number) -> T: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **data: Unpack[GroupedData[A]]
        ) -> A: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtQuota[A]]
        ) -> A: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A], y_score: ArrayOf[A], **at: Unpack[AtFraction[A]]
        ) -> A: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
