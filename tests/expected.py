"""What every measure should give, from the exact reference, and how near it must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import exact as ex
import numpy as np
from exact.counterparts import COUNTERPARTS
from public_names import MEASURES, PUBLIC

import quotakernels as qk
from quotakernels.ops import STANDARD_ONLY

QUOTAS = tuple(Fraction(k, 2) for k in range(11))
BINS = 3

PLAIN = {name: x for name, x in MEASURES.items() if x.is_array}
NUMBERS = (
    *("roc_auc", "average_qrecall"),
    *(name for name, x in PLAIN.items() if x.alone and not x.own_keywords),
)
"""Measures of a whole ranking: two in the form that they have without their options, and all that
have none."""
PR_AREAS: dict[str, dict[str, str]] = {
    "pr_auc": {},
    "pr_auc_horizontal": {"start": "horizontal"},
    "pr_auc_trapezoid": {"method": "trapezoid"},
    "pr_auc_trapezoid_horizontal": {"method": "trapezoid", "start": "horizontal"},
}
AT_QUOTA = (*(name for name, x in PLAIN.items() if isinstance(x, type(qk.hit_rate))), "pearson")
ONE_ROUNDING = {"roc_auc", "roc_hull_auc", "gini", "pem", "hit_rate", "qrecall", "average_qrecall"}
ABSOLUTE = {
    "pearson",
    "pearson_observed",
    "normalized_pr_auc",
    "pr_gain_auc",
    "s1",
    "s2",
    "s1_area",
    "s2_area",
    "lift_table",
}
"""Accuracy: without an entry 4 ulp, of those rounded once none, of these an absolute error."""


def computed(ranking: qk.Ranking, quotas: Any, weighted: bool = False) -> dict[str, Any]:
    """Every measure of a ranking, by its public function."""
    values = {name: PUBLIC[name](ranking, quota=quotas) for name in AT_QUOTA}
    values["pearson_observed"] = qk.pearson(ranking, quota=quotas, labels="observed")
    values |= {name: PUBLIC[name](ranking) for name in NUMBERS}
    if not weighted:
        values["average_qrecall_late"] = qk.average_qrecall(ranking, start="P+1")
        values["expected_average_precision"] = qk.expected_average_precision(ranking)
    for name, options in PR_AREAS.items():
        if not (weighted and "method" in options):
            values[name] = qk.pr_auc(ranking, **options)
    values["lift_table"] = qk.lift_table(ranking, bins=BINS).lift
    for method, suffix in (("area", "_area"), *(() if weighted else (("sum", ""),))):
        areas = qk.pem_areas(ranking, method=method)
        values |= {f"{name}{suffix}": x for name, x in areas._asdict().items()}
    return values


def _at_quotas(
    measure: Callable[..., Any], groups: tuple[ex.Group, ...], quotas: tuple[Fraction, ...]
) -> list[Any]:
    whole = ex.total_weight(groups)
    return [measure(groups, x) if x <= whole and whole > 0 else None for x in quotas]


@cache
def _of_scores(groups: tuple[ex.Group, ...], quotas: tuple[Fraction, ...]) -> dict[str, Any]:
    """What depends on the scores, and not on their order alone."""
    observed = partial(ex.pearson, labels="observed")
    both = {"pearson": ex.pearson, "pearson_observed": observed}
    return {name: _at_quotas(measure, groups, quotas) for name, measure in both.items()}


@cache
def _of_order(
    groups: tuple[ex.Group, ...], quotas: tuple[Fraction, ...], weighted: bool
) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: _at_quotas(COUNTERPARTS[name][0], groups, quotas)
        for name in AT_QUOTA
        if name != "pearson"
    }
    values |= {name: COUNTERPARTS[name][0](groups) for name in NUMBERS}
    if not weighted:
        values["average_qrecall_late"] = ex.average_qrecall(groups, start="P+1")
        values["expected_average_precision"] = ex.expected_average_precision(groups)
    for name, options in PR_AREAS.items():
        if "method" not in options:
            values[name] = ex.pr_auc_exact(groups, **options)
        elif not weighted:
            values[name] = ex.pr_auc_trapezoid(groups, options.get("start", "roc"))
    values["lift_table"] = (
        [row.lift for row in ex.lift_table(groups, BINS)] if groups else [None] * BINS
    )
    for method, suffix in (("area", "_area"), *(() if weighted else (("sum", ""),))):
        areas = ex.pem_areas(groups, method=method)
        names = (f"s{k}{suffix}" for k in (1, 2, 3))
        values |= dict(zip(names, (None,) * 3 if areas is None else areas, strict=True))
    return values


def expected(groups: Sequence[ex.Group], quotas: Sequence[Fraction], weighted: bool = False) -> Any:
    """Every measure of one list of groups, as Fractions, floats (Pearson) and None."""
    in_order = tuple(g._replace(score=-k) for k, g in enumerate(groups))
    of_scores = _of_scores(tuple(groups), tuple(quotas))
    return of_scores | _of_order(in_order, tuple(quotas), weighted)


def as_floats(values: Any) -> np.ndarray:
    """Exact values rounded once; NaN where they are undefined."""
    return np.vectorize(lambda x: np.nan if x is None else float(x), otypes=[float])(
        np.asarray(values, dtype=object)
    )


def ulps(actual: np.ndarray, wanted: np.ndarray) -> float:
    """The largest distance in units in the last place of the results' type."""
    kind = np.asarray(actual).dtype
    wanted = np.asarray(wanted, dtype=kind)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(wanted))
    defined = ~np.isnan(wanted)
    unit = np.spacing(np.maximum(np.abs(wanted[defined]), np.finfo(kind).tiny))
    gaps = np.abs(np.asarray(actual)[defined] - wanted[defined]) / unit
    return float(gaps.max(initial=0))


