"""Corrected p-values of many pairs, and the letters of models that cannot be told apart."""

from __future__ import annotations

import itertools

import numpy as np

from quotakernels.inference.comparing import groups_alike, holm, letters_of


def test_holm_by_hand():
    p_values = np.asarray([0.01, 0.04, np.nan, 0.03, 0.005, 0.9])
    wanted = [0.04, 0.09, np.nan, 0.09, 0.025, 0.9]
    assert np.allclose(holm(p_values), wanted, equal_nan=True)
    assert holm(np.asarray([0.5, 0.6])).tolist() == [1, 1]


def letters(number: int, *pairs: tuple[int, int]) -> str:
    differ = np.zeros((number, number), dtype=bool)
    for pair in pairs:
        differ[pair] = differ[pair[::-1]] = True
    return " ".join(letters_of(groups_alike(differ), number))


def test_letters():
    assert letters(3) == "a a a"
    assert letters(3, (0, 1), (0, 2), (1, 2)) == "a b c"
    assert letters(3, (0, 2)) == "a ab b"
    assert letters(4, (0, 2), (0, 3), (1, 3)) == "a ab bc c"
    assert letters(4, (0, 1), (2, 3)) == "ab cd ac bd"
    assert letters(5, (0, 4), (1, 4), (2, 3)) == "ab ab ac bd cd"


def test_letters_tell_what_the_tests_tell():
    dice = np.random.default_rng(2)
    for _ in range(20):
        differ = np.triu(dice.random((7, 7)) < 0.3, 1)
        groups = groups_alike(differ | differ.T)
        shown = letters_of(groups, 7)
        for pair in itertools.combinations(range(7), 2):
            assert bool(set(shown[pair[0]]) & set(shown[pair[1]])) != differ[pair]
        assert not any(set(a) < set(b) for a in groups for b in groups)
