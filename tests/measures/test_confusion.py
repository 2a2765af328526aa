"""Confusion tables: at thresholds and quotas, of predictions and of rates."""

from __future__ import annotations

import itertools
import math
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, available, mode_fixture, parameters
from everything import main_modes
from expected import as_floats

import quotakernels as qk
from quotakernels import tables
from quotakernels.tables import ConfusionTable

mode = mode_fixture(QUICK)

SMALL = np.asarray(list(itertools.product(range(7), repeat=4))).T
"""The cells of all tables with cells from 0 to 6."""


def counting(mode: Mode) -> Any:
    """The type of cells that are counts: where values cannot be read a cell may have to be NaN."""
    return np.float64 if mode.lazy else np.int64


# tables at cuts

Y = np.asarray([[1, 0, 1, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 1, 0, 1]])
S = np.asarray(
    [[0.875, 0.75, 0.75, 0.625, 0.125, 0.625, 0.625, 0.25], [3, 3, 1, 7, 6, -0.0, 0.0, np.inf]]
)
W = np.asarray([[1, 2, 0, 1e20, 1, 1e-20, 0.5, 3], [1, 1, 1, 0.5, 0.5, 0, 2, 1]])
M = np.asarray([[True, True, True, False, True, True, True, True], [True] * 8])


def by_threshold(y: Any, s: Any, w: Any = None, m: Any = None) -> list[Any]:
    """The exact cells at all thresholds, inclusive and then strict."""
    groups = ex.groups(*(None if x is None else x.tolist() for x in (y, s, w, m)))
    return [
        as_floats([ex.confusion.table_at_threshold(groups, t, inclusive) for t in THRESHOLDS])
        for inclusive in (True, False)
    ]


THRESHOLDS = [np.nan, 0.875, 0.625, -0.0, -1.0, np.inf, 3]


def at_thresholds(y: Any, s: Any, w: Any = None, m: Any = None) -> Any:
    ranking = qk.rank(y, s, sample_weight=w, where=m)
    one = qk.confusion_table(ranking, threshold=0.625)
    return (
        qk.confusion_table(ranking, threshold=THRESHOLDS),
        qk.confusion_table(y, s, sample_weight=w, where=m, threshold=THRESHOLDS, inclusive=False),
        one,
    )


@pytest.mark.long_program
@main_modes
@pytest.mark.parametrize("beside", [(), (W, M)], ids=["counts", "masses"])
def test_tables_at_thresholds(mode: Mode, beside: tuple[np.ndarray, ...]):
    """A class of little weight keeps its digits beside the other, selected or not."""
    *found, one = mode.run(at_thresholds, Y, S, *beside)
    relative = 0 if not beside else 1e-6 if mode.float32 else 1e-15
    for row in range(len(Y)):
        wanted = by_threshold(*(x[row] for x in (Y, S, *beside)))
        for table, exact in zip((*found, one), (*wanted, wanted[0][2]), strict=True):
            np.testing.assert_allclose(np.stack(table, axis=-1)[row], exact, relative)
            assert beside or all(x.dtype == counting(mode) for x in table)


def test_thresholds_are_compared_exactly():
    """float32(0.1) is above 0.1; integers beyond 2**53 are kept apart."""
    table = qk.confusion_table([1], np.asarray([0.1], np.float32), threshold=0.1)
    assert (table.tp, table.fn) == (1, 0)
    huge = np.asarray([2**62, 2**62 + 1])
    assert qk.confusion_table([0, 1], huge, threshold=2**62 + 1).fp == 0
    assert qk.confusion_table([0, 1], huge, threshold=2**70).tp == 0
    tiny = np.asarray([5e-324, 0.0])
    assert qk.confusion_table([1, 0], tiny, threshold=5e-324).fp == 0
    assert qk.confusion_table([1, 0], tiny, threshold=0.0, inclusive=False).tp == 1


