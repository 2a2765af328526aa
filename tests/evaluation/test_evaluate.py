"""`evaluate` from Python: the command's numbers, the report's page, and any form of input."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from quotakernels.evaluation.settings import Resampling, Settings

pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd
from command import CREDIT_FILE, run

pytestmark = pytest.mark.filterwarnings("error:only .* with fewer than")
MODELS = ("tree", "naive_bayes", "neural_net")
Y = np.array([1, 0, 1, 0, 0, 1])
S = {"a": np.array([6, 5, 4, 3, 2, 1]), "b": np.array([1.0, 1, 1, 2, 2, 2])}


def test_a_compiled_program_has_no_values_to_evaluate():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"is traced, .* make this call outside the compiled pro"):
        jax.jit(lambda s: qk.evaluate(Y, {"a": s}, quota=2).table.value)(S["b"])


@pytest.fixture(scope="module")
def credit() -> Any:
    return pd.read_csv(CREDIT_FILE)[["repaid", *MODELS]]


# the command's numbers


SURE = {"confidence_level": 0.9, "compare": True, "n_resamples": 120, "random_state": 5}
SAID_SURE = ("--confidence", 0.9, "--compare", "--resamples", 120, "--seed", 5)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, ()),
        ({"quota": [100, 20], "fraction": 0.07}, ("--quota", 100, "--quota", 20, "--quota", "7%")),
        (
            {"quota": 100, "impacts": (0, -5, -1, 0), **SURE},
            ("--quota", 100, "--impact", "0,-5,-1,0", *SAID_SURE),
        ),
        (
            {"fraction": 0.1, "gain": "neural_net", "place_cost": 0.5, "sample_weight": "tree"},
            ("--quota", "10%", "--gain", "neural_net", "--place-cost", 0.5, "--weight", "tree"),
        ),
    ],
)
def test_the_numbers_are_the_commands(
    credit: Any, options: dict[str, Any], arguments: tuple[Any, ...]
) -> None:
    models = [name for name in MODELS if name not in options.values()]
    asked = ["--label", "repaid", *(x for name in models for x in ("--score", name))]
    printed = json.loads(run("evaluate", CREDIT_FILE, *asked, *arguments, "--json").out)
    found = qk.evaluate("repaid", credit, **options)
    assert printed.pop("source") == CREDIT_FILE.name
    content = json.loads(found.to_json())
    assert content.pop("source") == ""
    assert content == printed
    assert found.to_dict() == {"source": "", **content}


def one_resample(ranking: qk.Ranking, quotas: list[float], chosen: float) -> Any:
    """What quotas bring and the best cuts within them, one resample after the other."""
    if ranking.counts.ndim > 1:  # all rows, of a batch of one model
        one = one_resample(ranking.map(lambda x: x[0]), quotas, chosen)
        return {name: np.asarray(x)[None] for name, x in one.items()}
    best = qk.best_quota(ranking)
    curve = best.curve
    fits = [np.where(curve.quota <= quota, curve.value, -np.inf) for quota in quotas]
    return {
        "brings": np.interp(quotas, curve.quota, curve.value),
        "within": np.asarray([x.max() for x in fits]),
        "threshold": np.asarray([curve.threshold[np.argmax(x)] for x in fits]),
        "best": np.asarray([best.value, best.threshold, best.quota]),
        "chosen": curve.value[np.max(np.flatnonzero(curve.threshold >= chosen), initial=0)],
    }


def ends_of_sum(moves: Any, selected: Any, level: float) -> Any:
    """How far the ends of the interval of a sum are from it: the roots of Hall's cubic."""
    stats = pytest.importorskip("scipy.stats")
    away = np.sqrt(len(moves) / (len(moves) - 1)) * (moves - np.mean(moves))
    error = np.sqrt(np.sum(away**2))
    skew, t = np.sum((away / error) ** 3), stats.t.ppf((1 + level) / 2, np.sum(selected) - 1)
    cubic = [skew**2 / 27, skew / 3, 1]
    roots = (np.roots([*cubic, skew / 6 - x]) for x in (t, -t))
    return [-error * x[np.argmin(np.abs(x.imag))].real for x in roots]


