"""Short lists for NumPy, of which a step takes longer than its numbers: in few steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import Positives
from quotakernels.ops.native._numpy_keys import order_key
from quotakernels.ops.native._numpy_positive_sums import moment, sums_between
from quotakernels.ops.native._numpy_positives import of_sorted, places_of_positives
from quotakernels.ops.native._numpy_rows import BLOCK, blocks

NDArray = np.ndarray[Any, Any]

SHORT = BLOCK
"""Lists of more scores are not short."""
WIDENED = 2**12
"""So many words of eight bytes are sorted sooner than it is seen whether four suffice."""
_MIDDLE: dict[int, tuple[Any, Any]] = {
    4: (np.dtype(np.int32), np.int32(2**30 - 1)),
    8: (np.dtype(np.int64), np.int64(2**62 - 1)),
}
"""By bytes of a key: its type, which is that of a word, and the middle of those that are not
negative.
"""


def words_of_few(scores: NDArray, labels: NDArray) -> NDArray | None:
    """Words of short lists, not sorted, if one step packs them."""
    length, size = scores.shape[-1], scores.dtype.itemsize
    if length <= SHORT and size in _MIDDLE:
        signed, middle = _MIDDLE[size]
        bits = scores.view(signed)
        if np.minimum.reduce(bits, axis=None) >= 0:
            return _with_labels(np.subtract(middle, bits), labels)
    if length > WIDENED or size > 4:
        return None
    return _with_labels(np.subtract(2**32, order_key(scores), dtype=np.int64), labels)


def _with_labels(words: NDArray, labels: NDArray) -> NDArray:
    words += words
    words |= labels
    return words


def _are_apart(words: NDArray) -> Any:
    """Whether each of the sorted words is a group by itself."""
    return np.minimum.reduce(words[..., 1:] ^ words[..., :-1], axis=-1, initial=2) > 1


def moment_of_few(scores: NDArray, labels: NDArray) -> tuple[Any, Any] | None:
    """The number of positives, and the moment, of one short list, if one step packs it."""
    if (words := words_of_few(scores, labels)) is None:
        return None
    words.sort()
    if not _are_apart(words):
        table = of_sorted(words)
        return table.found[-1], moment(table)
    places = places_of_positives(words)
    number = np.int64(places.shape[0])
    return number, 2 * np.add.reduce(places) + number


class _Lists(NamedTuple):
    """Some lists of a batch: which, where their positives are among all of their examples, and
    where those of each list begin; and the sorted words of lists with ties, by their numbers.
    """

    lists: slice
    places: NDArray
    starts: NDArray
    tied: dict[int, NDArray]


def _some_at_a_time(scores: NDArray, labels: NDArray, number: NDArray) -> Iterator[_Lists | None]:
    """Short lists of so many positives, in parts that stay in the cache; None if one step does not
    pack them.
    """
    for lists in blocks(scores.shape[0], max(BLOCK // scores.shape[1], 1)):
        words = words_of_few(scores[lists], labels[lists])
        if words is None:
            yield None
            return
        words.sort(axis=-1)
        tied = (~_are_apart(words)).nonzero()[0].tolist()
        places = places_of_positives(words.reshape(-1))
        starts = np.append(0, number[lists].cumsum())
        yield _Lists(lists, places, starts, {lists.start + i: words[i] for i in tied})


def moments_of_few(scores: NDArray, labels: NDArray) -> tuple[NDArray, NDArray] | None:
    """The same of several lists."""
    number = np.count_nonzero(labels, axis=-1)
    whole = np.empty(number.shape, dtype=np.int64)
    for some in _some_at_a_time(scores, labels, number):
        if some is None:
            return None
        here = number[some.lists]
        before = here * np.arange(0, scores.shape[1] * here.shape[0], scores.shape[1])
        whole[some.lists] = 2 * (sums_between(some.places, some.starts) - before) + here
        for i, words in some.tied.items():
            whole[i] = moment(of_sorted(words))
    return number, whole


def of_few(scores: NDArray, labels: NDArray) -> Positives | None:
    """The tie groups that hold positives, of several lists, with empty groups behind the last one
    of each.
    """
    length, number = scores.shape[1], np.count_nonzero(labels, axis=-1)
    most, groups = int(number.max()) + 2, number + 1
    columns = np.empty((3, number.shape[0], most), dtype=np.int32)
    starts, ends, found = columns
    starts[:], ends[:], found[:] = length, length, number[:, None]
    starts[:, 0] = ends[:, 0] = found[:, 0] = 0
    for some in _some_at_a_time(scores, labels, number):
        if some is None:
            return None
        here = number[some.lists]
        row = np.arange(here.shape[0]).repeat(here)
        before = np.arange(some.places.shape[0]) - some.starts[:-1].repeat(here)
        cell = (row + some.lists.start) * most + before + 1
        places = some.places - length * row
        for column, x in zip(columns, (places, places + 1, before), strict=True):
            column.reshape(-1)[cell] = x
        for i, words in some.tied.items():
            table = of_sorted(words)
            rows = groups[i] = table.ends.shape[0]
            for column, x, end in zip(columns, table, (length, length, number[i]), strict=False):
                column[i, :rows], column[i, rows:] = x[:rows], end
    starts, ends, found = columns[..., : groups.max() + 1]
    return Positives(starts, ends[:, :-1], found)


def of_words(words: NDArray) -> Positives:
    """The tie groups that hold positives, of words that are not sorted yet; they are."""
    words.sort()
    if not _are_apart(words):
        return of_sorted(words)
    places = places_of_positives(words)
    number = places.shape[0]
    starts, ends = np.empty(number + 2, places.dtype), np.empty(number + 1, places.dtype)
    starts[0] = ends[0] = 0
    starts[1:-1], starts[-1] = places, words.shape[0]
    np.add(places, 1, out=ends[1:])
    found = np.arange(-1, number + 1)
    found[0] = 0
    return Positives(starts, ends, found)
