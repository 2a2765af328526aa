"""Cuts: where a quota, a fraction, a budget or a threshold ends, or an error.

A quota, a fraction and a budget stand for a mass of examples, best first; a threshold for a score.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    concrete,
    device,
    is_array,
    may_warn,
    readable,
    tolerance,
)
from quotakernels._types import WhenShort
from quotakernels.inputs.columns import MASS_ROUNDING, as_column, read_and_good, refuse_records
from quotakernels.inputs.keywords import check_choice, show_value, warn_once
from quotakernels.inputs.numbers import as_float, beside, numbers_like
from quotakernels.inputs.totals import Totals
from quotakernels.ops import namespace


def warn_below_one(quota: Any) -> None:
    """Warn about a single quota between 0 and 1, which was probably meant as a fraction."""
    plain = type(quota) in (int, float)
    single = plain or (is_array(quota) and quota.ndim == 0 and readable(quota))
    if single and 0 < quota < 1:
        number = f"{float(quota):.7g}"
        warn_once(
            f"quota={number} is less than one example; for a share of all examples pass "
            f"fraction={number}"
        )


FRACTION_ROUNDING = 2.0**-50
"""Relative distance within which ``fraction * n`` counts as the nearest whole number."""
_EXAMPLES = "number of examples"
"""What messages call the limit of a quota without weights; unlike a mass it is not rounded."""


def quota_masses(
    xp: Namespace,
    table: ops.TieTable,
    called: str = "quota",
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    when_short: WhenShort | None = None,
) -> tuple[tuple[Array], tuple[int, ...]]:
    """The mass of each quota, and the shape in which the quotas were given.

    The masses have shape (..., K), or (..., S, K) with groups of examples, and are NaN for quotas
    that are not possible.  Messages use the name `called` for the quota.
    """
    check_when_short(when_short)
    total = Totals(xp, table)
    cuts = {"quota": quota, "fraction": fraction, "budget": budget}
    name, number = _only(cuts, priced="cost" in table.columns)
    said = called if name == "quota" else name
    value, whole = numbers_like(table[0], said, number), total.whole[..., None]
    flat, shape = _beside_groups(xp, table, said, value)
    filled = whole > 0
    if name == "fraction":
        allowed = valid = (flat > 0) & (flat <= 1)
        expected = "a share of the examples, above 0 and at most 1"
        wanted = whole_if_close(xp, flat * whole)
    else:
        most, what = whole, "total weight" if table.weighted else _EXAMPLES
        if name == "budget":
            most, what = total.cost[..., None], "total cost"
        short = when_short or ("all" if table.groups else "")
        allowed, valid, expected = _within(xp, flat, most, what, filled, short)
        wanted = xp.minimum(flat, most)
        if name == "budget":
            paid = xp.minimum(xp.compiled(_paid)(table, wanted), whole)
            wanted = xp.where(wanted < most, paid, whole)
    if readable(allowed):
        read_and_good(xp, said, value, xp.reshape(~allowed, value.shape), expected)
    return (xp.nan_unless(valid & filled, wanted),), shape


@functools.wraps(quota_masses, assigned=())
def wanted_masses(xp: Namespace, table: Any, **cut: Any) -> tuple[tuple[Array], tuple[int, ...]]:
    """The masses of `quota_masses`, with a warning about a quota of less than one example."""
    quota: Any = cut.get("quota")
    check_when_short(when_short := cut.get("when_short"))
    sure = cut.get("fraction") is None and when_short != "nan" and _is_mass(quota)
    if table.wanted is not None:
        masses: tuple[tuple[Array], tuple[int, ...]] = ((table.wanted,), ())
    elif table.mark is not None and sure:  # what cannot be read is not refused either
        whole = Totals(xp, table).whole[..., None]
        masses = ((xp.clip(whole, max=as_float(quota)),), ())  # a total that is NaN stays so
    else:
        masses = quota_masses(xp, table, **cut)
    known = concrete(table[0]) or (type(quota) is float and may_warn(table[0]))
    if quota is not None and not table.weighted and known:
        warn_below_one(quota)
    return masses


def _is_mass(quota: Any) -> bool:
    return type(quota) in (int, float) and 0 <= as_float(quota) < math.inf


def _only(cuts: dict[str, Any], priced: bool) -> tuple[str, Any]:
    """Name and value of the one cut that is given; raise for none, several, or without costs."""
    given = {name: x for name, x in cuts.items() if x is not None}
    if len(given) != 1:
        plain = "quota= (examples) and fraction= (a share of them)"
        either = "quota=, fraction= and budget=" if priced or "budget" in given else plain
        raise TypeError(f"give exactly one of {either}")
    if "budget" in given and not priced:
        where = "here, to rank or to a ScoreBuffer"
        raise TypeError(f"a budget needs what each example costs: pass cost=, {where}")
    return next(iter(given.items()))


_UNDEFINED_IF_SHORT: ContextVar[bool] = ContextVar("_UNDEFINED_IF_SHORT", default=False)


@contextlib.contextmanager
def undefined_if_short() -> Iterator[None]:
    """A context for resamples, in which a quota that is too large gives NaN instead of an error."""
    token = _UNDEFINED_IF_SHORT.set(True)
    try:
        yield
    finally:
        _UNDEFINED_IF_SHORT.reset(token)


def _paid(table: ops.TieTable, money: Array) -> Array:
    return namespace(money).mass_within(table, money)


def masses_or_all(
    xp: Namespace,
    table: ops.TieTable,
    *,
    quota: Any = None,
    fraction: Any = None,
    when_short: WhenShort | None = None,
) -> tuple[tuple[Array], tuple[int, ...]]:
    """The masses of `wanted_masses`; without a quota, the mass of all examples."""
    if quota is None and fraction is None:
        check_when_short(when_short)
        whole = Totals(xp, table).whole[..., None]
        return (xp.nan_unless(whole > 0, whole),), ()
    return wanted_masses(xp, table, quota=quota, fraction=fraction, when_short=when_short)


def check_when_short(when_short: Any) -> None:
    """Raise unless it is None or one of the two words for quotas above the number of examples."""
    if when_short is not None:
        check_choice("when_short", when_short, "all", "nan")


def _beside_groups(
    xp: Namespace, table: ops.TieTable, name: str, value: Array
) -> tuple[Array, tuple[int, ...]]:
    """Numbers of shape (K,), or (S, K) if each group has its own; and their shape Q without S."""
    shape = tuple(value.shape)
    if not table.groups or len(shape) < 2:
        return xp.reshape(value, (-1,)), shape
    size = table.groups.ids.shape[-1]
    if len(shape) > 2 or shape[0] != size:
        raise ValueError(
            f"{name} has shape {shape}; with groups pass a number or a list of them for all "
            f"groups, or an array of shape ({size}, Q) with a row for each group"
        )
    return value, shape[1:]


def known_masses(size: Any, quota: Any = None, fraction: Any = None) -> list[float] | None:
    """The masses of plain quotas or fractions, one or a list of them, in a list of that size.

    None if one of them is no plain number or does not fit, or if the size is symbolic.
    """
    if (quota is None) == (fraction is None):
        return None
    if not isinstance(size, int) and ops.is_symbolic(size):
        return None
    given = quota if fraction is None else fraction
    numbers = given if isinstance(given, (list, tuple)) else [given]
    masses = [_known_mass(size, x, fraction is not None) for x in numbers]
    return None if None in masses or not masses else masses  # type: ignore[return-value]


def _known_mass(size: int, value: Any, is_fraction: bool) -> float | None:
    if type(value) not in (int, float):
        return None
    mass = as_float(value)
    if is_fraction:  # in plain numbers, which torch.compile can trace
        mass = mass * size if 0 < mass <= 1 else math.nan
        nearest = math.floor(mass + 0.5) if mass == mass else mass
        mass = float(nearest) if abs(mass - nearest) <= FRACTION_ROUNDING * mass else mass
    return mass if 0 <= mass <= size else None


def _within(
    xp: Namespace, quota: Array, most: Array, what: str, filled: Array, short: str
) -> tuple[Array, Array, str]:
    """Which quotas are allowed, which fit their row of the batch, and what messages expect.

    In rows without examples every quota is undefined.
    """
    limit = most if what == _EXAMPLES else most * (1 + tolerance(most, MASS_ROUNDING))
    valid, expected = quota >= 0, "a finite number, not negative"
    if short:
        valid = valid & (quota < xp.inf)
    allowed = valid
    known = readable(most) and not _UNDEFINED_IF_SHORT.get()
    if not short and known and bool(xp.any(filled)):
        nothing = xp.zeros_like(most)  # masses of invalid rows are NaN
        allowed = allowed & (quota <= xp.max(xp.where(filled, limit, nothing)))
        highest = float(xp.max(xp.where(filled, most, nothing)))
        expected = f"a number from 0 to {highest!r}, the {what}"
    return allowed, valid if short == "all" else valid & (quota <= limit), expected


def whole_if_close(xp: Namespace, wanted: Array) -> Array:
    """The numbers, made whole where only rounding has moved them off a whole number."""
    nearest, close = xp.round(wanted), tolerance(wanted, FRACTION_ROUNDING) * wanted
    return xp.where(xp.abs(wanted - nearest) <= close, nearest, wanted)


MOST_POSITIONS = 10**8
"""The most positions of which each gets a value; more would fill the memory."""


@functools.wraps(masses_or_all, assigned=())
def masses_and_positions(
    xp: Namespace, table: ops.TieTable, **cut: Any
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The wanted masses, and all positions to be visited, counted from 1."""
    (wanted,), shape = masses_or_all(xp, table, **cut)
    number = _number(xp, table, wanted)
    if ops.is_below(MOST_POSITIONS, number):
        raise ValueError(f"the ranking has {number} positions, too many to visit each; pass quota=")
    return (wanted, xp.arange(1, number + 1, dtype=xp.int64, device=device(wanted))), shape


