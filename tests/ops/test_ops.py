"""Each operation is the same with the native forms of a library and with none."""

from __future__ import annotations

import ast
import inspect
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from backends import (
    MODES,
    Mode,
    available,
    in_full,
    mode_fixture,
    of_fast_forms,
    standard_forms,
    tree_map,
)

import quotakernels as qk
from quotakernels import ops
from quotakernels.ops import Standard, namespace
from quotakernels.ops.native import _numpy_groups, _numpy_merged, _numpy_rows, _numpy_words, numpy_
from quotakernels.ranking import table_of


def of_ties(xp: Any, *examples: Any, given: bool = False) -> Any:
    return xp.tie_groups((*examples, {}), given)


LIBRARIES = [m for m in MODES if m.name in ("numpy", "strictest", "jax64", "torch", "cupy")]
RNG = np.random.default_rng(8)
LENGTHS = (1, 2, 7, 64, 1000)


def both(
    mode: Mode, operation: str | Callable[..., Any], *arguments: Any, **keywords: Any
) -> tuple[Any, Any]:
    """The result of an operation with the native forms of a library, and with none.

    NumPy computes the standard forms for JAX, which would compile each of their steps.
    """

    def run(of: Mode) -> Any:
        with of.context():
            moved = [x if x is None else of.array(x) for x in arguments]
            xp = namespace(next(x for x in moved if x is not None))
            with xp.computing():
                if isinstance(operation, str):
                    found = getattr(xp, operation)(*moved, **keywords)
                else:
                    found = operation(xp, *moved, **keywords)
            return tree_map(lambda x: x if x is None else of.to_numpy(x), found)

    with standard_forms():
        plain = run(MODES[0] if mode.library == "jax" else mode)
    return run(mode), plain


def same(first: Any, second: Any, rtol: float = 0) -> None:
    if isinstance(first, tuple):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            same(a, b, rtol)
    elif first is None:
        assert second is None
    else:
        np.testing.assert_allclose(first, second, rtol=rtol)


library = mode_fixture(LIBRARIES)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_scans(library, length, batch):
    x = RNG.integers(0, 50, (*batch, length))
    first = RNG.random((*batch, length)) < 0.3
    first[..., 0] = True
    same(*both(library, "running_max", x))
    same(both(library, "running_max", x)[0], np.maximum.accumulate(x, axis=-1))
    same(*both(library, "prefix_sum", x))
    same(both(library, "prefix_sum", x)[0], np.cumsum(x, axis=-1))
    counts = RNG.integers(0, 2**20, x.shape).astype(np.int32)
    for found in both(library, "running_count", counts):
        same(found, np.cumsum(counts, axis=-1))
    for found in both(library, lambda xp, x: xp.running_sums(x, xp.int64), counts):
        same((found[..., 0], found[..., 1:]), (np.zeros(batch), np.cumsum(counts, axis=-1)))
    same(*both(library, "segment_sum", x, first))
    values = RNG.random((*batch, length))
    same(*both(library, "total", values), rtol=1e-14)
    same(both(library, "total", values)[0], values.sum(axis=-1), rtol=1e-14)


def test_segment_sums_do_not_see_each_other(library):
    x = np.array([1e20, 1.0, 1e-20, 2e-20, 1e20, 3e-20])
    first = np.array([True, True, True, False, True, True])
    sums = both(library, "segment_sum", x, first)[0]
    np.testing.assert_array_equal(sums, [1e20, 1.0, 1e-20, 1e-20 + 2e-20, 1e20, 3e-20])


@pytest.mark.parametrize("batch", [(), (3,)])
def test_lists_with_nan(library, batch):
    floats = RNG.normal(size=(*batch, 50)).astype(np.float32)
    for number in (0, np.inf, -np.inf, np.nan, -np.nan):
        floats[..., 7] = number
        has_one = np.isnan(floats).any(axis=-1)
        same(tuple(x.any(axis=-1) for x in both(library, "nans", floats)), (has_one, has_one))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_floats_with_nan(dtype):
    known = pytest.importorskip("ml_dtypes") if dtype == "bfloat16" else np
    floats = RNG.normal(size=(3, 50)).astype(getattr(known, dtype))
    for number in (0, np.inf, -np.inf, np.nan, -np.nan):
        floats[1, 7] = number
        assert namespace(floats).has_nan(floats) == np.isnan(number)


def test_total_stays_near_the_exact_sum(library):
    values = np.full(300_001, 0.1)
    exact = 300_001 * 0.1000000000000000055511151231257827
    same(both(library, "total", values)[1], exact, rtol=1e-15)
    same(both(library, "total", values)[0], exact, rtol=1e-15)


