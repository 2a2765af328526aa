"""The records that the operations exchange, and when slopes of a table are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from quotakernels._array import Array, concrete, device, is_compiling

EXACT_IN_FLOAT64 = 2.0**53
"""Whole numbers up to this are exact in float64."""
EXACT_IN_INT64 = 2.0**62
"""Below this P·N all turns of a table's curve are exact in 64-bit integers."""
TOLERANCE = 2.0**-48
"""Relative difference below which two slopes made of rounded sums are taken as equal."""


GAIN_SCALE = 2.0**-32
"""Of the sums of absolute gains, which themselves could overflow."""


class ByClass(NamedTuple):
    """A column of a table: sums over the positive and over the negative examples of each row.

    The two classes are kept apart, as tie policies want it.  In a sum of both, what one class has
    could be lost beside what the other has.
    """

    positive: Array
    negative: Array

    @property
    def whole(self) -> Array:
        """The sums over both classes."""
        return self.positive + self.negative

    def map(self, function: Callable[[Array], Array]) -> ByClass:
        """The column with both arrays put through the function."""
        return ByClass(function(self.positive), function(self.negative))


Columns: TypeAlias = dict[str, ByClass]
"""Sums of what stands beside labels, scores and weights, with weights so many times as much.

``gain`` and ``gain_rejected`` are what examples bring if they are selected, and if they are not,
``gain_size`` the sums of their absolute values times `GAIN_SCALE`, by which rounding is judged.
``cost`` is what they cost, ``treated`` and ``control`` count the examples in each arm.  What nobody
gave is not there; without any of them the dictionary is empty, and no array is made, sorted or
summed.  JAX returns the names in another order, so none may be relied on.
"""
NO_COLUMNS: dict[str, Any] = {}


def map_columns(function: Callable[[Array], Array], columns: Columns) -> Columns:
    """The columns with every array put through the function."""
    return {name: x.map(function) for name, x in columns.items()}


def columns_by_class(
    by_class: Callable[[Array], ByClass], columns: dict[str, Array], mass: Array | None
) -> Columns:
    """The columns of a table, of whose sums over examples ``by_class(x)`` makes both classes."""
    return {name: by_class(x) for name, x in to_sum(columns, mass).items()}


def to_sum(columns: dict[str, Array], mass: Array | None) -> dict[str, Array]:
    """What is summed of what was given beside each example, so many times as it has mass."""
    found = {name: x for name, x in columns.items() if name != "treatment"}
    if "gain" in columns:
        size = GAIN_SCALE * abs(columns["gain"])
        if "gain_rejected" in columns:
            size = size + GAIN_SCALE * abs(columns["gain_rejected"])
        found["gain_size"] = size
    if "treatment" in columns:
        found |= {"treated": columns["treatment"], "control": 1 - columns["treatment"]}
    return found if mass is None else {name: mass * x for name, x in found.items()}


ExampleColumns: TypeAlias = tuple[Array, Array, Array | None, Array | None, dict[str, Array]]
"""Scores, labels, weights, which examples are valid, and further columns by name."""


class _Known(NamedTuple):
    """What is known of the rows of a table.  It is empty, but what is `shared` stands with it.

    Copies of a ranking and compiled programs make it anew, so they begin with nothing kept.
    """


class InPlace(_Known):
    """The layout of a table in which each group stands in the row of its last example.

    All other rows are empty.  So a row is a position too.  It holds no array.
    """


class Few(_Known):
    """The layout of a table of fewer than 2**31 examples, in any rows.  It holds no array."""


