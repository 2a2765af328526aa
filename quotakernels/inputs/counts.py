"""Tables whose rows come counted, checked: grouped scores, and the points of a curve."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, tolerance
from quotakernels.inputs.columns import MASS_ROUNDING, adopt, as_column, refuse_columns
from quotakernels.inputs.examples import raise_or_exclude
from quotakernels.inputs.groups import GroupCodes, kept_within, of_their_group, with_codes
from quotakernels.ops import namespace

BadValues: TypeAlias = dict[str, tuple[Array, str]]
"""For some arguments: where they are bad, and what was expected."""


_SUMS = {
    "gain": ("positive_gains", "negative_gains"),
    "gain_rejected": ("positive_gains_rejected", "negative_gains_rejected"),
    "cost": ("positive_costs", "negative_costs"),
    "treated": ("treated_positives", "treated_negatives"),
}
"""The arguments with the sums of each column over the positives and over the negatives."""
_FLOATS = ("weights", "positive_weights", *(name for pair in _SUMS.values() for name in pair))
"""Columns of floats that are given in pairs or not at all."""
_COUNTS = ("counts", "positives", "groups")
FROM_COUNTS = ("thresholds", "counts", "positives", *_FLOATS, "groups")
"""The columns of `Ranking.from_counts`, in its order."""


class ValidatedCounts(NamedTuple):
    """A checked table, best first, and which rows of the batch, or which groups, are good.

    With groups, its thresholds are those that were `combined` with them, and `ids` names them.
    """

    table: ops.TieTable
    good: Array | None
    combined: ops.Combined | None
    ids: Array | None

    def parted(self, table: ops.TieTable) -> ops.TieTable:
        """The table, or one made of it, with thresholds separated from groups."""
        if self.combined is None:
            return table
        return namespace(table.counts).parted(table, self.combined, self.ids)


def validated_counts(given: dict[str, Any], num_groups: int | None = None) -> ValidatedCounts:
    """Check and sort the rows of a grouped table."""
    named = {name: as_column(name, x) for name, x in _complete(given).items()}
    named, ids = with_codes(named, num_groups)
    _check_columns(named, "tie groups")
    xp, columns = adopt(named)
    with xp.computing():
        if columns["counts"].shape[-1] == 0:
            columns = {name: _one_empty_row(xp, name, x) for name, x in columns.items()}
        columns = {name: _computable(xp, name, x) for name, x in columns.items()}
        groups = both = bad_ids = None
        if ids is not None:
            groups, bad_ids = kept_within(xp, columns["thresholds"], columns.pop("groups"), ids)
        bad = _bad_values(xp, columns, bad_ids)
        good = raise_or_exclude(xp, named, bad, None, groups=groups)[1]
        if groups is not None:
            both = xp.combined(columns["thresholds"], groups.codes, columns["counts"] > 0)
            columns["thresholds"] = both.scores
        columns, place, repeated = _best_first(xp, columns)
        expected = "distinct thresholds" + ("" if groups is None else " in each group")
        bad = {"thresholds": (repeated, expected)}
        distinct = raise_or_exclude(xp, named, bad, None, groups=groups)[1]
        good = good if distinct is None else distinct if good is None else good & distinct
        columns = _by_class(xp, _without_the_bad(xp, columns, _of_rows(xp, good, groups, place)))
        own: Any = [columns.get(name) for name in ops.TieTable._fields[:5]]
        table = ops.TieTable(*own)
        table = table._replace(columns=_sums(xp, columns, table))
        return ValidatedCounts(table, good, both, None if groups is None else groups.ids)


def _of_rows(
    xp: Namespace, good: Array | None, groups: GroupCodes | None, place: Array | None
) -> Array | None:
    """Which rows of the table are good, in their new order: all rows of a good list or group."""
    if good is None or groups is None:
        return good
    found = of_their_group(xp, groups, good)
    return found if place is None else xp.take_along_axis(found, place, axis=-1)


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    """The columns that were given; raise if one of a pair is missing."""
    optional = (*_FLOATS, "groups")
    there = {name: x for name, x in given.items() if name not in optional or x is not None}
    for first, second in zip(_FLOATS[::2], _FLOATS[1::2], strict=True):
        if (first in there) != (second in there):
            raise ValueError(f"{first} and {second} must be given together")
    selected, rejected = _SUMS["gain"][0], _SUMS["gain_rejected"][0]
    if rejected in there and selected not in there:
        raise ValueError(f"{rejected} needs {selected}, what they bring if they are selected")
    return there


def _sums(xp: Namespace, columns: dict[str, Array], table: ops.TieTable) -> ops.Columns:
    """The columns of the table.  Gains of single examples are unknown, only their sums are."""
    found = {
        key: ops.ByClass(*(columns[name] for name in pair))
        for key, pair in _SUMS.items()
        if pair[0] in columns
    }
    if "gain" in found:
        gains = [x for key, x in found.items() if key.startswith("gain")]
        sizes = [x.map(lambda sums: ops.GAIN_SCALE * xp.abs(sums)) for x in gains]
        found["gain_size"] = ops.ByClass(*(sum(own) for own in zip(*sizes, strict=True)))
    if "treated" in found:
        members = table.positive, table.negative
        control = (_controls(xp, *x) for x in zip(found["treated"], members, strict=True))
        found["control"] = ops.ByClass(*control)
    return found


def _controls(xp: Namespace, treated: Array, members: Array) -> Array:
    """The mass of the examples that were not treated; 0 where rounding leaves a rest."""
    mass = xp.cast(members, treated.dtype)
    others = mass - treated
    there = others > mass * tolerance(treated, MASS_ROUNDING)
    return xp.where(there, others, xp.zeros_like(others))


def _check_columns(named: dict[str, Array], held: str) -> None:
    """Raise unless all have the shape of the first, and hold numbers; counts are integers."""
    first = next(iter(named))
    shape = tuple(named[first].shape)
    for name, x in named.items():
        if not shape:
            raise ValueError(f"{name} must be a list or an array of {held}; got a single number")
        if tuple(x.shape) != shape:
            raise ValueError(
                f"{name} must have the shape of {first}, {shape}; got shape {tuple(x.shape)}"
            )
        counting = name in _COUNTS
        kinds = ("integral",) if counting else ("integral", "real floating")
        kinds = (*kinds, "bool") if name == "thresholds" else kinds
        if shape[-1] and not namespace(x).of_kind(x.dtype, kinds):
            what = "integers" if counting else "real numbers"
            raise TypeError(f"{name} must hold {what}; got dtype {x.dtype}")
    refuse_columns({name: tuple(x.shape) for name, x in named.items()}, held=held)


def _one_empty_row(xp: Namespace, name: str, x: Array) -> Array:
    dtype = xp.int64 if name in _COUNTS else x.dtype
    return xp.zeros((*x.shape[:-1], 1), dtype=dtype, device=device(x))


def _computable(xp: Namespace, name: str, x: Array) -> Array:
    """Masses as wide floats, counts in 64 bits, in which 2**63 and more becomes negative."""
    if name in _FLOATS:
        return xp.wide(x)
    return x if name == "thresholds" else xp.cast(x, xp.int64)


def _bad_values(
    xp: Namespace, columns: dict[str, Array], bad_ids: tuple[Array, str] | None
) -> BadValues:
    """For every argument, and groups: where it is bad, and what was expected."""
    thresholds, counts, positives = (
        columns[name] for name in ("thresholds", "counts", "positives")
    )
    bad: BadValues = {}
    if xp.of_kind(thresholds.dtype, "real floating"):
        bad["thresholds"] = xp.isnan(thresholds) & (counts > 0), "a number"
    too_many = xp.prefix_sum(counts) < 0
    bad["counts"] = (counts < 0) | too_many, "a count, not negative, and fewer than 2**63 in all"
    wrong = (positives < 0) | (positives > counts)
    bad["positives"] = wrong, "between 0 and the row's count"
    if bad_ids is not None:
        bad["groups"] = bad_ids[0] & (counts > 0), bad_ids[1]
    if "weights" in columns:
        mass, positive = columns["weights"], columns["positive_weights"]
        most = float(xp.finfo(mass.dtype).max) / mass.shape[-1]
        fits = (mass >= 0) & (mass <= most) & ((mass == 0) | (counts > 0))
        expected = "a finite mass, not negative, small enough for all, and 0 for no examples"
        bad["weights"] = ~fits, expected
        close = mass * tolerance(mass, MASS_ROUNDING)
        fits = (positive >= 0) & (positive <= mass + close) & ((positive == 0) | (positives > 0))
        fits = fits & ((positives < counts) | (positive >= mass - close))
        expected = "a mass between 0 and the row's weight; 0 for no positives, all of it for only"
        bad["positive_weights"] = ~fits, expected
    return bad | _bad_columns(xp, columns)


def _bad_columns(xp: Namespace, columns: dict[str, Array]) -> BadValues:
    """Where sums of gains, costs or arms are bad, and what was expected."""
    positives = columns["positives"]
    members, bad = (positives, columns["counts"] - positives), {}
    for key, pair in _SUMS.items():
        if pair[0] not in columns:
            continue
        for name, own in zip(pair, members, strict=True):
            x, whose = columns[name], "positives" if own is positives else "negatives"
            if key == "treated":
                bad[name] = _bad_treated(xp, columns, x, whose)
            else:
                bad[name] = _bad_sums(xp, key, x, own, whose)
    return bad


def _bad_sums(xp: Namespace, key: str, x: Array, members: Array, whose: str) -> tuple[Array, str]:
    """Where sums of gains or costs are bad, and what was expected; their totals must be finite."""
    most, rows = float(xp.finfo(x.dtype).max), x.shape[-1]
    nothing = (x == 0) | (members > 0)
    if key == "cost":
        fits = (x >= 0) & (x <= most / (2 * rows)) & nothing
        return ~fits, f"a finite cost, not negative, and 0 for no {whose}"
    fits = (xp.abs(x) <= most / (4 * rows)) & nothing
    return ~fits, f"a finite sum, and 0 for no {whose}, small enough for all"


def _bad_treated(
    xp: Namespace, columns: dict[str, Array], x: Array, whose: str
) -> tuple[Array, str]:
    """Where the treated exceed the examples or are no whole number, and what was expected."""
    weighted = "weights" in columns
    whole, positive = ("weights", "positive_weights") if weighted else ("counts", "positives")
    mass = columns[positive] if whose == "positives" else columns[whole] - columns[positive]
    most = xp.cast(mass, x.dtype)
    if weighted:
        most = most + columns[whole] * tolerance(x, MASS_ROUNDING)
    fits = (x >= 0) & (x <= most)
    fits = fits if weighted else fits & (x == xp.floor(x))
    what = f"the weight of the row's {whose}" if weighted else f"the row's {whose}, whole"
    return ~fits, f"a number between 0 and {what}"


def _by_class(xp: Namespace, columns: dict[str, Array]) -> dict[str, Array]:
    """The masses of the two classes; the rest beside positives alone is rounding, so it is 0."""
    if "weights" not in columns:
        return columns
    negative = columns.pop("weights") - columns["positive_weights"]
    there = (negative > 0) & (columns["positives"] < columns["counts"])
    return columns | {"negative_weights": xp.where(there, negative, xp.zeros_like(negative))}


def _best_first(
    xp: Namespace, columns: dict[str, Array]
) -> tuple[dict[str, Array], Array | None, Array]:
    """Rows by falling threshold, padding last; the former place of each, None if none moved; and
    which rows, in the given order, repeat a threshold.
    """
    key = xp.order_key(columns["thresholds"])
    if isinstance(key, np.ndarray) and bool((key[..., 1:] < key[..., :-1]).all()):
        return columns, None, np.zeros(key.shape, dtype=bool)
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    padding = xp.take_along_axis(columns["counts"] == 0, order, axis=-1)
    padding_last = xp.argsort(xp.cast(padding, xp.int8), axis=-1, stable=True)
    order = xp.take_along_axis(order, padding_last, axis=-1)
    columns = {name: xp.take_along_axis(x, order, axis=-1) for name, x in columns.items()}
    key = xp.take_along_axis(key, order, axis=-1)
    again = (key[..., 1:] == key[..., :-1]) & (columns["counts"][..., 1:] > 0)
    first = xp.zeros((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    repeated = xp.concat([first, again], axis=-1)
    return columns, order, xp.take_along_axis(repeated, xp.argsort(order, axis=-1), axis=-1)


def _without_the_bad(
    xp: Namespace, columns: dict[str, Array], good: Array | None
) -> dict[str, Array]:
    """No counts where the weights are 0, and nothing at all in the bad rows of the batch."""
    if "weights" in columns:
        there = columns["weights"] > 0
        counted = {name: x for name, x in columns.items() if name != "thresholds"}
        columns |= {name: xp.where(there, x, xp.zeros_like(x)) for name, x in counted.items()}
    if good is None:
        return columns
    return {
        name: x if name == "thresholds" else xp.where(good, x, xp.zeros_like(x))
        for name, x in columns.items()
    }


def table_of_points(fp: Any, tp: Any, thresholds: Any) -> tuple[ops.TieTable, Array | None]:
    """The table whose cuts are the given points: false and true positives, rising from 0.

    Also returns which rows of the batch are good, shape (..., 1); None if all are.
    """
    named = {"fp": as_column("fp", fp), "tp": as_column("tp", tp)}
    if thresholds is not None:
        named["thresholds"] = as_column("thresholds", thresholds)
    _check_columns(named, "points")
    if named["fp"].shape[-1] == 0:
        raise ValueError(f"fp must hold at least one point; got shape {tuple(named['fp'].shape)}")
    xp, columns = adopt(named)
    with xp.computing():
        points = _of_one_type(xp, columns)
        steps = {name: _steps(xp, x) for name, x in points.items()}
        given = columns.get("thresholds")
        bad = _bad_points(xp, points, steps)
        if given is not None:
            invalid = _not_falling(xp, given, steps)
            bad["thresholds"] = invalid, "scores that fall from point to point"
        good = raise_or_exclude(xp, named, bad, None)[1]
        if good is not None:
            steps = {name: xp.where(good, x, xp.zeros_like(x)) for name, x in steps.items()}
        if given is None:
            length = steps["fp"].shape[-1]
            falling = xp.arange(length, 0, -1, dtype=xp.int64, device=device(steps["fp"]))
            given = xp.broadcast_to(falling, steps["fp"].shape)
        return xp.without_empty_rows(_table(xp, given, steps["fp"], steps["tp"])), good


def _of_one_type(xp: Namespace, columns: dict[str, Array]) -> dict[str, Array]:
    """The points in 64 bits; whole numbers only if both coordinates are."""
    points = {name: columns[name] for name in ("fp", "tp")}
    whole = all(xp.of_kind(x.dtype, "integral") for x in points.values())
    dtype = xp.int64 if whole else xp.wide_float(device(points["fp"]))
    return {name: xp.cast(x, dtype) for name, x in points.items()}


def _steps(xp: Namespace, x: Array) -> Array:
    """The differences between each point and the one before it."""
    return x - xp.shift_right(x, 1, 0)


def _bad_points(xp: Namespace, points: dict[str, Array], steps: dict[str, Array]) -> BadValues:
    wrong = {name: ~((x >= 0) & xp.isfinite(x)) for name, x in reversed(steps.items())}
    wrong["fp"] = wrong["fp"] | (points["fp"] + points["tp"] < 0)  # as whole numbers are at 2**63
    expected = "finite numbers that rise from 0, fewer than 2**63 examples in all"
    return {name: (x, expected) for name, x in wrong.items()}


def _not_falling(xp: Namespace, thresholds: Array, steps: dict[str, Array]) -> Array:
    """Where a threshold is not below that of the last point before it that added something."""
    there = (steps["fp"] > 0) | (steps["tp"] > 0)
    key, higher, has_one = _after_another(xp, thresholds, there)
    invalid = (key >= higher) & has_one
    if xp.of_kind(thresholds.dtype, "real floating"):
        invalid = invalid | xp.isnan(thresholds)
    return invalid & there


def _after_another(xp: Namespace, thresholds: Array, there: Array) -> tuple[Array, Array, Array]:
    """The keys of thresholds, and for each that of the last row before it that is no padding."""
    key = xp.order_key(thresholds)
    places = xp.arange(1, key.shape[-1] + 1, dtype=xp.int64, device=device(there))
    upto = xp.running_max(xp.where(there, places, xp.zeros_like(places)))
    before = xp.shift_right(upto, 1, 0)
    higher = xp.take_along_axis(key, xp.clip(before - 1, min=0), axis=-1)
    return key, higher, before > 0


def _table(xp: Namespace, thresholds: Array, negative: Array, positive: Array) -> ops.TieTable:
    """Whole numbers are counts; of other masses each row counts as one example."""
    if xp.of_kind(positive.dtype, "integral"):
        return ops.TieTable(thresholds, negative + positive, positive, None, None)
    there = xp.cast((negative > 0) | (positive > 0), xp.int64)
    found = xp.cast(positive > 0, xp.int64)
    return ops.TieTable(thresholds, there, found, positive, negative)
