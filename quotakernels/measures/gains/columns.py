"""What the examples of every tie group bring, and what is brought on either side of a cut."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, computing, device, namespace, wide_float
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.curve_points import cut_ends
from quotakernels.inputs.examples import admit_columns
from quotakernels.inputs.quotas import mass_totals, numbers_beside

__all__ = [
    "Cut",
    "GainGroups",
    "Gains",
    "Split",
    "admit_gains",
    "after",
    "before",
    "cut_at_quotas",
    "cut_at_thresholds",
    "gain_groups",
    "split",
]


class Gains(NamedTuple):
    """Checked examples with what each brings if selected, and if rejected (None: nothing).

    ``good`` is as in `validation.Admitted`.
    """

    scores: Array
    labels: Array
    weights: Array | None
    valid: Array | None
    selected: Array
    rejected: Array | None
    good: Array | None = None


class GainGroups(NamedTuple):
    """Three tables with the same groups: of the examples, and of what they bring by class.

    In the second and third what the positives and the negatives bring stands for their masses.
    """

    table: ops.Groups
    selected: ops.Groups
    rejected: ops.Groups | None


class Cut(NamedTuple):
    """Rows in which selections end, shape (..., K), and the share ``part / unit`` they take."""

    index: Array
    part: Array
    unit: Array


class Split(NamedTuple):
    """Sums over the selected and over the rejected, times the cut's ``unit``."""

    selected: Array
    rejected: Array


def admit_gains(
    columns: dict[str, Any], gain_rejected: Any, validate: bool, pos_label: Any = None
) -> Gains:
    """Check and convert scores, gains, and labels if there are any; without, all are positive."""
    given, numbers = dict(columns), ["gain"]
    if not (type(gain_rejected) in (int, float) and gain_rejected == 0):
        given["gain_rejected"] = _one_for_all(columns["y_score"], gain_rejected)
        numbers.append("gain_rejected")
    examples, gains, good = admit_columns(given, pos_label, validate, tuple(numbers))
    labels = examples.labels
    if labels is None:
        xp, dev = namespace(examples.scores), device(examples.scores)
        with computing(xp):
            labels = xp.ones(examples.scores.shape, dtype=xp.bool, device=dev)
    return Gains(
        examples.scores,
        labels,
        examples.weights,
        examples.valid,
        gains["gain"],
        gains.get("gain_rejected"),
        good,
    )


def _one_for_all(y_score: Any, gain: Any) -> Any:
    """What each example brings if rejected; a single number stands for all of them."""
    if type(gain) not in (int, float):
        gain = as_column("gain_rejected", gain)
        if gain.ndim:
            return gain
    scores = as_column("y_score", y_score)
    xp = namespace(scores)
    with computing(xp):
        number = numbers_beside(scores, "gain_rejected", gain)
        return xp.broadcast_to(number, tuple(scores.shape[-1:]))


def gain_groups(gains: Gains) -> GainGroups:
    """The tables of checked examples."""
    xp = namespace(gains.scores)

    def table(masses: Array | None) -> ops.Groups:
        return ops.tie_groups(xp, gains.scores, gains.labels, masses, gains.valid, False)

    def brought(gain: Array) -> ops.Groups:
        return table(gain if gains.weights is None else gain * gains.weights)

    rejected = None if gains.rejected is None else brought(gains.rejected)
    return GainGroups(table(gains.weights), brought(gains.selected), rejected)


def before(xp: Namespace, column: Array) -> Array:
    """Sums of the rows above each cut, shape (..., G + 1)."""
    sums = ops.prefix_sum(xp, column)
    return xp.concat([xp.zeros_like(sums[..., :1]), sums], axis=-1)


def after(xp: Namespace, column: Array) -> Array:
    """Sums of the rows below each cut; in a difference of sums a small one would be lost."""
    return xp.flip(before(xp, xp.flip(column, axis=-1)), axis=-1)


def cut_at_quotas(table: ops.Groups, wanted: Array) -> Cut:
    """Where the wanted masses end; the whole mass takes every row, however sums are rounded."""
    xp = namespace(wanted)
    index, row = ops.rows_at(xp, table, wanted)
    one = xp.ones_like(wanted)
    unit = xp.where(row.mass > 0, row.mass, one)
    part = xp.minimum(wanted - row.mass_before, unit)  # rounded sums may overshoot
    if table.weighted:  # products with masses of any size could overflow
        part, unit = part / unit, one
    everybody = wanted >= xp.expand_dims(mass_totals(xp, table)[0], axis=-1)
    last = xp.full_like(index, table.counts.shape[-1] - 1)
    return Cut(xp.where(everybody, last, index), xp.where(everybody, unit, part), unit)


def cut_at_thresholds(groups: GainGroups, wanted: Array, inclusive: bool) -> tuple[GainGroups, Cut]:
    """The groups without empty rows before others, and where the thresholds cut them."""
    xp = namespace(wanted)
    rejected = None if groups.rejected is None else ops.filled_first(xp, groups.rejected)
    table, selected = (ops.filled_first(xp, x) for x in (groups.table, groups.selected))
    wanted = xp.broadcast_to(wanted, (*table.counts.shape[:-1], *wanted.shape))
    ends = cut_ends(xp, table, wanted, inclusive)
    index = xp.clip(ends, max=table.counts.shape[-1] - 1)
    part = cast(xp, ends > index, wide_float(xp, device(ends)))
    return GainGroups(table, selected, rejected), Cut(index, part, xp.ones_like(part))


def split(column: Array, cut: Cut) -> Split:
    """The sums of a column on either side of the cut; in whole numbers they are exact."""
    xp = namespace(cut.part)
    column = cast(xp, column, wide_float(xp, device(column)))

    def at(sums: Array) -> Array:
        return xp.take_along_axis(sums, cut.index, axis=-1)

    own, above = at(column), at(before(xp, column)[..., :-1])
    below = at(after(xp, column)[..., 1:])
    return Split(above * cut.unit + own * cut.part, below * cut.unit + own * (cut.unit - cut.part))
