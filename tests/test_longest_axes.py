"""Sizes that callers name: one that no memory can hold is an error that names the argument."""

from __future__ import annotations

import numpy as np

import quotakernels as qk


def test_the_longest_that_is_taken():
    assert qk.lift_table(Y, S, bins=np.int64(2**10)).lift.shape == (2**10,)
