"""One class against the rest: a loop over the classes, on exact rationals, and what is averaged."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, mode_fixture, parameters, tree_map
from expected import as_floats, ulps
from public_names import MEASURES, PUBLIC

import quotakernels as qk

mode = mode_fixture(QUICK)

K = 3
QUOTAS = (Fraction(1), Fraction(5, 2), Fraction(6))
EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "roc_auc": lambda groups, quota: ex.roc_auc(groups),
    "average_hit_rate": lambda groups, quota: ex.average_hit_rate(groups),
    "hit_rate": ex.hit_rate,
}
AVERAGES = ("macro", "weighted", "micro")
RNG = np.random.default_rng(5)


# the oracle: one class after the other


def problems(y: list[int], s: list[list[float]], w: Any, m: Any, ties: str, pooled: bool) -> Any:
    """Tie groups of each class against the rest, or of all of them in one list."""
    labels = [[int(label == k) for label in y] for k in range(K)]
    scores = [[row[k] for row in s] for k in range(K)]
    if not pooled:
        return [ex.groups(labels[k], scores[k], w, m, ties) for k in range(K)]
    each = list(product(range(len(y)), range(K)))
    w, m = (None if x is None else [x[i] for i, _ in each] for x in (w, m))
    flat = [labels[k][i] for i, k in each], [scores[k][i] for i, k in each]
    return [ex.groups(*flat, w, m, ties)]


def one_by_one(groups: Any, name: str, quota: Fraction) -> list[Fraction | None]:
    fits = [quota <= ex.total_weight(g) for g in groups]
    return [EXACT[name](g, quota) if ok else None for g, ok in zip(groups, fits, strict=True)]


def exact_average(groups: Any, values: list[Fraction | None], average: str) -> tuple[Any, int]:
    """The average of the defined values, and their number."""
    weights = [
        ex.total_positive_weight(g) if average == "weighted" else Fraction(1) for g in groups
    ]
    pairs = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None]
    mass = sum(w for _, w in pairs)
    return (sum(v * w for v, w in pairs) / mass if mass else None), len(pairs)


def wanted(y: Any, s: Any, w: Any = None, m: Any = None, ties: str = "expected") -> dict[str, Any]:
    """Values, values of the classes and numbers of defined ones, as `found` gives them."""
    expected = {}
    for name in EXACT:
        quotas = QUOTAS if name == "hit_rate" else QUOTAS[:1]
        for average in AVERAGES:
            rows = []
            for example in range(len(s)):
                row = (None if x is None else np.asarray(x)[example].tolist() for x in (y, s, w, m))
                groups = problems(*row, ties, average == "micro")
                by_quota = [one_by_one(groups, name, quota) for quota in quotas]
                averages = [exact_average(groups, values, average) for values in by_quota]
                rows.append((list(zip(*by_quota, strict=True)), *zip(*averages, strict=True)))
            parts = [as_floats(part) for part in zip(*rows, strict=True)]
            parts = parts if len(quotas) > 1 else [part[..., 0] for part in parts]
            expected[f"{name}.{average}"] = (parts[1], parts[0], parts[2])
    return expected


def found(y: Any, s: Any, w: Any = None, m: Any = None, ties: Any = "expected") -> dict[str, Any]:
    given = {"sample_weight": w, "where": m, "ties": ties}
    results = {}
    for name, average in product(EXACT, AVERAGES):
        own = {"quota": [float(q) for q in QUOTAS]} if name == "hit_rate" else {}
        measure = PUBLIC[name]
        results[f"{name}.{average}"] = qk.one_vs_rest(
            measure, y, s, average=average, **given, **own
        )
    return results


def compare(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    assert actual.keys() == expected.keys()
    for name, (value, per_class, defined) in expected.items():
        assert ulps(actual[name].value, value) <= 4, name
        assert ulps(actual[name].per_class, per_class) <= 4, name
        np.testing.assert_array_equal(actual[name].defined, defined, err_msg=name)
        assert np.asarray(actual[name].defined).dtype.kind == "i"


@cache
def small_cases() -> tuple[np.ndarray, ...]:
    """All labels of up to four examples on three score levels, padded to six, with weights."""
    labels = [y for y in product(range(K), repeat=4) for _ in range(2)]
    y = RNG.integers(0, K, (len(labels), 6))
    y[:, :4] = labels
    s = RNG.choice(ex.small_cases.LEVELS, (*y.shape, K))
    w = RNG.choice([0.5, 3.0], y.shape)
    m = np.ones(y.shape, dtype=bool)
    m[::2, 4:] = False
    m[1::2] = RNG.random(m[1::2].shape) < 0.9
    return y, s, w, m


@cache
def wanted_of_small_cases() -> dict[str, Any]:
    y, s, _, m = small_cases()
    return wanted(y, s, None, m)


def masked(y: Any, s: Any, m: Any) -> dict[str, Any]:
    return found(y, s, None, m)


@pytest.mark.long_program
def test_every_mode_is_the_loop_over_the_classes(mode: Mode):
    y, s, _, m = small_cases()
    compare(mode.run(masked, y, s, m), wanted_of_small_cases())


FEW = [m for m in MODES if m.name in ("numpy", "strictest-device1", "jax32-jit", "torch", "cupy")]


@pytest.mark.parametrize("mode", parameters(FEW))
@pytest.mark.long_program
def test_weights_are_those_of_the_examples(mode: Mode):
    y, s, w, m = (x[:60] for x in small_cases())
    w = np.where(RNG.random(w.shape) < 0.1, 0, w)
    compare(mode.run(found, y, s, w, m), wanted(y, s, w, m))


@pytest.mark.parametrize("mode", parameters([m for m in FEW if m.library != "jax"]))
def test_one_list_and_any_batch_axes(mode: Mode):
    """Labels, weights and mask of shape (n,) serve all models; one list has no axis of them."""
    y, s, w, m = (x[:12] for x in small_cases())
    w, m = w[0], m[1]

    def run(y: Any, s: Any) -> Any:
        return mode.run(found, y, s, w, m)

    full = wanted([y[0]] * 12, s, [w] * 12, [m] * 12)
    compare(run(y[0], s[0]), {k: tuple(x[0] for x in parts) for k, parts in full.items()})
    shaped = {k: tuple(x.reshape(2, 6, *x.shape[1:]) for x in v) for k, v in full.items()}
    compare(run(y[0], s.reshape(2, 6, 6, K)), shaped)


# every measure, against itself


def measures() -> dict[str, Any]:
    """But those of gains, costs, arms and groups, which are of examples and not of classes."""
    found = {k: x for k, x in MEASURES.items() if not (x.needs or "gain" in x.takes)}
    return {k: x for k, x in found.items() if not x.over_groups}


def own_of(measure: Any) -> dict[str, Any]:
    """What the measure cannot do without."""
    takes = inspect.signature(measure).parameters
    known = {
        "quota": {"fraction": [0.3, 1.0]},
        "cost_fp": {"cost_fp": 1, "cost_fn": [2, 9]},
        "impacts": {"impacts": (3, -1, 0, 1)},
        "threshold_probability": {"threshold_probability": 0.25},
        **{rate: {rate: [0.3, 0.8]} for rate in ("fpr", "tpr", "recall", "precision")},
        "kind": {"kind": "outcome" if "impacts" in takes else "bift"},
    }
    return {k: x for name, own in known.items() if name in takes for k, x in own.items()}


def assert_same(actual: Any, expected: Any) -> None:
    assert type(actual) is type(expected)
    if isinstance(expected, tuple):
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(actual, expected)


def in_one(results: Any) -> Any:
    """The results of the classes as one, with an axis for them after those of the batch."""
    if isinstance(results[0], tuple):
        return type(results[0])(*(in_one(fields) for fields in zip(*results, strict=True)))
    return np.stack(results, axis=2)


@pytest.mark.parametrize("name", measures())
def test_classes_are_what_the_measure_gives_for_each(name: str):
    measure, own = measures()[name], own_of(measures()[name])
    y, s, *_ = (x[:20].reshape(4, 5, *x.shape[1:]) for x in small_cases())
    apart = qk.one_vs_rest(measure, y, s, average=None, **own)
    assert_same(apart.value, apart.per_class)
    loop = [measure(y == k, s[..., k], **own) for k in range(K)]
    stacked = in_one(loop)
    assert_same(apart.per_class, stacked)
    count = tree_map(lambda x: (~np.isnan(x)).astype(np.int64), stacked)
    assert_same(apart.defined, count)


def names_cuts(measure: Any) -> bool:
    """Whether there is a threshold, or a result of another shape for more examples."""
    y, s, *_ = small_cases()
    results = [measure(y[:2, :n] > 0, s[:2, :n, 0], **own_of(measure)) for n in (4, 6)]
    if "threshold" in getattr(results[0], "_fields", ()):
        return True
    first = [r[0] if isinstance(r, tuple) else r for r in results]
    return first[0].shape != first[1].shape


@pytest.mark.parametrize("name", measures())
def test_averages_are_per_field_and_curves_have_none(name: str):
    measure, own = measures()[name], own_of(measures()[name])
    y, s, *_ = (x[:20] for x in small_cases())
    for average in AVERAGES:
        if names_cuts(measure):
            with pytest.raises(ValueError, match=rf"^{name} gives cuts.*use average=None"):
                qk.one_vs_rest(measure, y, s, average=average, **own)
            continue
        one = qk.one_vs_rest(measure, y, s, average=average, **own)
        values, parts, counts = ((x if isinstance(x, tuple) else (x,)) for x in one)
        for value, part, count in zip(values, parts, counts, strict=True):
            assert value.shape == count.shape == (part.shape[0], *part.shape[2:])
            np.testing.assert_array_equal(count, (~np.isnan(part)).sum(axis=1))
            if average == "macro":
                with np.errstate(invalid="ignore"):  # of a discriminant power of -inf and inf
                    mean = np.nansum(part, axis=1) / np.where(count > 0, count, np.nan)
                np.testing.assert_allclose(value, mean, 1e-14, 1e-14)


def test_minmax_marks_compare_models_and_never_classes():
    y, s, *_ = small_cases()
    marks = qk.one_vs_rest(qk.normalized_marks, y[0], s[:4], average=None, method="minmax")
    for k in range(K):
        alone = qk.normalized_marks(y[0] == k, s[:4, :, k], method="minmax")
        for field, value in alone._asdict().items():
            np.testing.assert_array_equal(getattr(marks.value, field)[:, k], value)


def test_a_class_that_does_not_occur_is_left_out_and_counted_out():
    y = np.asarray([0, 1, 1, 0])
    s = np.asarray([[0.9, 0.1, 0.5], [0.2, 0.8, 0.5], [0.3, 0.1, 0.1], [0.3, 0.0, 0.7]])
    auc = qk.one_vs_rest(qk.roc_auc, y, s)
    assert np.isnan(auc.per_class[2])
    assert auc.defined == 2
    assert auc.value == auc.per_class[:2].mean()
    for nothing in (qk.one_vs_rest(qk.roc_auc, 0 * y, s), qk.one_vs_rest(qk.roc_auc, [], s[:0])):
        assert np.isnan(nothing.value)
        assert nothing.defined == 0
        assert nothing.per_class.shape == (3,)
