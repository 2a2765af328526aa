"""Hulls of several models and the mixtures on them, against exact ones."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, available, mode_fixture, parameters
from everything import main_modes
from expected import as_floats, assert_vertices, row_of

import quotakernels as qk
from measures.test_charts import KINDS

mode = mode_fixture(QUICK)

LENGTH, MODELS, FAMILIES = 4, 3, 150
RATES = tuple(Fraction(k, 12) for k in range(13))
QUOTAS = tuple(Fraction(k, 3) for k in range(13))
ASKED = {"fpr": RATES, "tpr": RATES, "quota": QUOTAS}
VALUES = {name: as_floats(x) for name, x in ASKED.items()}
Y = [1, 1, 0, 0, 1, 0]
STRICT, MILD = [0.9, 0.2, 0.5, 0.4, 0.3, 0.1], [0.5, 0.9, 0.8, 0.2, 0.7, 0.1]


@cache
def families() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and mask, shape (families, models, examples), heavily tied; some lack a
    class, and some have fewer examples.
    """
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 2, (FAMILIES, 1, LENGTH))
    scores = rng.choice([2.0, 0.5, 0.25, -1.0], (FAMILIES, MODELS, LENGTH))
    mask = rng.random((FAMILIES, 1, LENGTH)) < 0.9
    mask[:, :, 0] = True
    labels, mask = (np.ascontiguousarray(np.broadcast_to(x, scores.shape)) for x in (labels, mask))
    return labels, scores, mask


@cache
def wanted_hull(row: int, models: tuple[int, ...]) -> list[ex.HullVertex] | None:
    tables = [
        ex.groups(*(x[row, k].tolist() for x in families()[:2]), where=families()[2][row, k])
        for k in models
    ]
    return ex.family_hull(tables)


def wanted_mixture(hull: list[ex.HullVertex] | None, name: str, value: Fraction) -> Any:
    """None where there is none: beyond the last vertex, and where a class is absent."""
    if hull is None or (name == "quota" and value > hull[-1].fp + hull[-1].tp):
        return None
    return ex.mixture(hull, **{name: value})


def assert_mixtures(name: str, found: Any, hull: list[ex.HullVertex] | None) -> None:
    """The mixtures of one hull, at all the values that are asked for."""
    rounding = 4 * np.finfo(found.share.dtype).eps
    for place, value in enumerate(ASKED[name]):
        mixed, wanted = row_of(found, place), wanted_mixture(hull, name, value)
        for field in mixed._fields:
            got = np.asarray(getattr(mixed, field))
            if wanted is None:
                assert np.isnan(got) or field[:5] in ("lower", "upper", "thres", "model"), field
                continue
            exact = float(as_floats(getattr(wanted, field)))
            if field in ("share", "fpr", "tpr"):
                exact = np.asarray(exact, dtype=got.dtype)
                assert abs(got - exact) <= rounding * max(1, abs(exact)), (name, value, field)
            else:
                np.testing.assert_equal(float(got), exact, err_msg=f"{name} {value} {field}")


@pytest.mark.full
@pytest.mark.long_program
def test_hulls_and_mixtures_of_a_batch_of_families(mode: Mode):
    def hull_and_mixtures(y: Any, s: Any, mask: Any) -> Any:
        hull = qk.family_hull(qk.rank(y, s, where=mask))
        return hull, {k: qk.mixture(hull, **{k: mode.array(x)}) for k, x in VALUES.items()}

    hull, mixtures = mode.run(hull_and_mixtures, *(x[:, :2] for x in families()))
    for row in range(FAMILIES):
        wanted = wanted_hull(row, (0, 1))
        assert_vertices("family", row_of(hull, row), wanted)
        for name, found in mixtures.items():
            assert_mixtures(name, row_of(found, row), wanted)