@pytest.mark.long_program
@main_modes
def test_tables_at_quotas(mode: Mode):
    quotas = [0, 1, 2.5, 8]

    def tables(y: Any, s: Any) -> Any:
        ranking = qk.rank(y, s)
        table = qk.confusion_table(ranking, quota=quotas)
        same = qk.precision(table), qk.hit_rate(ranking, quota=quotas)
        again = qk.recall(y, s, fraction=0.3), qk.qrecall(y, s, fraction=0.3)
        return table, same, again, qk.tables.bias(ranking, quota=quotas)

    table, (precision, hit_rate), (recall, qrecall), bias = mode.run(tables, Y, S)
    relative = 1e-6 if mode.float32 else 1e-15
    np.testing.assert_allclose(table.tp + table.fp, [quotas] * 2, relative)
    np.testing.assert_allclose(table.tp + table.fn, 4, relative)
    np.testing.assert_allclose(table.fp + table.tn, 4, relative)
    np.testing.assert_allclose(precision, hit_rate, relative)
    np.testing.assert_allclose(recall, qrecall, relative)
    np.testing.assert_allclose(bias, [np.asarray(quotas) / 8] * 2, relative)
    np.testing.assert_allclose(table.tp[0], [0, 1, 1.75, 4], relative)


# predictions


def of_predictions(y: Any, p: Any, w: Any, m: Any) -> Any:
    binary = qk.tables.confusion_table_from_predictions
    return (
        binary(y, p),
        binary(y, p, sample_weight=w, where=m),
        binary(y, p, num_classes=3),
        binary(y, p, num_classes=3, sample_weight=w, where=m),
    )


P = np.asarray([[1, 1, 0, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1, 0, 0]])


@main_modes
@pytest.mark.long_program
def test_tables_of_predictions(mode: Mode):
    found = mode.run(of_predictions, Y, P, W, M)
    relative = 1e-6 if mode.float32 else 1e-15
    for row in range(len(Y)):
        for k, beside in enumerate(((), (W[row].tolist(), M[row].tolist()))):
            exact = ex.classes.class_table(Y[row].tolist(), P[row].tolist(), 3, *beside)
            np.testing.assert_allclose(found[2 + k].cells[row], as_floats(exact), relative)
            (tn, fp, _), (fn, tp, _), _ = exact
            wanted = as_floats([tp, fp, fn, tn])
            np.testing.assert_allclose(np.stack(found[k], axis=-1)[row], wanted, relative)
    assert found[0].tp.dtype == found[2].cells.dtype == counting(mode)


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_tables_of_many_classes(size: int):
    random = np.random.default_rng(size)
    labels, predictions = random.integers(0, size, (2, 3, 400))
    wanted = np.zeros((3, size, size), int)
    for row in range(3):
        np.add.at(wanted[row], (labels[row], predictions[row]), 1)
    for kind in (np.int64, np.uint8, np.float16, np.float64):
        given = labels.astype(kind), predictions.astype(kind)
        table = qk.tables.confusion_table_from_predictions(*given, num_classes=size)
        np.testing.assert_array_equal(table.cells, wanted)


def test_no_examples():
    none = np.empty((0,))
    table = qk.tables.confusion_table_from_predictions(none, none)
    assert tuple(table) == (0, 0, 0, 0)
    assert np.isnan(qk.accuracy(table))
    empty = qk.tables.confusion_table_from_predictions(none, none, num_classes=2)
    np.testing.assert_array_equal(empty.cells, np.zeros((2, 2)))
    assert np.isnan(qk.tables.cohen_kappa(empty))


# rates


