"""The records that the operations exchange, and when slopes of a table are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from quotakernels._array import Array

EXACT = 2.0**62
"""Below this P·N all turns of a table's curve are exact in 64-bit integers."""
TOLERANCE = 2.0**-48
"""Relative difference below which two slopes made of rounded sums are taken as equal."""


class Gains(NamedTuple):
    """What the examples of each tie group bring, with weights so many times their gains.

    The two classes are kept apart, since a sum of both could lose the smaller one.

    Attributes
    ----------
    positive, negative : float arrays, shape (..., G)
        What the positive and the negative examples of the group bring if they are selected.
    size : float array, shape (..., G)
        2**-32 times the sum of the absolute gains of all of them, by which rounding is judged.
    positive_rejected, negative_rejected : float arrays, shape (..., G)
        What they bring if they are not selected; empty tuples where that is nothing.
    ideal : float array, shape (..., n)
        What each example brings, best first, where a measure compares with that order.  It is of
        other rows, and is lost where these are mapped.
    """

    positive: Array
    negative: Array
    size: Array
    positive_rejected: Array | tuple[()] = ()
    negative_rejected: Array | tuple[()] = ()
    ideal: Array | tuple[()] = ()

    def map(self, function: Callable[[Array], Array]) -> Gains:
        """The gains with every column that it has put through the function."""
        return Gains(*(() if isinstance(x, tuple) else function(x) for x in self[:5]))

    def columns(self) -> list[Array]:
        """The columns that there are."""
        return [x for x in self[:5] if not isinstance(x, tuple)]


GainsOrNone: TypeAlias = Any
"""`Gains`, or an empty tuple for none: it holds no array, so nothing is made, sorted or summed."""
GAIN_SCALE = 2.0**-32
"""Of the sums of absolute gains, which themselves could overflow."""


class Costs(NamedTuple):
    """What the examples of each tie group cost if they are selected, with weights so many times.

    The two classes are kept apart, as tie policies want it.

    Attributes
    ----------
    positive, negative : float arrays, shape (..., G)
        What the positive and the negative examples of the group cost together.
    """

    positive: Array
    negative: Array

    def map(self, function: Callable[[Array], Array]) -> Costs:
        """The costs with both columns that it has put through the function."""
        return Costs(*map(function, self))


CostsOrNone: TypeAlias = Any
"""`Costs`, or an empty tuple for none, as with `GainsOrNone`."""


class Arms(NamedTuple):
    """Examples of each tie group that were treated, and controls; with weights their masses.

    The arms and the classes are kept apart: in a difference one of little weight would be lost.

    Attributes
    ----------
    treated_positive, treated_negative : float arrays, shape (..., G)
        Mass of the positive and of the negative examples that were treated.
    control_positive, control_negative : float arrays, shape (..., G)
        The same of those that were not.
    """

    treated_positive: Array
    treated_negative: Array
    control_positive: Array
    control_negative: Array

    def map(self, function: Callable[[Array], Array]) -> Arms:
        """The arms with all columns that it has put through the function."""
        return Arms(*map(function, self))


ArmsOrNone: TypeAlias = Any
"""`Arms`, or an empty tuple for none, as with `GainsOrNone`."""


class Amounts(NamedTuple):
    """What each example brings if it is selected, and if it is not; what it costs; whether it was
    treated, 1 or 0.
    """

    gains: tuple[Array, ...] = ()
    cost: Array | None = None
    treatment: Array | None = None

    @classmethod
    def given(
        cls,
        gain: Array | None,
        rejected: Array | None,
        cost: Array | None,
        treatment: Array | None,
    ) -> Amounts:
        """Those that there are."""
        return cls(tuple(x for x in (gain, rejected) if x is not None), cost, treatment)

    def map(self, function: Callable[[Array], Array]) -> Amounts:
        """The amounts with every column that it has put through the function."""
        return self.of([function(x) for x in self.columns()])

    def columns(self) -> tuple[Array, ...]:
        """The arrays that there are."""
        return (*self.gains, *(x for x in (self.cost, self.treatment) if x is not None))

    def none(self) -> bool:
        """Whether there are no arrays; torch.compile cannot follow ``not`` of a tuple."""
        return len(self.columns()) == 0

    def of(self, columns: Sequence[Array]) -> Amounts:
        """Other columns in the place of these."""
        number, rest = len(self.gains), iter(columns[len(self.gains) :])
        cost, treatment = (None if x is None else next(rest) for x in (self.cost, self.treatment))
        return Amounts(tuple(columns[:number]), cost, treatment)


