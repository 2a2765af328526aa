"""Containers that are no plain arrays, and arrays of different libraries and devices."""

from __future__ import annotations

import importlib
import itertools
import operator
import os
import re
import subprocess
import sys
from functools import partial
from typing import Any

import everything as every
import numpy as np
import pandas as pd
import polars as pl
import pytest
from backends import MODES, Mode, available, parameters

import quotakernels as qk

pa = pytest.importorskip("pyarrow")

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])
W = np.asarray([1.0, 0.5, 2, 0, 3, 0.25, 1, 1])
M = np.asarray([True, True, False, True, True, True, True, True])
GIVEN = {"y_true": Y, "y_score": S, "sample_weight": W, "where": M}


def results(**given: Any) -> list[Any]:
    """Something of everything that reads its input in its own way."""
    ranking = qk.rank(**given)
    decided = {name: x for name, x in given.items() if name != "y_true"}
    end = qk.quota_threshold(**decided, quota=3)
    return [*ranking[:5], qk.roc_auc(**given), qk.select(**decided, quota=3), *end]


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        assert type(one) is type(other)


# containers of NumPy


def reversed_view(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x[::-1])[::-1]


def strided(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 3)[::3]


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def big_endian(x: np.ndarray) -> np.ndarray:
    return x.astype(x.dtype.newbyteorder(">"))


def unmasked(x: np.ndarray) -> np.ndarray:
    return np.ma.array(big_endian(x), mask=False)


def matrix_row(x: np.ndarray) -> np.ndarray:
    return np.asfortranarray(np.stack([x, x[::-1], x]))[0]


@pytest.mark.parametrize(
    "form", [reversed_view, strided, read_only, big_endian, unmasked, matrix_row]
)
def test_every_layout_gives_the_same_and_stays_as_it_was(form: Any):
    given = {name: form(x) for name, x in GIVEN.items()}
    before = {name: (x.dtype, x.strides, x.tobytes()) for name, x in given.items()}
    assert_same(results(**given), results(**GIVEN))
    assert before == {name: (x.dtype, x.strides, x.tobytes()) for name, x in given.items()}


def test_layouts_of_a_batch():
    scores = np.stack([S, S[::-1], -S])
    forms = (np.asfortranarray(scores), scores[:, ::-1][:, ::-1], big_endian(scores))
    for form in (*forms, scores.tolist()):
        before = np.array(form)
        assert_same(results(y_true=Y, y_score=form), results(y_true=Y, y_score=scores))
        np.testing.assert_array_equal(form, before)
    one = np.broadcast_to(S, (3, 8))
    wanted = results(y_true=Y, y_score=np.ascontiguousarray(one), where=M)
    assert_same(results(y_true=np.broadcast_to(Y, (3, 8)), y_score=one, where=M), wanted)


# columns


def nullable(x: np.ndarray) -> pd.Series:
    names = {"i": "Int64", "f": "Float64", "b": "boolean"}
    return pd.Series(x, dtype=names[x.dtype.kind])


def arrow_backed(x: np.ndarray) -> pd.Series:
    names = {"i": "int64[pyarrow]", "f": "double[pyarrow]", "b": "bool[pyarrow]"}
    return pd.Series(x, dtype=names[x.dtype.kind])


def indexed(x: np.ndarray) -> pd.Series:
    return pd.Series(x, index=np.arange(x.size)[::-1])


def chunked(x: np.ndarray) -> Any:
    return pa.chunked_array([x[:3], x[3:]])


FORMS = [list, tuple, np.ndarray.tolist, pd.Series, indexed, nullable, arrow_backed]
FORMS += [pl.Series, pa.array, chunked]


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_data_frames_and_lists(form: Any):
    given = {name: form(x) for name, x in GIVEN.items()}
    assert_same(results(**given), results(**GIVEN))
    for name, x in given.items():
        np.testing.assert_array_equal(np.asarray(x), GIVEN[name])


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32"])
def test_columns_keep_their_dtype(dtype: str):
    scores = (8 * S).astype(dtype)
    wanted = results(y_true=Y, y_score=scores)
    capital = {"int8": "Int8", "uint64": "UInt64", "float32": "Float32"}[dtype]
    for column in (pd.Series(scores, dtype=capital), pl.Series(scores), pa.array(scores)):
        assert_same(results(y_true=Y, y_score=column), wanted)


