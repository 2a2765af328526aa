"""What a quota may be, and the masses that it stands for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    concrete,
    constant,
    device,
    is_array,
    is_tensor,
    library,
    mapped,
    may_warn,
    namespace,
    of_kind,
    readable,
    takes_host_arrays,
    tolerance,
    wide_float,
)
from quotakernels._types import WhenShort
from quotakernels.inputs.columns import (
    MASS_ROUNDING,
    as_column,
    check_one_device,
    read_without_fault,
    refuse_records,
)
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.quota_warnings import warn_below_one, warn_of_one_each
from quotakernels.inputs.totals import Totals

N = TypeVar("N", bound=NamedTuple)


ROUNDING = 2.0**-50
"""Relative distance within which ``fraction * n`` counts as the whole number beside it."""


def in_library_of(data: N, *quotas: Any) -> N:
    """The arrays of `data`, moved to the library of the quota if that takes NumPy arrays."""
    if not isinstance(data[0], np.ndarray):
        return data
    for quota in quotas:
        foreign = is_array(quota) and not isinstance(quota, (np.ndarray, np.generic))
        if foreign and takes_host_arrays(xp := namespace(quota)):
            with computing(xp):
                return mapped(xp.asarray, data)  # type: ignore[no-any-return]
    return data


def wanted_masses(
    xp: Namespace,
    table: ops.Groups | ops.Around,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    when_short: WhenShort | None = None,
) -> tuple[tuple[Array], tuple[int, ...]]:
    """The wanted masses, shape (..., K), NaN where there are none, and the quota's own shape.

    Of groups of examples the shape is (..., S, K).  Warns of a quota of less than one example, and
    of quotas that were meant for one group each.
    """
    if isinstance(table, ops.Around):
        masses: tuple[tuple[Array], tuple[int, ...]] = ((table.wanted,), ())
    else:
        masses = quota_masses(
            xp, table, quota=quota, fraction=fraction, budget=budget, when_short=when_short
        )
    known = concrete(table[0]) or (type(quota) is float and may_warn(table[0]))
    if quota is not None and not table.weighted and known:
        warn_below_one(quota)
    if isinstance(table, ops.Groups) and table.segments and concrete(table[0]):
        groups = table.segments.ids.shape[-1]
        for name, given in (("quota", quota), ("fraction", fraction), ("budget", budget)):
            warn_of_one_each(name, given, groups)
    return masses


def quota_masses(
    xp: Namespace,
    table: ops.Groups,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    when_short: WhenShort | None = None,
    called: str = "quota",
) -> tuple[tuple[Array], tuple[int, ...]]:
    """The same without a warning, of a quota that messages may call otherwise."""
    check_when_short(when_short)
    if budget is None and (mass := _mass_of_list(xp, table, quota, fraction)) is not None:
        return (mass,), ()
    if fraction is None and (masses := _masses_of_counts(xp, table, quota, when_short)) is not None:
        return (masses,), ()
    cuts = {"quota": quota, "fraction": fraction, "budget": budget}
    name, number = _only(cuts, priced=len(table.costs) > 0)
    said = called if name == "quota" else name
    value, whole = numbers_like(table[0], said, number), Totals(xp, table).whole[..., None]
    flat, shape = _beside_groups(xp, table, said, value)
    there = whole > 0
    if name == "fraction":
        fits = (flat > 0) & (flat <= 1)
        _refuse_others(xp, name, value, fits, "a share of the examples, above 0 and at most 1")
        wanted = whole_if_close(xp, flat * whole)
    else:
        short = when_short or ("all" if table.segments else "")
        most = _most(xp, table, name, whole)._replace(name=said)
        wanted, fits = _within(xp, most, value, flat, there, short)
        if name == "budget":
            paid = xp.minimum(compiled(_paid, xp)(table, wanted), whole)
            wanted = xp.where(wanted < most.whole, paid, whole)
    return (ops.nan_unless(xp, fits & there, wanted),), shape


def _mass_of_list(xp: Namespace, table: ops.Groups, quota: Any, fraction: Any) -> Array | None:
    """The mass, shape (1,), of a plain number for one list of NumPy without weights, if it fits."""
    counted = isinstance(table[0], np.ndarray) and not (table.weighted or table.segments)
    whole = Totals(xp, table).whole if counted else None
    if not isinstance(whole, np.float64) or whole == 0:
        return None
    mass = known_mass(int(whole), quota, fraction)
    return None if mass is None else np.asarray([mass])


def _masses_of_counts(
    xp: Namespace, table: Any, quota: Any, when_short: WhenShort | None
) -> Array | None:
    """The masses, shape (S, 1), of a plain quota of each group of examples that are counted.

    Of groups without examples nothing is defined, whatever the mass.
    """
    counted = isinstance(table, ops.Cumulative) and table.segments and when_short != "nan"
    if not counted or type(quota) not in (int, float):
        return None
    if not 0 <= (mass := as_float(quota)) < math.inf:
        return None
    return ops.clip(xp, Totals(xp, table).whole[..., None], high=mass)


def _refuse_others(xp: Namespace, name: str, value: Array, fits: Array, expected: str) -> None:
    """Raise for the first number of a quota that can be read and does not fit."""
    if readable(fits):
        read_without_fault(xp, name, value, xp.reshape(~fits, value.shape), expected)


def _only(cuts: dict[str, Any], priced: bool) -> tuple[str, Any]:
    """The one that is given; a budget needs examples that cost something."""
    given = {name: x for name, x in cuts.items() if x is not None}
    if len(given) != 1:
        plain = "quota= (examples) and fraction= (a share of them)"
        either = "quota=, fraction= and budget=" if priced or "budget" in given else plain
        raise TypeError(f"give exactly one of {either}")
    return next(iter(given.items()))


class _Most(NamedTuple):
    """The most that a quota or a budget may be, shape (..., 1), and whether it is a rounded sum."""

    name: str
    what: str
    whole: Array
    rounded: bool


def _most(xp: Namespace, table: ops.Groups, name: str, whole: Array) -> _Most:
    if name == "quota":
        what = "total weight" if table.weighted else "number of examples"
        return _Most(name, what, whole, table.weighted)
    if not table.costs:
        where = "here, to rank or to a ScoreBuffer"
        raise TypeError(f"a budget needs what each example costs: pass cost=, {where}")
    return _Most(name, "total cost", Totals(xp, table).cost[..., None], True)


def _paid(table: ops.Groups, money: Array) -> Array:
    return ops.mass_within(namespace(money), table, money)


def masses_or_all(
    xp: Namespace,
    table: ops.Groups,
    *,
    quota: Any = None,
    fraction: Any = None,
    when_short: WhenShort | None = None,
) -> tuple[tuple[Array], tuple[int, ...]]:
    """The same as `wanted_masses`, but without a quota the mass of all examples."""
    if quota is None and fraction is None:
        check_when_short(when_short)
        whole = Totals(xp, table).whole[..., None]
        return (ops.nan_unless(xp, whole > 0, whole),), ()
    return wanted_masses(xp, table, quota=quota, fraction=fraction, when_short=when_short)


def check_when_short(when_short: Any) -> None:
    """Raise unless it says what happens where there are fewer examples than a quota."""
    if when_short not in (None, "all", "nan"):
        raise ValueError(f'when_short must be "all" or "nan"; got {brief(when_short)}')


def _beside_groups(
    xp: Namespace, table: ops.Groups, name: str, value: Array
) -> tuple[Array, tuple[int, ...]]:
    """Numbers of shape (K,), or (S, K) if each group has its own; and their shape without S."""
    shape = tuple(value.shape)
    if not table.segments or len(shape) < 2:
        return xp.reshape(value, (-1,)), shape
    size = table.segments.ids.shape[-1]
    if len(shape) > 2 or shape[0] != size:
        raise ValueError(
            f"{name} has shape {shape}; with groups pass a number or a list of them for all "
            f"groups, or an array of shape ({size}, Q) with a row for each group"
        )
    return value, shape[1:]


def known_mass(size: int, quota: Any, fraction: Any) -> float | None:
    """The mass of so many examples for which a plain number stands, if it fits."""
    value = quota if fraction is None else fraction
    if (quota is None) == (fraction is None) or type(value) not in (int, float):
        return None
    if ops.is_symbolic(size):
        return None
    mass = as_float(value)
    if quota is None:  # in plain numbers, which torch.compile can trace
        mass = mass * size if 0 < mass <= 1 else math.nan
        nearest = math.floor(mass + 0.5) if mass == mass else mass
        mass = float(nearest) if abs(mass - nearest) <= ROUNDING * mass else mass
    return mass if 0 <= mass <= size else None


def _within(
    xp: Namespace, most: _Most, value: Array, quota: Array, there: Array, short: str
) -> tuple[Array, Array]:
    """The quota, at most the whole, and whether it fits each row of the batch.

    Of rows where no example is there every quota is undefined.
    """
    whole = most.whole
    limit = whole * (1 + tolerance(whole, MASS_ROUNDING)) if most.rounded else whole
    some, expected = quota >= 0, "a finite number, not negative"
    if short:
        some = some & (quota < xp.inf)
    right = some
    if not short and readable(whole) and bool(xp.any(there)):
        nothing = xp.zeros_like(whole)  # masses of invalid rows are NaN
        right = right & (quota <= xp.max(xp.where(there, limit, nothing)))
        highest = float(xp.max(xp.where(there, whole, nothing)))
        expected = f"a number from 0 to {highest!r}, the {most.what}"
    _refuse_others(xp, most.name, value, right, expected)
    return xp.minimum(quota, whole), some if short == "all" else some & (quota <= limit)


def whole_if_close(xp: Namespace, wanted: Array) -> Array:
    """The numbers, but whole ones where rounding alone has moved them."""
    nearest, close = xp.round(wanted), tolerance(wanted, ROUNDING) * wanted
    return xp.where(xp.abs(wanted - nearest) <= close, nearest, wanted)


def numbers_like(data: Array, name: str, value: Any) -> Array:
    """Numbers as a wide float array of the library and on the device of the data."""
    xp, dev = namespace(data), device(data)
    wide = wide_float(xp, dev)
    if type(value) in (int, float):
        return constant(xp, as_float(value), wide, dev)
    refuse_records(name, value)
    if isinstance(value, (list, tuple)) and all(type(x) in (int, float) for x in value):
        return constant(xp, [as_float(x) for x in value], wide, dev)
    if isinstance(value, (list, tuple)) and any(isinstance(x, bool) for x in value):
        raise TypeError(f"{name} must be a number or an array of numbers; got {brief(value)}")
    given, value = value, as_column(name, value)
    if not of_kind(namespace(value), value.dtype, ("integral", "real floating")):
        percent = name == "quota" and isinstance(given, str) and given.endswith("%")
        hint = "; for 5 % pass fraction=0.05" if percent else ""
        raise TypeError(f"{name} must be a number or an array of numbers; got {brief(given)}{hint}")
    if isinstance(value, np.ndarray):
        return xp.asarray(value.astype(np.float64), dtype=wide, device=dev)
    if namespace(value) is not xp:
        raise TypeError(
            f"{name} is an array of {library(value)} and the scores are of {library(data)}"
        )
    check_one_device({name: value, "y_score": data})
    return cast(xp, value, wide)


def is_plain(numbers: Any) -> bool:
    """Whether it is a number of Python, or a list of some."""
    listed = numbers if isinstance(numbers, (list, tuple)) else [numbers]
    return set(map(type, listed)) <= {int, float}


def narrowed(scores: Array, threshold: Any) -> Any:
    """Plain thresholds in the type of tensors in whose place NumPy may have wider floats."""
    short = is_tensor(scores) and scores.dtype.itemsize <= 2 and scores.dtype.is_floating_point
    if not (short and is_plain(threshold) and readable(scores)):
        return threshold
    xp = namespace(scores)
    if isinstance(threshold, (list, tuple)):
        return [ops.nearest(xp, scores, as_float(x)) for x in threshold]
    return ops.nearest(xp, scores, as_float(threshold))


def as_float(number: int | float) -> float:
    """The number, infinite where it is an integer beyond all floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