class InPlace(NamedTuple):
    """The layout of a table in which each group stands in the row of its last example.

    All other rows are empty.  So a row is a position too.  It holds no array.
    """


class Few(NamedTuple):
    """The layout of a table of fewer than 2**31 examples, in any rows.  It holds no array."""


Layout: TypeAlias = Any
"""`InPlace`, of as few examples; `Few`; or an empty tuple where nothing is known of the rows."""


class Segments(NamedTuple):
    """Groups of examples, each with a table of its own; their rows follow each other.

    Attributes
    ----------
    ids : array, shape (..., S)
        What names each group, in order.
    starts : integer array, shape (..., S + 1)
        The first row of each group, and the row behind the last one.
    of_row : integer array, shape (..., G)
        The group of each row.  Rows behind all groups count for the last one, and are empty.
    good : boolean array, shape (..., S, 1)
        Which groups had no bad value; an empty tuple where all were read.
    """

    ids: Array
    starts: Array
    of_row: Array
    good: Array | tuple[()] = ()


SegmentsOrNone: TypeAlias = Any
"""`Segments`, or an empty tuple for one table of all examples."""


class Groups(NamedTuple):
    """One row per tie group, best score first; masses are None where they are the counts.

    The two classes have masses of their own: in their sum one of little weight would be lost
    beside one of much.
    """

    thresholds: Array
    counts: Array
    positives: Array
    positive_weights: Array | None
    negative_weights: Array | None
    gains: GainsOrNone = ()
    layout: Layout = ()
    segments: SegmentsOrNone = ()
    costs: CostsOrNone = ()
    arms: ArmsOrNone = ()

    @property
    def in_place(self) -> bool:
        """Whether each group stands in the row of its last example."""
        return isinstance(self.layout, InPlace)

    @property
    def of_few(self) -> bool:
        """Whether there are fewer than 2**31 examples, so that products of two counts are small."""
        return isinstance(self.layout, (InPlace, Few))

    @property
    def weighted(self) -> bool:
        """Whether masses are other than counts."""
        return self.positive_weights is not None

    @property
    def rounded(self) -> bool:
        """Whether sums of masses may be rounded: of weights, or of more than floats can count."""
        return self.weighted or not self.of_few

    @property
    def positive(self) -> Array:
        """Mass of the positives of each row; without weights their number."""
        return self.positive_weights if self.weighted else self.positives

    @property
    def negative(self) -> Array:
        """Mass of the negatives of each row; without weights their number."""
        return self.negative_weights if self.weighted else self.counts - self.positives

    @property
    def mass(self) -> Array:
        """Mass of each row; without weights the number of its examples."""
        return self.positive + self.negative if self.weighted else self.counts

    @property
    def cost(self) -> Array:
        """What each row costs."""
        positive: Array = self.costs.positive
        return positive + self.costs.negative

    def swapped(self) -> Groups:
        """The table with each class in the place of the other, without gains, costs and arms."""
        others = self.counts - self.positives
        swapped = Groups(*self[:2], others, self.negative_weights, self.positive_weights)
        return swapped._replace(segments=self.segments)

    def map(self, function: Callable[[Array], Array]) -> Groups:
        """The table with every column that it has put through the function, in whatever layout."""
        columns = [None if x is None else function(x) for x in self[:5]]
        gains, *others = (x and x.map(function) for x in (self.gains, self.costs, self.arms))
        return Groups._make((*columns, gains, (), (), *others))

    def arrays(self) -> Iterator[Array]:
        """The columns that there are, those of the gains, the costs and the arms too."""
        yield from (x for x in self[:5] if x is not None)
        yield from self.amounts()

    def amounts(self) -> Iterator[Array]:
        """Those of the gains, the costs and the arms alone."""
        yield from self.gains.columns() if self.gains else ()
        yield from self.costs
        yield from self.arms

    def with_sums(
        self,
        counts: Sequence[Array],
        masses: Sequence[Array | None],
        amounts: Sequence[Array],
    ) -> Groups:
        """The table with other columns of two counts, two masses and `amounts`, in any layout."""
        gains, costs = (len(x) for x in (self.gains and self.gains.columns(), self.costs))
        table = Groups(self.thresholds, *counts, *masses)
        return table._replace(
            gains=self.gains and Gains(*amounts[:gains]),
            costs=self.costs and Costs(*amounts[gains : gains + costs]),
            arms=self.arms and Arms(*amounts[gains + costs :]),
        )


