"""The standard draws: each place of a stratum draws from that stratum, and none draws beyond."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters, standard_forms

from quotakernels.ops import namespace

SIZES = (3, 1, 4)
LENGTH = 10
UNIFORM = np.array([np.linspace(0, 0.999, LENGTH), np.linspace(0.999, 0, LENGTH)])

modes = pytest.mark.parametrize(
    "mode", parameters([m for m in MODES if m.name in ("numpy", "strictest")])
)


def places_by_hand(row: np.ndarray) -> list[int]:
    """The place that each number draws: as far into the stratum as it is from 0 to 1."""
    found: list[int] = []
    for size in SIZES:
        start = len(found)
        inside = [Fraction(float(u)) * size // 1 for u in row[start : start + size]]
        found += [start + int(x) for x in inside]
    return found


@modes
def test_places_are_drawn_within_their_stratum(mode: Mode):
    def drawn(uniform: Any) -> Any:
        return namespace(uniform).places_drawn(uniform, SIZES)

    index, there = mode.run(drawn, UNIFORM)
    np.testing.assert_array_equal(there, np.arange(LENGTH) < sum(SIZES))
    for row, places in zip(UNIFORM, index, strict=True):
        assert places[: sum(SIZES)].tolist() == places_by_hand(row)


@modes
def test_a_number_that_rounds_to_one_draws_the_last_place(mode: Mode):
    def drawn(uniform: Any) -> Any:
        return namespace(uniform).places_drawn(uniform, SIZES)[0]

    assert mode.run(drawn, np.ones(LENGTH))[:8].tolist() == [2, 2, 2, 3, 7, 7, 7, 7]


@modes
@pytest.mark.parametrize("poisson", [False, True])
def test_counts_are_those_of_the_same_numbers(mode: Mode, poisson: bool):
    def counted(like: Any) -> Any:
        source, resamples = 5, range(2, 6)
        with standard_forms():
            return namespace(like).draws(source, resamples, SIZES, like, poisson)

    found = mode.run(counted, np.zeros(LENGTH))
    assert found.shape == (4, LENGTH)
    for number, row in zip(range(2, 6), found, strict=True):
        uniform = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(number,)))
        numbers = uniform.random(LENGTH)
        if poisson:
            steps = np.cumsum([1 / np.e / np.prod(np.arange(1.0, k + 1)) for k in range(20)])
            wanted = [int(np.sum(steps <= u)) for u in numbers[: sum(SIZES)]] + [0, 0]
        else:
            wanted = np.bincount(places_by_hand(numbers), minlength=LENGTH).tolist()
        assert row.tolist() == wanted