def assert_within(actual: Any, wanted: Any, tolerance: Any, name: str) -> None:
    """Assert an absolute tolerance, and NaN at the same places."""
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(wanted), err_msg=name)
    gaps = np.nan_to_num(np.abs(np.asarray(actual) - wanted))
    assert np.all(gaps <= np.nan_to_num(tolerance)), f"{name} is off by {gaps.max()}"


def check(name: str, actual: np.ndarray, wanted: np.ndarray, weighted: bool = False) -> None:
    """Assert the accuracy that is promised for a measure."""
    is_double = np.asarray(actual).dtype == np.float64
    if name in ABSOLUTE:
        tolerance = 1e-13 if is_double else 1e-5
        scale = np.maximum(1, np.abs(wanted))
        assert_within(actual, wanted, tolerance * scale, name)
    elif name in ONE_ROUNDING and is_double and not weighted:
        np.testing.assert_array_equal(actual, wanted, err_msg=name)
    else:
        far = ulps(actual, wanted)
        assert far <= 4, f"{name} is {far} ulp off; ABSOLUTE has differences that nearly cancel"


def compare(actual: dict[str, Any], wanted: dict[str, Any], weighted: bool = False) -> None:
    """Assert it for every measure, and that none is missing."""
    assert actual.keys() == wanted.keys()
    for name, value in wanted.items():
        check(name, np.asarray(actual[name]), as_floats(value), weighted)


def assert_vertices(name: str, found: Any, wanted: Sequence[Any] | None) -> None:
    """One curve has these vertices, the last of them repeated to the end."""
    if wanted is None:
        for field in set(found._fields) & {"fpr", "tpr", "slope_min", "slope_max"}:
            rates = np.asarray(getattr(found, field))
            assert np.isnan(rates).all() or field in ("fpr", "tpr"), (name, field)
        return
    for field in found._fields:
        column = np.asarray(getattr(found, field), dtype=float)
        exact = as_floats([getattr(vertex, field) for vertex in wanted])
        head, rest = column[: len(exact)], column[len(exact) :]
        if np.asarray(getattr(found, field)).dtype == np.float32:
            head, exact = head.astype(np.float32), exact.astype(np.float32)
        assert head.shape == exact.shape, (name, field)
        finite = np.isfinite(exact)
        np.testing.assert_array_equal(head[~finite], exact[~finite], err_msg=f"{name} {field}")
        assert ulps(head[finite], exact[finite]) <= 1, (name, field)
        end = 0.0 if field.startswith("slope") else exact[-1]
        np.testing.assert_array_equal(rest, np.full(rest.shape, end), err_msg=f"{name} {field}")


def assert_compact(real: Any) -> None:
    """Every row of a table of one list is a group of it; without the fast forms some are empty."""
    assert np.all(real) or STANDARD_ONLY


def compact(quota: Any, *columns: Any) -> list[np.ndarray]:
    """Columns over the cuts of one list, without those that select no more than the one before."""
    real = np.diff(quota, prepend=-1) > 0
    assert_compact(real)
    return [np.asarray(x)[real] for x in columns]


def filled(ranking: qk.Ranking) -> qk.Ranking:
    """A ranking of one list without empty rows, of which there is none but where all is empty."""
    real = np.asarray(ranking.counts) > 0
    assert_compact(real | (len(real) == 1))
    return ranking.map(lambda x: np.asarray(x)[real])


def assert_same_bits(found: qk.Ranking, wanted: qk.Ranking) -> None:
    """The groups of two rankings of one list each are equal, and of equal types."""
    columns = (arrays_of(filled(ranking)) for ranking in (found, wanted))
    for place, (x, y) in enumerate(zip(*columns, strict=True)):
        assert (x.dtype, x.tobytes()) == (y.dtype, y.tobytes()), place


def arrays_of(ranking: qk.Ranking) -> list[Any]:
    """All columns of a ranking, in one order in every library."""
    columns = [ranking.columns[name] for name in sorted(ranking.columns)]
    return [*ranking[:5], *(x for sums in columns for x in sums)]


def row_of(curve: Any, row: int) -> Any:
    """One row of a batch of curves."""
    if isinstance(curve, qk.Ranking):
        return curve.map(lambda x: x[row])
    return type(curve)(*(x[row] for x in curve))
