"""The kinds of measures of gains, by how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, overload

from quotakernels import ops
from quotakernels._array import Array, Namespace
from quotakernels._records import plainly
from quotakernels._types import (
    A,
    ArrayOf,
    GainAtBudget,
    GainAtFraction,
    GainAtQuota,
    GainAtThreshold,
    GainData,
    Generic,
    Number,
    T,
)
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.measures._measure import Measure
from quotakernels.measures.gains.columns import cut_at_quotas, cut_at_thresholds, rows_to_cut
from quotakernels.measures.tables.boundary import BestBoundary
from quotakernels.measures.tables.cells import ConfusionTable, wanted_cut
from quotakernels.ranking import Ranking


@plainly
class QuotaImpact(NamedTuple, Generic[T]):
    """Total gain at a quota, in the unit of the gains.

    Attributes
    ----------
    whole : array, shape (..., *Q)
        What all examples bring together: `selected` plus `rejected`.
    selected, rejected : array, shape (..., *Q)
        What the selected and what the rejected examples bring.
    net : array, shape (..., *Q)
        `whole` minus what selecting nobody brings.
    """

    whole: T | Any
    selected: T | Any
    rejected: T | Any
    net: T | Any


class GainsAtQuota(Measure):
    """What quotas bring."""

    validator = staticmethod(wanted_masses)
    of_gains = True
    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: Ranking[T], *, quota: Number) -> QuotaImpact[T]: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, fraction: Number) -> QuotaImpact[T]: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, budget: Number) -> QuotaImpact[T]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **at: Unpack[GainAtQuota[A]]
        ) -> QuotaImpact[A]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **at: Unpack[GainAtFraction[A]]
        ) -> QuotaImpact[A]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **at: Unpack[GainAtBudget[A]]
        ) -> QuotaImpact[A]: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


class BestGain(Measure):
    """The best of all cuts."""

    of_gains = True
    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: Ranking[T]) -> BestBoundary[T]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **data: Unpack[GainData[A]]
        ) -> BestBoundary[A]: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


def _cut_of_cells(
    xp: Namespace,
    table: ops.Groups,
    *,
    threshold: Any = None,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    inclusive: bool = True,
    when_short: Any = None,
) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    """Where the cuts end, shape (..., K), or (..., S, K) of groups, among the `rows_to_cut`."""
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
    table = rows_to_cut(xp, table)
    if threshold is None:
        return cut_at_quotas(table, wanted), shape
    return cut_at_thresholds(table, wanted, inclusive), shape


class CellGains(Measure):
    """What the examples of each cell bring at a cut."""

    validator = staticmethod(_cut_of_cells)
    of_gains = True

    def _check_complete(self, caller: str, given: dict[str, Any]) -> None:
        super()._check_complete(caller, given)
        if given["y_true"] is None:
            raise TypeError(f"{caller} needs y_true, which tells the cells apart")

    if TYPE_CHECKING:

        @overload
        def __call__(self, ranking: Ranking[T], *, quota: Number) -> ConfusionTable[T]: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, fraction: Number) -> ConfusionTable[T]: ...
        @overload
        def __call__(self, ranking: Ranking[T], *, budget: Number) -> ConfusionTable[T]: ...
        @overload
        def __call__(
            self, ranking: Ranking[T], *, threshold: Number, inclusive: bool = True
        ) -> ConfusionTable[T]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **at: Unpack[GainAtQuota[A]]
        ) -> ConfusionTable[A]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **at: Unpack[GainAtFraction[A]]
        ) -> ConfusionTable[A]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **at: Unpack[GainAtBudget[A]]
        ) -> ConfusionTable[A]: ...
        @overload
        def __call__(
            self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], **at: Unpack[GainAtThreshold[A]]
        ) -> ConfusionTable[A]: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