@main_modes
def test_tables_of_rates(mode: Mode):
    def tables(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        table = ConfusionTable(tp, fp, fn, tn)
        rates = {"tpr": qk.recall(table), "fpr": qk.tables.false_positive_rate(table)}
        pos, neg = (
            qk.tables.positive_likelihood_ratio(table),
            qk.tables.negative_likelihood_ratio(table),
        )
        given = {"prevalence": qk.tables.prevalence(table), "n": tp + fp + fn + tn}
        of = qk.tables.confusion_table_from_rates
        return of(**given, **rates), of(**given, lr_positive=pos, lr_negative=neg)

    cells = SMALL[:, ::7]
    by_rates, by_ratios = mode.run(tables, *cells.astype(float))
    tp, fp, fn, tn = cells
    both = (tp + fn > 0) & (fp + tn > 0)
    informed = both & (tp * tn != fp * fn)
    tolerance = 1e-5 if mode.float32 else 1e-14
    for exact, rates, ratios in zip(cells, by_rates, by_ratios, strict=True):
        np.testing.assert_allclose(rates[both], exact[both], 0, tolerance)
        np.testing.assert_allclose(ratios[informed], exact[informed], 0, 10 * tolerance)
        assert np.isnan(ratios[~informed]).all()


def test_infinite_ratios():
    of = qk.tables.confusion_table_from_rates
    table = of(prevalence=0.5, lr_positive=math.inf, lr_negative=0.25, n=8)
    assert tuple(table) == (3, 0, 1, 4)
    assert tuple(of(prevalence=0.5, lr_positive=0.25, lr_negative=math.inf, n=8)) == (1, 4, 3, 0)
    assert tuple(of(prevalence=0.5, lr_positive=0.5, lr_negative=1, n=8)) == (0, 0, 4, 4)
    assert tuple(of(prevalence=0.5, lr_positive=1, lr_negative=0.5, n=8)) == (4, 4, 0, 0)
    assert np.isnan(of(prevalence=0.5, lr_positive=1, lr_negative=1)).all()


# bad input


LAZY = ("strictest-device1", "jax64-jit", "torch-vmap", "cupy")


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in LAZY]))
def test_bad_values_that_cannot_be_read(mode: Mode):
    """NaN in their own place, and rows of their own batch that are empty."""

    def tables(bad: Any, y: Any, p: Any) -> Any:
        table = ConfusionTable(bad, bad * 0 + 1, bad * 0 + 1, bad * 0 + 1)
        of_rates = qk.tables.confusion_table_from_rates(prevalence=bad / 4, tpr=0.5, fpr=0.5)
        predicted = qk.tables.confusion_table_from_predictions(y, p)
        classes = qk.tables.confusion_table_from_predictions(y, p, num_classes=2)
        return (
            qk.accuracy(table),
            of_rates.tn,
            qk.accuracy(predicted),
            qk.accuracy(classes),
            qk.f_score(table, beta=bad),
        )

    bad = np.asarray([-1.0, 2.0])
    labels, predictions = np.asarray([[0, 1], [0, 1]]), np.asarray([[0, 2], [0, 1]])
    found = mode.run(tables, bad, labels, predictions)
    np.testing.assert_allclose(np.asarray(found)[:, 0], np.nan)
    np.testing.assert_allclose(np.asarray(found)[:4, 1], [0.6, 0.25, 1, 1], 1e-6)


@pytest.mark.parametrize("mode", parameters([m for m in QUICK if not m.lazy]))
def test_a_threshold_that_is_nan_selects_nothing(mode: Mode):
    y, s = mode.array(np.asarray([1, 0, 1, 0])), mode.array(np.asarray([0.9, 0.8, 0.7, 0.1]))
    nan, ranking = float("nan"), qk.rank(y, s)
    lists = ([nan], [0.5, nan], [nan, 0.5, nan])
    for threshold in (nan, np.float32(nan), np.asarray(nan), mode.array(np.asarray(nan)), *lists):
        for found in (
            qk.recall(y, s, threshold=threshold),
            qk.confusion_table(ranking, threshold=threshold).tp,
        ):
            assert np.atleast_1d(mode.to_numpy(found))[-1] == 0


# A plain threshold is compared in the scores' own precision, an array with its own values


LABELS = np.asarray([1, 0, 1, 1, 0, 1])
SCORES = np.asarray([0.7, 0.9, 0.1, 0.3, 0.7, 0.6], np.float32)
LIBRARIES = parameters(
    [
        m
        for m in MODES
        if m.name in ("numpy", "strictest", "jax64-jit", "jax32-jit", "torch", "torch-compile")
    ]
)


