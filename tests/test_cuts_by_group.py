"""The best cut of each group, means of the cells at its cut, marks, correlations, chart areas."""

from __future__ import annotations

import functools
from operator import ge, gt
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import DISTINCT, Mode, in_full, mode_fixture
from everything import MAIN
from expected import as_floats, check
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk

SIZE, GROUPS = 40, 6
IMPACTS = (5, -4, -1, 0)
EPS = 2.0**-52
QUOTAS, THRESHOLDS = (0, 1, 2.5, 9), (0.25, 3.0, 9.0, -9.0)
RNG = np.random.default_rng(12)
mode = mode_fixture([m for m in DISTINCT if m.name in (*MAIN, "strictest", "jax32-vmap")])
NAMES = {"w": "sample_weight", "where": "where"}


def data() -> dict[str, np.ndarray]:
    """Group 4 has no examples, group 2 one class, and group 1 large gains."""
    groups = RNG.choice([0, 1, 2, 3, 5], SIZE)
    return {
        "y": RNG.integers(0, 2, SIZE) * (groups != 2),
        "s": RNG.choice([-1.0, 0.25, 0.5, 3.0], SIZE),
        "groups": groups,
        "gain": RNG.integers(-9, 10, SIZE) * np.where(groups == 1, 2.0**20, 1.0),
        "gain_rejected": RNG.integers(-4, 5, SIZE).astype(float),
        "w": RNG.choice([0.0, 0.5, 1.0, 2.0], SIZE),
        "where": RNG.random(SIZE) < 0.8,
    }


DATA = data()
BESIDE = [(), ("w",), in_full(("where",)), in_full(("w", "where"))]


def run(mode: Mode, names: tuple[str, ...], function: Any, *amounts: str) -> Any:
    """What a function gives of the ranking of all groups."""
    columns = ("y", "s", "groups", *amounts, *names)

    def computed(y: Any, s: Any, groups: Any, *own: Any) -> Any:
        keywords = (*amounts, *(NAMES[name] for name in names))
        given = dict(zip(keywords, own, strict=True))
        return function(qk.rank(y, s, groups=groups, num_groups=GROUPS, **given))

    return mode.run(computed, *(DATA[name] for name in columns))


def of_group(names: tuple[str, ...], group: int, *columns: str) -> list[Any]:
    """Columns of the examples of one group, and what there is beside them, by keyword."""
    here = DATA["groups"] == group
    beside = {NAMES[name]: DATA[name][here].tolist() for name in names}
    return [*(DATA[name][here].tolist() for name in columns), beside]


def tied(names: tuple[str, ...], group: int) -> list[ex.Group]:
    y, s, beside = of_group(names, group, "y", "s")
    return ex.groups(y, s, **beside)


def check_cuts(best: Any, exact: list[Any], weighted: bool) -> None:
    """The best cuts of all groups; None stands for no cut."""
    assert all(getattr(best, name, ()) == () for name in ("optima", "curve"))
    for field in ("value", "threshold", "quota"):
        wanted = as_floats([None if x is None else getattr(x, field) for x in exact])
        check(field, getattr(best, field), wanted, weighted)


@pytest.mark.long_program
@pytest.mark.parametrize("names", BESIDE)
def test_best_cuts_of_tables(mode: Mode, names: tuple[str, ...]):
    def computed(ranking: Any) -> Any:
        return (
            qk.best_boundary(ranking, impacts=IMPACTS),
            qk.best_boundary(ranking, impacts=IMPACTS, kind="outcome"),
            qk.best_cut(qk.informedness, ranking),
            qk.best_cut(qk.expected_cost, ranking, cost_fp=3, cost_fn=2),
            qk.points.kolmogorov_smirnov(ranking),
        )

    exact = (
        lambda x: ex.impact.best_boundary(x, IMPACTS),
        lambda x: ex.impact.best_boundary(x, IMPACTS, "outcome"),
        lambda x: ex.confusion.best_cut(x, ex.confusion.informedness),
        lambda x: ex.confusion.best_cut(
            x, lambda table: ex.confusion.expected_cost(table, 3, 2), lowest=True
        ),
        lambda x: ex.operating.kolmogorov_smirnov(x) if x else None,
    )
    for found, best in zip(run(mode, names, computed), exact, strict=True):
        check_cuts(found, [best(tied(names, g)) for g in range(GROUPS)], "w" in names)


