"""Cuts: the masses that a quota, a fraction or a budget stands for, or an error."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    compiled,
    concrete,
    device,
    is_array,
    is_tensor,
    may_warn,
    namespace,
    readable,
    to_numpy,
    tolerance,
)
from quotakernels._types import WhenShort
from quotakernels.inputs.columns import (
    MASS_ROUNDING,
    read_without_fault,
)
from quotakernels.inputs.keywords import show_value, warn_once
from quotakernels.inputs.numbers import as_float, is_plain, numbers_like
from quotakernels.inputs.totals import Totals


def warn_below_one(quota: Any) -> None:
    """Warn of a single quota between 0 and 1, which was meant as a fraction in all likelihood."""
    plain = type(quota) in (int, float)
    single = plain or (is_array(quota) and quota.ndim == 0 and readable(quota))
    if single and 0 < quota < 1:
        number = f"{float(quota):.7g}"
        warn_once(
            f"quota={number} is less than one example; for a share of all examples pass "
            f"fraction={number}"
        )


def warn_of_one_each(name: str, given: Any, groups: int) -> None:
    """Warn of a number for each group, unless they only rise or only fall, as those for all do."""
    if not (isinstance(given, (list, tuple)) or (is_array(given) and readable(given))):
        return
    numbers = to_numpy(given) if is_array(given) else np.asarray(given)
    if numbers.shape != (groups,) or groups == 1:
        return
    steps = numbers[1:] - numbers[:-1]
    if not (np.all(steps > 0) or np.all(steps < 0)):
        warn_once(
            f"{name} has {groups} numbers for {groups} groups, and every group gets all of them; "
            f"for one number for each group pass an array of shape ({groups}, 1)"
        )


def warn_of_nan(scores: Array, threshold: Any) -> None:
    """Warn of a threshold of these scores that is NaN, unless it is the first of several.

    There curves have the cut that selects nothing.
    """
    if type(threshold) in (int, float) and threshold == threshold:
        return  # as most are, in a fraction of the time
    if not may_warn(scores) or (is_array(threshold) and not readable(threshold)):
        return
    given = np.atleast_1d(to_numpy(threshold) if is_array(threshold) else np.asarray(threshold))
    if given.dtype.kind != "f" or given.shape[-1] == 0:
        return
    missing = np.isnan(given)
    if np.any(missing[..., 1:] & ~missing[..., :-1] if given.shape[-1] > 1 else missing):
        warn_once("threshold is NaN, and selects nothing")


ROUNDING = 2.0**-50
"""Relative distance within which ``fraction * n`` counts as the whole number beside it."""


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
    if budget is None and (found := _masses_of_list(xp, table, quota, fraction)) is not None:
        return found  # type: ignore[no-any-return]
    if fraction is None and (masses := _masses_of_counts(xp, table, quota, when_short)) is not None:
        return (masses,), ()
    cuts = {"quota": quota, "fraction": fraction, "budget": budget}
    name, number = _only(cuts, priced="cost" in table.columns)
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


def _masses_of_list(xp: Namespace, table: ops.Groups, quota: Any, fraction: Any) -> Any:
    """The masses of plain numbers that fit one list of NumPy without weights, and their shape."""
    is_list = isinstance(table[0], np.ndarray) and not (table.weighted or table.segments)
    whole = Totals(xp, table).whole if is_list else None
    if not isinstance(whole, np.float64) or whole == 0:
        return None
    masses = known_masses(int(whole), quota, fraction)
    if masses is None:
        return None
    given = quota if fraction is None else fraction
    return (np.asarray(masses),), ((len(masses),) if isinstance(given, (list, tuple)) else ())


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
    if "cost" not in table.columns:
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
        raise ValueError(f'when_short must be "all" or "nan"; got {show_value(when_short)}')


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


def known_masses(size: int, quota: Any = None, fraction: Any = None) -> list[float] | None:
    """The masses of so many examples for which a plain number, or a list of some, stands.

    None unless all of them fit, or of a size that is symbolic.
    """
    if (quota is None) == (fraction is None) or ops.is_symbolic(size):
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


def narrowed(scores: Array, threshold: Any) -> Any:
    """Plain thresholds in the type of tensors in whose place NumPy may have wider floats."""
    short = is_tensor(scores) and scores.dtype.itemsize <= 2 and scores.dtype.is_floating_point
    if not (short and is_plain(threshold) and readable(scores)):
        return threshold
    xp = namespace(scores)
    if isinstance(threshold, (list, tuple)):
        return [ops.nearest(xp, scores, as_float(x)) for x in threshold]
    return ops.nearest(xp, scores, as_float(threshold))


MOST = 10**8
"""Positions that are looked at; more of them would fill the memory."""


def masses_and_positions(
    xp: Namespace,
    table: ops.Groups,
    *,
    quota: Any = None,
    fraction: Any = None,
    when_short: WhenShort | None = None,
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The wanted masses, and the numbers of all positions that have to be looked at."""
    (wanted,), shape = masses_or_all(
        xp, table, quota=quota, fraction=fraction, when_short=when_short
    )
    number = _number(xp, table, wanted)
    if ops.is_below(MOST, number):
        raise ValueError(f"the ranking has {number} positions, too many to visit each; pass quota=")
    return (wanted, xp.arange(1, number + 1, dtype=xp.int64, device=device(wanted))), shape


def _number(xp: Namespace, table: ops.Groups, wanted: Array) -> int:
    """How many positions there are: in a program no more than rows."""
    rows: int = table.counts.shape[-1]
    if table.in_place or not readable(table.counts):
        return rows
    most = int(np.max(np.sum(np.asarray(table.counts), axis=-1, dtype=np.int64), initial=1))
    if not table.segments:
        known = np.asarray(xp.where(xp.isnan(wanted), xp.zeros_like(wanted), wanted))
        most = min(most, math.ceil(np.max(known, initial=1)))
    exact = type(table.counts) is np.ndarray
    return most if exact else 1 << (most - 1).bit_length()  # few programs
