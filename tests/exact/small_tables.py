"""Small tables and rankings that leave nothing out, for tests that compare with ``==``."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from .classes import Cells, cells
from .confusion import Table, table
from .small_cases import cases, without_ties
from .table import Group, groups


def tables(largest: int, smallest: int = 0) -> Iterator[Table]:
    """All tables of two classes with cells from the smallest to the largest count."""
    for counts in product(range(smallest, largest + 1), repeat=4):
        yield table(*counts)


def class_tables(number: int, k: int = 3, largest: int = 5) -> Iterator[Cells]:
    """Random tables of K classes, then all small ones that have two classes of K at most."""
    dice = random.Random(11)
    for _ in range(number):
        yield cells([[dice.randint(0, largest) for _ in range(k)] for _ in range(k)])
    for counts in product((0, 2), repeat=4):
        yield within(cells((counts[:2], counts[2:])), k)


def within(two: Cells, k: int) -> Cells:
    """The table with more classes that never occur, K in all."""
    more = k - len(two)
    return cells([[*row, *[0] * more] for row in two] + [[0] * k] * more)


def rankings(largest: int = 5) -> Iterator[list[Group]]:
    """Small rankings with both classes: ties of every kind, then none."""
    for labels, scores in cases(largest, 2):
        if 0 < sum(labels) < len(labels):
            yield groups(labels, scores)
    for labels in product((0, 1), repeat=6):
        if 0 < sum(labels) < 6:
            yield without_ties(labels)