def test_what_gains_bring_is_as_sure_as_resamples_one_by_one_say(credit: Any) -> None:
    """The same draws, measured by hand on the ranking of each resample."""
    y, score = credit["repaid"].to_numpy(), credit["tree"].to_numpy()
    gain = np.where(y == 1, 1.7, -3.1) + np.arange(y.size) % 11 / 7
    options: dict[str, Any] = {"n_resamples": 60, "random_state": 2}
    sure: dict[str, Any] = {"confidence_level": 0.9, **options}
    found = qk.evaluate(y, {"a": score}, quota=[100, 200], gain=gain, **sure).gains
    half = np.arange(y.size) % 2 == 0
    tuned = qk.evaluate(y, {"a": score}, where=half, tune=~half, gain=gain, **sure).gains
    chosen = float(qk.best_quota(None, score[~half], gain=gain[~half]).threshold)
    measure = functools.partial(one_resample, quotas=[100.0, 200.0], chosen=chosen)
    options["confidence_level"] = 0.9
    hand = qk.bootstrap(measure, None, score[None], gain=gain, method="percentile", **options)
    curve = qk.best_quota(None, score, gain=gain).curve

    def expected(name: str, k: int, of: str, at: int) -> Any:
        value, threshold = hand[name], hand[of].resamples[0, at]
        taken = [np.max(np.flatnonzero(curve.threshold >= x), initial=0) for x in threshold]
        return value.estimate[0, k] - (value.resamples[0, k] - curve.value[taken])

    cuts = found.at_best_cut
    mean = np.mean(expected("best", 0, "best", 1))
    pairs = [(cuts.of("expected")[0], min(mean, hand["best"].estimate[0, 0]))]
    taken = score >= hand["best"].estimate[0, 1]
    around = pairs[0][1] + ends_of_sum(taken * gain, taken, 0.9)
    pairs.append((cuts.interval("expected", 0), around))
    taken, there = score[half] >= chosen, gain[half]
    around = taken @ there + ends_of_sum(taken * there, taken, 0.9)
    pairs.append((tuned.at_best_cut.interval("brings", 0), around))
    for k, name in ((1, "threshold"), (2, "quota")):
        pairs.append((cuts.interval(name, 0), [x[0, k] for x in hand["best"][1:3]]))
    within = [x.of("best_places_expected")[0] for x in found.at_quota.values()]
    for k, mean in enumerate(within):
        elsewhere = expected("within", k, "threshold", k).mean()
        pairs.append((mean, min(elsewhere, hand["within"].estimate[0, k])))
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2, 0.5, 1, 3, 0.25])])
def test_impacts_are_tuned_to_the_users_class_ratio(weight: Any):
    """The tables are those of the ratio, of as many rows: best cuts, quotas, none and all."""
    impacts, size = (4, -3, -1, 0.5), 6 if weight is None else weight.sum()
    given = {"impacts": impacts, "sample_weight": weight, "quota": 2}
    found = qk.evaluate(Y, S, ratio=2.1, **given)
    for k, scores in enumerate(S.values()):
        best = qk.best_boundary(Y, scores, impacts=impacts, ratio=2.1, sample_weight=weight)
        of_model = found.gains.at_best_cut.of_model(k)
        assert of_model["brings"] == pytest.approx(size * best.value)
        assert (of_model["threshold"], of_model["quota"]) == (best.threshold, best.quota)
        assert found.gains.nobody == pytest.approx(size * best.curve.value[0])
        assert found.gains.everybody == pytest.approx(size * best.curve.value[-1])
        table = qk.confusion_table(Y, scores, quota=2, sample_weight=weight)
        tuned = qk.tables.tune_ratio(table, 2.1)
        brings = next(iter(found.gains.at_quota.values())).of("brings")[k]
        assert brings == pytest.approx(size * qk.tables.impact(tuned, impacts=impacts).whole)
    positive = (Y * (1 if weight is None else weight)).sum()
    np.testing.assert_allclose(
        qk.evaluate(Y, S, ratio=positive / (size - positive), **given).gains.at_best_cut.array,
        qk.evaluate(Y, S, **given).gains.at_best_cut.array,
    )
    assert "tuned to 2.1 positives to one negative; quotas are of the rows" in found.recommendation
    assert json.loads(found.to_json())["unit"]["ratio"] == 2.1