# mixed libraries and devices


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_lists_columns_and_numpy_beside_jax_are_fine():
    import jax
    import jax.numpy as jnp

    wanted = results(**GIVEN)
    for name in ("y_score", "sample_weight", "where"):
        given: dict[str, Any] = dict(GIVEN)
        given[name] = jnp.asarray(given[name])
        found = results(**given)
        assert all(isinstance(x, jax.Array) for x in found)
        np.testing.assert_allclose(found[5], wanted[5], rtol=1e-7)
        np.testing.assert_allclose(found[6], wanted[6], rtol=1e-7)
    assert isinstance(qk.roc_auc(jnp.asarray(Y), S), jax.Array)
    found = results(y_true=Y.tolist(), y_score=jnp.asarray(S), where=pl.Series(M))
    np.testing.assert_allclose(found[5], qk.roc_auc(Y, S, where=M), rtol=1e-7)


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
@pytest.mark.parametrize("deep", [1, 2])
@pytest.mark.parametrize("x64", [False, True])
def test_jax_maps_over_numpy_arrays_of_64_bits(x64: bool, deep: int):
    import jax

    ids, costs = np.arange(8) % 3, np.arange(8.0)
    given = [Y, S, ids, costs, np.asarray([1, 3]), np.asarray([0.5, 2.0])]

    def found(y: Any, s: Any, groups: Any, cost: Any, quota: Any, budget: Any) -> list[Any]:
        measured = [qk.roc_auc(y, s, sample_weight=cost), qk.hit_rate(y, s, quota=quota)]
        measured.append(qk.hit_rate(y, s, cost=cost, budget=budget))
        return [*measured, qk.average_hit_rate(y, s, groups=groups, num_groups=3)]

    mapped = found
    for _ in range(deep):
        mapped = jax.vmap(mapped)
    with jax.enable_x64(x64):
        of_each = mapped(*(np.stack([x, x])[(slice(None), *(None,) * (deep - 1))] for x in given))
    for one, wanted in zip(of_each, found(*given), strict=True):
        assert one.dtype == (np.float64 if x64 else np.float32)
        np.testing.assert_allclose(np.asarray(one)[(-1,) * deep], wanted, rtol=1e-6)


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_numpy_labels_and_weights_beside_jax_are_not_rounded():
    import jax.numpy as jnp

    scores = jnp.asarray(S)
    with pytest.raises(ValueError, match=r"^y_true is 1e-60 at position 0; expected 0 or 1"):
        qk.roc_auc(np.where(np.arange(8) == 0, 1e-60, Y), scores)
    weights = np.asarray([1e-60, 1e-60, 3e-60, 1e-60, 1e-60, 1e-60, 1e-60, 1e-60])
    found = qk.roc_auc(Y, scores, sample_weight=weights)
    np.testing.assert_allclose(found, qk.roc_auc(Y, S, sample_weight=weights * 1e60), rtol=1e-6)
    large = np.asarray([2**53 + 1, 2**53, 0, 1])
    assert qk.roc_auc([1, 0, 0, 1], jnp.asarray([4, 3, 2, 1]), where=large != 0) == 0.5


MAKERS = {"numpy": "asarray", "jax": "numpy.asarray", "torch": "as_tensor"}
MAKERS |= {"array_api_strict": "asarray"}
PAIRS = [x for x in itertools.permutations(MAKERS, 2) if {*x} != {"numpy", "jax"}]