class Parts(NamedTuple):
    """Groups of examples whose counts go on from one to the next.

    Attributes
    ----------
    ids : array, shape (S,)
        What names each group, in order.
    items : integer array, shape (S + 1,)
        How many examples there are before each group, and before the end.
    upto : integer array, shape (n + 1,)
        How many positive ones there are among the first examples, from none to all of them.
    of_example : integer array, shape (n,)
        The group of each example, in order; bad ones may be of none.
    """

    ids: Array
    items: Array
    upto: Array
    of_example: Array


PartsOrNone: TypeAlias = Any
"""`Parts`, or an empty tuple for one list of examples."""


class Cumulative(NamedTuple):
    """The tie groups of a list, best first, by the counts up to their ends.

    It takes fewer steps than `Groups` and serves what is made of sums alone.  The first of the
    counts is 0, and behind the last group they stay as they are.

    Attributes
    ----------
    items, found : integer arrays, shape (..., G + 1)
        How many examples there are down to each end, and how many positive ones.  Of groups of
        examples the latter is an empty tuple, as `segments` tell it.
    begins : boolean array, shape (n,)
        Of one list, where a group begins among the sorted examples; an empty tuple if they were
        not sorted, or if one that does not count may stand among the others.
    mark : float array, shape (...)
        By which totals are multiplied: 1, or NaN if there was a bad value, so that all is NaN that
        is made of them.  None where all values were read.
    segments : Parts
        The groups of examples, each of which has a mark; an empty tuple where it is one list.
    """

    items: Array
    found: Any
    begins: Array | tuple[()] = ()
    mark: Array | None = None
    segments: PartsOrNone = ()

    @property
    def weighted(self) -> bool:
        """Never: sums of weights need the sorted weights."""
        return False

    @property
    def in_place(self) -> bool:
        """Never: groups stand in the first rows."""
        return False

    @property
    def costs(self) -> tuple[()]:
        """None, as there are counts alone."""
        return ()


class Summands(NamedTuple):
    """What is summed: the arrays that ``terms(*columns)`` gives, of columns named as in `Columns`.

    Those of `whole` summands are whole numbers where the masses are, below 2**62.
    """

    columns: tuple[str, ...]
    terms: Callable[..., tuple[Array, ...]]
    whole: bool = False


class Rows(NamedTuple):
    """Rows of a table in floating point, with the sums over the rows before each.

    ``items`` and ``items_before`` count examples; the other columns are masses, which without
    weights are counts too.
    """

    items_before: Array
    mass_before: Array
    positive_before: Array
    items: Array
    mass: Array
    positive: Array


class Around(NamedTuple):
    """Where one quota ends among unsorted examples; all shapes are (..., 1).

    Attributes
    ----------
    wanted : array
        The mass that the quota stands for; NaN where it stands for none.
    thresholds : array
        The score at which it ends.
    row : Rows
        The examples with that score.
    whole, positives : arrays
        How many examples there are, and how many positive ones.
    """

    wanted: Array
    thresholds: Array
    row: Rows
    whole: Array
    positives: Array

    @property
    def weighted(self) -> bool:
        """Never: sums of weights need the sorted scores."""
        return False

    @property
    def counts(self) -> Array:
        """How many examples have the score."""
        return self.row.items

    def swapped(self) -> Around:
        """The same with each class in the place of the other."""
        row = self.row
        row = row._replace(
            positive_before=row.mass_before - row.positive_before,
            positive=row.mass - row.positive,
        )
        return self._replace(row=row, positives=self.whole - self.positives)
