"""Tie groups that hold positives, by the counts up to their ends, for NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels.ops._table import Cumulative
from quotakernels.ops.native._numpy_words import (
    count_type,
    extent,
    sorted_words,
    whole_groups,
)

NDArray = np.ndarray[Any, Any]


def groups_with_positives(key: NDArray, labels: NDArray) -> Cumulative:
    """The tie groups of one list of keys that hold positives, and what is between them as others.

    So there is an odd number of groups, of which every second has positives, and the rest may be
    empty.
    """
    most = 2 * np.count_nonzero(labels) + 2
    integer = count_type(key.shape[0])
    items, found = np.empty((2, most), dtype=integer)  # together the system gives large pages
    rows = 1
    done = found_before = 0
    for part in sorted_words(key, labels, *extent(key)):
        for words in whole_groups(part.words):
            starts, ends, found_here, positives = _with_positives(words)
            behind = rows + 2 * starts.shape[0]
            np.add(starts, done, out=items[rows:behind:2], casting="unsafe")
            np.add(ends, done, out=items[rows + 1 : behind : 2], casting="unsafe")
            np.add(found_here, found_before, out=found[rows:behind:2], casting="unsafe")
            rows, done, found_before = behind, done + words.shape[0], found_before + positives
    items[0], items[rows], found[rows] = 0, done, found_before
    found[0:rows:2] = found[1 : rows + 1 : 2]  # nothing is found between two of them
    return Cumulative(items[: rows + 1], found[: rows + 1])


def _with_positives(words: NDArray) -> tuple[NDArray, NDArray, NDArray, int]:
    """Where the groups with positives start and end, what is found before each; and in all."""
    places = (words.astype(np.uint8) & 1).view(np.bool).nonzero()[0]  # the fastest way to them
    here, number = words[places], places.shape[0]
    differs = here[1:] != here[:-1]
    if np.count_nonzero(differs) == differs.shape[0]:
        found, starts, ends = np.arange(number), places, places + 1
    else:
        found = np.append(0, differs.nonzero()[0] + 1)
        starts, here = places[found], here[found]
        ends = places[np.append(found[1:], number) - 1] + 1
    tied = (words[starts - 1] ^ here) == 1  # with a negative; those of a group stand first in it
    if np.count_nonzero(tied):
        starts = starts.copy()
        starts[tied] = words.searchsorted(here[tied] - here.dtype.type(1))
    return starts, ends, found, number