@pytest.mark.long_program
@pytest.mark.parametrize("names", BESIDE)
@pytest.mark.parametrize("amounts", [("gain",), ("gain", "gain_rejected")])
def test_best_quotas_and_cells(mode: Mode, names: tuple[str, ...], amounts: tuple[str, ...]):
    def computed(ranking: Any) -> Any:
        at = {"quota": QUOTAS, "when_short": "nan"}
        return (
            qk.best_quota(ranking),
            qk.tables.cell_impacts(ranking, **at),
            qk.tables.cell_impacts(ranking, threshold=THRESHOLDS),
            qk.tables.cell_impacts(ranking, threshold=THRESHOLDS, inclusive=False),
        )

    best, at_quotas, *at_thresholds = run(mode, names, computed, *amounts)
    exact: list[Any] = []
    for group in range(GROUPS):
        *_, beside = given = of_group(names, group, "y", "s", *amounts)
        rows = ex.impact.gain_groups(*given[1:-1], **beside)
        exact.append(ex.impact.best_example_quota(rows) if rows else None)
        check_cells(at_quotas, group, [means(given, quota) for quota in QUOTAS])
        for cells, reaching in zip(at_thresholds, (ge, gt), strict=True):
            sizes = [sum(row.weight for row in rows if reaching(row.score, x)) for x in THRESHOLDS]
            check_cells(cells, group, [means(given, size) for size in sizes])
    check_cuts(best, exact, "w" in names)


def means(given: list[Any], quota: Any) -> list[Any]:
    """Of the four cells at a quota; undefined where there is too little mass."""
    y, s, *gains, beside = given
    mass = sum(row.weight for row in ex.impact.gain_groups(s, *gains, **beside))
    if quota > mass or not mass:
        return [None] * 4
    return list(ex.impact.category_means(y, s, *[*gains, 0][:2], quota, **beside))


def check_cells(found: Any, group: int, exact: list[list[Any]]) -> None:
    for cells, wanted in zip(found, as_floats(exact).T, strict=True):
        near = 1e-13 if cells.dtype == np.float64 else 2e-6
        np.testing.assert_allclose(cells[group], wanted, near, near)


AREAS = {
    "bift": ex.charts.bift_area,
    "boc": ex.charts.boc_area,
    "bprd": ex.charts.bprd_area,
    "lift": ex.charts.lift_area,
    "roc": ex.roc_auc,
    "pr": ex.pr_auc_exact,
}


@pytest.mark.long_program
@pytest.mark.parametrize("names", BESIDE)
def test_areas_of_charts(mode: Mode, names: tuple[str, ...]):
    def computed(ranking: Any) -> Any:
        kappas = [qk.charts.auk(ranking, kappa=kappa) for kappa in ("cohen", "scott", "bennett")]
        return *kappas, *(qk.charts.chart_area(ranking, kind=kind) for kind in AREAS)

    exact = [
        *(functools.partial(ex.charts.auk, kappa=kappa) for kappa in ("cohen", "scott", "bennett")),
        *AREAS.values(),
    ]
    for found, area in zip(run(mode, names, computed), exact, strict=True):
        rows = (tied(names, group) for group in range(GROUPS))
        wanted = as_floats([area(x) if x else None for x in rows])
        near = 1e-13 if found.dtype == np.float64 else 2e-6
        np.testing.assert_allclose(found, wanted, near, near)


@pytest.mark.long_program
@pytest.mark.parametrize("names", [(), in_full(("where",))])
def test_marks(mode: Mode, names: tuple[str, ...]):
    exact: list[list[Any]] = []
    for group in range(GROUPS):
        rows = tied(names, group)
        n, positives = ex.total_count(rows), int(ex.total_positive_weight(rows))
        hit_rate = ex.normalized_mark(
            ex.average_hit_rate(rows), ex.chance_average_hit_rate(n, positives)
        )
        qrecall = ex.normalized_mark(
            ex.average_qrecall(rows), ex.chance_average_qrecall(n, positives)
        )
        correlation = ex.pearson(rows, n, labels="observed")
        exact.append([hit_rate, qrecall, ex.pem(rows), ex.gini(rows), correlation])
    found = run(mode, names, qk.normalized_marks)
    for value, wanted in zip(found, as_floats(exact).T, strict=True):
        near = 1e-13 if value.dtype == np.float64 else 2e-6
        np.testing.assert_allclose(value, wanted, near, near)


def test_marks_between_models():
    """The models are compared within each group, as if it were alone."""
    scores = np.stack([DATA["s"], np.arange(SIZE), -np.arange(SIZE) % 7])
    marks = qk.normalized_marks(DATA["y"], scores, groups=DATA["groups"], method="minmax")
    for place, group in enumerate(np.unique(DATA["groups"])):
        here = DATA["groups"] == group
        alone = qk.normalized_marks(DATA["y"][here], scores[:, here], method="minmax")
        for found, wanted in zip(marks, alone, strict=True):
            np.testing.assert_allclose(found[:, place], wanted, rtol=1e-12, atol=1e-12)


