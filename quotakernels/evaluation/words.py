"""Numbers as a page shows them to people."""

from __future__ import annotations

from collections.abc import Sequence

from quotakernels._text import money, number, plain

MINUS = "\N{MINUS SIGN}"
_MANY = 3


def whole(places: float) -> bool:
    """Whether so many places can be filled without one that is left to chance."""
    return "." not in number(places)


def counted(value: float, one: str, several: str) -> str:
    """Write a number and what it counts."""
    return f"{number(value)} {one if number(value) == '1' else several}"


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


def sentence(words: str) -> str:
    """Let words begin with a capital letter."""
    return words[:1].upper() + words[1:]


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