class Running(NamedTuple):
    """The layout of a table of running counts, which are exact.

    It takes fewer steps to make, and serves what is made of sums alone.  `counts` and `positives`
    tell how many examples, and positive ones, there are down to the end of each row; the first is
    0, and behind the last tie group they stay as they are.  Thresholds are unknown.  Of groups of
    examples the `positives` are those among the first examples, from none to all of them, and the
    index is of examples too.

    Attributes
    ----------
    begins : boolean array, shape (n,)
        Of one list, where a tie group begins among the sorted examples; an empty tuple if they were
        not sorted, or if one that does not count may stand among the others.
    mark : float array, shape (...)
        By which totals are multiplied: 1, or NaN if there was a bad value, so that all is NaN that
        is made of them.  None where all values were read.
    starts : integer array, shape (..., G)
        Of NumPy, how many examples there are before each row, where rows are groups with positives
        only; what is between them are negatives.  An empty tuple where rows follow each other.
    """

    begins: Array | tuple[()] = ()
    mark: Array | None = None
    starts: Array | tuple[()] = ()


class Shared(Running):
    """The layout of running counts that a ranking keeps, beside which more can be kept."""


Layout: TypeAlias = Any
"""`InPlace`, of as few examples; `Few`; `Running`; or an empty tuple where nothing is known."""


class GroupIndex(NamedTuple):
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


GroupIndexOrNone: TypeAlias = Any
"""`GroupIndex`, or an empty tuple for one table of all examples."""


class TieTable(NamedTuple):
    """One row per tie group, best score first; masses are None where they are the counts.

    The two classes have masses of their own: in their sum one of little weight would be lost
    beside one of much.  `ideal` is what each example brings, best first, where a measure compares
    with that order; it is of other rows, and is lost where these are mapped.
    """

    thresholds: Array
    counts: Array
    positives: Array
    positive_weights: Array | None
    negative_weights: Array | None
    columns: Columns = NO_COLUMNS
    layout: Layout = ()
    groups: GroupIndexOrNone = ()
    ideal: Array | tuple[()] = ()

    @property
    def wanted(self) -> None:
        """None: unlike a cut, a table is not made for certain quotas."""
        return

    def at_cut(self, find: Callable[[], Any]) -> Any:
        """What the function finds at its cut: a table has all of them."""
        return find()

    @property
    def in_place(self) -> bool:
        """Whether each group stands in the row of its last example."""
        return isinstance(self.layout, InPlace)

    @property
    def running(self) -> bool:
        """Whether the counts are running ones."""
        return isinstance(self.layout, Running)

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
        return self.weighted or not isinstance(self.layout, (InPlace, Few, Running))

    @property
    def mark(self) -> Array | None:
        """By what totals are multiplied, 1 or NaN; None if bad values are told beside the table."""
        return self.layout.mark if self.running else None

    @classmethod
    def of_running(
        cls, counts: Array, positives: Array, layout: Running | None = None, groups: Any = ()
    ) -> TieTable:
        """The table of running counts, which also stand for the thresholds."""
        layout = layout or Running()
        return cls(counts, counts, positives, None, None, NO_COLUMNS, layout, groups)

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

    def swapped(self) -> TieTable:
        """The table with each class in the place of the other, without further columns."""
        others = self.counts - self.positives
        swapped = TieTable(*self[:2], others, self.negative_weights, self.positive_weights)
        return swapped._replace(groups=self.groups)

    def map(self, function: Callable[[Array], Array]) -> TieTable:
        """The table with every column that it has put through the function, in whatever layout."""
        own = (None if x is None else function(x) for x in self[:5])
        return TieTable._make((*own, map_columns(function, self.columns), (), (), ()))

    def arrays(self) -> Iterator[Array]:
        """All arrays of the rows."""
        yield from (x for x in self[:5] if x is not None)
        yield from self.sums()

    def sums(self) -> list[Array]:
        """The arrays of the further columns."""
        return [x for column in self.columns.values() for x in column]

    def with_sums(
        self, counts: Sequence[Array], masses: Sequence[Array | None], sums: Sequence[Array]
    ) -> TieTable:
        """The table with other counts, masses and `sums`, in any layout."""
        columns = {
            name: ByClass(sums[2 * k], sums[2 * k + 1]) for k, name in enumerate(self.columns)
        }
        return TieTable._make((self.thresholds, *counts, *masses, columns, (), (), ()))


