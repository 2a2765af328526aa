"""Numbers as a page shows them to people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from quotakernels.cli.gains import money
from quotakernels.cli.quota import plain

__all__ = ["MINUS", "amount", "counted", "listed", "number", "percent", "places_found", "signed"]

MINUS = "\N{MINUS SIGN}"


def number(value: float) -> str:
    """Write a number of rows or of places, which ties and weights can make fractional."""
    rounded = round(value, 1)
    return f"{int(rounded):,}" if rounded == int(rounded) else f"{rounded:,.1f}"


def counted(value: float, one: str, several: str) -> str:
    """Write a number and what it counts."""
    return f"{number(value)} {one if number(value) == '1' else several}"


def percent(share: float) -> str:
    """Write a share of a whole, a small one with two digits."""
    if math.isnan(share):
        return "undefined"
    return f"{share:.1%}" if share == 0 or share >= 0.01 else f"{100 * share:.2g}%"


def places_found(difference: float) -> str:
    """Write a difference of expected positives, which may be negative."""
    text = number(abs(difference))
    return f"{MINUS}{text}" if difference < 0 and text != "0" else text


def amount(value: float) -> str:
    """Write an amount in the user's unit, with a true minus sign."""
    return money(value).replace("-", MINUS, 1)


def signed(value: float) -> str:
    """Write a number as it was given, with a true minus sign."""
    return plain(value).replace("-", MINUS)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Write several names in a row."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end
