"""Calls that are refused say what `refusals.txt` has, in each library whose users can make them."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

from contracts import refusals

if os.environ.get("QUOTAKERNELS_WRITE"):
    refusals.write_again()
ROWS = dict(refusals.read())
LIBRARIES = [m for m in MODES if m.name in ("strict", "jax32", "torch")]
OF_ARRAYS = re.compile(rf"\b({'|'.join(refusals.LISTS)}|array)\b")
OF_THE_HOST = re.compile(r"\b(pd|pl|pa|scipy|ma|tolist)\b")
"""Columns that NumPy's users have."""
OWN_WORDS = (
    (r"numpy\.asarray\((\w+)(, dtype=\w+)?\)", r"\1"),
    (r"\b(torch|array_api_strict)\.", ""),
    (r"\b(ndarray|ArrayImpl|Tensor)\b", "Array"),
    (r"\b(int|float|complex)(32|64|128)\b", r"\1"),
    (r"\b(array|Array|tensor)\((\d)(, dtype=\w+)?\)", r"array(\2)"),
    (r"scores of (32|64) bits", "scores of floats"),
    (r"^\w+: (\w+) must be .*(got an array of shape \(\d,\))", r"\1 is no number; \2"),
)
"""What each library calls by another name."""
OF_LISTS = re.compile("pass arrays of one library|y_score is a list of arrays of")
"""What is said of lists of arrays, or beside them."""


class NotMadeError(Exception):
    """A library has no such array."""


@pytest.mark.parametrize("heading", ROWS)
def test_refused_calls_say_what_the_table_has(heading: str):
    wrong = {}
    for call, wanted in ROWS[heading]:
        if (said := refusals.outcome(call, heading=heading)) != wanted:
            wrong[call] = said, wanted
    assert not wrong


@pytest.mark.parametrize("mode", parameters(LIBRARIES))
def test_every_library_says_it(mode: Mode):
    """Where all arrays are of it; what is a list beside them may be told to be of no library."""
    tables = [rows for heading, rows in ROWS.items() if heading not in refusals.ADAPTERS]
    calls = [row for rows in tables for row in rows if OF_ARRAYS.search(row[0])]
    wrong, made = {}, 0
    with mode.context():
        for call, wanted in calls:
            if OF_THE_HOST.search(call):
                continue
            said = refusals.outcome(call, lambda x, dtype=None: array(mode, x, dtype))
            if said.startswith("NotMade"):
                continue
            made += 1
            if plain(said) != plain(wanted) and not OF_LISTS.search(said):
                wrong[call] = said, wanted
    assert not wrong
    assert made > 600


def array(mode: Mode, x: Any, dtype: Any = None) -> Any:
    """An array of the library with the same values."""
    x = np.asarray(x, dtype)
    try:
        made = mode.array(x)
    except TypeError as error:
        raise NotMadeError from error
    if x.dtype == np.float16 and "float16" not in str(made.dtype):
        raise NotMadeError
    if not np.array_equal(mode.to_numpy(made), x, equal_nan=x.dtype.kind in "fc"):
        raise NotMadeError
    return made


def plain(said: str) -> str:
    """A message without the words that are a library's own."""
    for theirs, ours in OWN_WORDS:
        said = re.sub(theirs, ours, said)
    return said