def _number(xp: Namespace, table: ops.TieTable, wanted: Array) -> int:
    """How many positions to visit: as many as examples if these can be read, else as rows."""
    rows: int = table.counts.shape[-1]
    if xp.read_by_position(table) or not readable(table.counts):
        return rows
    most = int(np.max(np.sum(np.asarray(table.counts), axis=-1, dtype=np.int64), initial=1))
    if not table.groups:
        known = np.asarray(xp.where(xp.isnan(wanted), xp.zeros_like(wanted), wanted))
        most = min(most, math.ceil(np.max(known, initial=1)))
    exact = type(table.counts) is np.ndarray
    return most if exact else 1 << (most - 1).bit_length()  # few programs


def in_precision_of(scores: Array, threshold: Any) -> Any:
    """Plain numbers, one or a list of them, rounded to the type of the scores, as array libraries
    do before they compare them.

    Beside integer scores an integer that fits stays one.  Anything else is returned unchanged.
    """
    if not _types_of_plain(threshold) <= {int, float}:
        return threshold
    if isinstance(threshold, (list, tuple)):
        return [_in_type_of(scores, x) for x in threshold]
    return _in_type_of(scores, threshold)


def _types_of_plain(numbers: Any) -> set[type]:
    """The types of Python's numbers, one or a list of them."""
    return set(map(type, numbers)) if isinstance(numbers, (list, tuple)) else {type(numbers)}