def test_intervals_at_a_quota_are_of_the_tuned_impacts():
    """As of rows of which each class counts as much as its impacts are multiplied."""
    given = {"quota": 3, "confidence_level": 0.9, "n_resamples": 50}
    found = qk.evaluate(Y, S, impacts=(4, -3, -1, 0.5), ratio=3, **given)
    by_hand = qk.evaluate(Y, S, impacts=(6, -1.5, -1.5, 0.25), **given)
    (ends,), (expected,) = (
        [x.ends["brings"][:2] for x in f.gains.at_quota.values()] for f in (found, by_hand)
    )
    np.testing.assert_allclose(ends, expected)


@pytest.mark.parametrize("quota", range(1, 7))
def test_intervals_of_what_a_quota_brings_do_not_ask_which_class_is_positive(quota: int):
    given = {"quota": quota, "confidence_level": 0.9, "n_resamples": 2}
    one, other = (
        next(iter(qk.evaluate(y, S, impacts=x, **given).gains.at_quota.values()))
        for y, x in ((Y, (5, -1, -2, 0)), (1 - Y, (-1, 5, 0, -2)))
    )
    np.testing.assert_allclose(one.ends["brings"][:2], other.ends["brings"][:2])
    assert np.all(one.ends["brings"].lower <= one.of("brings"))
    assert np.all(one.ends["brings"].upper >= one.of("brings"))


@pytest.mark.full
@pytest.mark.parametrize(
    "unit", [{}, {"impacts": (0, -5, -1, 0), "positives": "good loans", "currency": "EUR"}]
)
def test_the_page_is_the_commands(credit: Any, tmp_path: Path, unit: dict[str, Any]) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    output = tmp_path / "command.html"
    words = ("--positives", "good loans", "--currency", "EUR")
    said = ("--impact", "0,-5,-1,0", *words) if unit else ()
    run("report", "--example", "credit", "--resamples", 120, *said, "-o", output)
    options = {"quota": 100, "confidence_level": 0.95, "compare": True, "n_resamples": 120}
    found = qk.evaluate("repaid", credit, **options, **unit)
    path = tmp_path / "python.html"
    assert found.to_html(path) is None
    pages = [x.read_text(encoding="utf-8") for x in (output, path)]
    between = [re.search("<main>.*<section id=.apply", x, re.DOTALL) for x in pages]
    shown = [x[0] for x in between if x is not None]
    assert len(shown) == 2
    assert len(shown[0]) > 50_000
    assert shown[0] == shown[1]
    assert "Give gain= or" not in shown[0]
    assert "quotakernels.select(models[&#39;naive_bayes&#39;], quota=100)" in pages[1]
    styled = r"<style>.*?</style>|var\(--"
    assert "--" not in re.sub(styled, "", pages[1], flags=re.DOTALL)


@pytest.mark.full
def test_the_page_takes_the_names_that_it_was_given() -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    frame = pd.DataFrame({"bought": Y, **S, "w": 1.0, "on": True})
    options = {"quota": 2, "impacts": (1, -1, 0, 0)}
    page = qk.evaluate("bought", frame, sample_weight="w", where="on", **options).to_html()
    lines = re.findall("<code>(.*?)</code>", unescape(page))
    beside = "sample_weight=models['w'], where=models['on']"
    assert lines == [
        f"quotakernels.select(models['a'], quota=2, {beside})",
        "(models['a'] >= 6.0) & models['on']",
    ]
    values = {"models": frame, "quotakernels": qk}
    selected = [eval(line, values) for line in lines]
    assert [x.sum() for x in selected] == [2.0, 1]
    assert "The names are those of the arguments of evaluate." in page
    arrays = unescape(qk.evaluate(Y, np.stack([S["b"], S["a"]]), **options).to_html())
    assert "quotakernels.select(models[1], quota=2)" in arrays
    alone = unescape(qk.evaluate(Y, S["a"], **options).to_html())
    assert "quotakernels.select(models, quota=2)" in alone
    ranked = unescape(qk.evaluate({"a": qk.rank(Y, S["a"])}, quota=2).to_html())
    assert "quotakernels.select(scores['a'], quota=2)" in ranked
    assert "scores are what was ranked." in ranked


# what models bring


