"""Values that are no scores, labels or weights: an error that says which, or NaN for their row."""

from __future__ import annotations

from functools import partial

import everything as every
import numpy as np
import pytest
from backends import LAZY, MODES, Mode, mode_fixture

import quotakernels as qk

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0], dtype=np.float32)
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0], dtype=np.float32)
W = np.asarray([1, 0.5, 2, 1, 3, 0.25, 1, 1], dtype=np.float32)
PLACE = 5

NAN = np.float32(np.nan)
NEGATIVE_NAN = np.asarray(0xFFC00001, dtype=np.uint32).view(np.float32)[()]
BAD = [
    *(("y_score", x) for x in (NAN, NEGATIVE_NAN)),
    *(("y_true", x) for x in (NAN, 2.0, 0.5, -1.0, np.inf, np.float32(1e-45))),
    *(("sample_weight", x) for x in (NAN, -1.0, np.inf, -np.inf)),
]


def with_bad(name: str, value: float) -> dict[str, np.ndarray]:
    given = {"y_true": Y.copy(), "y_score": S.copy(), "sample_weight": W.copy()}
    given[name][PLACE] = value
    return given


def batch() -> tuple[np.ndarray, ...]:
    """Good rows around one row for each bad value; in the last rows bad values do not count."""
    rows = [with_bad("y_true", Y[PLACE])]
    rows += [with_bad(*each) for each in BAD]
    rows += [with_bad("y_true", Y[PLACE])]
    count = len(rows)
    masks = np.ones((count, Y.size), dtype=bool)
    for name, value in BAD:
        rows.append(with_bad(name, value))
        hidden = np.ones(Y.size, dtype=bool)
        if name == "sample_weight" or len(rows) % 2:
            hidden[PLACE] = False
        else:
            rows[-1]["sample_weight"][PLACE] = 0
        masks = np.concatenate([masks, hidden[None]])
    columns = (np.stack([row[name] for row in rows]) for name in rows[0])
    return (*columns, masks)


def is_bad(index: int) -> bool:
    return 0 < index <= len(BAD)


def without_decisions(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: x for name, x in values.items() if name[:6] not in ("select", "quota_")}


def check_batch(found: dict[str, np.ndarray]) -> None:
    arrays = batch()
    for index in range(arrays[0].shape[0]):
        values = every.of_row(found, index)
        if is_bad(index):
            labels_only = BAD[index - 1][0] == "y_true"
            every.assert_undefined(without_decisions(values) if labels_only else values)
        else:
            y, s, w, where = (x[index] for x in arrays)
            w = np.where(where, w, 0)
            every.assert_exact(values, *(np.where(w > 0, x, 0) for x in (y, s)), w)
            assert not np.isnan(values["roc_auc"])


mode = mode_fixture([mode for mode in MODES if mode in LAZY or not mode.lazy])


def some(y_true, y_score, sample_weight, where, validate=True):
    """One measure of each kind, where each of them is compiled for itself, or slowly."""
    given = {"sample_weight": sample_weight, "where": where, "validate": validate}
    ranking = qk.rank(y_true, y_score, **given)
    found = {"roc_auc": qk.roc_auc(ranking)}
    found["hit_rate"] = qk.hit_rate(ranking, quota=[float(q) for q in every.QUOTAS])
    return found | {"select": qk.select(y_score, quota=every.SELECTED, **given)}


SLOW = ("jax64", "jax32", "torch-compile")


@pytest.mark.long_program
def test_a_bad_row_of_a_batch_is_nan_and_leaves_the_others_alone(mode: Mode):
    """Where values can be read, with validate=False; else by itself."""
    function = some if mode.name in SLOW else every.everything
    if not mode.lazy:
        function = partial(function, validate=False)
    check_batch(mode.run(function, *batch()))
