"""What holds labels and scores, but is no array in memory: an error that says what to pass."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import quotakernels as qk

Y = np.asarray([1, 0, 1, 0, 0])
S = np.asarray([0.9, 0.8, 0.7, 0.0, 0.0])
COO = type("COO", (), {"__module__": "sparse.numba_backend._coo.core"})
"""By its name an array of the package sparse."""

SPARSE = [
    (lambda x: COO(), "is a sparse array; pass {}.todense()"),
]


@pytest.mark.parametrize(("made", "message"), SPARSE)
def test_sparse_arrays(made: Any, message: str):
    check(made, message)


def test_dask_arrays():
    dask = pytest.importorskip("dask.array")
    hint = "is a Dask array; take quotakernels.adapters.dask, or pass {}.compute()"
    check(dask.from_array, hint)


def check(made: Any, message: str) -> None:
    """Under every name, with and without `pos_label`."""
    calls = {
        "y_true": lambda: qk.roc_auc(made(Y), S),
        "y_score": lambda: qk.select(made(S), quota=1),
        "sample_weight": lambda: qk.rank(Y, S, sample_weight=made(S)),
        "gain": lambda: qk.impact_at_quota(None, S, gain=made(S), quota=1),
        "y_pred": lambda: qk.tables.confusion_table_from_predictions(Y, made(Y), pos_label=1),
        "models['b']": lambda: qk.compare(qk.roc_auc, Y, {"a": S, "b": made(S)}),
        "like": lambda: qk.states.ScoreBuffer.empty(made(S)),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"^{re.escape(f'{name} {message.format(name)}')}$"):
            call()
    with pytest.raises(TypeError, match=f"^y_true {re.escape(message.format('y_true'))}$"):
        qk.one_vs_rest(qk.roc_auc, made(Y), np.stack([1 - S, S], axis=-1))


ScoreBuffer, one_vs_rest = qk.states.ScoreBuffer, partial(qk.one_vs_rest, qk.roc_auc)
ORDERED = pd.Series(S, index=[4, 3, 2, 1, 0])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("y_score", lambda: qk.roc_auc(pd.Series(Y), ORDERED)),
        ("sample_weight", lambda: qk.roc_auc(pd.Series(Y), S, sample_weight=ORDERED)),
        ("groups", lambda: qk.roc_auc(pd.Series(Y), S, groups=ORDERED > 0.5)),
        ("models['a']", lambda: qk.evaluate(pd.Series(Y), {"a": ORDERED, "b": -S}, quota=1)),
        ("y_score", lambda: qk.states.ScoreHistogram.of(pd.Series(Y), ORDERED)),
        ("y_score", lambda: ScoreBuffer.empty(S).update(pd.Series(Y), y_score=ORDERED)),
        ("y_score", lambda: one_vs_rest(pd.Series(Y), pd.DataFrame({0: ORDERED, 1: ORDERED}))),
        (
            "y_pred",
            lambda: qk.tables.confusion_table_from_predictions(pd.Series(Y), ORDERED > 0.5),
        ),
        (
            "where",
            lambda: one_vs_rest(pd.Series(Y), np.stack([-S, S], axis=-1), where=ORDERED < 1),
        ),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_an_index_in_another_order_is_told(name: str, call: Any):
    message = (
        f"y_true and {name} have different indexes, and are matched by position; pass "
        f"{name}.reindex(y_true.index), or to_numpy() of both"
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}"):
        call()


def test_other_indexes_are_no_matter():
    wanted = qk.roc_auc(Y, S)
    levels = pd.MultiIndex.from_product([[1], range(5)])
    for index in ([5, 6, 7, 8, 9], list("abcde"), [0, 1, 2, 3, "4"], [0, 0, 1, 4, 4], levels):
        assert qk.roc_auc(pd.Series(Y, index=index), pd.Series(S)) == wanted
        assert qk.roc_auc(pd.Series(Y), pd.Series(S, index=index)) == wanted
    assert qk.roc_auc(pd.Series(Y, index=ORDERED.index), ORDERED) == wanted


@pytest.mark.parametrize("first", [0, 7])
@pytest.mark.parametrize("dtype", ["Int64", float, object, "int8", "category"])
def test_indexes_of_other_types_name_the_same_rows(first: int, dtype: Any):
    index = pd.Index(range(first, first + 5))
    for other in (index, pd.Index(list("abcde"))) if first == 0 else (index,):
        for one, two in ((index.astype(dtype), other), (other, index.astype(dtype))):
            found = qk.roc_auc(pd.Series(Y, index=one), pd.Series(S, index=two))
            assert found == qk.roc_auc(Y, S)
    berlin = pd.date_range("2020", periods=5, tz="Europe/Berlin")
    labels, scores = pd.Series(Y, index=berlin), pd.Series(S, index=berlin.tz_convert("UTC"))
    assert qk.roc_auc(labels, scores) == qk.roc_auc(Y, S)


@pytest.mark.parametrize("index", [[5, 6, 7, 8, 9], list("abcde"), [[0, 1], [1, 2]] * 2 + [[3, 3]]])
def test_indexes_that_name_other_rows_are_told(index: Any):
    if isinstance(index[0], list):
        index = pd.MultiIndex.from_tuples(index)
    other = pd.Series(S, index=[1, 2, 3, 4, 5])
    message = "^y_true and y_score have different indexes, and are matched by position; pass to_n"
    with pytest.warns(UserWarning, match=message):
        assert qk.roc_auc(pd.Series(Y, index=index), other) == qk.roc_auc(Y, S)


def test_sparse_columns_of_pandas():
    scores, labels = (pd.Series(pd.arrays.SparseArray(x)) for x in (S, Y))
    assert qk.roc_auc(labels, scores) == qk.roc_auc(Y, S)
    assert qk.roc_auc(labels, scores.array, pos_label=0) == qk.roc_auc(Y, S, pos_label=0)


def test_tuples_of_numbers_are_columns():
    assert qk.roc_auc((0, 1), (1.0, 2.0)) == 1
    assert qk.hit_rate(Y, S, quota=(1, 2)).shape == (2,)
    table = qk.tables.ConfusionTable(1.0, 2.0, 3.0, 4.0)
    assert qk.tables.impact(table, impacts=qk.tables.ConfusionTable(1, 0, 0, 0)).whole == 0.1