@pytest.mark.long_program
@every.main_modes
def test_sequences_and_mappings_in_the_order_of_the_models(mode: Mode):
    """Of tables with as many rows as each model has scores, and in any order of the models."""

    def hulls(y: Any, s: Any, mask: Any) -> Any:
        ranked = [qk.rank(y[:, k, :], s[:, k, :], where=mask[:, k, :]) for k in range(MODELS)]
        return {
            (2, 0, 1): qk.family_hull((ranked[2], ranked[0], ranked[1])),
            (1, 2): qk.family_hull({"b": ranked[1], "a": ranked[2]}),
            (0,): qk.family_hull(iter(ranked[:1])),
        }

    if mode.name.endswith("jit"):
        pytest.skip("keys of a result are strings there")
    for models, hull in mode.run(hulls, *families()).items():
        for row in range(FAMILIES):
            assert_vertices(str(models), row_of(hull, row), wanted_hull(row, models))


@pytest.mark.full
def test_one_family_gives_no_padding():
    for row in range(FAMILIES):
        y, s, mask = (x[row] for x in families())
        ranked = [qk.rank(y[k], s[k], where=mask[k]) for k in range(MODELS)]
        wanted = wanted_hull(row, (0, 1, 2))
        for hull in (qk.family_hull(ranked), qk.family_hull(qk.rank(y, s, where=mask))):
            assert_vertices("family", hull, wanted)
            assert wanted is None or len(hull.fp) == len(wanted)


@every.main_modes
@pytest.mark.long_program
def test_models_with_tables_of_their_own_kinds(mode: Mode):
    """Counts and masses, scores of two types, tables of different lengths."""

    def hull(y: Any, a: Any, b: Any, fp: Any, tp: Any) -> Any:
        return qk.family_hull([qk.rank(y, a), qk.rank(y, b), qk.Ranking.from_points(fp, tp)])

    single, fp = np.float32([0.9, 0.8, 0.5, 0.4, 0.3, 0.1]), np.asarray([0.25, 3.0])
    found = mode.run(hull, np.asarray(Y), np.asarray(MILD), single, fp, np.asarray([2.5, 3.0]))
    tables = [ex.groups(Y, x) for x in (MILD, single.tolist())]
    wanted = ex.family_hull([*tables, ex.groups_from_points(fp.tolist(), [2.5, 3.0])])
    assert {vertex.model for vertex in wanted} == {0, 1, 2}
    assert_vertices("kinds", found, wanted)


def test_a_shared_point_belongs_to_the_first_model():
    strict, mild = qk.rank(Y, STRICT), qk.rank(Y, MILD)
    assert qk.family_hull([strict, mild]).model.tolist() == [0, 0, 1, 0]
    assert qk.family_hull([mild, strict]).model.tolist() == [0, 0, 0, 0]
    same = qk.family_hull([mild, mild, mild])
    assert same.model.max() == 0
    assert same.fp.dtype == same.tp.dtype == qk.roc_hull(mild).fp.dtype


@pytest.mark.full
def test_sums_of_weights_that_differ_by_rounding_are_the_same():
    """Totals of the same weights, added in two orders: the last vertex is the first model's, and
    no vertex lies between two roundings of it.
    """
    rng = np.random.default_rng(0)
    batch = []
    for _ in range(300):
        labels, weights = np.append([0, 1], rng.integers(0, 2, 6)), rng.random(8)
        scores = rng.integers(0, 5, (2, 8))
        batch.append((labels, *scores, weights))
        hull = qk.family_hull([qk.rank(labels, s, sample_weight=weights) for s in scores])
        tables = [ex.groups(labels.tolist(), s.tolist(), weights.tolist()) for s in scores]
        wanted = ex.family_hull(tables)
        assert hull.model[-1] == 0
        assert (hull.fpr[-1], hull.tpr[-1]) == (1, 1)
        np.testing.assert_allclose(hull.fpr, [float(v.fpr) for v in wanted], 1e-14, 1e-14)
        np.testing.assert_allclose(hull.tpr, [float(v.tpr) for v in wanted], 1e-14, 1e-14)
    labels, *scores, weights = (np.stack(x) for x in zip(*batch, strict=True))
    hulls = qk.family_hull([qk.rank(labels, s, sample_weight=weights) for s in scores])
    assert (hulls.fpr[:, -1] == 1).all()
    assert (hulls.tpr[:, -1] == 1).all()


