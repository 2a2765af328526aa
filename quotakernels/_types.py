"""What type checkers and editors know of arrays: those that come in tell which come out.

No library is imported for it.  Where PyTorch or JAX are not installed, their arrays are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, Required, TypeAlias, TypedDict

import numpy as np

TiePolicy = Literal["expected", "optimistic", "pessimistic", "given"]
WhenShort: TypeAlias = Literal["all", "nan"]


class _Column(Protocol):
    """A column of pandas, Polars or Arrow."""

    def to_numpy(self) -> Any: ...


class _Tensor(Protocol):
    """An array of PyTorch, by what no other library has."""

    def detach(self) -> Any: ...


class _Sharded(Protocol):
    """An array of JAX, by what no other library has."""

    @property
    def sharding(self) -> Any: ...


Numpy: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]

if TYPE_CHECKING:
    from typing import Generic as Generic

    from typing_extensions import TypeVar

    A = TypeVar("A", bound=_Tensor | _Sharded | Numpy, default=Numpy)
    """The arrays of the library that is given; NumPy's of lists and of other arrays of NumPy."""
    T = TypeVar("T", default=Any, covariant=True)
    """The arrays of a record."""
else:
    from typing import TypeVar

    A, T = TypeVar("A"), TypeVar("T")

    class _Unseen:
        """`Generic` for type checkers alone.

        Libraries know a named tuple, whose columns they trace, by its one base, `tuple`.
        """

        def __getitem__(self, _: Any) -> _Unseen:
            return self

        def __mro_entries__(self, _: Any) -> tuple[()]:
            return ()

    Generic = _Unseen()

ArrayOf: TypeAlias = A | np.ndarray[Any, Any] | list[Any] | tuple[Any, ...] | range | _Column
"""An array of a library, or what NumPy reads."""
NumberOf: TypeAlias = float | np.number[Any] | ArrayOf[A]
"""A number or several."""
Number: TypeAlias = NumberOf[_Tensor | _Sharded]
"""The same of any library."""
Numbers: TypeAlias = ArrayOf[_Tensor | _Sharded]
"""Several of any library."""


class Data(TypedDict, Generic[A], total=False):
    """What may stand beside labels and scores, as in `rank`."""

    sample_weight: ArrayOf[A] | None
    where: ArrayOf[A] | None
    pos_label: Any
    ties: TiePolicy
    validate: bool


class GroupedData(Data[A], total=False):
    """The same for measures that know groups of examples."""

    groups: ArrayOf[Any] | None
    num_groups: int | None


class AtQuota(GroupedData[A], total=False):
    """The same, with a cut."""

    quota: Required[NumberOf[A]]
    when_short: WhenShort | None


class AtFraction(GroupedData[A], total=False):
    """The same, with a cut."""

    fraction: Required[NumberOf[A]]


class AtBudget(GroupedData[A], total=False):
    """The same, with a cut."""

    cost: Required[ArrayOf[A]]
    budget: Required[NumberOf[A]]
    when_short: WhenShort | None


class AtThreshold(GroupedData[A], total=False):
    """The same, with a cut."""

    threshold: Required[NumberOf[A]]
    inclusive: bool


class GainData(GroupedData[A], total=False):
    """What stands beside scores, and labels if there are any."""

    gain: Required[ArrayOf[A]]
    gain_rejected: NumberOf[A]


class ListData(GroupedData[A], total=False):
    """What stands beside scores, and labels or gains."""

    gain: ArrayOf[A] | None
    gain_rejected: NumberOf[A]


class ListAtQuota(ListData[A], AtQuota[A]):
    """The same, with a cut."""


class ListAtFraction(ListData[A], AtFraction[A]):
    """The same, with a cut."""


class GainAtQuota(GainData[A], AtQuota[A]):
    """The same, with a cut."""


class GainAtFraction(GainData[A], AtFraction[A]):
    """The same, with a cut."""


class GainAtBudget(GainData[A], AtBudget[A]):
    """The same, with a cut."""


class GainAtThreshold(GainData[A], AtThreshold[A]):
    """The same, with a cut."""


class TableOptions(TypedDict, total=False):
    """The own numbers of measures of confusion tables."""

    base: Number
    beta: Number
    cost_fn: Number
    cost_fp: Number
    impacts: Iterable[Any]


class TableData(Data[A], TableOptions, total=False):
    """These, beside labels and scores."""


class GroupedTableData(GroupedData[A], TableOptions, total=False):
    """The same of functions that know groups of examples."""


class MeasureOptions(TableOptions, total=False):
    """What measures of this library take beside a ranking.

    Functions of one's own have theirs by `functools.partial`.
    """

    between: tuple[Number, Number]
    bins: int
    budget: Number
    cost_distribution: Any
    curve: str
    fpr: Number
    fraction: Number
    inclusive: bool
    interpolate: bool
    kappa: str
    kind: str
    labels: str
    max_fpr: float | None
    max_recall: float
    min_recall: float
    min_tpr: float | None
    negative_effects: bool
    normalize: str | None
    population: Number
    precision: Number
    prevalence: Number
    prior: Number
    quota: Number
    ratio: Number
    recall: Number
    smoothing: Any
    standardized: Any
    start: Any
    threshold: Number
    tpr: Number
    when_short: WhenShort | None