@pytest.mark.parametrize("kind", ["float32", "float64", "int16", "int64", "bool", "tied"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_tie_groups(library, kind, weighted, masked, batch):
    shape = (*batch, 500)
    scores = RNG.normal(size=shape)
    if kind == "tied":
        scores = np.round(scores, 1) + 0.0
    else:
        scores = (scores * (100 if "int" in kind else 1)).astype(kind)
    labels = RNG.random(shape) < 0.3
    weights = RNG.random(shape) if weighted else None
    valid = RNG.random(shape) < 0.7 if masked else None
    for given in (False, True):
        native, plain = both(library, of_ties, scores, labels, weights, valid, given=given)
        same(_filled_rows(native), _filled_rows(plain), rtol=1e-14)


@of_fast_forms
@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("kind", ["float16", "float32", "bfloat16", "bool", "uint64", "int16"])
def test_near_keys_are_counted(monkeypatch, kind, sign):
    """Of integers, and of half precision, whatever type holds it."""
    for sorting in ("_packed_keys", "_words_around_zero"):
        monkeypatch.delattr(_numpy_words, sorting)
    scores = RNG.normal(size=70_000)
    scores = scores if sign == 0 else sign * abs(scores)
    scores[:4] = 0.0, -0.0, 1e-7 * sign, np.inf if sign >= 0 else -np.inf
    if kind in ("uint64", "int16"):
        ends, steps = np.iinfo(kind), np.minimum(99 * abs(scores), 400).astype(kind)
        scores = ends.max - steps if sign < 0 else ends.min + steps
    elif kind in ("float32", "bfloat16"):
        scores = scores.astype(pytest.importorskip("ml_dtypes").bfloat16).astype(kind)
    scores, labels = scores.astype(kind), RNG.random(scores.shape) < 0.3
    ranking = qk.rank(labels, scores)
    exact = scores.astype(np.float64) if kind == "bfloat16" else scores
    levels, row, counts = np.unique(exact, return_inverse=True, return_counts=True)
    same(ranking.thresholds.astype(exact.dtype), levels[::-1])
    same(ranking.counts, counts[::-1])
    same(ranking.positives, np.bincount(row, labels)[::-1])
    same(qk.roc_auc(labels, scores), qk.roc_auc(ranking))


@pytest.mark.parametrize("kind", ["bool", "uint8", "int64"])
def test_thresholds_are_of_examples_that_count(library, kind):
    """Those that do not count may share the key of the lowest integer."""
    lowest = False if kind == "bool" else np.iinfo(kind).min
    scores = np.array([[1, lowest, 1, 1]] * 2).astype(kind)
    labels, valid = np.ones(scores.shape, dtype=bool), np.array([[True, True, False, False]] * 2)
    for groups in both(library, of_ties, scores, labels, None, valid):
        for thresholds, *_ in _filled_rows(groups):
            np.testing.assert_array_equal(thresholds, scores[0, :2])


def _filled_rows(groups: ops.TieTable) -> list[tuple[Any, ...]]:
    """The rows that hold a group, of every row of the batch."""
    rows = []
    for row in np.ndindex(groups.counts.shape[:-1]):
        columns = [column[row] for column in groups.arrays()]
        rows.append(tuple(column[columns[1] > 0] for column in columns))
    return tuple(rows)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_pattern_groups(library, masked, batch):
    """A row for each bit pattern, of which those that hold examples are the tie groups."""
    if library.library == "array_api_strict":
        pytest.skip("the standard has no half precision")
    scores = RNG.normal(size=(*batch, 500)).astype(np.float16).round(1)
    scores[..., :9] = [np.inf, -np.inf, 0, -0.0, 6e-8, -6e-8, 65504, -65504, 1]
    labels = RNG.random(scores.shape) < 0.3
    valid = RNG.random(scores.shape) < 0.7 if masked else None

    def run(*arrays: Any) -> tuple[Any, Any]:
        xp = namespace(arrays[0])
        with xp.computing():
            scores, labels, *valid = arrays
            groups = xp.tie_groups((scores, labels, None, *(valid or [None]), {}))
            return xp.pattern_groups(scores, labels, *(valid or [None]))[:3], groups[:3]

    tables = library.run(run, scores, labels, *([valid] if masked else []))
    found, groups = (_filled_rows(ops.TieTable(*columns, None, None)) for columns in tables)
    same(found, groups)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "float64"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_kth_largest(library, kind, batch):
    if kind == "float64" and library.name in ("jax64", "torch", "cupy"):
        pytest.skip("keys are integers there")
    info = None if kind == "float64" else np.iinfo(kind)
    values = RNG.integers(-60, 60, (*batch, 40)) if kind[0] != "u" else RNG.integers(0, 90, 40)
    key = np.broadcast_to(values, (*batch, 40)).astype(kind)
    if info is not None:
        key[..., :2] = info.min, info.max
    for place in (1, 7, 40):
        found = both(library, "kth_largest", key, np.full((*batch, 1), place))
        same(*found)
        plain = both(library, lambda xp, x, k=place: xp.kth_largest(x, k), key)
        if library.name != "jax64":
            same(plain, found)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int32"])
def test_counts_around(library, kind, masked):
    scores = RNG.integers(-3, 4, (2, 60)).astype(kind)
    scores[:, ::2] *= -1  # of floats, some zeros become -0.0
    labels, valid = RNG.random((2, 2, 60)) < 0.5
    valid = valid | (np.arange(60) < 13) if masked else None
    key, _ = both(library, "comparable", scores)
    assert ((key[..., 1:] > key[..., :-1]) == (scores[..., 1:] > scores[..., :-1])).all()
    for place in (1, 7, 13):
        where = np.full((2, 1), place)
        same(*both(library, "counts_around", scores, labels, valid, where))
    same(*both(library, lambda xp, *x: xp.counts(list(x)), labels, ~labels))


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_scores_reaching_plain_numbers(library, kind, inclusive):
    info = np.finfo(kind)
    most, least = float(info.max), float(info.smallest_subnormal)
    exact = [0.1, 0.9, 1.0, 3.0, most, most * (1 - 2 * float(info.eps)), least, 2 * least]
    scores = np.asarray([*exact, np.inf, 0.0], kind)
    scores = np.concatenate([scores, -scores, np.nextafter(scores[:4], scores[4])])
    wide = scores.astype(np.float64)
    for number in (0.1, 0.9, 1e300, -1e300, 1e-60, -1e-60, 1.5 * least, *wide.tolist()):

        def reached(xp, x, number=number):
            plain = xp.nearest(x, number)
            if library.name != "torch":  # which compares with a plain number as it is
                plain = xp.asarray(plain, dtype=x.dtype)
            return xp.reaching(x, plain, inclusive)

        with np.errstate(over="ignore"):
            own = (
                np.float32
                if library.name == "strictest" and kind == "float16"
                else scores.dtype.type
            )
            plain = own(number)  # in their own precision, as NumPy compares
        expected = scores >= plain if inclusive else scores > plain
        found, standard = both(library, reached, scores)
        same(found, expected)
        if library.name not in ("jax64", "cupy"):  # which flush subnormals where bits are not read
            same(standard, expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [1, 100, 3 * _numpy_rows.BLOCK + 17])
def test_sums_and_positions_over_long_tables(weighted, rows):
    """NumPy reads long tables in blocks."""
    counts = RNG.integers(0, 4, rows).astype(np.int32)
    positives = (counts * RNG.random(rows)).astype(np.int32)
    masses = (None, None)
    if weighted:
        masses = (counts * RNG.random(rows), 0.5 * positives * RNG.random(rows))
    table = ops.TieTable(-np.arange(rows, dtype=float), counts, positives, *masses)
    xp = namespace(counts)
    names = (*ops.CutRow._fields, "items", "positive_upto")
    part = ops.RowSum(lambda of: tuple(getattr(of, x) for x in names), lambda *sums: sums)
    tolerance = 1e-12 if weighted else 0
    (found,) = xp.totals_of_rows(table, (part,))
    with standard_forms():
        (plain,) = xp.totals_of_rows(table, (part,))
    same(found, plain, rtol=1e-12)
    whole = (counts if masses[0] is None else masses[0]).sum()
    wanted = np.sort(np.append(RNG.random(50) * whole, [0, whole, whole + 1, 1, np.nan]))
    found = xp.rows_at(table, wanted)
    with standard_forms():
        plain = xp.rows_at(table, wanted)
    finite = ~np.isnan(wanted)
    same(found[0][finite], plain[0][finite])
    for mine, theirs in zip(found[1], plain[1], strict=True):
        same(mine[finite], theirs[finite], rtol=tolerance)
    short = xp.head(table, wanted[:20])
    same(xp.rows_at(short, wanted[:20]), xp.rows_at(table, wanted[:20]))


@of_fast_forms
@pytest.mark.parametrize("size", [1, 300, 70_000])
def test_sums_before_places(size: int):
    x = RNG.normal(size=size)
    index = np.append([0, size - 1], RNG.integers(0, size, 20))
    found = namespace(x).exclusive_at(x, index)
    with standard_forms():
        same(found, namespace(x).exclusive_at(x, index))
    same(found, np.append(0, np.cumsum(x))[index])


@pytest.mark.parametrize("rows", [1, 1 << 14, 20_000])
def test_sums_over_parts_of_a_table(rows: int):
    x = RNG.random(rows)
    table = ops.TieTable(-np.arange(rows, dtype=float), x, x, x, x)
    xp, start, sums = namespace(x), np.zeros(1), []
    for part in xp.in_parts(table):
        sums.append(xp.exclusive(part.positive, start))
        start = sums[-1][-1:] + part.positive[-1:]
    same(np.concatenate(sums), xp.exclusive(x))
    with standard_forms():
        assert namespace(x).in_parts(table) == [table]


@of_fast_forms
@pytest.mark.parametrize(
    "scores", ["few levels", "no ties", "far apart", "bool", "logits", "zeros"]
)
@pytest.mark.parametrize("prevalence", [0, 0.02, 0.5, 1])
@pytest.mark.parametrize("lists", [(), (3,), (2, 2)])
def test_merged_groups(monkeypatch, scores, prevalence, lists):
    """NumPy counts neighbouring groups without positives as one row, and sums stay the same."""
    for module in (_numpy_merged, _numpy_rows, _numpy_words):
        monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(numpy_, "BLOCK", RNG.choice([16, 2**15]))
    size, shape = 300, (*lists, 300)
    s = RNG.random(shape)
    s = {"few levels": np.floor(9 * s), "far apart": s * 10.0 ** RNG.choice([-300, 9], shape)}.get(
        scores, s
    )
    s = np.where(RNG.random(shape) < 0.5, -s, s) if scores == "far apart" else s
    if scores in ("logits", "zeros"):  # of both signs; with 0.0 and -0.0, or nothing else
        s = (s - 0.5).astype(np.float32).round(2) * (scores == "logits")
    s = s > 0.5 if scores == "bool" else s
    labels, xp = RNG.random(shape) < prevalence, namespace(s)
    merged = xp.running_counts(s, labels, None, by_positives=True)
    for i in np.ndindex(lists):
        ranking = qk.rank(labels[i], s[i])
        kept = ranking.positives > 0
        ends, found = (np.cumsum(x)[kept] for x in ranking[1:3])
        starts, rows = ends - ranking.counts[kept], ends.shape[0]
        alone = xp.merged_groups(table_of(xp, ranking))
        for table, own in ((merged, i), (alone, ())):
            same(table.layout.starts[own][:rows], starts)
            assert (table.layout.starts[own][rows:] == size).all()
            same(table.counts[own][: rows + 1], np.append(0, ends))
            assert (table.counts[own][rows + 1 :] == size).all()
            same(table.positives[own][: rows + 1], np.append(0, found))
            assert (table.positives[own][rows + 1 :] == labels[i].sum()).all()
        late = qk.average_qrecall.with_options(start="P+1")
        for measure in (qk.roc_auc, qk.average_qrecall, late):
            same(measure(labels[i], s[i]), measure(ranking))
        part = qk.roc_auc.with_options(max_fpr=0.3)
        for measure in (part, qk.average_hit_rate, qk.summary):
            values = (np.asarray(measure(*x)) for x in ((labels[i], s[i]), (ranking,)))
            np.testing.assert_allclose(*values, rtol=1e-13, atol=1e-12)


@of_fast_forms
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_measures_share_the_merged_groups_of_a_ranking(library):
    """Other columns, and a copy, begin with nothing kept."""
    array = pytest.importorskip(library).asarray
    ranking = qk.rank(array([1, 1, 0, 1, 0, 0]), array([0.9, 0.8, 0.8, 0.7, 0.6, 0.1]))
    other = ranking._replace(positives=ranking.counts - ranking.positives)
    with mock.patch.object(numpy_, "merged_groups", wraps=numpy_.merged_groups) as merged:
        for measure in (qk.summary, qk.average_hit_rate, qk.pr_auc, qk.gini):
            measure(ranking)
        assert merged.call_count == 1
        for _ in range(2):
            assert (float(qk.roc_auc(ranking)), float(qk.roc_auc(other))) == (7.5 / 9, 1.5 / 9)
    assert not vars(pickle.loads(pickle.dumps(ranking)).layout)


@of_fast_forms
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scores", ["logits", "no ties", "zeros", "below 0", "far apart"])
def test_floats_of_both_signs(monkeypatch, dtype, scores):
    """NumPy sorts those as words that fit without the gap around 0."""
    for module in (_numpy_rows, _numpy_words):
        monkeypatch.setattr(module, "BLOCK", 16)
    s = RNG.normal(size=300).astype(dtype)
    s = s if scores == "no ties" else s.round(1)
    s = np.where(RNG.random(300) < 0.5, 0.0, -0.0) if scores == "zeros" else s
    s = -np.abs(s) - 1 if scores == "below 0" else s
    if scores == "far apart":
        s[[0, 7, 100, 200, 250]] = np.inf, -np.inf, np.finfo(dtype).smallest_subnormal, 0.0, -0.0
    s, labels = s.astype(dtype), RNG.random(300) < 0.3
    table = qk.rank(labels, s)
    same(table.thresholds, np.unique(s + 0.0)[::-1])
    assert table.thresholds.dtype == dtype
    assert not np.signbit(table.thresholds[table.thresholds == 0]).any()
    same(table.counts, np.asarray([(s == t).sum() for t in table.thresholds]))
    same(table.positives, np.asarray([labels[s == t].sum() for t in table.thresholds]))
    assert table.counts.dtype == table.positives.dtype == np.int32


@of_fast_forms
@pytest.mark.parametrize("scores", ["bytes", "floats", "doubles", "unsigned", "close"])
@pytest.mark.parametrize("number", [1, 7, 200])
@pytest.mark.parametrize("masked", [False, True])
def test_words_of_groups(monkeypatch, scores, number, masked):
    """NumPy sorts words of group, key and label; where these are too long, of group and place.

    Scores that are close, with others far away, have the same words but for the place.
    """
    for module in (_numpy_groups, _numpy_words):
        monkeypatch.setattr(module, "BLOCK", 16)
    size = 500
    s: Any = {
        "bytes": RNG.integers(-128, 128, size).astype(np.int8),
        "floats": RNG.normal(size=size).astype(np.float32),
        "doubles": RNG.choice(RNG.normal(size=size), size),
        "unsigned": RNG.integers(0, 2**64 - 1, size, np.uint64),
        "close": 1 + RNG.integers(0, 1000, size) * 2.0**-52,
    }[scores]
    if scores == "close":
        s[[3, 99]] = 1e300, -1e300
    labels, groups = RNG.random(size) < 0.3, RNG.integers(0, number, size) // 3 * 3
    there = RNG.random(size) < 0.5 if masked else np.ones(size, dtype=bool)
    mask = {"where": there} if masked else {}
    table = qk.rank(labels, s, groups=groups, num_groups=number + 2, **mask)
    starts, rows = [], []
    for k in range(number + 2):
        starts.append(len(rows))
        here = there & (groups == k)
        for t in np.unique(s[here])[::-1]:
            tied = here & (s == t)
            rows.append((k, t, tied.sum(), (tied & labels).sum()))
    columns = (table.groups.of_row, table.thresholds, table.counts, table.positives)
    same(columns, tuple(np.asarray(x) for x in zip(*rows, strict=True)))
    same(table.groups.starts, np.asarray([*starts, len(rows)]))
    assert [x.dtype for x in columns] == [np.int64, s.dtype, np.int32, np.int32]
    with standard_forms():
        examples = (s, labels, None, None)
        assert namespace(s).tie_groups_by_group(examples, groups, np.arange(number)) is None


@pytest.mark.parametrize("size", [1, 5, 40])
@pytest.mark.parametrize("length", [1, 9, 300])
def test_where_groups_begin(monkeypatch, library, size, length):
    """Rows behind the last group count for it."""
    monkeypatch.setattr(_numpy_groups, "BLOCK", 16)
    group, ids = np.sort(RNG.integers(0, 30, length)), np.arange(size)
    found, plain = both(library, "group_index", group, ids)
    same(found, plain)
    same(found.starts, group.searchsorted(np.arange(size + 1)))
    same(found.of_row, np.minimum(group, size - 1))


@of_fast_forms
@pytest.mark.parametrize("levels", [20, 10**6])
def test_a_bad_value_spoils_its_own_list(levels):
    s = RNG.integers(0, levels, (2, 3, 40)) / 4
    labels = RNG.random(s.shape) < np.array([0.1, 0.5, 1])[:, None]
    found = np.stack(qk.summary(labels, s), axis=-1)
    s[1, 0, 5] = np.nan
    spoilt = np.stack(qk.summary(labels, s, validate=False), axis=-1)
    assert np.isnan(spoilt[1, 0]).all()
    found[1, 0] = np.nan
    np.testing.assert_array_equal(spoilt, found)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_columns_by_position(library, batch, masked):
    """What is behind the last example belongs to no group."""
    counts = np.zeros((*batch, 40), dtype=np.int32)
    for row in np.ndindex(batch):
        sizes = np.append(RNG.integers(1, 6, 6), 0)
        counts[row][(sizes.cumsum() - 1)[:-1]] = sizes[:-1]
        counts[row][-1] = 0 if masked else 40 - sizes.sum()

    def run(xp: Any, counts: Any) -> Any:
        places = xp.arange(1, 41, dtype=xp.int64, device=counts.device)
        return xp.rows_of_positions(counts, places)

    found, plain = both(library, run, counts)
    same(found, plain)
    for row in np.ndindex(batch):
        ends = counts[row].cumsum()
        same(found[row], np.minimum(ends.searchsorted(np.arange(1, 41)), 39))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clip(library, dtype):
    x = np.append(RNG.normal(size=(3, 40)), [[np.nan], [np.inf], [-np.inf]], axis=-1).astype(dtype)
    for low, high in ((None, 0.5), (-0.5, None), (-0.5, 0.5)):
        native, plain = both(library, "clip", x, min=low, max=high)
        assert native.dtype == dtype
        same((native, plain), (np.clip(x, low, high), native))


def test_piecewise_of_columns_first(library):
    x = np.moveaxis(RNG.normal(size=(3, 2, 40)), 0, -1)

    def run(x: Any) -> Any:
        return namespace(x).piecewise(x > 0.5, lambda v: v + 1, lambda v: -v, x)

    same(library.run(run, x), np.where(x > 0.5, x + 1, -x))


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_whole_numbers_that_are_neither_0_nor_1(library, dtype):
    whole = np.array([0, 1, 0, 1, 2, 2**48, 255, -1]).astype(dtype)
    found = both(library, "neither", whole, whole == 1)
    same(found, 2 * ((whole != 0) & (whole != 1),))


def test_the_row_that_owns_a_place(library):
    """In a table in place, where a group stands in the row of its last example."""
    counts = np.array([[0, 0, 3, 0, 2, 1]] * 4)
    positives = np.array([[0, 0, 2, 0, 0, 1]] * 4)

    def ends(xp: Any, counts: Any, positives: Any, place: Any) -> Any:
        return xp.ends_of_row_at(ops.TieTable(counts, counts, positives, None, None), place)

    found, plain = both(library, ends, counts, positives, np.array([[1], [3], [4], [6]]))
    same(found, plain)
    same(
        [x[:, 0].tolist() for x in found],
        [[2, 2, 4, 5], [0, 0, 3, 5], [3, 3, 5, 6], [0, 0, 2, 2], [2, 2, 2, 3]],
    )


@pytest.mark.parametrize("share", [0, 0.01, 0.5])
def test_piecewise_of_many(library, share):
    x = RNG.normal(size=(2, 20_000))
    rare = RNG.random(x.shape) < share

    def run(rare: Any, x: Any, y: Any) -> Any:
        xp = namespace(x)
        return xp.piecewise(rare, lambda v, w: v / w, lambda v, w: xp.zeros_like(v), x, y)

    same(library.run(run, rare, x, x[:1] + 9), np.where(rare, x / (x[:1] + 9), 0), 1e-15)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["int16", "uint8", "bool"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_binned(library, kind, weighted, masked, batch):
    shape = (*batch, 200)
    scores = RNG.integers(0, 100, shape)
    scores = scores > 50 if kind == "bool" else scores.astype(kind)
    weights = RNG.random(shape) if weighted else None
    valid = RNG.random(shape) < 0.7 if masked else None
    labels = RNG.random(shape) < 0.3
    seen = RNG.integers(0, 9, (*batch, 64, 2))

    def binned(xp: Any, *arguments: Any) -> tuple[Any, ...]:
        counts, sums, left = xp.binned(arguments[0], (*arguments[1:], {}), 6)
        return counts, *sums.values(), left

    found = both(library, binned, seen, scores, labels, weights, valid)
    same(*found, rtol=1e-14)
    counted = seen.sum(axis=(-1, -2)) + (np.ones(shape) if valid is None else valid).sum(axis=-1)
    same(found[0][0].sum(axis=(-1, -2)), counted)


@pytest.mark.parametrize("kind", ["float16", "float32"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_counted_in_one_pass(library, kind, batch):
    """Either what `binned` counts, or nothing."""
    scores = RNG.normal(size=(*batch, 200)).astype(kind)
    scores[..., :4] = [np.inf, -np.inf, 0.0, -0.0]
    labels = RNG.integers(0, 2, scores.shape)
    seen = RNG.integers(0, 9, (*batch, 2**16, 2))

    def run(seen: Any, scores: Any, labels: Any) -> Any:
        xp = namespace(seen)
        with xp.computing():
            found = xp.binned_if_good(seen, scores, labels, 16)
            raised = xp.binned(seen, (scores, labels == 1, None, None, {}), 16)[0]
            return (raised if found is None else found[0]), raised

    same(*library.run(run, seen, scores, labels))


@pytest.mark.parametrize("batch", [(), (3,)])
def test_bincount(library, batch):
    codes = RNG.integers(0, 10, (*batch, 50))
    same(*both(library, "bincount", codes, length=9))
    for row in np.ndindex(batch):
        counts = both(library, "bincount", codes, length=9)[1][row]
        same(counts, np.bincount(codes[row], minlength=10)[:9])


def sums_of_groups(xp: Any, x: Any, starts: Any, of_row: Any) -> Any:
    table = ops.TieTable(x, x, x, x, x)._replace(groups=ops.GroupIndex(starts, starts, of_row))
    return (
        xp.group_total(table, x),
        xp.running_total(table, x),
        xp.group_max(table, -x, least=-7.0),
        xp.total_behind(table, x),
        *xp.first_flagged(table, x > 1),
    )


@pytest.mark.parametrize("batch", [(), (3,)])
def test_sums_of_groups(library, batch):
    x = RNG.random((*batch, 20)) * 10.0 ** RNG.integers(-15, 15, 20)
    starts = np.broadcast_to([0, 0, 5, 6, 20, 20], (*batch, 6))
    of_row = np.broadcast_to(np.repeat([1, 2, 3], [5, 1, 14]), x.shape)
    for sums in both(library, sums_of_groups, x, starts, of_row):
        same(sums[0][..., [0, 4]], 0 * x[..., :2])
        for group, rows in ((1, slice(0, 5)), (2, slice(5, 6)), (3, slice(6, 20))):
            same(sums[0][..., group], x[..., rows].sum(axis=-1), rtol=1e-14)
            same(sums[1][..., rows], x[..., rows].cumsum(axis=-1), rtol=1e-14)
            same(sums[2][..., group], -x[..., rows].min(axis=-1))
            falling = np.flip(np.flip(x[..., rows], axis=-1).cumsum(axis=-1), axis=-1)
            same(sums[3][..., rows][..., :-1], falling[..., 1:], rtol=1e-14)
            same(sums[3][..., rows][..., -1], 0 * x[..., 0])
            flags = (x > 1)[..., rows]
            same(sums[5][..., group], flags.any(axis=-1))
            first = np.where(flags.any(axis=-1), sums[4][..., group] - rows.start, 0)
            same(first, flags.argmax(axis=-1))
        same(sums[2][..., [0, 4]], 0 * x[..., :2] - 7)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_halves_of_joint_keys(library, batch):
    key = RNG.integers(-(2**31), 2**31, (*batch, 50))
    key[..., :2] = -(2**31), 2**31 - 1
    codes = RNG.integers(0, 2**31, (*batch, 50))
    joint = key - (codes << 32)
    joint[..., 2], key[..., 2], codes[..., 2] = -(2**63), 0, 2**31  # one that does not count
    for lower, group in both(library, "halves", joint):
        same((lower, group), (key, codes))


@pytest.mark.parametrize("batch", [(), (3,)])
def test_places_among_the_distinct_keys(library, batch):
    key = RNG.integers(-5, 5, (*batch, 30))
    for levels, place in both(library, "ranked", key):
        same(np.take_along_axis(levels, place, axis=-1), key)
        assert np.all(place < np.asarray(levels).shape[-1])
        for each in np.atleast_2d(place):
            same(np.unique(each), np.arange(each.max() + 1))


@pytest.mark.parametrize("rows", ["some", "all", "none"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_rows_that_hold_examples(library, rows, batch):
    counts = RNG.integers(0, 3, (*batch, 30)).astype(np.int32)
    counts = {"some": counts, "all": counts + 1, "none": 0 * counts}[rows]
    scores = np.broadcast_to(np.arange(30.0, 0, -1), counts.shape)

    def run(xp: Any, scores: Any, counts: Any) -> Any:
        table = ops.TieTable(scores, counts, counts, None, None)
        return xp.filled_first(table), xp.without_empty_rows(table)

    found, plain = both(library, run, scores, counts)
    for mine, theirs in zip(found, plain, strict=True):
        assert mine.counts.shape[-1] >= 1
        same(_filled_rows(mine), _filled_rows(theirs))
    for row in np.ndindex(batch):
        same(plain[0].counts[row], np.sort(counts[row] > 0)[::-1] * plain[0].counts[row])


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_increased(library, batch, masked):
    codes, counts = RNG.integers(0, 9, (*batch, 50)), RNG.integers(0, 9, (*batch, 9))
    valid = RNG.random(codes.shape) < 0.7 if masked else None
    found = both(library, "increased", counts, codes, valid)
    same(*found)
    for row in np.ndindex(batch):
        seen = codes[row] if valid is None else codes[row][valid[row]]
        same(found[1][0][row], counts[row] + np.bincount(seen, minlength=9))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["int16", "int64"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_sort_coded(library, kind, weighted, batch):
    """In an order that is promised, codes and weights are those of the same examples."""
    key = RNG.integers(-9, 9, (*batch, 60)).astype(kind)
    code = RNG.integers(0, 4, key.shape).astype(np.int8)
    weights = [RNG.random(key.shape)] if weighted else []

    def run(xp: Any, key: Any, code: Any, *weights: Any, stable: bool) -> Any:
        return xp.sort_coded(key, code, weights, stable)

    same(*both(library, run, key, code, *weights, stable=True))
    found, plain = both(library, run, key, code, stable=False)
    same(found[0], plain[0])
    pairs = [np.sort(4 * x[0].astype(int) + x[1], axis=-1) for x in (found, plain, (key, code))]
    same((pairs[0], pairs[1]), (pairs[1], pairs[2]))


OPERATIONS = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(Path(ops.__file__).parent.rglob("*.py"))
}
HAVE_NO_TWIN = {
    *("cast", "constant", "from_host", "wide_float", "result_float"),  # what a library has, not how
    *("wide", "finish", "finished", "special"),  # likewise
    *("order_key", "unkeyed", "take_last_axis", "widened", "scaled"),  # need bits, or types
    *("source_of_draws", "uniform", "coins", "draws"),  # libraries draw other numbers
    *("grown", "sort_with"),  # parts of `hull_ends` and of `sort_coded`
    *("owner_in_place", "counts_of_runs"),  # parts of `ends_of_row_at` and of `merged`
    "first_of_each",  # a part of `group_index`
    *("repeated", "segment_scan"),  # parts of `bisect` and of `segment_sum`
    "nan_unless",  # beyond the standard: where JAX makes NaN
    "infinite_keys",  # likewise where it makes infinity
    *("rate", "rising_sum"),  # where XLA multiplies by inverses, and devices add in parallel
    "running_counts_by_group",  # PyTorch's alone: `test_cumulative.py` compares what it gives
    "read_by_position",  # says which of two forms is faster
}


def methods(tree: ast.AST) -> dict[str, list[str]]:
    """The arguments of each method of the classes of a file."""
    return {
        function.name: [x.arg for x in (*function.args.args, *function.args.kwonlyargs)]
        for found in ast.walk(tree)
        if isinstance(found, ast.ClassDef)
        for function in found.body
        if isinstance(function, ast.FunctionDef) and function.name[0] != "_"
    }


NATIVE = [methods(tree) for path, tree in OPERATIONS.items() if path.parent.name == "native"]
STANDARD = {
    name: inspect.getfullargspec(function).args
    for name, function in inspect.getmembers(Standard, inspect.isfunction)
}


def test_libraries_override_operations_with_their_arguments():
    known = STANDARD | {"clip": ["self", "x", "min", "max"]}  # which the standard has itself
    for own in NATIVE:
        for name in own.keys() & known.keys():
            assert own[name] == known[name], name


def test_all_operations_with_native_forms_are_compared():
    branching = {name for own in NATIVE for name in own} & STANDARD.keys()
    tests = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    compared = {node.attr for node in ast.walk(tests) if isinstance(node, ast.Attribute)}
    for call in ast.walk(tests):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "both":
            compared |= {x.value for x in call.args if isinstance(x, ast.Constant)}
    assert {"tie_groups", "running_max", "order_key"} <= branching
    assert branching - compared == HAVE_NO_TWIN


@of_fast_forms
@pytest.mark.parametrize("behind", [0, 2])
def test_rows_of_positions_in_numpy(behind: int):
    """Positions behind all examples are of the last row."""
    xp = namespace(np.empty(0))
    table = table_of(xp, qk.rank([1, 0, 1, 1, 0, 0], [5, 5, 4, 3, 3, 3]))
    ends, numbers = np.cumsum(table.counts), np.arange(1, 7 + behind)
    wanted = [0, 0, 1, 2, 2, 2] + [2] * behind
    np.testing.assert_array_equal(xp.row_of_each(table, ends, numbers), wanted)
    with standard_forms():
        np.testing.assert_array_equal(xp.row_of_each(table, ends, numbers), wanted)


@of_fast_forms
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
@pytest.mark.parametrize("mass", [0.0, 0.5, 3.0, 7.25, 40.0])
def test_quota_of_one_list(dtype: str, mass: float):
    scores = (RNG.integers(-4, 5, 40) / 2).astype(dtype)
    labels, xp = RNG.random(40) < 0.4, namespace(scores)
    found = xp.cut_of_scores(scores, labels, [mass])
    place = max(int(np.ceil(mass)), 1)
    with standard_forms():
        xp = namespace(scores)
        assert xp.cut_of_scores(scores, labels, [mass]) is None
        threshold, counts = xp.counts_around(scores, labels, None, place)
    before, found_before, end, found_upto, positives = counts
    same(found.thresholds, threshold)
    same(np.concatenate([found.wanted, found.whole, found.positives]), [mass, 40, positives])
    tied = [end - before, found_upto - found_before]
    same(np.concatenate(found.row), [before, found_before, *tied])


HULLS = ("any", "all tied", "all on one line", "on a circle", "one row", "no row", "sparse")


def table_for_hull(kind: str, weighted: bool, batch: tuple[int, ...], rows: int) -> ops.TieTable:
    """Tables whose hulls are known to be hard."""
    shape = (*batch, 1 if kind == "one row" else rows)
    positives, negatives = (RNG.integers(0, 4, shape) for _ in range(2))
    if kind == "all tied":
        positives[..., 1:], negatives[..., 1:] = 0, 0
    if kind == "all on one line":
        positives = 2 * negatives
    if kind == "no row":
        positives, negatives = 0 * positives, 0 * negatives
    if kind == "sparse":
        hidden = RNG.random(shape) < 0.8
        positives, negatives = np.where(hidden, 0, positives), np.where(hidden, 0, negatives)
    if kind == "on a circle":
        angle = np.linspace(0, np.pi / 2, rows + 1)
        ends = [np.round(1e4 * z).astype(int) for z in (np.sin(angle), 1 - np.cos(angle))]
        positives, negatives = (np.broadcast_to(np.diff(z), shape) for z in ends)
    counts = (positives + negatives).astype(np.int32)
    masses = (positives * 0.5, negatives * 0.25) if weighted else (None, None)
    scores = np.broadcast_to(np.arange(shape[-1], 0.0, -1), shape)
    return ops.TieTable(scores, counts, positives.astype(np.int32), *masses)


def hull_of(*columns: Any) -> tuple[Any, ops.TieTable]:
    """The ends of the hull's segments, and the table of these."""
    table = ops.TieTable(*columns, *(() if len(columns) == 5 else (None, None)))
    xp = namespace(table.counts)
    with xp.computing():
        ends = xp.hull_ends(table)
        return ends, xp.merged(table, ends)


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize(
    ("weighted", "batch"), [(False, (3,)), (True, ()), in_full(False, ()), in_full(True, (3,))]
)
def test_hulls(library, kind, weighted, batch):
    table = table_for_hull(kind, weighted, batch, 60)
    with library.context():
        columns = [library.array(x) for x in table.arrays()]
        found = library.compiled(hull_of)(*columns)
        with standard_forms():  # of which one program would be very long
            found = (*found, *hull_of(*columns))
        ends, merged, plain, plainly = tree_map(
            lambda x: x if x is None else library.to_numpy(x), found
        )
    np.testing.assert_array_equal(ends, plain)
    same(_filled_rows(merged), _filled_rows(plainly))
    for row in np.ndindex(batch):
        wanted = ends_by_a_chain(table.negative[row], table.positive[row])
        np.testing.assert_array_equal(np.flatnonzero(ends[row]), wanted)


def test_a_list_without_runs_is_no_part_of_the_next():
    torch = pytest.importorskip("torch")
    counts = torch.tensor([[1, 1, 1], [0, 2, 3]])
    masses = torch.tensor([[torch.nan] * 3, [0.0, 2.0, 3.0]], dtype=torch.float64)
    table = ops.TieTable(masses, counts, counts, masses, masses)
    last = torch.tensor([[False] * 3, [False, True, True]])
    with mock.patch("quotakernels._array._concrete_tensor", return_value=False):
        merged = namespace(counts).merged(table, last)
    assert merged.counts[1].tolist() == [0, 2, 3]
    assert merged.positive_weights[1].tolist() == [0, 2, 3]


def test_hulls_of_counts_whose_products_are_no_whole_numbers():
    """The standard form takes floats for the batch's rows in which P·N is above 2**62."""
    positive = np.array([[3, 1, 2, 0], [3, 1, 2, 0]]) * np.array([[1], [2**40]])
    negative = np.array([[0, 1, 1, 3], [0, 1, 1, 3]]) * np.array([[1], [2**40]])
    table = ops.TieTable(np.zeros(4), positive + negative, positive, None, None)
    with standard_forms():
        ends = namespace(positive).hull_ends(table)
    wanted = ends_by_a_chain(negative[0], positive[0])
    for row in ends:
        np.testing.assert_array_equal(np.flatnonzero(row), wanted)


def ends_by_a_chain(along: np.ndarray, up: np.ndarray) -> list[int]:
    """Rows that end at a strict vertex, one point after the other."""
    chain: list[tuple[float, float, int]] = [(0, 0, -1)]
    for row, (x, y) in enumerate(zip(np.cumsum(along), np.cumsum(up), strict=True)):
        if (x, y) == chain[-1][:2]:
            continue
        while len(chain) > 1:
            (x0, y0, _), (x1, y1, _) = chain[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            chain.pop()
        chain.append((x, y, row))
    return [row for *_, row in chain[1:]]


def _in_place(labels: np.ndarray, levels: int, valid: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts and positives of sorted labels, in the rows of the last examples of tie groups."""
    size = len(labels)
    group = np.sort(RNG.integers(0, levels, size))
    last = (np.diff(group, append=levels) > 0) | (np.arange(size) == valid - 1)
    last &= np.arange(size) < valid
    sums = np.where(last, [np.arange(1, size + 1), np.cumsum(labels)], 0)
    ends = np.maximum.accumulate(sums, axis=-1)
    return tuple((ends - np.pad(ends, ((0, 0), (1, 0)))[:, :-1]).astype(np.int32))


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 31, 32, 33, 100, 1000])
def test_hulls_by_merged_chains(size: int):
    """Of positions; among the labels all slopes in turn, which make the longest chain."""
    import torch

    vectors = [(a, b) for a in range(12) for b in range(12) if math.gcd(a, b) == 1]
    vectors.sort(key=lambda v: math.atan2(*v))
    steepest = np.concatenate([np.repeat([0, 1], v) for v in vectors])[:size]
    labels = RNG.random((20, size)) < RNG.random((20, 1))
    labels[:3, : len(steepest)] = steepest
    levels = [10 * size, 10**9, 10**9, *RNG.integers(1, size + 2, 17)]
    valid = [size, size, max(size - 3, 0), *RNG.integers(0, size + 1, 17)]
    columns = [_in_place(*row) for row in zip(labels, levels, valid, strict=True)]
    counts, positives = (torch.from_numpy(np.stack(x)) for x in zip(*columns, strict=True))
    table = ops.TieTable(counts, counts, positives, None, None, layout=ops.InPlace())
    with (
        mock.patch("quotakernels._array._concrete_tensor", return_value=False),
        mock.patch.object(Standard, "hull_ends", side_effect=AssertionError),
    ):
        ends = namespace(counts).hull_ends(table)
    for row, (counted, found) in enumerate(columns):
        wanted = ends_by_a_chain(counted - found, found)
        np.testing.assert_array_equal(np.flatnonzero(ends[row]), wanted)


@of_fast_forms
@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@pytest.mark.parametrize("long", [2**12 - 1, 2**25 + 1, 2**26 - 2**13 - 1])
def test_chains_of_long_edges(long: int):
    """Two steps of 2**26 examples of which the slopes are as near to each other as any can be."""
    import torch

    from quotakernels.ops.native import torch_

    size = 2**26
    step, place = np.asarray([long, size]), pow(long, -1, size)
    above = np.asarray([(long * place - 1) // size, place])
    for inner in ((above, step), (step, 2 * step - above), (step - above, step)):
        points = np.stack([0 * step, *inner, 2 * step])
        pairs = torch.from_numpy(points[[0, 0, 1, 2, 2, 3]].astype(float)).T.reshape(2, 2, 3)
        _, ends = torch_._merged(pairs, torch.arange(-2, 2))
        others, places = np.diff(points, axis=0).T
        rows = ends_by_a_chain(others, places - others)
        assert ends.unique().tolist() == [0, *points[1:, 1][rows]]


@pytest.mark.full
@of_fast_forms
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
@pytest.mark.parametrize("weighted", [False, True])
def test_hulls_in_programs_call_nobody(weighted: bool):
    """Not even on the CPU, and batches are traced anew without x64."""
    import jax

    def ends(*columns: Any) -> Any:
        table = ops.TieTable(*columns) if weighted else ops.TieTable(*columns, None, None)
        with jax.enable_x64(True):
            return namespace(columns[0]).hull_ends(table)

    with jax.enable_x64(True):
        columns = list(table_for_hull("any", weighted, (2,), 2**14).arrays())
        wanted = ends(*columns)
    assert "callback" not in jax.jit(ends).lower(*columns).as_text()
    for program in (jax.jit(ends), jax.jit(jax.vmap(ends)), jax.vmap(jax.jit(ends))):
        same(np.asarray(program(*columns)), wanted)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_flagged_first(library, batch):
    flags = RNG.random((*batch, 40)) < 0.3
    native, plain = both(library, "flagged_first", flags)
    for row in np.ndindex(batch):
        places = np.flatnonzero(flags[row])
        repeated = np.append(places, np.full(40 - places.size, places[-1]))
        np.testing.assert_array_equal(plain[row], repeated)
        np.testing.assert_array_equal(native[row], repeated[: native.shape[-1]])


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("length", [1, 2, 8, 33])
def test_bisect(library, batch, beyond, length):
    ends = np.sort(RNG.integers(0, 9, (*batch, length)), axis=-1) / 2.0
    wanted = RNG.integers(-1, 20, (*batch, 50)) / 4.0
    wanted[..., 0] = np.nan
    native, plain = both(library, "bisect", ends, wanted, beyond=beyond)
    np.testing.assert_array_equal(native, plain)
    for row in np.ndindex(batch):
        reached = ends[row] > wanted[row][:, None] if beyond else ends[row] >= wanted[row][:, None]
        places = np.where(reached.any(axis=1), reached.argmax(axis=1), length)
        np.testing.assert_array_equal(native[row][1:], places[1:])


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("start", [0, 6, 8, 11])
def test_written(library, batch, start):
    """What lies beyond the end is lost."""
    target, source = (RNG.integers(0, 9, (*batch, n)) for n in (10, 4))
    found = both(library, "write_slice", target, source, np.asarray(start), 3)
    for row in np.ndindex(batch):
        wanted = [*target[row][:start], *source[row][:3], *target[row][start + 3 :]]
        for x in found:
            assert x[row].tolist() == wanted[:10]


@pytest.mark.parametrize("batch", [(), (3,)])
def test_any_of_each(library, batch):
    codes, flags = RNG.integers(0, 6, (*batch, 20)), RNG.random((*batch, 20)) < 0.2
    found = both(library, "any_of_each", flags, codes, size=7)
    for row in np.ndindex(batch):
        wanted = np.isin(np.arange(7), codes[row][flags[row]])
        for x in found:
            np.testing.assert_array_equal(x[row], wanted)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_numbers(library, batch):
    """Of raised flags, and of the examples of a table."""
    flags = RNG.random((*batch, 40)) < 0.3
    for found in both(library, "count", flags):
        np.testing.assert_array_equal(found, flags.sum(axis=-1, keepdims=True))

    def number(xp, scores, labels):
        table = xp.tie_groups((scores, labels, None, None, {}))
        return xp.number(table, table.positives)

    scores = RNG.integers(0, 9, (*batch, 40)).astype(np.float32)
    for found in both(library, number, scores, flags):
        np.testing.assert_array_equal(found, flags.sum(axis=-1))
