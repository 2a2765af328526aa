"""Numbers as a page shows them to people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from quotakernels.cli.gains import money
from quotakernels.cli.quota import plain

__all__ = [
    "MINUS",
    "amount",
    "at_most_three",
    "counted",
    "first_of",
    "listed",
    "number",
    "percent",
    "places_found",
    "places_of",
    "signed",
    "whole",
]

MINUS = "\N{MINUS SIGN}"
_MANY = 3


def number(value: float) -> str:
    """Write a number of rows or of places, which ties and weights can make fractional."""
    rounded = round(value, 1)
    return f"{int(rounded):,}" if rounded == int(rounded) else f"{rounded:,.1f}"


def whole(places: float) -> bool:
    """Whether so many places can be filled without one that is left to chance."""
    return "." not in number(places)


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


def at_most_three(names: Sequence[str], last: str = "and") -> str:
    """Write several names in a row, of many the first two and the number of the others."""
    if len(names) <= _MANY:
        return listed(names, last)
    return listed([*names[: _MANY - 1], f"{len(names) - _MANY + 1} others"], last)


def places_of(places: float, weighted: bool) -> str:
    """Write how much can be selected."""
    return f"a weight of {number(places)}" if weighted else counted(places, "place", "places")


def first_of(places: float, weighted: bool, what: str = "") -> str:
    """Write how many are the first ones."""
    if weighted:
        return f"first {number(places)} of the weight"
    if number(places) == "1":
        return f"first {what or 'one'}"
    return f"first {number(places)} {what + 's' if what else ''}".rstrip()