def library_arrays() -> dict[str, Any]:
    there = {name: importlib.import_module(name) for name in MAKERS if available(name)}
    return {name: operator.attrgetter(MAKERS[name])(x) for name, x in there.items()}


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("name", ["y_true", "sample_weight", "where"])
def test_two_libraries_are_refused_by_name(one: str, other: str, name: str):
    make = library_arrays()
    if not {one, other} <= make.keys():
        pytest.skip("a library is not available")
    given = {key: make[one](x) for key, x in GIVEN.items()}
    given[name] = make[other](GIVEN[name])
    with pytest.raises(TypeError) as caught:
        qk.rank(**given)
    for word in (one, other, name, "pass arrays of one library"):
        assert word in str(caught.value)
    on_host = [key for key in GIVEN if (other if key == name else one) == "numpy"]
    if {one, other} == {"numpy", "torch"}:
        assert str(caught.value).endswith(", device=" + str(caught.value).split()[0] + ".device)")
        assert any(f", here torch.as_tensor({key}, device" in str(caught.value) for key in on_host)


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("torch", "jax32-jit")]))
def test_lists_of_arrays_are_refused_as_they_may_be_batches(mode: Mode):
    labels, scores = np.asarray([1, 0, 1, 0]), np.asarray([0.9, 0.5, 0.6, 0.1])
    own = {"torch": "torch", "jax": "jax.numpy"}[mode.library]
    for name in ("y_score", "y_true"):
        message = f"^{name} is a list of arrays of {mode.library}; pass "
        message += re.escape(f"{own}.concat({name}) of batches, or {own}.stack({name}) of models")

        def measured(y: Any, s: Any, name: str = name) -> Any:
            return qk.roc_auc(y, [s[:2], s[2:]]) if name == "y_score" else qk.roc_auc([y], s)

        with every.raises(mode, TypeError, message):
            mode.run(measured, labels, scores)
    if not mode.lazy:
        y, s = mode.array(labels), mode.array(scores)
        for rest in (None, s[:, None]):  # a model's hidden state, perhaps
            with pytest.raises(TypeError, match=r"^y_score is a tuple .*; pass one of them, "):
                qk.roc_auc(y, (s, rest))
        assert qk.roc_auc(list(y), list(s)) == qk.roc_auc(y, s) == 1
        assert qk.compare(qk.roc_auc, y, [s, -s], test="permutation").names == ("0", "1")


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_quota_of_another_library_is_refused_by_name(one: str, other: str):
    make = library_arrays()
    if not {one, other} <= make.keys():
        pytest.skip("a library is not available")
    if other == "numpy":
        assert qk.hit_rate(make[one](Y), make[one](S), quota=np.asarray([1, 2])).shape == (2,)
        return
    for function in (qk.hit_rate, lambda _, s, quota: qk.select(s, quota=quota)):
        with pytest.raises(TypeError) as caught:
            function(make[one](Y), make[one](S), quota=make[other](2.0))
        for word in (one, other, "quota", "scores"):
            assert word in str(caught.value)


@pytest.mark.parametrize(
    ("message", "call"),
    {
        "cost_fp is an array of torch and the scores are of num": lambda x: qk.best_operating_point(
            Y, S, cost_fp=x, cost_fn=1
        ),
        "threshold is an array of torch and the scores are of": lambda x: qk.confusion_table(
            Y, S, threshold=x
        ),
        ".*pass arrays of one library": lambda x: qk.accuracy(
            qk.tables.ConfusionTable(x, *np.ones((3, 8)))
        ),
        "y_score is an array of torch and y_true one": lambda x: one_vs_rest(
            Y[:4], x.reshape(4, 2)
        ),
        "thresholds is an array of torch and the sc": lambda x: qk.rank(Y, S).at_thresholds(x),
        r"b\.thresholds is an array of torch and a\.thres": lambda x: qk.dominates(
            qk.rank(Y, S), qk.rank(x > 0, x)
        ),
        r"models\['t'\]\..* is an array of torch": lambda x: qk.compare_curves(
            {"n": qk.rank(Y, S), "t": qk.rank(x > 0, x)}
        ),
        ".*arrays of numpy and y_score is one of to": lambda x: ScoreBuffer.empty(S).update(Y, x),
    }.items(),
)
def test_each_argument_of_another_library_is_named(message: str, call: Any):
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=f"^{message}"):
        call(torch.linspace(-1, 1, 8, dtype=torch.float64))


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_a_quota_of_jax_takes_numpy_data_along():
    import jax
    import jax.numpy as jnp

    quota = jnp.asarray([1, 4])
    found = qk.hit_rate(Y, S, quota=quota)
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(found, qk.hit_rate(Y, S, quota=[1, 4]), rtol=1e-7)
    traced = jax.jit(lambda q: (qk.hit_rate(Y, S, quota=q), qk.select(S, quota=q[1])))(quota)
    np.testing.assert_allclose(traced[0], found)
    np.testing.assert_allclose(traced[1], qk.select(S, quota=4))
    np.testing.assert_allclose(qk.quota_threshold(S, fraction=jnp.asarray(0.5)).above, 3)