@pytest.mark.filterwarnings("ignore:30 resamples cannot tell")
@pytest.mark.parametrize("sure", [{"confidence_level": 0.9}, {}])
def test_differences_of_what_models_bring(credit: Any, sure: dict[str, float]) -> None:
    stats = pytest.importorskip("scipy.stats")
    labels, models = credit["repaid"], credit[[*MODELS]]
    drawn = {"n_resamples": 30, "random_state": 5}
    given = {"gain": np.where(labels, 0.0, -5), "gain_rejected": np.where(labels, -1.0, 0)}
    impacts = (0, -5, -1, 0)
    found = qk.evaluate(labels, models, quota=100, impacts=impacts, compare=True, **drawn, **sure)
    best_cuts, at_quota = (x for x in found.differences if x.measure == "brings")
    drawn["confidence_level"] = sure.get("confidence_level", 0.95)
    wanted = qk.compare(qk.best_quota, labels, models, **given, **drawn)
    first, second = (qk.best_quota(None, models[x], **given) for x in best_cuts.found.names[:2])
    named = zip(best_cuts.found.names[:2], (first, second), strict=True)
    taken = [models[x] >= y.threshold for x, y in named]
    apart = (taken[0] * 1.0 - taken[1]) * (given["gain"] - given["gain_rejected"])
    error = np.sqrt(len(apart)) * np.std(apart, ddof=1)
    t = (first.value - second.value) / error
    freedom = np.count_nonzero(taken[0] != taken[1]) - 1
    ours = best_cuts.found
    assert ours.names == wanted.names
    np.testing.assert_allclose(ours.difference, wanted.difference, atol=1e-12)
    assert ours.p_value[0, 1] == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-9)
    far = error * stats.t.ppf((1 + drawn["confidence_level"]) / 2, freedom)
    assert ours.upper[0, 1] == pytest.approx(ours.difference[0, 1] + far, rel=1e-9)
    assert (ours.test, best_cuts.too_few, best_cuts.least_p) == ("student", False, 0)
    by_rate = qk.compare(qk.hit_rate, labels, models, quota=100, **drawn)
    worth = 100 * (0 + 5 + 1 + 0)  # of a hit rate that is 1 more
    scaled = {x: worth * getattr(by_rate, x) for x in ("difference", "lower", "upper")}
    less = worth * (by_rate.estimate[0] - by_rate.expected)
    total = qk.impact_at_quota(labels, models.T, quota=100, **given).whole
    order = [[*MODELS].index(x) for x in by_rate.names]
    scaled |= {"estimate": total[order], "expected": total[order][0] - less}
    ours, expected = at_quota.found, by_rate._replace(**scaled)
    assert ours.names == expected.names == ("naive_bayes", "neural_net", "tree")
    for one, other in zip(ours[1:7], expected[1:7], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert (ours.letters, ours.test) == (expected.letters, expected.test)
    assert ours.expected == pytest.approx(expected.expected, rel=1e-12)
    assert bool(found.gains.at_best_cut.ends) == bool(sure)
    assert not at_quota.too_few


def many(gain: Any, scores: Any, **more: Any) -> str:
    return qk.evaluate(scores > 0, {"a": scores}, gain=gain, **more).answers[1].verdict


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("trend", [(0.0, 0.0), (0.0, -0.3), (0.3, 0.0)])
def test_chance_recommends_no_number(rare: bool, trend: tuple[float, float]) -> None:
    """Of gains that no cut improves: in at most 5% of 400 data sets."""
    rng, scores = np.random.default_rng(1), np.arange(400.0)[::-1]
    mean = np.repeat(trend, 200)
    chance = [rng.random(400) < 0.05 + mean / 7 if rare else rng.normal(mean) for _ in range(400)]
    said = [many(np.where(x, 19, -1) if rare else x, scores) for x in chance]
    assert sum(x.endswith("by a") for x in said) <= 20


def test_intervals_of_skewed_gains_hold_what_quotas_bring() -> None:
    """About 91% of lognormal gains, of which percentiles held 81% in 40 places."""
    rng, scores, held, few = np.random.default_rng(1), np.arange(400.0)[::-1], 0, 0
    models = {str(k): np.roll(scores, 40 * k) for k in range(10)}  # each selects rows of its own
    sure: dict[str, Any] = {"confidence_level": 0.95, "n_resamples": 2, "quota": 40}
    for _ in range(20):
        found = qk.evaluate(scores > 0, models, gain=rng.lognormal(size=400), **sure).gains
        assert found is not None
        ((quota, values),) = found.at_quota.items()
        lower, upper = values.ends["brings"][:2]
        held += sum((lower <= 40 * math.exp(0.5)) & (upper >= 40 * math.exp(0.5)))
        few += sum((found.few[quota, "brings"] > 0) & (found.few[quota, "brings"] < 20))
    assert held >= 176
    assert few > 100


def test_a_number_is_recommended_where_it_pays() -> None:
    rng, scores = np.random.default_rng(1), np.arange(2000.0)[::-1]
    gain = rng.normal(0.5 - scores[::-1] / 2000)
    sure: dict[str, Any] = {"confidence_level": 0.95, "n_resamples": 200}
    assert {many(gain, scores), many(gain, scores, **sure)} == {"897, by a"}
    assert many(gain, scores, quota=1900) == "897 of the 1,900 places"
    assert "pays" in many(gain, scores, clusters=np.arange(2000) // 200, **sure)
    gain = np.where(scores < 2, -40, 10_000.0 + rng.random(2000))
    assert many(gain, scores, quota=2000) == "All 2,000 places: not clear that fewer are better"


# forms of input


def same(found: qk.Evaluation, other: qk.Evaluation) -> bool:
    contents = [x.to_dict() for x in (found, other)]
    return contents[0] == contents[1]


def test_mappings_frames_and_columns() -> None:
    expected = qk.evaluate(Y, S, quota=2)
    frame = pd.DataFrame({"y_true": Y, **S})
    assert same(qk.evaluate("y_true", frame, quota=2), expected)
    assert same(qk.evaluate(frame["y_true"], frame[["a", "b"]], quota=2), expected)
    assert same(qk.evaluate(Y.tolist(), {k: x.tolist() for k, x in S.items()}, quota=2), expected)
    assert same(qk.evaluate("y_true", {"y_true": Y, **S}, quota=2), expected)
    alone = qk.evaluate(Y, frame["a"])
    assert alone.models == ("a",)
    assert qk.evaluate(Y, S["a"]).models == ("model",)
    texts = np.where(Y, "yes", "no")
    assert qk.evaluate(texts, S, pos_label="yes").to_dict()["positives"] == 3


def test_what_is_not_shown_is_not_computed() -> None:
    found = qk.evaluate(Y, S, quota=2)
    assert not {"over_all", "areas", "at_quota", "best"} & {*vars(found)}
    assert "AUC" in str(found)
    assert not {"areas", "best"} & {*vars(found)}
    with pytest.raises(AttributeError):
        found.areas = found.over_all
    assert found != qk.evaluate(Y, {"a": S["b"]}, quota=2)  # though there are as many rows


def test_what_callers_change_afterwards_changes_nothing() -> None:
    rankings = {name: qk.rank(Y, x) for name, x in S.items()}
    labels, scores = Y.copy(), {name: x.copy() for name, x in S.items()}
    both = qk.evaluate(rankings, quota=2), qk.evaluate(labels, scores, quota=2)
    for x in (labels, *scores.values(), *(x for ranking in rankings.values() for x in ranking[:3])):
        x[:] = 1
    assert same(both[0], both[1])
    assert same(both[0], qk.evaluate(Y, S, quota=2))


def test_one_row_has_intervals_and_no_tests() -> None:
    models = {"a": [0.5], "b": [0.4]}
    found = qk.evaluate([1], models, quota=1, gain=[3.0], confidence_level=0.9)
    interval = found.gains.at_quota[found.settings.quotas[0]].interval("brings", 1)
    assert np.isnan(interval).all()


def test_a_leading_axis_of_models() -> None:
    expected = qk.evaluate(Y, {"0": S["a"], "1": S["b"]}, quota=2)
    both = np.stack(list(S.values()))
    for models in (both, both.tolist(), list(S.values()), [tuple(x) for x in both]):
        assert same(qk.evaluate(Y, models, quota=2), expected)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_models_are_the_columns_of_numbers(library: str) -> None:
    module = pytest.importorskip(library)
    texts = {"who": list("uvwxyz"), "no": [None, *"abcde"]}
    given = {"y_true": Y, "spend": 1.0 * Y, **S, **texts, "flag": Y == 1}
    with pytest.warns(UserWarning, match="columns without numbers are left out: who, no$") as told:
        found = qk.evaluate("y_true", module.DataFrame(given), gain="spend")
    assert told[0].filename == __file__
    assert found.models == ("a", "b", "flag")


def test_frames_of_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"y_true": Y, **S})
    found = qk.evaluate("y_true", frame, quota=2)
    assert same(found, qk.evaluate(Y, S, quota=2))
    assert found.to_frame("polars").equals(pl.DataFrame(found.to_frame("pandas").to_dict("list")))
    assert found.to_frame("polars")["quota"].dtype == pl.Float64


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_other_libraries(library: str) -> None:
    module = pytest.importorskip(library)
    convert = module.tensor if library == "torch" else module.numpy.asarray
    models = {name: convert(x.tolist()) for name, x in S.items()}
    assert same(qk.evaluate(convert(Y.tolist()), models, quota=2), qk.evaluate(Y, S, quota=2))


