"""Scores that arrive grouped, checked: `Ranking.from_counts`."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    device,
    namespace,
    of_kind,
    tolerance,
    wide_float,
)
from quotakernels.inputs.columns import (
    MASS_ROUNDING,
    adopt,
    as_column,
    read_without_fault,
    refuse_columns,
)
from quotakernels.inputs.groups import (
    GroupsOfExamples,
    good_groups,
    kept_within,
    of_their_group,
    with_codes,
)

BadValues: TypeAlias = list[tuple[str, Array, str]]
"""For some arguments: where they are bad, and what was expected."""


_GAINS = ("positive_gains", "negative_gains")
_REJECTED = ("positive_gains_rejected", "negative_gains_rejected")
_COSTS = ("positive_costs", "negative_costs")
_TREATED = ("treated_positives", "treated_negatives")
_AMOUNTS = ("weights", "positive_weights", *_GAINS, *_REJECTED, *_COSTS, *_TREATED)
"""What is given in twos or not at all, and computed with in floats."""
_COUNTS = ("counts", "positives", "groups")
COLUMNS = ("thresholds", "counts", "positives", *_AMOUNTS, "groups")
"""What `Ranking.from_counts` takes, in its order."""


class Grouped(NamedTuple):
    """A table, best first, and which rows of the batch are good, or which groups of examples.

    With groups, its thresholds are those that were `combined` with them, and `ids` names them.
    """

    table: ops.Groups
    good: Array | None
    combined: ops.Combined | None
    ids: Array | None

    def parted(self, table: ops.Groups) -> ops.Groups:
        """The table, or one made of it, with thresholds and groups apart."""
        if self.combined is None:
            return table
        return ops.parted(namespace(table.counts), table, self.combined, self.ids)


def validate_groups(given: dict[str, Any], num_groups: int | None = None) -> Grouped:
    """Check and sort the rows of a grouped table."""
    given, ids = with_codes(_complete(given), num_groups)
    named = {name: as_column(name, x) for name, x in given.items()}
    _check_columns(named)
    xp, columns = adopt(named)
    with computing(xp):
        if columns["counts"].shape[-1] == 0:
            columns = {name: _one_empty_row(xp, name, x) for name, x in columns.items()}
        columns = {name: _computable(xp, name, x) for name, x in columns.items()}
        groups = both = outside = nowhere = None
        if ids is not None:
            groups, outside = kept_within(xp, columns["thresholds"], columns.pop("groups"), ids)
            nowhere = outside[0]
        good = good_rows(xp, named, _bad_values(xp, columns, outside), None, groups, nowhere)
        if groups is not None:
            both = _combined(xp, columns, groups)
            columns["thresholds"] = both.scores
        columns, place, repeated = _best_first(xp, columns)
        expected = "distinct thresholds" + ("" if groups is None else " in each group")
        good = good_rows(xp, named, [("thresholds", repeated, expected)], good, groups, nowhere)
        columns = _by_class(xp, _without_the_bad(xp, columns, _of_rows(xp, good, groups, place)))
        table = ops.Groups(*(columns.get(name) for name in ops.Groups._fields[:5]))
        costs = ops.Costs(*(columns[name] for name in _COSTS)) if _COSTS[0] in columns else ()
        table = table._replace(
            gains=_gains(xp, columns), costs=costs, arms=_arms(xp, columns, table)
        )
        return Grouped(table, good, both, None if groups is None else groups.ids)


def _combined(xp: Namespace, columns: dict[str, Array], groups: GroupsOfExamples) -> ops.Combined:
    """Thresholds and groups of the rows that count, as one number."""
    return ops.combined(xp, columns["thresholds"], groups.codes, columns["counts"] > 0)


def _of_rows(
    xp: Namespace, good: Array | None, groups: GroupsOfExamples | None, place: Array | None
) -> Array | None:
    """Which rows are good, in their new order: all of a row of the batch, or of a group."""
    if good is None or groups is None:
        return good
    found = of_their_group(xp, groups, good)
    return found if place is None else xp.take_along_axis(found, place, axis=-1)


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    """What is given, when what belongs together is."""
    there = {name: x for name, x in given.items() if name not in _AMOUNTS or x is not None}
    for first, second in zip(_AMOUNTS[::2], _AMOUNTS[1::2], strict=True):
        if (first in there) != (second in there):
            raise ValueError(f"{first} and {second} must be given together")
    if _REJECTED[0] in there and _GAINS[0] not in there:
        raise ValueError(f"{_REJECTED[0]} needs {_GAINS[0]}, what they bring if they are selected")
    return there


def _gains(xp: Namespace, columns: dict[str, Array]) -> ops.GainsOrNone:
    """The sums as gains; of the single examples' sizes there is no more than the sums."""
    sums = [columns[name] for name in (*_GAINS, *_REJECTED) if name in columns]
    if not sums:
        return ()
    size = sum(ops.GAIN_SCALE * xp.abs(x) for x in sums)
    return ops.Gains(*[*sums[:2], size, *sums[2:]])