def at(threshold: Any, inclusive: bool = True) -> Any:
    """The recall of lists, rankings, batches and groups, and what impacts and gains read."""
    cut = {"threshold": threshold, "inclusive": inclusive}

    def values(y: Any, s: Any) -> dict[str, Any]:
        ranking = qk.rank(y, s)
        return {
            "list": qk.recall(y, s, **cut),
            "listed": qk.recall(y, s, threshold=[threshold], inclusive=inclusive),
            "ranking": qk.recall(ranking, **cut),
            "table": qk.confusion_table(y, s, **cut),
            "groups": qk.recall(y, s, groups=y * 0, num_groups=1, **cut),
            "impact": qk.tables.total_impact(ranking, impacts=(3, -1, 0, 2), **cut),
            "gains": tables.cell_impacts(y, s, gain=y * 2, **cut),
        }

    return values


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("mode", LIBRARIES)
def test_numbers_and_lists_of_them_select_what_the_library_selects(mode: Mode, inclusive: bool):
    programs = mode.name.endswith("compile")  # each number makes its own
    if programs and not inclusive:
        pytest.skip("test_lazy traces it, and a number in another precision is told by equality")
    for number in (0.7,) if programs else (0.7, 0.9, 0.1, 0.6, 0.3):
        own = np.float32(number)
        selected = own <= SCORES if inclusive else own < SCORES
        wanted = np.sum(LABELS[selected]) / 4
        found = mode.run(at(number, inclusive), LABELS, SCORES)
        exact = at(np.float32(number), inclusive)(LABELS, SCORES)
        assert found["list"] == found["listed"][0] == found["ranking"] == wanted, number
        assert found["groups"][0] == wanted
        assert found["table"].tp + found["table"].fp == np.sum(selected)
        for name in ("impact", "gains"):
            np.testing.assert_allclose(found[name], exact[name], rtol=1e-6)


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_plain_numbers_given_to_programs_of_jax(kind: str):
    """JAX marks them, and compares them with scores as plain numbers."""
    import jax

    with jax.enable_x64(True):
        y, s = jax.numpy.asarray(LABELS), jax.numpy.asarray(SCORES, dtype=kind)
        program = jax.jit(lambda y, s, t: qk.recall(y, s, threshold=t))
        for number in (0.7, 0.9, 0.1):
            wanted = (LABELS * np.asarray(s >= number)).sum() / 4
            assert program(y, s, number) == qk.recall(y, s, threshold=number) == wanted


def test_of_many_scores_rounded_to_two_places():
    score = np.round(np.random.default_rng(0).random(100_000), 2).astype(np.float32)
    table = qk.confusion_table(np.arange(100_000) % 2, score, threshold=0.9)
    assert table.tp + table.fp == np.sum(score >= 0.9)
    cut = qk.rank(np.arange(100_000) % 2, score).at_thresholds([0.9])
    assert cut.counts[0] == np.sum(score >= 0.9)


def test_arrays_keep_the_values_they_have():
    for exact in (np.float64(0.7), np.asarray(0.7), np.asarray([0.7])):
        assert np.all(qk.recall(LABELS, SCORES, threshold=exact) == 0)
    assert qk.recall(LABELS, SCORES, threshold=np.float32(0.7)) == 0.25
    exact = qk.rank(LABELS, SCORES).at_thresholds(np.asarray([0.7]))
    assert exact.counts[0] == np.sum(SCORES.astype(float) >= 0.7)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_of_every_float(kind: str):
    torch = pytest.importorskip("torch")
    y, s = torch.from_numpy(LABELS), torch.from_numpy(SCORES).to(getattr(torch, kind))
    for number in (0.7, 0.1, 0.3, 1e300, -1e300, 1e-60):
        selected = s >= torch.tensor(number, dtype=torch.float64).to(s.dtype)
        wanted = (y[selected].sum() / 4).item()
        assert qk.recall(y, s, threshold=number) == wanted
        assert qk.recall(qk.rank(y, s), threshold=number) == wanted
        assert qk.recall(qk.rank(y, s), threshold=[number])[0] == wanted
        assert (
            qk.confusion_table(qk.rank(y, s), threshold=number).tp
            == selected.logical_and(y == 1).sum()
        )


def test_whole_scores_and_numbers_between_them():
    score = np.asarray([2**53 + 1, 2**53, 3, 2, 1, 0])
    assert qk.recall(LABELS, score, threshold=2**53 + 1) == 0.25
    assert qk.recall(LABELS, score, threshold=1.5) == 0.75