# mixtures


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_values_traced_by_jax():
    import jax

    hull = qk.roc_hull(Y, MILD)
    for name, good, bad in (("fpr", 0.4, 1.5), ("tpr", 0.5, -0.5), ("quota", 2.5, 7.0)):

        def mixed(value: Any, name: str = name) -> Any:
            return qk.mixture(qk.results.RocHull(*map(jax.numpy.asarray, hull)), **{name: value})

        with jax.enable_x64(True):
            found, wanted = jax.jit(mixed)(good), qk.mixture(hull, **{name: good})
            for field in ("share", "fpr", "tpr", "threshold_lower", "upper"):
                np.testing.assert_array_equal(getattr(found, field), getattr(wanted, field))
            assert np.isnan(jax.jit(mixed)(bad).share)
            assert np.isnan(jax.jit(mixed)(np.nan).tpr)


# bad calls


@pytest.mark.long_program
@every.reading_modes
def test_models_of_other_examples(mode: Mode):
    def hull(y: Any, other: Any, s: Any) -> Any:
        return qk.family_hull([qk.rank(y, s), qk.rank(other, s)])

    arrays = np.asarray([Y, Y]), np.asarray([Y, [1, *Y[1:5], 1]]), np.asarray([MILD, MILD])
    if not mode.lazy:
        return
    found = mode.run(hull, *arrays)
    assert_vertices("same", row_of(found, 0), ex.roc_hull(ex.groups(Y, MILD)))
    for field in ("fpr", "tpr", "slope_min", "slope_max"):
        assert np.isnan(getattr(found, field)[1]).all()


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_places_are_indices_in_jax_without_x64():
    import jax.numpy as jnp

    hull = qk.roc_hull(jnp.asarray(Y), jnp.asarray(MILD, dtype=jnp.float32))
    mixed = qk.mixture(hull, quota=2.0)
    assert hull.threshold[mixed.upper] == mixed.threshold_upper
    assert (hull.model + 1 == 1).all()


@pytest.mark.parametrize("scale", [1e160, 1e-170])
def test_hulls_do_not_depend_on_the_scale_of_the_weights(scale: float):
    weights = np.asarray([1, 2, 3, 1, 2, 1.0])
    plain, scaled = (qk.rank(Y, MILD, sample_weight=w) for w in (weights, weights * scale))
    np.testing.assert_array_equal(qk.roc_hull(plain).threshold, qk.roc_hull(scaled).threshold)
    wanted = qk.achievable_pr_auc(plain)
    np.testing.assert_allclose(qk.achievable_pr_auc(scaled), wanted, rtol=1e-13)