@pytest.mark.parametrize(
    "beside", [{}, {"sample_weight": [1, 2, 1, 1, 0.5, 1]}, {"gain": [3, -1, 4, -1, 5, -9]}]
)
def test_rankings_are_evaluated_as_their_examples(beside: dict[str, Any]) -> None:
    rankings = {name: qk.rank(Y, x, **beside) for name, x in S.items()}
    found, wanted = qk.evaluate(rankings, fraction=0.5), qk.evaluate(Y, S, fraction=0.5, **beside)
    assert same(found, wanted)
    assert found.answers == wanted.answers


def test_masked_values_are_never_bad() -> None:
    where = np.array([True, True, True, True, True, True, False])
    labels, scores = np.append(Y, 7), {k: np.append(x, np.nan) for k, x in S.items()}
    found = qk.evaluate(labels, scores, where=where, quota=2)
    plain = qk.evaluate(Y, {k: x.astype(float) for k, x in S.items()}, quota=2)
    assert found.rows_read == 7
    assert found.to_dict() == {**plain.to_dict(), "where": ["where=True"]}


# what comes out


def test_many_models_have_a_short_repr_and_names_are_escaped() -> None:
    rng = np.random.default_rng(1)
    found = qk.evaluate(Y, {f"<b>{k}": rng.normal(size=6) for k in range(60)}, quota=2)
    shown = repr(found).splitlines()
    assert len(shown) <= 40
    assert shown[-1] == "and 52 more"
    assert "<b>5" not in found._repr_html_()