def test_two_devices_are_refused_by_name():
    xs = pytest.importorskip("array_api_strict")
    far = xs.asarray(Y, device=xs.Device("device1"))
    message = r"CPU_DEVICE.*y_true.*device1|y_true.*device1.*CPU_DEVICE"
    with pytest.raises(TypeError, match=message):
        qk.rank(far, xs.asarray(S))
    message = r"y_score.*CPU_DEVICE.*quota.*device1|quota.*device1.*y_score.*CPU_DEVICE"
    with pytest.raises(TypeError, match=message):
        qk.hit_rate(xs.asarray(Y), xs.asarray(S), quota=xs.asarray(1, device=xs.Device("device1")))
    with pytest.raises(TypeError, match=r"thresholds.*CPU_DEVICE.*counts.*device1"):
        qk.Ranking.from_counts(xs.asarray(S), far, far)


def test_two_torch_devices_are_refused_by_name():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"y_score.*cpu.*y_true.*meta"):
        qk.rank(torch.as_tensor(Y, device="meta"), torch.as_tensor(S))


TWO_DEVICES = """
import jax, jax.numpy as jnp, quotakernels as qk
one, other = jax.devices()
labels = jax.device_put(jnp.asarray([1, 0]), one)
scores = jax.device_put(jnp.asarray([0.9, 0.1]), other)
free = jnp.asarray([0.9, 0.1])
assert qk.rank(labels, free).counts.devices() == {one}
assert qk.rank(free > 0.5, scores).counts.devices() == {other}
for call in (lambda: qk.rank(labels, scores), lambda: qk.hit_rate(free > 0, scores, quota=labels)):
    try:
        call()
    except TypeError as error:
        assert "CpuDevice(id=0)" in str(error) and "CpuDevice(id=1)" in str(error), error
        assert "y_score" in str(error) and ("y_true" in str(error) or "quota" in str(error))
    else:
        raise AssertionError("no error")
"""


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_two_jax_devices_are_refused_by_name():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", TWO_DEVICES], check=True, env=os.environ | flags)


# what comes back


def test_a_tensor_that_requires_gradients():
    torch = pytest.importorskip("torch")
    scores = torch.tensor(S, requires_grad=True)
    assert float(qk.roc_auc(torch.tensor(Y), scores)) == qk.roc_auc(Y, S)
    assert qk.select(torch.nn.Parameter(scores), quota=3).sum() == 3


def test_results_belong_to_the_callers_library(mode: Mode):
    """`Mode.run` checks library and device of every result."""
    found = mode.run(lambda y, s: results(y_true=y, y_score=s), Y, S)
    wanted = np.float32 if mode.float32 else np.float64
    assert [x.dtype for x in found[5:]] == [wanted] * 2 + [found[0].dtype] + [wanted] * 2


# what holds labels and scores, but is no array in memory: an error that says what to pass


LABELS = np.asarray([1, 0, 1, 0, 0])
SCORES = np.asarray([0.9, 0.8, 0.7, 0.0, 0.0])
COO = type("COO", (), {"__module__": "sparse.numba_backend._coo.core"})
"""By its name an array of the package sparse."""


def test_sparse_arrays():
    check(lambda x: COO(), "is a sparse array; pass {}.todense()")


def test_dask_arrays():
    dask = pytest.importorskip("dask.array")
    hint = "is a Dask array; take quotakernels.adapters.dask, or pass {}.compute()"
    check(dask.from_array, hint)


def check(made: Any, message: str) -> None:
    """Under every name, with and without `pos_label`."""
    calls = {
        "y_true": lambda: qk.roc_auc(made(LABELS), SCORES),
        "y_score": lambda: qk.select(made(SCORES), quota=1),
        "sample_weight": lambda: qk.rank(LABELS, SCORES, sample_weight=made(SCORES)),
        "gain": lambda: qk.impact_at_quota(None, SCORES, gain=made(SCORES), quota=1),
        "y_pred": lambda: qk.tables.confusion_table_from_predictions(
            LABELS, made(LABELS), pos_label=1
        ),
        "models['b']": lambda: qk.compare(qk.roc_auc, LABELS, {"a": SCORES, "b": made(SCORES)}),
        "like": lambda: qk.states.ScoreBuffer.empty(made(SCORES)),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"^{re.escape(f'{name} {message.format(name)}')}$"):
            call()
    with pytest.raises(TypeError, match=f"^y_true {re.escape(message.format('y_true'))}$"):
        qk.one_vs_rest(qk.roc_auc, made(LABELS), np.stack([1 - SCORES, SCORES], axis=-1))