def _arms(xp: Namespace, columns: dict[str, Array], table: ops.Groups) -> ops.ArmsOrNone:
    """The treated, and the controls, which are the others; what rounding leaves is none."""
    if _TREATED[0] not in columns:
        return ()
    treated = [columns[name] for name in _TREATED]
    control = []
    for x, members in zip(treated, (table.positive, table.negative), strict=True):
        mass = cast(xp, members, x.dtype)
        others = mass - x
        there = others > mass * tolerance(x, MASS_ROUNDING)
        control.append(xp.where(there, others, xp.zeros_like(x)))
    return ops.Arms(*treated, *control)


def _check_columns(named: dict[str, Array]) -> None:
    shape = tuple(named["thresholds"].shape)
    for name, x in named.items():
        if x.ndim == 0 or tuple(x.shape) != shape:
            raise ValueError(
                f"{name} must have the shape of thresholds, {shape}, with at least one axis; "
                f"got shape {tuple(x.shape)}"
            )
        counting = name in _COUNTS
        kinds = ("integral",) if counting else ("integral", "real floating")
        kinds = (*kinds, "bool") if name == "thresholds" else kinds
        if shape[-1] and not of_kind(namespace(x), x.dtype, kinds):
            what = "integers" if counting else "real numbers"
            raise TypeError(f"{name} must hold {what}; got dtype {x.dtype}")
    refuse_columns({name: tuple(x.shape) for name, x in named.items()}, held="tie groups")


def _one_empty_row(xp: Namespace, name: str, x: Array) -> Array:
    dtype = xp.int64 if name in _COUNTS else x.dtype
    return xp.zeros((*x.shape[:-1], 1), dtype=dtype, device=device(x))


def _computable(xp: Namespace, name: str, x: Array) -> Array:
    """Masses as wide floats, counts in 64 bits, in which 2**63 and more becomes negative."""
    if name in _AMOUNTS:
        return cast(xp, x, wide_float(xp, device(x)))
    return x if name == "thresholds" else cast(xp, x, xp.int64)


def _bad_values(
    xp: Namespace, columns: dict[str, Array], outside: tuple[Array, str] | None
) -> BadValues:
    """For every argument, and groups: where it is bad, and what was expected."""
    thresholds, counts, positives = (
        columns[name] for name in ("thresholds", "counts", "positives")
    )
    bad = []
    if of_kind(xp, thresholds.dtype, "real floating"):
        bad.append(("thresholds", xp.isnan(thresholds) & (counts > 0), "a number"))
    total = ops.prefix_sum(xp, counts)
    bad += [
        ("counts", counts < 0, "a count, from 0 to 2**63 - 1"),
        ("counts", total < 0, "fewer than 2**63 examples in all"),
        ("positives", (positives < 0) | (positives > counts), "between 0 and the row's count"),
    ]
    if outside is not None:
        nowhere, expected = outside
        bad.append(("groups", nowhere & (counts > 0), expected))
    if "weights" in columns:
        mass, positive = columns["weights"], columns["positive_weights"]
        most = float(xp.finfo(mass.dtype).max) / mass.shape[-1]
        right = (mass >= 0) & (mass <= most) & ((mass == 0) | (counts > 0))
        expected = "a finite mass, not negative, small enough for all, and 0 for no examples"
        bad.append(("weights", ~right, expected))
        close = mass * tolerance(mass, MASS_ROUNDING)
        right = (positive >= 0) & (positive <= mass + close) & ((positive == 0) | (positives > 0))
        right = right & ((positives < counts) | (positive >= mass - close))
        expected = "a mass between 0 and the row's weight; 0 for no positives, all of it for only"
        bad.append(("positive_weights", ~right, expected))
    gains = {name: columns[name] for name in (*_GAINS, *_REJECTED) if name in columns}
    costs = {name: columns[name] for name in _COSTS if name in columns}
    bad += bad_gains(xp, gains, counts, positives, parts=4 * counts.shape[-1])
    treated = {name: columns[name] for name in _TREATED if name in columns}
    return [*bad, *_bad_costs(xp, costs, counts, positives), *_bad_treated(xp, treated, columns)]