def test_the_docs_show_what_is_printed(credit: Any) -> None:
    shown = (Path(__file__).parents[2] / "docs" / "start.md").read_text(encoding="utf-8")
    models = {name: credit[name] for name in ("tree", "naive_bayes")}
    labels = credit["repaid"].to_numpy()
    found = qk.evaluate(labels, models, quota=100, impacts=(0, -5, -1, 0))
    assert f"```txt\n{found!r}\n```\n" in shown


def test_notes_of_areas_near_1_are_for_as_few_examples_as_lose_hardly_any_pair() -> None:
    labels, scores = np.arange(100) < 40, -np.arange(100)
    scores[0] = -90
    assert qk.roc_auc(labels, scores) == 1 - 50.5 / 2400
    for times in (1, 10):
        given = {"a": np.tile(scores, times)}
        found = qk.evaluate(np.tile(labels, times), given, confidence_level=0.95, n_resamples=20)
        assert any("the AUC of a, which is near 1" in x for x in found.notes) == (times == 1)


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 101)])
def test_notes_tell_where_few_positives_make_intervals_too_narrow(weights: Any) -> None:
    scores = np.random.default_rng(1).normal(size=100)
    for positives in (4, 5, 29, 35):
        labels = np.arange(100) % 20 < 1 if positives == 5 else np.arange(100) < positives
        given = {"quota": 10, "confidence_level": 0.95, "n_resamples": 20, "sample_weight": weights}
        found = qk.evaluate(labels, {"a": scores}, **given)
        few, fewer = (any(x in y for y in found.notes) for x in ("for few rows", "fewer than 5"))
        kish = positives if weights is None else positives * found.effective_rows / 100
        assert (few, fewer) == (kish < 30, kish < 5)
        some = "Intervals of average hit rate, average"
        assert not few or any(x.startswith(some) for x in found.notes)
        assert all(f"<p>{x}</p>" in found._repr_html_() for x in found.notes)


def test_displays() -> None:
    figures = pytest.importorskip("matplotlib.figure")
    found = qk.evaluate(Y, S, quota=2, impacts=(1, -1, 0, 0))
    for kind in ("hit_rate", "qrecall", "lift", "roc", "precision_recall", "dominance", "impact"):
        figure = figures.Figure()
        ax = figure.subplots()
        assert found.plot(kind, ax=ax).ax_ is ax
        assert kind in (found.plot.__doc__ or "")


