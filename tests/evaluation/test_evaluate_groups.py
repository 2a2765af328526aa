"""Evaluations by group: quotas of each group, parts of one quota, from Python and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd
from command import by_model, run, write_csv

RNG = np.random.default_rng(4)
SIZE = 120
BRANCHES = ("north", "south", "west", "east")
ROWS: dict[str, Any] = {
    "y": (RNG.random(SIZE) < 0.3).astype(int),
    "a": RNG.normal(size=SIZE).round(1),
    "b": RNG.integers(0, 9, SIZE),
    "w": RNG.integers(0, 3, SIZE),
    "part": RNG.integers(0, 2, SIZE),
    "branch": np.where(np.arange(SIZE) < 3, "tiny", RNG.choice(BRANCHES, SIZE)),
    "client": RNG.permutation(np.arange(SIZE) // 3),
}
ROWS["y"][:3] = 0
ROWS["a"] += ROWS["y"]
FRAME = pd.DataFrame(ROWS)
APART = ("demographic_parity_ratio", "equal_opportunity_difference", "split_cost")
SURE = ("--confidence", 0.9, "--resamples", 20)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("rows") / "rows.csv", **ROWS)


def frame(*beside: str) -> Any:
    return FRAME[["y", "a", "b", *beside]]


def given(*more: object) -> tuple[object, ...]:
    return ("--label", "y", "--score", "a", "--score", "b", *more)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (
            {
                "quota": 5,
                "fraction": 0.1,
                "per": "branch",
                "confidence_level": 0.9,
                "n_resamples": 20,
            },
            ("--quota", 5, "--quota", "10%", "--per", "branch", *SURE),
        ),
        (
            {"quota": 30, "by": "client", "sample_weight": "w"},
            ("--quota", 30, "--by", "client", "--weight", "w"),
        ),
    ],
)
def test_the_numbers_are_the_commands(
    path: Path, options: dict[str, Any], arguments: tuple[Any, ...]
) -> None:
    printed = json.loads(run("evaluate", path, *given(*arguments), "--json").out)
    beside = [x for x in options.values() if isinstance(x, str)]
    found = qk.evaluate("y", frame(*beside), **options)
    content = json.loads(found.to_json())
    if "confidence" in printed:  # of the file's other columns, which the frame lacks
        assert "share a value of 'client'" in printed["confidence"]["notes"].pop(0)
    assert {**content, "source": path.name} == printed
    assert content["groups"]["names"] == sorted(set(ROWS[beside[0]].tolist()))
    alone = [x for x in found.to_frame().itertuples() if pd.notna(x.group) and x.quota == 30]
    assert len(alone) == (2 * 6 * 40 if "sample_weight" in options else 0)


@pytest.mark.parametrize("quota", [{"quota": 5}, {"fraction": 0.1}])
def test_quotas_of_each_group_are_those_of_the_library(quota: dict[str, Any]) -> None:
    found = qk.evaluate(
        "y", frame("branch"), per="branch", confidence_level=0.9, n_resamples=9, **quota
    )
    groups = found.groups
    assert groups is not None
    (_, areas), (asked, rates) = groups.values.items()
    together = found.at_quota[found.settings.quotas[0]]
    for k, name in enumerate(found.models):
        ranking = qk.rank(ROWS["y"], ROWS[name], groups=ROWS["branch"])
        for measure in (qk.hit_rate, qk.qrecall, qk.lift):
            exact, mean = measure(ranking, **quota), qk.group_mean(measure, ranking, **quota)
            np.testing.assert_allclose(rates.of(measure.__name__)[k], exact, rtol=1e-14)
            np.testing.assert_allclose(rates.means.of(measure.__name__)[k], mean.value, rtol=1e-14)
        np.testing.assert_array_equal(areas.of("roc_auc")[k], qk.roc_auc(ranking))
        auc = qk.inference.auc_interval(ranking, confidence_level=0.9)
        rate = qk.inference.hit_rate_interval(ranking, confidence_level=0.9, **quota)
        ends = [[x[k] for x in y[:2]] for y in (areas.ends["roc_auc"], rates.ends["hit_rate"])]
        np.testing.assert_array_equal(ends[0], [auc.lower, auc.upper])
        np.testing.assert_allclose(ends[1], [rate.lower, rate.upper], 1e-14, 1e-15)
        chosen = qk.select(ROWS[name], groups=ROWS["branch"], **quota)
        positives = chosen @ ROWS["y"]
        assert together.of("hit_rate")[k] == pytest.approx(positives / chosen.sum(), rel=1e-14)
        assert together.of("qrecall")[k] == pytest.approx(positives / ROWS["y"].sum(), rel=1e-14)
        assert found.places(asked) == pytest.approx(chosen.sum())
    share = {x: FRAME.y[FRAME.branch == x].mean() for x in groups.names}
    by_chance = sum(p * share[x] for p, x in zip(rates.of("places")[0], groups.names, strict=True))
    assert found.at_random(asked)[1] == pytest.approx(by_chance)


@pytest.mark.parametrize("weight", [None, "w"])
def test_parts_of_one_quota_are_what_select_says(weight: str | None) -> None:
    beside = frame("branch", *([weight] if weight else []))
    found = qk.evaluate("y", beside, by="branch", quota=20, sample_weight=weight)
    groups = found.groups
    assert groups is not None
    values = groups.values[found.settings.quotas[0]]
    weights = ROWS[weight] if weight else np.ones(SIZE)
    for k, name in enumerate(found.models):
        chosen = weights * qk.select(ROWS[name], quota=20, sample_weight=weights)
        for j, branch in enumerate(groups.names):
            here = ROWS["branch"] == branch
            places, hits = chosen[here].sum(), (chosen * ROWS["y"])[here].sum()
            positives = (weights * ROWS["y"])[here].sum()
            wanted = {
                "places": places,
                "selection_rate": places / weights[here].sum(),
                "hit_rate": hits / places if places else np.nan,
                "qrecall": hits / positives if positives else np.nan,
            }
            for measure, exact in wanted.items():
                value = values.of(measure)[k, j]
                assert value == pytest.approx(exact, rel=1e-12, nan_ok=True), (measure, branch)
    alone = qk.evaluate("y", beside.drop(columns="branch"), quota=20, sample_weight=weight)
    assert alone.recommendation == found.recommendation


@pytest.mark.parametrize("weight", [None, "w"])
def test_how_far_groups_are_apart_under_one_quota(weight: str | None) -> None:
    beside = frame("branch", *([weight] if weight else []))
    asked = {"by": "branch", "quota": 20, "fraction": 0.5, "sample_weight": weight}
    found = qk.evaluate("y", beside, **asked)
    values = {
        name: qk.groups.selection_by_group(
            ROWS["y"],
            ROWS[name],
            groups=ROWS["branch"],
            quota=20,
            sample_weight=ROWS[weight] if weight else None,
        )
        for name in found.models
    }
    rows = [x for x in found.to_frame().itertuples() if x.quota == 20 and pd.isna(x.group)]
    told = {(x.model, x.measure): x.value for x in rows}
    for model in by_model(found.to_json())["models"]:
        wanted = {x: float(getattr(values[model["score"]], x)) for x in APART}
        assert {x: model["quotas"]["20"][x] for x in APART} == wanted
        assert {x: told[model["score"], x] for x in APART} == wanted


@pytest.mark.parametrize("asked", [{"quota": 20}, {"budget": 30, "cost": "price"}])
def test_how_far_groups_are_apart_has_intervals(asked: dict[str, Any]) -> None:
    drawn = {"n_resamples": 40, "random_state": 3}
    price = np.arange(SIZE) % 7 / 2.0
    beside = frame("branch").assign(**({"price": price} if "cost" in asked else {}))
    found = qk.evaluate("y", beside, by="branch", **asked, confidence_level=0.9, **drawn)
    given = asked | ({"cost": price} if "cost" in asked else {})
    (quota,) = found.settings.quotas
    models = by_model(found.to_json())["models"]
    rows = [x for x in found.to_frame().itertuples() if pd.isna(x.group)]
    told = {(x.model, x.measure): [x.lower, x.upper] for x in rows if x.measure in APART}
    for k, name in enumerate(found.models):
        given |= {
            "groups": ROWS["branch"],
            "confidence_level": 0.9,
            "method": "percentile",
            **drawn,
        }
        with pytest.warns(UserWarning, match="^only 3 positives in a group"):
            exact = qk.bootstrap(qk.groups.selection_by_group, ROWS["y"], ROWS[name], **given)
        ends = models[k]["quotas" if "quota" in asked else "budgets"][str(quota)]
        for measure in APART:
            both = getattr(exact, measure)
            wanted = [float(both.lower), float(both.upper)]
            assert ends["intervals"][measure] == told[name, measure] == wanted


def test_means_and_what_is_found_together_are_drawn_by_groups() -> None:
    drawn = {"n_resamples": 60, "random_state": 3}
    asked = {"per": "client", "quota": 2, "compare": True, "confidence_level": 0.9}
    found = qk.evaluate("y", frame("client"), **asked, **drawn)
    groups, (quota,) = found.groups, found.settings.quotas
    assert groups is not None
    drawn |= {"groups": ROWS["client"], "confidence_level": 0.9}
    together = qk.group_mean(qk.hit_rate, weights=np.full(40, 2.0), quota=2)
    for k, name in enumerate(found.models):
        for key, measure, own in (
            (None, qk.roc_auc, {}),
            (quota, qk.hit_rate, {"quota": 2}),
            (quota, qk.lift, {"quota": 2}),
        ):
            mean = qk.bootstrap(qk.group_mean(measure, **own), ROWS["y"], ROWS[name], **drawn).value
            ends = groups.values[key].means.interval(measure.__name__, k)
            assert ends == (float(mean.lower), float(mean.upper))
        whole = qk.bootstrap(together, ROWS["y"], ROWS[name], **drawn).value
        assert found.at_quota[quota].interval("hit_rate", k) == (whole.lower, whole.upper)
    tested = found.differences[-1]
    assert (tested.measure, tested.quota) == ("hit_rate", quota)
    models = {name: ROWS[name] for name in found.models}
    exact = qk.compare(together, ROWS["y"], models, **drawn)
    np.testing.assert_array_equal(tested.found.p_value, exact.p_value)


def test_one_group_has_no_mean_to_draw() -> None:
    one, sure = frame("branch").assign(branch=7), {"confidence_level": 0.9, "n_resamples": 40}
    found = qk.evaluate("y", one, by="branch", quota=5, **sure)
    assert np.isnan(found.groups.values[None].means.interval("roc_auc", 0)).all()
    with pytest.raises(ValueError, match="whole groups, and there is only one by 'branch'$"):
        qk.evaluate("y", one, per="branch", quota=5, **sure)


def test_groups_have_the_averages_and_the_best_model_of_each_is_marked() -> None:
    models = frame("branch").assign(same=FRAME.b)
    found = qk.evaluate("y", models, by="branch")
    of_models = [x for x in found.tables if x.head[0] == "branch"]
    ids = np.unique(ROWS["branch"], return_inverse=True)[1]
    for k, measure in enumerate((qk.roc_auc, qk.average_hit_rate, qk.average_qrecall)):
        name = measure.__name__
        values = np.stack([measure(ROWS["y"], models[x], groups=ids) for x in found.models])
        np.testing.assert_array_equal(found.groups.values[None].of(name), values)
        column = 3 + k
        marked = np.array([[row[column].best for row in table.rows] for table in of_models])
        defined = ~np.isnan(values)
        top = np.where(defined, values, -np.inf).max(axis=0)
        wanted = defined & (values == top) & ((values != top) & defined).any(axis=0)
        assert wanted.any()
        np.testing.assert_array_equal(marked, wanted)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(
    "unit", [{"gain": "client", "place_cost": 2.5}, {"impacts": (5, -1, -2, 0.5)}]
)
@pytest.mark.parametrize("limit", [{"quota": 30}, {"budget": 40, "cost": "part"}])
def test_what_groups_bring_is_what_all_bring(
    weight: str | None, unit: dict[str, Any], limit: dict[str, Any]
) -> None:
    """Ties at the edge of the quota are in several groups, which share the places."""
    named = [x for x in (*unit.values(), *limit.values(), weight) if isinstance(x, str)]
    rows = FRAME[["y", "a", "b", "branch", *named]]
    found = qk.evaluate("y", rows, by="branch", sample_weight=weight, **unit, **limit)
    (quota,) = found.settings.quotas
    assert found.groups is not None
    assert found.gains is not None
    of_groups = found.groups.values[quota].of("brings")
    np.testing.assert_allclose(of_groups.sum(axis=1), found.gains.at_quota[quota].of("brings"))
    assert (of_groups[:, 0] != of_groups[:, 1]).all()
    (table,) = (x for x in found.tables if x.caption.endswith(" by a"))
    assert table.head[-2:] == ("brings", "AUC")
    rows = rows.drop(columns=unit.get("gain", []))
    without = qk.evaluate("y", rows, by="branch", sample_weight=weight, **limit)
    assert without.groups is not None
    assert "brings" not in [x.name for x in without.groups.values[quota].measures]


@pytest.mark.parametrize(("names", "dated"), [(("2026-03", "2026-04"), True), (("a", "b"), False)])
def test_drift_is_named_where_rows_are_split_by_date(names: tuple[str, str], dated: bool) -> None:
    month = np.asarray(names)[np.arange(len(FRAME)) % 2]
    found = qk.evaluate("y", FRAME[["y", "a", "b"]], quota=5, by=month, confidence_level=0.9)
    named = [x for x in found.notes if "the same population" in x]
    assert len(named) == 1
    assert ("They ignore drift" in named[0]) == dated