ScoreBuffer, one_vs_rest = qk.states.ScoreBuffer, partial(qk.one_vs_rest, qk.roc_auc)
ORDERED = pd.Series(SCORES, index=[4, 3, 2, 1, 0])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("y_score", lambda: qk.roc_auc(pd.Series(LABELS), ORDERED)),
        ("sample_weight", lambda: qk.roc_auc(pd.Series(LABELS), SCORES, sample_weight=ORDERED)),
        ("groups", lambda: qk.roc_auc(pd.Series(LABELS), SCORES, groups=ORDERED > 0.5)),
        (
            "models['a']",
            lambda: qk.evaluate(pd.Series(LABELS), {"a": ORDERED, "b": -SCORES}, quota=1),
        ),
        ("y_score", lambda: qk.states.ScoreHistogram.of(pd.Series(LABELS), ORDERED)),
        ("y_score", lambda: ScoreBuffer.empty(SCORES).update(pd.Series(LABELS), y_score=ORDERED)),
        ("y_score", lambda: one_vs_rest(pd.Series(LABELS), pd.DataFrame({0: ORDERED, 1: ORDERED}))),
        (
            "y_pred",
            lambda: qk.tables.confusion_table_from_predictions(pd.Series(LABELS), ORDERED > 0.5),
        ),
        (
            "where",
            lambda: one_vs_rest(
                pd.Series(LABELS), np.stack([-SCORES, SCORES], axis=-1), where=ORDERED < 1
            ),
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
    wanted = qk.roc_auc(LABELS, SCORES)
    levels = pd.MultiIndex.from_product([[1], range(5)])
    for index in ([5, 6, 7, 8, 9], list("abcde"), [0, 1, 2, 3, "4"], [0, 0, 1, 4, 4], levels):
        assert qk.roc_auc(pd.Series(LABELS, index=index), pd.Series(SCORES)) == wanted
        assert qk.roc_auc(pd.Series(LABELS), pd.Series(SCORES, index=index)) == wanted
    assert qk.roc_auc(pd.Series(LABELS, index=ORDERED.index), ORDERED) == wanted


@pytest.mark.parametrize("first", [0, 7])
@pytest.mark.parametrize("dtype", ["Int64", float, object, "int8", "category"])
def test_indexes_of_other_types_name_the_same_rows(first: int, dtype: Any):
    index = pd.Index(range(first, first + 5))
    for other in (index, pd.Index(list("abcde"))) if first == 0 else (index,):
        for one, two in ((index.astype(dtype), other), (other, index.astype(dtype))):
            found = qk.roc_auc(pd.Series(LABELS, index=one), pd.Series(SCORES, index=two))
            assert found == qk.roc_auc(LABELS, SCORES)
    berlin = pd.date_range("2020", periods=5, tz="Europe/Berlin")
    labels, scores = (
        pd.Series(LABELS, index=berlin),
        pd.Series(SCORES, index=berlin.tz_convert("UTC")),
    )
    assert qk.roc_auc(labels, scores) == qk.roc_auc(LABELS, SCORES)


@pytest.mark.parametrize("index", [[5, 6, 7, 8, 9], list("abcde"), [[0, 1], [1, 2]] * 2 + [[3, 3]]])
def test_indexes_that_name_other_rows_are_told(index: Any):
    if isinstance(index[0], list):
        index = pd.MultiIndex.from_tuples(index)
    other = pd.Series(SCORES, index=[1, 2, 3, 4, 5])
    message = "^y_true and y_score have different indexes, and are matched by position; pass to_n"
    with pytest.warns(UserWarning, match=message):
        assert qk.roc_auc(pd.Series(LABELS, index=index), other) == qk.roc_auc(LABELS, SCORES)


def test_sparse_columns_of_pandas():
    scores, labels = (pd.Series(pd.arrays.SparseArray(x)) for x in (SCORES, LABELS))
    assert qk.roc_auc(labels, scores) == qk.roc_auc(LABELS, SCORES)
    assert qk.roc_auc(labels, scores.array, pos_label=0) == qk.roc_auc(LABELS, SCORES, pos_label=0)


def test_tuples_of_numbers_are_columns():
    assert qk.roc_auc((0, 1), (1.0, 2.0)) == 1
    assert qk.hit_rate(LABELS, SCORES, quota=(1, 2)).shape == (2,)
    table = qk.tables.ConfusionTable(1.0, 2.0, 3.0, 4.0)
    assert qk.tables.impact(table, impacts=qk.tables.ConfusionTable(1, 0, 0, 0)).whole == 0.1