def _in_type_of(scores: Array, number: int | float) -> int | float:
    xp, dtype = namespace(scores), scores.dtype
    if type(number) is int and xp.of_kind(dtype, "integral"):
        info = xp.iinfo(dtype)
        if info.min <= number <= info.max:
            return number
    return xp.nearest(scores, as_float(number))


def thresholds_beside(scores: Array, threshold: Any, name: str = "threshold") -> Array:
    """Thresholds in the library and on the device of the scores: plain numbers in the precision of
    the scores, and arrays with the values that they have.
    """
    xp = namespace(scores)
    refuse_records(name, threshold)
    threshold = in_precision_of(scores, threshold)
    if (found := _of_plain_numbers(scores, threshold)) is not None:
        return found
    column = as_column(name, threshold)
    flags = ("bool",) if name == "thresholds" or xp.of_kind(scores.dtype, "bool") else ()
    kinds = ("integral", "real floating", *flags)
    if not namespace(column).of_kind(column.dtype, kinds):
        raise TypeError(f"{name} must hold real numbers; got {show_value(threshold)}")
    if getattr(threshold, "weak_type", False) and xp.of_kind(scores.dtype, "real floating"):
        column = xp.cast(column, scores.dtype)  # which is JAX's mark of a plain number
    if isinstance(column, np.ndarray) and column.dtype.kind not in "biu":
        column = column.astype(np.float64)
        return xp.asarray(column, dtype=xp.wide_float(device(scores)), device=device(scores))
    return beside(scores, name, column)


