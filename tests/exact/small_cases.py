"""Small inputs that leave nothing out, for tests that compare with ``==``."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import TypeAlias

from .table import Group, Number, groups

Columns: TypeAlias = tuple[tuple[int, ...], tuple[float, ...]]

LEVELS = (2.0, 0.5, -1.0)
ROWS = tuple(product((0, 1), LEVELS))
WEIGHTS: tuple[Number, ...] = (Fraction(1, 2), 3)


def cases(largest: int, smallest: int = 1) -> Iterator[Columns]:
    """All multisets of rows as (labels, scores): every case on three levels up to its order."""
    for n in range(smallest, largest + 1):
        for rows in combinations_with_replacement(ROWS, n):
            yield tuple(row[0] for row in rows), tuple(row[1] for row in rows)


def ordered_cases(largest: int, smallest: int = 1) -> Iterator[Columns]:
    """All sequences of rows as (labels, scores): every case on three levels."""
    for n in range(smallest, largest + 1):
        for rows in product(ROWS, repeat=n):
            yield tuple(row[0] for row in rows), tuple(row[1] for row in rows)


def weighted_cases(
    largest: int,
) -> Iterator[tuple[tuple[int, ...], tuple[float, ...], list[Number]]]:
    """All multisets of rows, each under every choice of the weights 1/2 and 3."""
    for labels, scores in cases(largest):
        for weights in product(WEIGHTS, repeat=len(labels)):
            yield labels, scores, list(weights)


def without_ties(labels: list[int] | tuple[int, ...]) -> list[Group]:
    """The ranking without ties that has these labels in rank order."""
    return groups(labels, range(len(labels), 0, -1))