def test_bad_values_spoil_the_best_cut_of_their_group_alone(mode: Mode):
    y, gain, groups = np.array([1, 0, 1, 0, 1, 0]), np.arange(6) - 2.0, np.array([0, 0, 1, 1, 2, 2])
    scores = np.array([0.9, 0.8, np.nan, 0.6, 0.5, 0.4])

    def computed(y: Any, s: Any, gain: Any, groups: Any) -> Any:
        given = {"gain": gain, "groups": groups, "num_groups": 4, "validate": False}
        ranking = qk.rank(y, s, **given)
        return (
            qk.best_quota(ranking).value,
            qk.best_boundary(ranking, impacts=IMPACTS).quota,
            qk.best_cut(qk.f_score, ranking).value,
            qk.tables.cell_impacts(ranking, threshold=0.0).tp,
            qk.pearson(ranking, quota=2, labels="observed"),
        )

    for found in mode.run(computed, y, scores, gain, groups):
        assert np.isnan(found).tolist() == [False, True, False, True]


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 12), st.integers(1, 8))
def test_grouped_is_a_loop(seed: int, size: int, number: int, levels: int):
    rng = np.random.default_rng(seed)
    s, groups = rng.integers(0, levels, size) / 4 + 2.0**20, rng.integers(0, number, size) * 7 - 20
    columns = {"y_true": rng.integers(0, 2, size), "y_score": s}
    gains = columns | {
        "gain": rng.integers(-9, 10, size),
        "gain_rejected": rng.integers(0, 5, size),
    }
    weights = columns | {"sample_weight": rng.integers(0, 5, size) / 2}
    exact = (
        (qk.best_quota, gains, {}),
        (qk.best_boundary, columns, {"impacts": IMPACTS}),
        (functools.partial(qk.best_cut, qk.f_score), columns, {}),
        (qk.tables.cell_impacts, gains, {"quota": [1, 2], "when_short": "all"}),
        (qk.tables.cell_impacts, gains, {"threshold": 2.0**20 + 0.5}),
    )
    rounded = (
        (qk.best_boundary, weights, {"impacts": IMPACTS}),
        (qk.pearson, columns, {"quota": [2, 5.5], "when_short": "all"}),
        (qk.pearson, weights, {"fraction": 0.4, "labels": "observed"}),
        (qk.charts.auk, weights, {}),
        (qk.charts.auk, columns, {"kappa": "scott"}),
    )
    # A mark divides the difference from chance by a small number.
    divided = ((qk.normalized_marks, columns, {}),)
    for near, cases in ((0, exact), (4 * EPS, rounded), (64 * EPS, divided)):
        for measure, data, own in cases:
            for found, alone in beside_loop(measure, data, groups, own):
                np.testing.assert_allclose(found, alone, near, near, err_msg=repr(measure))


def beside_loop(
    measure: Any, data: dict[str, np.ndarray], groups: np.ndarray, own: dict[str, Any]
) -> list[tuple[Any, Any]]:
    """Fields of what all groups have, and of each group's examples one after the other; of one
    model, and of two as a batch.
    """

    def of(here: Any, **given: Any) -> list[Any]:
        y, s, *beside = (x[here] for x in data.values())
        given |= dict(zip(list(data)[2:], beside, strict=True))
        found = [measure(y, x, **given, **own) for x in (s, -s, np.stack([s, -s]))]
        return [*fields(found[0]), *fields(found[1]), *fields(found[2])]

    found, alone = of(slice(None), groups=groups), [of(groups == g) for g in np.unique(groups)]
    each = [np.stack([one[k] for one in alone]) for k in range(len(found))]
    third = len(found) // 3
    each[2 * third :] = [np.swapaxes(x, 0, 1) for x in each[2 * third :]]
    return list(zip(found, each, strict=True))


def fields(found: Any) -> list[np.ndarray]:
    """What each group has, and not the curves."""
    if not isinstance(found, tuple):
        return [found]
    return [x for name, x in found._asdict().items() if name not in ("optima", "curve")]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", ["expected", "observed"])
def test_a_group_of_huge_scores_or_weights_leaves_no_trace_in_the_next(labels: Any, weighted: bool):
    """Sums of floats begin anew in each group; only whole numbers may cross them."""
    rng = np.random.default_rng(4)
    y, s, w = rng.integers(0, 2, 60), rng.random(60), rng.random(60)
    groups = np.arange(60) // 20
    for unit in (1e12, 1e-12):
        scores, weights = s * unit ** (groups - 1.0), w * unit ** (1.0 - groups)
        given = {"sample_weight": weights} if weighted else {}
        own: dict[str, Any] = {"fraction": 0.7, "labels": labels}
        found = qk.pearson(y, scores, groups=groups, **given, **own)
        for group in range(3):
            here = groups == group
            alone = {name: x[here] for name, x in given.items()}
            wanted = qk.pearson(y[here], scores[here], **alone, **own)
            assert found[group] == pytest.approx(wanted, rel=1e-12)


def test_a_long_group_leaves_no_trace_in_the_next():
    rng = np.random.default_rng(4)
    sizes = (300_000, 6)
    groups, n = np.repeat([0, 1], sizes), sum(sizes)
    y, s = rng.integers(0, 2, n), rng.random(n)
    found = qk.pearson(y, s, groups=groups, fraction=0.7)
    alone = qk.pearson(y[-6:], s[-6:], fraction=0.7)
    assert found[1] == pytest.approx(alone, rel=1e-14, abs=0)
