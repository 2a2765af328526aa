"""Numbers as people read them: the same value is the same text, whatever its type."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from numbers import Integral
from typing import Any

_DIGITS = 14  # what differs beyond them differs by rounding
_NOTHING = 1e-9


def rounded(value: Any) -> int | float:
    """The decimal number that a value stands for, which all further rounding starts from.

    NumPy and Python round halves differently, a float of 32 bits is another number in 64, and one
    sum in two orders may end on both sides of a half.
    """
    if isinstance(value, Integral):
        return int(value)
    exact = float(value)
    dtype = str(getattr(value, "dtype", "")).rpartition(".")[-1]
    if dtype in ("float16", "float32"):
        import numpy as np  # which much that writes no such numbers does without

        exact = float(str(np.dtype(dtype).type(exact)))
    return exact if exact.is_integer() else float(f"{exact:.{_DIGITS}g}")


def formatted(value: Any, form: str) -> str:
    """Write a number in a form of Python's; where that leaves nothing of it, without a sign.

    Decimals are cut from the decimal number, halves to the even digit: 0.15 is 0.2.
    """
    known: Any = rounded(value)
    if form[-1] in "f%" and math.isfinite(known):
        known = Decimal(repr(known))
    return format(known, f"z{form}")


def fixed(decimals: int) -> Callable[[Any], str]:
    """Write numbers with so many decimals."""
    return partial(formatted, form=f".{decimals}f")


def plain(value: Any) -> str:
    """Write a number without an exponent or trailing zeros where it is readable that way."""
    known = rounded(value)
    return str(int(known)) if float(known).is_integer() else f"{known:.10g}"


def number(value: Any) -> str:
    """Write a number of rows or of places, which ties and weights can make fractional.

    A small one has two digits, and what may be left of 0 by rounding is 0.
    """
    known = rounded(value)
    if _NOTHING < abs(known) < 1:
        return formatted(known, ".2g")
    return formatted(known, ",.1f").removesuffix(".0")


def counted(value: Any, one: str, several: str) -> str:
    """Write a number and what it counts."""
    return f"{number(value)} {one if number(value) == '1' else several}"


def percent(share: Any) -> str:
    """Write a share of a whole, a small one with two digits."""
    if math.isnan(share):
        return "undefined"
    known = rounded(share)
    return (
        formatted(known, ".1%")
        if known == 0 or abs(known) >= 0.01
        else f"{formatted(100 * known, '.2g')}%"
    )


_THOUSANDS = 999.995
"""From here on, two decimals would write a thousand."""


def money(amount: Any) -> str:
    """Write an amount with two decimals, a small one with three digits, and thousands whole."""
    known = rounded(amount)
    form = ",.2f" if known == 0 or abs(known) >= 0.1 else ".3g"
    return formatted(known, ",.0f" if abs(known) >= _THOUSANDS else form)


def digits(value: Any) -> str:
    """Write a number with four digits, or a large one whole."""
    known = rounded(value)
    return formatted(known, ",.0f" if 9999.5 <= abs(known) < 1e15 else ",.4g")


def between(lower: float, upper: float) -> str:
    """Write two bounds with four decimals, rounded so that they stay bounds; one if they agree."""
    if math.isnan(lower):
        return "undefined"
    if lower == upper:
        return formatted(lower, ".4f")
    low, high = math.floor(1e4 * lower) / 1e4, math.ceil(1e4 * upper) / 1e4
    return f"{formatted(low, '.4f')} to {formatted(high, '.4f')}"