def test_progress_is_told(credit: Any) -> None:
    told: list[tuple[int, int]] = []
    qk.evaluate(
        "repaid", credit, confidence_level=0.9, n_resamples=40, progress=lambda *x: told.append(x)
    )
    assert told.count((40, 40)) == 3


def test_numpy_alone_suffices() -> None:
    """And nothing else is imported, not even where it is there; the page names its extra."""
    code = (
        "import sys\n"
        "for name in 'scipy pyarrow click rich jinja2 matplotlib pandas polars'.split():\n"
        "    sys.modules[name] = None\n"
        "import quotakernels as qk\n"
        "found = qk.evaluate([1, 0, 1], {'a': [3, 2, 1], 'b': [1, 2, 3]}, quota=1, gain=[1, 2, 3],"
        " confidence_level=0.9, n_resamples=9)\n"
        "print(found, found._repr_html_(), found.to_json(), found.recommendation)\n"
        "for what in (found.to_html, found.plot, found.to_frame):\n"
        "    try:\n"
        "        what()\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(qk.__file__).parents[1])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    page, display, frame = done.stdout.splitlines()[-3:]
    assert "quotakernels[report]" in page
    assert "quotakernels[plots]" in display
    assert frame == "to_frame needs pandas or polars, which is not installed"


@pytest.mark.full
def test_the_first_is_sure_by_its_own_pairs() -> None:
    rng, labels = np.random.default_rng(10), np.arange(200) < 80
    signal = rng.normal(size=200)
    shifts = {"a": 1.0, "b": 0.6, "c": 0.6}
    models = {x: by * labels + signal + 0.5 * rng.normal(size=200) for x, by in shifts.items()}
    found = qk.evaluate(labels, models, compare=True)
    test = found.differences[0].found
    assert test.names[0] == "a"
    assert test.p_value[0, 1:].max() < 0.05 < test.p_adjusted[0, 1:].max()
    assert found.answers[3].verdict == "By AUC, sure that a is the best"
    stricter = qk.evaluate(labels, models, compare=True, confidence_level=0.99).answers[3].verdict
    assert stricter == "By AUC, not sure: the models cannot be told apart"


@pytest.mark.parametrize("weights", [None, np.ones(400)])
def test_the_interval_of_the_best_allows_for_the_choice(weights: Any) -> None:
    """Among all models whose intervals reach its own: eight of noise, not one far behind."""
    rng, labels = np.random.default_rng(0), np.arange(400) < 80
    models = {str(k): rng.normal(size=400) for k in range(8)} | {"far": -1.0 * labels}
    sure = {"confidence_level": 0.95, "compare": True, "n_resamples": 400}
    found = qk.evaluate(labels, models, quota=40, sample_weight=weights, **sure)
    (values,), test = found.at_quota.values(), found.differences[-1].found
    first = int(test.names[0])
    lower, upper = values.interval("hit_rate", first)
    stricter = {"quota": 40, "confidence_level": 1 - 0.05 / 8, "sample_weight": weights}
    less = qk.inference.hit_rate_interval(labels, models[test.names[0]], **stricter).lower
    assert lower > 0.2
    ends = (f"{round(40 * x, 1):g}" for x in (less, upper))
    said = f"(95% interval {' to '.join(ends)} as the best of 9)"
    assert said in found.answers[0].sentences[0]
    assert "It may be no better than a random choice." in found.answers[-1].sentences
    assert less < 0.2
    assert max(less, test.estimate.mean()) <= test.expected <= test.estimate[0]


def test_a_random_choice_is_better_where_all_intervals_are_below_it() -> None:
    rng, labels = np.random.default_rng(1), np.arange(500) < 100
    for other, said in ((-2, "None: a random choice does better"), (-0.5, "Not clear")):
        models = {str(x): x * labels + rng.normal(size=500) for x in (-3, other)}
        found = qk.evaluate(labels, models, quota=50)
        assert found.answers[0].verdict.startswith(said)
    weighted = qk.evaluate(labels, models, quota=50, sample_weight=np.ones(500))
    assert weighted.answers[0].verdict == "Not clear that any is better than a random choice"
    assert qk.evaluate(labels, models, quota=500).answers[0].verdict.startswith("None: a random")


def test_further_quotas_have_answers_too(credit: Any) -> None:
    sure = {"confidence_level": 0.95, "compare": True, "n_resamples": 120}
    found = qk.evaluate("repaid", credit, quota=[100, 200, 340], **sure).answers[-1]
    alone = [qk.evaluate("repaid", credit, quota=x, **sure).answers for x in (200, 340)]
    assert (found.question, found.verdict) == (
        "Which model at the other quotas?",
        "That depends on the quota",
    )
    for said, (which, *_, how) in zip(found.sentences, alone, strict=True):
        told = which.verdict if which.verdict.startswith("None") else how.verdict
        assert said.endswith(f" {told}.")
    at_200 = "At quota 200, naive_bayes finds 180 (95% interval 166.8 to 188.2 as the best of 3)"
    assert found.sentences[0].startswith(f"{at_200} and a random choice 147.1.")


def test_many_rows_are_resampled_less_often() -> None:
    asked = Resampling.asked(0.95, True, None, None, 2, gains=True)
    assert asked is not None
    numbers = {n: asked.for_rows(n).resamples for n in (0, 100_000, 250_000, 10**8)}
    assert numbers == {0: 1000, 100_000: 1000, 250_000: 400, 10**8: 200}
    told = " ".join(asked.for_rows(10**6).in_words(Settings("", "y", ("a", "b"))))
    assert "200 resamples of the rows (fewer than 1000, as the rows are many; seed 0)" in told
    chosen = Resampling.asked(0.95, True, 700, None, 2, gains=True)
    assert chosen is not None
    assert chosen.for_rows(10**8) == chosen


def test_many_rows_are_resampled_by_rounded_scores() -> None:
    rng = np.random.default_rng(1)
    labels = rng.random(100_001) < 0.1
    scores, drawn = rng.normal(labels), {"n_resamples": 40, "random_state": 0}
    found = qk.evaluate(labels, {"a": scores}, confidence_level=0.95, **drawn)
    exact, ends = qk.bootstrap(qk.pr_auc, labels, scores, **drawn), found.areas.ends["pr_auc"]
    assert exact.estimate == found.areas.of("pr_auc")
    assert any("100,000 rows take rounded scores" in note for note in found.notes)
    assert ends.lower < exact.estimate < ends.upper
    assert 0.7 < (ends.upper - ends.lower) / (exact.upper - exact.lower) < 1.4
    few = np.repeat([0, 1, 2], [50_000, 30, 49_971])  # one of which is between the places
    found = qk.evaluate(labels, {"a": few}, confidence_level=0.95, **drawn)
    exact, ends = qk.bootstrap(qk.pr_auc, labels, few, **drawn), found.areas.ends["pr_auc"]
    assert [ends.lower, ends.upper] == [exact.lower, exact.upper]


# impacts


@pytest.mark.parametrize(
    ("impacts", "quota", "said"),
    [
        ((1, -1, 0, 0), None, "Between 4,750 and 5,250 slots, m earns within 5% of that."),
        ((1, -1, 0, 0), 5200, "Between 4,750 and 5,200 slots, m earns within 5% of that."),
        ((1, -1, -1, 0), None, "Between 4,750 and 5,500 slots, m keeps 95% of its lead over"),
        ((1, 0, 0, 0), None, ""),
    ],
)
def test_how_far_the_best_cut_may_move(impacts: Any, quota: int | None, said: str):
    """Of 5,000 positives in front of as many negatives; where no row is a loss, at will."""
    labels, scores = np.repeat([1, 0], 5000), {"m": -np.arange(10_000)}
    found = qk.evaluate(labels, scores, impacts=impacts, quota=quota).answers[1].sentences
    assert [x for x in found if x.startswith("Between")] == [x for x in found if said and said in x]
    assert any(said in x for x in found)


def test_what_a_decision_earns_by_itself_is_beside_what_all_earn():
    labels, scores = np.repeat([1, 0], 100), {"m": -np.arange(200)}
    found = qk.evaluate(labels, scores, impacts=(5, -4, -1, 0), quota=150)
    table = next(x for x in found.tables if "decision" in x.caption)
    assert [[x.text for x in row[1:]] for row in table.rows] == [
        ["quota 150", "1.5", "2", "0", "1"],
        ["best ι_σ (quota 100)", "2.5", "5", "0", "2.5"],
    ]
    beside = qk.evaluate(labels, scores, gain=labels, quota=150)
    assert not any("decision" in x.caption for x in beside.tables)