def _bad_costs(
    xp: Namespace, costs: dict[str, Array], counts: Array, positives: Array
) -> BadValues:
    """Where sums of costs are bad; the cost of all is finite."""
    bad = []
    for (name, x), members in zip(costs.items(), (positives, counts - positives), strict=False):
        most = float(xp.finfo(x.dtype).max) / (2 * x.shape[-1])
        right = (x >= 0) & (x <= most) & ((x == 0) | (members > 0))
        whose = name.partition("_")[0]
        bad.append((name, ~right, f"a finite cost, not negative, and 0 for no {whose}s"))
    return bad


def _bad_treated(xp: Namespace, treated: dict[str, Array], columns: dict[str, Array]) -> BadValues:
    """Where the treated are more than there are, or parts of examples."""
    weighted = "weights" in columns
    whole, positive = ("weights", "positive_weights") if weighted else ("counts", "positives")
    masses = columns[positive], columns[whole] - columns[positive]
    bad = []
    for (name, x), mass in zip(treated.items(), masses, strict=False):
        most = cast(xp, mass, x.dtype)
        if weighted:
            most = most + columns[whole] * tolerance(x, MASS_ROUNDING)
        right = (x >= 0) & (x <= most)
        right = right if weighted else right & (x == xp.floor(x))
        whose = name.partition("_")[2]
        what = f"the weight of the row's {whose}" if weighted else f"the row's {whose}, whole"
        bad.append((name, ~right, f"a number between 0 and {what}"))
    return bad


def bad_gains(
    xp: Namespace, gains: dict[str, Array], counts: Array, positives: Array, parts: int = 1
) -> BadValues:
    """Where sums of gains, by the class at the beginning of their names, or of sizes are bad.

    So many parts of them have a finite sum.
    """
    members = {"positive": positives, "negative": counts - positives, "size": counts}
    bad = []
    for name, x in gains.items():
        kind = name.removeprefix("gains.").partition("_")[0]
        small = xp.abs(x) <= float(xp.finfo(x.dtype).max) / parts
        right = small & ((x == 0) | (members[kind] > 0))
        right = right & (x >= 0) if kind == "size" else right
        whose = {"size": "examples, not negative"}.get(kind, f"{kind}s")
        of_all = ", small enough for all" if parts > 1 else ""
        bad.append((name, ~right, f"a finite sum, and 0 for no {whose}{of_all}"))
    return bad


def _by_class(xp: Namespace, columns: dict[str, Array]) -> dict[str, Array]:
    """The masses of the two classes; where there are only positives, the rest is rounding."""
    if "weights" not in columns:
        return columns
    negative = columns.pop("weights") - columns["positive_weights"]
    there = (negative > 0) & (columns["positives"] < columns["counts"])
    return columns | {"negative_weights": xp.where(there, negative, xp.zeros_like(negative))}


def good_rows(
    xp: Namespace,
    as_given: dict[str, Array],
    bad: BadValues,
    good: Array | None,
    groups: GroupsOfExamples | None = None,
    nowhere: Array | None = None,
) -> Array | None:
    """Raise for the first bad value; where values cannot be read, tell the good batch rows.

    Of groups, tell which of them are good, shape (..., S, 1); what is `nowhere` is of none.
    """
    for name, wrong, expected in bad:
        if not read_without_fault(xp, name, as_given[name], wrong, expected):
            row = (
                ~xp.any(wrong, axis=-1, keepdims=True)
                if groups is None or nowhere is None
                else good_groups(xp, groups, wrong, wrong & nowhere)
            )
            good = row if good is None else good & row
    return good


def _best_first(
    xp: Namespace, columns: dict[str, Array]
) -> tuple[dict[str, Array], Array | None, Array]:
    """Rows by falling threshold, padding last; the place that each had, None if it is the same;
    and which rows, in the given order, repeat one.
    """
    key = ops.order_key(xp, columns["thresholds"])
    if isinstance(key, np.ndarray) and bool((key[..., 1:] < key[..., :-1]).all()):
        return columns, None, np.zeros(key.shape, dtype=bool)
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    padding = xp.take_along_axis(columns["counts"] == 0, order, axis=-1)
    padding_last = xp.argsort(cast(xp, padding, xp.int8), axis=-1, stable=True)
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