def _of_plain_numbers(scores: Array, threshold: Any) -> Array | None:
    """The constants of plain numbers, in the type of the scores if that has them."""
    types = _types_of_plain(threshold)
    if not (types and types <= {int, float}):
        return None
    xp, dev = namespace(scores), device(scores)
    is_float = xp.of_kind(scores.dtype, "real floating")
    exact = is_float and isinstance(scores.dtype, np.dtype)
    dtype = scores.dtype if exact or (types == {int} and not is_float) else xp.wide_float(dev)
    with xp.computing():
        found = xp.constant(threshold, dtype, dev)
    return xp.cast(found, scores.dtype) if is_float else found


def cut_at(xp: Namespace, table: ops.TieTable, thresholds: Any) -> ops.TieTable:
    """The table with only the cuts ``score >= threshold``, and the rest in one last group."""
    table = xp.filled_first(table)
    ends = cut_ends(xp, table, _many_thresholds_beside(table, thresholds))
    return xp.without_empty_rows(xp.compiled(_merged)(table, _rows_ending(xp, table, ends)))


def _many_thresholds_beside(table: ops.TieTable, thresholds: Any) -> Array:
    """Thresholds of a list in the precision of the scores, and those of an array unchanged."""
    column = thresholds_beside(table.thresholds, thresholds, "thresholds")
    batch = tuple(table.counts.shape[:-1])
    if column.ndim == 0 or tuple(column.shape[:-1]) not in ((), batch):
        raise ValueError(
            f"thresholds must have shape (K,) or {(*batch, 'K')}; got shape {tuple(column.shape)}"
        )
    return namespace(column).broadcast_to(column, (*batch, column.shape[-1]))


def _merged(table: ops.TieTable, last: Array) -> ops.TieTable:
    """The table with merged runs, as one program: step by step, JAX would ask a device its kind."""
    return namespace(last).merged(table, last)


def _rows_ending(xp: Namespace, table: ops.TieTable, ends: Array) -> Array:
    """Flags of the last row of each cut, given how many rows it selects, and of the last filled."""
    size = table.counts.shape[-1]
    filled = xp.count(table.counts > 0)
    ends = xp.concat([xp.minimum(ends, filled), filled], axis=-1)
    ends = xp.sort(ends, axis=-1)
    places = xp.arange(1, size + 1, dtype=xp.int64, device=device(ends))
    places = xp.broadcast_to(places, table.counts.shape)
    index = xp.bisect(ends, places)
    index = xp.clip(index, max=ends.shape[-1] - 1)
    return xp.take_along_axis(ends, index, axis=-1) == places


def cut_ends(xp: Namespace, table: ops.TieTable, wanted: Array, inclusive: bool = True) -> Array:
    """How many rows the cuts ``score >= wanted``, or ``score > wanted``, select; none for NaN.

    Empty rows are at the end of the table, where it does not matter how many are selected.
    """
    scores = table.thresholds
    if scores.dtype != wanted.dtype:
        scores, wanted = xp.widened(scores), xp.widened(wanted)
    ends = xp.bisect(_falling_key(xp, scores), _falling_key(xp, wanted), beyond=inclusive)
    if xp.of_kind(wanted.dtype, "real floating"):
        ends = xp.where(xp.isnan(wanted), xp.zeros_like(ends), ends)
    return ends


def _falling_key(xp: Namespace, scores: Array) -> Array:
    """Order keys of the scores, reversed, so that they rise where the scores fall."""
    key = xp.order_key(scores)
    return -key if xp.of_kind(key.dtype, "real floating") else ~key