def _is_plain(x: Array | None) -> bool:
    """Whether what is made of an array has values: JAX has no device here, as it may trace."""
    lasting = x is None or (device(x) is not None and concrete(x))
    return lasting and not getattr(x, "requires_grad", False)


def shared(table: Any, name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives of a table, or ranking: once, for all measures that share it.

    It stands with the layout, and counts as long as that has these columns.  It may not hold the
    layout, which would be a cycle.  Nothing is kept of what is traced, or has gradients.
    """
    store = getattr(getattr(table, "layout", None), "__dict__", None)
    if store is None or is_compiling() or not all(map(_is_plain, table[1:5])):
        return make()
    columns, found = store.get(name, (4 * (None,), None))
    if any(x is not y for x, y in zip(columns, table[1:5], strict=True)):
        found = make()
        store[name] = table[1:5], found
    return found


class RowSum(NamedTuple):
    """What ``value(*sums)`` makes of the sums of the arrays that ``terms(rows)`` gives.

    The `rows.Rows` are read as floats, or `whole`: as whole numbers where the masses are, and the
    terms are such numbers too, below 2**62.  ``by_position(positions)`` gives arrays with the same
    sums, of `rows.Positions`, for tables that have a row for each of these anyway.
    The one term of a sum `in_list` is made of whole numbers that go on from one group of examples
    to the next.  Where rows without positives may be left out, the others may suffice.
    ``by_stretch(rows, area)`` says of stretches of many rows which add up as one row would, of that
    `area`, twice what lies below T and above its start; and what each adds then.
    """

    terms: Callable[[Any], tuple[Array, ...]]
    value: Callable[..., Any]
    whole: bool = False
    in_list: bool = False
    positives_suffice: bool = False
    by_position: Callable[[Any], tuple[Array, ...]] | None = None
    by_stretch: Callable[[Any, Array], tuple[Array, ...]] | None = None


class CutRow(NamedTuple):
    """The rows in which some cuts fall, as floats: the masses before each, and its own.

    Without weights masses are numbers of examples.
    """

    mass_before: Array
    positive_before: Array
    mass: Array
    positive: Array

    @classmethod
    def of(cls, rows: Any) -> CutRow:
        """Each of the `rows.Rows`, of which formulas want these columns."""
        return cls(rows.mass_before, rows.positive_before, rows.mass, rows.positive)


class QuotaCut(NamedTuple):
    """Where K quotas end among unsorted examples, of which no table is made.

    Attributes
    ----------
    wanted : array, shape (..., K)
        The mass that each quota stands for; NaN where it stands for none.
    thresholds : array, shape (..., K)
        The score at which it ends.
    row : CutRow of shape (..., K)
        The examples with that score, and what stands before them.
    whole, positives : arrays, shape (..., 1)
        How many examples there are, and how many positive ones.
    """

    wanted: Array
    thresholds: Array
    row: CutRow
    whole: Array
    positives: Array

    def at_cut(self, find: Callable[[], Any]) -> Any:
        """What the function finds at its only cut."""
        return find()

    @property
    def weighted(self) -> bool:
        """Never: sums of weights need the sorted scores."""
        return False

    @property
    def rounded(self) -> bool:
        """Never: numbers of examples are exact."""
        return False

    @property
    def mark(self) -> None:
        """None: what is bad is told beside the table."""
        return

    @property
    def groups(self) -> tuple[()]:
        """None: it is one list."""
        return ()

    @property
    def running(self) -> bool:
        """Always: as with running counts, its last counts are the totals, and no row is empty."""
        return True

    @property
    def counts(self) -> Array:
        """How many examples there are."""
        return self.whole

    def swapped(self) -> QuotaCut:
        """The cut with each class in the place of the other."""
        row = self.row
        row = row._replace(
            positive_before=row.mass_before - row.positive_before, positive=row.mass - row.positive
        )
        return self._replace(row=row, positives=self.whole - self.positives)