@pytest.mark.parametrize("unit", [2e8, 1.0, 2e-8])
def test_totals_of_weights_of_any_size(unit: float):
    """Sums in two orders are the same to rounding, and not to a part of the total."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        labels, weights = rng.integers(0, 2, 60), unit * rng.random(60)
        scores = rng.integers(0, 5, (2, 60))
        models = [qk.rank(labels, s, sample_weight=weights) for s in scores]
        assert qk.family_hull(models).tpr[-1] == 1
    other = weights * np.where(np.arange(60) == np.flatnonzero(labels)[0], 1.001, 1)
    models[1] = qk.rank(labels, scores[1], sample_weight=other)
    with pytest.raises(ValueError, match=r"^models\[1\] has .* positives"):
        qk.family_hull(models)


# lines of equal measures: they have their level, and go from border to border


LEVELS: dict[str, tuple[float, ...]] = {
    "informedness": (-1, -0.75, -1 / 3, 0, 0.1, 0.5, 1),
    "cost": (0, 0.01, 0.25, 0.7),
    "skew": (0, 0.1, 1, 2.5, 40, np.inf),
    "arithmetic_mean": (0, 1e-3, 0.2, 0.5, 0.55, 0.8, 1),
    "harmonic_mean": (0, 1e-3, 0.2, 0.5, 0.8, 1),
    "geometric_mean": (0, 1e-3, 0.2, 0.5, 0.8, 1),
}
OF = (*LEVELS, "chance", "break_even")
SIZES = [(40.0, 60.0), (3.0, 3.0), (1.0, 1e4), (500.0, 0.3)]
MEANS = ("arithmetic_mean", "harmonic_mean", "geometric_mean")
SIZE = {"positives": 40, "negatives": 60}


def costs(of: str) -> dict[str, float]:
    return {"cost_fp": 0.7, "cost_fn": 1.3} if of == "cost" else {}


def level_at(of: str, fp: Any, tp: Any, positives: float, negatives: float) -> Any:
    """What should be the same all along the line; for lines without a level, 0."""
    table = qk.tables.ConfusionTable(
        tp, fp, np.clip(positives - tp, 0, None), np.clip(negatives - fp, 0, None)
    )
    with np.errstate(all="ignore"):
        return {
            "informedness": lambda: qk.informedness(table),
            "cost": lambda: qk.expected_cost(table, **costs("cost")),
            "skew": lambda: (positives + negatives - fp - tp) / (fp + tp),
            "arithmetic_mean": lambda: (qk.recall(table) + qk.precision(table)) / 2,
            "harmonic_mean": lambda: qk.f_score(table),
            "geometric_mean": lambda: qk.tables.g_measure(table),
            "chance": lambda: qk.informedness(table),
            "break_even": lambda: qk.precision(table) - qk.recall(table),
        }[of]()


def assert_line(of: str, level: float, line: Any, positives: float, negatives: float) -> None:
    """Points of the ROC square, from border to border and without turning round."""
    x, y = line
    assert ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all()
    falls = of in ("skew", "break_even")
    assert (np.diff(x) >= -1e-15).all()
    assert (np.diff(-y if falls else y) >= -1e-15).all()
    assert x[0] == 0 or y[0] == (1 if falls else 0)
    assert x[-1] == 1 or y[-1] == (0 if falls else 1) or level == np.inf
    found = level_at(of, x * negatives, y * positives, positives, negatives)
    if level < np.inf:  # where no one is selected the skew is infinite, and means are undefined
        there = x + y > 0
        np.testing.assert_allclose(found[there], level, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("of", OF)
def test_lines_have_their_level_from_border_to_border(of: Any, sizes: Any):
    given = {"positives": sizes[0], "negatives": sizes[1], "kind": "roc", **costs(of)}
    for level in LEVELS.get(of, (None,)):
        line = qk.charts.iso_line(level, of=of, **given)
        assert line.x.shape == line.y.shape == (101,)
        highest = (0.7 * sizes[1] + 1.3 * sizes[0]) / sum(sizes)
        if of == "cost" and level > highest:
            assert np.isnan(line).all()
        else:
            assert_line(of, 0.0 if level is None else level, line, *sizes)


def test_bent_lines_have_points_everywhere():
    """One positive among a million: steps of one of the rates alone would leave gaps."""
    for of in ("arithmetic_mean", "geometric_mean"):
        line = qk.charts.iso_line(0.3, of=of, kind="roc", positives=1, negatives=1e6)
        for axis in line:
            assert np.diff(axis).max() <= 0.0201 * (axis[-1] - axis[0])


@pytest.mark.full
@main_modes
@pytest.mark.long_program
def test_lines_in_every_chart_and_mode(mode: Mode):
    """They are where `chart_points` has their decisions, and in "pr" at the limit for none."""
    kinds = ("pr",) if mode.library == "jax" else KINDS
    levels = np.asarray([0.2, 0.5, 0.8])

    def run(levels: Any) -> Any:
        found, sizes = {}, {"positives": levels * 0 + 40, "negatives": 60}
        for of in OF:
            level = () if of in ("chance", "break_even") else (levels,)
            options = {"of": of, "points": 7, **sizes, **costs(of)}
            fp, tp = qk.charts.iso_line(*level, kind="pn", **options)
            for kind in kinds:
                points = qk.charts.chart_points(fp, tp, kind=kind, positives=40, negatives=60)
                found[of, kind] = (qk.charts.iso_line(*level, kind=kind, **options), points)
        return found

    close = 1e-5 if mode.float32 else 1e-14
    for (of, kind), (line, points) in mode.run(run, levels).items():
        assert line.x.shape == (3, 7)
        for one, other in zip(line, points, strict=True):
            defined = ~np.isnan(other) | (kind != "pr")
            np.testing.assert_allclose(
                one[defined], other[defined], close, close, err_msg=f"{of} {kind}"
            )
            assert not np.isnan(one[~defined]).any()


@pytest.mark.parametrize("of", ["chance", "informedness", "cost", *MEANS])
def test_precision_begins_at_its_limit(of: Any):
    given: dict[str, Any] = {"of": of, "kind": "pr", **SIZE, **costs(of)}
    levels = {"cost": [0.52], "chance": [], "informedness": [0.0], "harmonic_mean": [0.0]}
    level = levels.get(of, [0.3 if of == "arithmetic_mean" else 0.0])
    limit, second = (qk.charts.iso_line(*level, points=n, **given) for n in (3, 100_001))
    assert limit.x[0] == 0
    assert not np.isnan(limit.y).any()
    np.testing.assert_allclose(limit.y[0], second.y[1], rtol=1e-3)
    if of == "arithmetic_mean":
        assert limit.y[0] == 0.6
        below = qk.charts.iso_line([0.0, 0.2], points=5, **given)
        np.testing.assert_array_equal(below.y[:, 0], [0, 0.4])


def test_where_nobody_is_selected_there_is_no_precision():
    line = qk.charts.iso_line(np.inf, of="skew", kind="pr", **SIZE)
    assert np.isnan(line.y).all()
    assert (line.x == 0).all()
    assert np.isnan(qk.charts.iso_line(of="chance", kind="pr_log", **SIZE).y[0])


def test_numbers_are_broadcast():
    levels = [[0.1], [0.5]]
    found = qk.charts.iso_line(
        levels, of="informedness", kind="lift", positives=[1, 2, 5], negatives=7, points=4
    )
    assert found.x.shape == found.y.shape == (2, 3, 4)
    one = qk.charts.iso_line(
        0.5, of="informedness", kind="lift", positives=2, negatives=7, points=4
    )
    np.testing.assert_array_equal(found.x[1, 1], one.x)
    smooth = qk.charts.iso_line(of="chance", kind="bird", smoothing=[1, 2], points=4, **SIZE)
    assert smooth.x.shape == (2, 4)


@pytest.mark.parametrize("of", OF)
def test_undefined_without_a_class(of: Any):
    level = () if of in ("chance", "break_even") else (0.5,)
    for sizes in ({"positives": 0, "negatives": 3}, {"positives": 3, "negatives": 0}):
        line = qk.charts.iso_line(*level, of=of, kind="pn", **sizes, **costs(of))
        assert np.isnan(line).all()


def test_levels_that_cannot_be_reached():
    given = {"of": "cost", "kind": "roc", **SIZE}
    line = qk.charts.iso_line([0.1, 0.6, 0.61], cost_fp=1, cost_fn=0, **given)
    np.testing.assert_array_equal(np.isnan(line.x).any(axis=-1), [False, False, True])
    np.testing.assert_array_equal(line.x[1], 1)
    nothing = qk.charts.iso_line([0.0, 0.1], cost_fp=0, cost_fn=0, **given)
    assert np.isnan(nothing).all()
    for cost_fp, cost_fn in np.random.default_rng(3).random((30, 2)):
        dearest = (cost_fp * 60 + cost_fn * 40) / 100
        line = qk.charts.iso_line(dearest, cost_fp=cost_fp, cost_fn=cost_fn, **given)
        assert not np.isnan(line).any()
    corner = qk.charts.iso_line(0.1 * 40 / 100 + 0.3 * 60 / 100, cost_fp=0.3, cost_fn=0.1, **given)
    np.testing.assert_allclose(corner.x, 1, rtol=1e-15)
    np.testing.assert_allclose(corner.y, 0, atol=1e-15)


# bad calls


LAZY = [m for m in MODES if m.name in ("jax32-jit", "strictest-device1", "torch-vmap", "cupy")]


@pytest.mark.parametrize("mode", parameters(LAZY))
def test_bad_levels_that_cannot_be_read_are_nan(mode: Mode):
    levels = np.asarray([0.5, 1.5, np.nan, -0.1])
    means = ("harmonic_mean", "geometric_mean")
    found = mode.run(
        lambda x: {of: qk.charts.iso_line(x, of=of, kind="pn", points=5, **SIZE) for of in means},
        levels,
    )
    for line in found.values():
        for axis in line:
            np.testing.assert_array_equal(np.isnan(axis).all(axis=-1), [False, True, True, True])
            assert not np.isnan(axis[0]).any()
