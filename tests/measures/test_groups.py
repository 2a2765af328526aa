"""Groups of examples: each has the values of its own examples alone, exactly."""

from __future__ import annotations

import datetime
import functools
from fractions import Fraction
from itertools import product
from operator import mul
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, available, mode_fixture
from everything import MAIN
from expected import AT_QUOTA, check
from public_names import PUBLIC

import quotakernels as qk

SIZE, GROUPS = 40, 6
NUMBERS = (
    *("roc_auc", "gini", "pem", "average_hit_rate", "average_qrecall"),
    *("average_precision", "pr_auc", "expected_average_precision"),
)
OF_COUNTS = ("expected_average_precision",)
RNG = np.random.default_rng(31)
mode = mode_fixture([m for m in MODES if m.name in (*MAIN, "strictest", "jax64-jit")])


def data() -> dict[str, np.ndarray]:
    """Two models of the same examples; group 4 has none, group 2 one class, group 0 three."""
    groups = RNG.choice([1, 2, 3, 5], SIZE)
    groups[[4, 17, 30]] = 0
    labels = RNG.integers(0, 2, SIZE) * (groups != 2)
    scores = RNG.choice([-1.0, 0.25, 0.5, 3.0], (2, SIZE))
    weights = RNG.choice([0.0, 0.5, 1.0, 3.0], SIZE)
    where = RNG.random(SIZE) < 0.8
    return {"y": labels, "s": scores, "groups": groups, "w": weights, "where": where}


DATA = data()
NAMES = {"w": "sample_weight", "where": "where"}


OF_LISTS = ("reciprocal_rank", "success", "dcg", "ndcg")


def of_ranking(ranking: Any, prices: bool, weighted: bool = False) -> dict[str, Any]:
    numbers = (name for name in NUMBERS if not (weighted and name in OF_COUNTS))
    found = {name: PUBLIC[name](ranking) for name in numbers}
    for name in AT_QUOTA if weighted else (*AT_QUOTA, *OF_LISTS):
        found[name + " at 5"] = PUBLIC[name](ranking, quota=5, when_short="all")
    if prices:
        for name in ("hit_rate", "positives_per_cost"):
            found[name + " of 2"] = PUBLIC[name](ranking, budget=2, when_short="all")
    return found


def loop(measure: Any, y: Any, s: Any, groups: Any, **own: Any) -> np.ndarray:
    """The measure of each group's examples, one after the other."""
    return np.array([measure(y[groups == g], s[groups == g], **own) for g in np.unique(groups)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint32, bool])
def test_scores_of_every_type(mode: Mode, dtype: Any):
    largest = 4e9 if dtype == np.uint32 else 9
    scores = np.array([3, 1, 0, 0, 1, 2, largest, 1]).astype(dtype)
    y, groups = np.array([1, 0, 1, 0, 1, 1, 0, 0]), np.array([1, 1, 0, 1, 0, 0, 1, 0])
    found = mode.run(lambda y, s, g: qk.roc_auc(y, s, groups=g, num_groups=2), y, scores, groups)
    check("roc_auc", found, loop(qk.roc_auc, y, scores, groups))


def test_quotas_for_all_groups_and_for_each():
    y, s, groups = np.array([1, 0, 1, 1, 0]), np.array([5, 4, 3, 2, 1]), [0, 0, 1, 1, 1]
    both = qk.hit_rate(y, s, quota=[1, 2], groups=groups)
    np.testing.assert_array_equal(both, [[1, 0.5], [1, 1]])
    each = qk.hit_rate(y, s, quota=[[2], [3]], groups=groups)
    np.testing.assert_array_equal(each, [[0.5], [2 / 3]])
    rows = qk.hit_rate(y, np.stack([s, -s]), quota=[[1, 2], [2, 3]], groups=groups)
    assert rows.shape == (2, 2, 2)
    np.testing.assert_array_equal(rows[0], [[1, 0.5], [1, 2 / 3]])


def test_short_groups_and_short_rows():
    y, s, groups = np.array([1, 0, 1]), np.array([3, 2, 1]), [0, 0, 1]
    np.testing.assert_array_equal(qk.qrecall(y, s, quota=2, groups=groups), [1, 1])
    short = qk.qrecall(y, s, quota=2, groups=groups, when_short="nan")
    np.testing.assert_array_equal(short, [1, np.nan])
    assert qk.hit_rate(y, s, quota=9, when_short="all") == 2 / 3
    assert np.isnan(qk.hit_rate(y, s, quota=9, when_short="nan"))
    where = [[True, True, True], [True, False, False]]
    rows = qk.hit_rate(y, np.stack([s, s]), where=where, quota=2, when_short="all")
    np.testing.assert_array_equal(rows, [0.5, 1])


def test_ids_are_integers_or_strings():
    y, s = [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.4]
    for pair in (["b", "a"], [2**62, -(2**62)], [True, False]):
        ids = [pair[k // 2] for k in range(4)]
        ranking = qk.rank(y, s, groups=ids)
        np.testing.assert_array_equal(qk.roc_auc(ranking), [0, 1])
        assert qk.group_counts(ranking).ids.tolist() == sorted(set(ids))


@pytest.mark.parametrize("validate", [True, False])
def test_an_empty_list_has_no_groups(validate: bool):
    assert qk.roc_auc([], [], groups=[], validate=validate).shape == (0,)
    nothing = np.zeros((0, 3))
    assert qk.roc_auc(nothing, nothing, groups=nothing, validate=validate).shape == (0, 0)


def test_without_examples_there_are_no_groups(mode: Mode):
    nothing = np.zeros((2, 0))

    def computed(y: Any, s: Any) -> Any:
        ranking = qk.rank(y, s, groups=mode.array(np.zeros(0, dtype=np.int64)))
        return qk.roc_auc(ranking), qk.hit_rate(ranking, quota=[1, 2]), *qk.group_counts(ranking)

    if mode.lazy or mode.name == "strictest":
        pytest.skip("the number of groups is found where shapes may depend on values")
    auc, rate, ids, *counts = mode.run(computed, nothing[0], nothing)
    assert (auc.shape, rate.shape, ids.shape) == ((2, 0), (2, 0, 2), (2, 0))
    assert all(x.shape == (2, 0) for x in counts)


@pytest.mark.long_program
def test_ids_of_every_integer_type(mode: Mode):
    y, s = np.array([1, 0] * 100), np.linspace(0, 1, 200)
    for dtype, ids in ((np.int8, [-100, -27, 28, 100]), (np.uint8, [0, 1, 200, 255])):
        groups = np.array(ids * 50, dtype=dtype)
        counts = qk.group_counts(qk.rank(y, s, groups=groups))
        assert (counts.ids.tolist(), counts.examples.tolist()) == (sorted(ids), [50] * 4)
        assert counts.positives.tolist() == [100 * (k % 2 == 0) // 2 for k in range(4)]
    few = np.array([50, 60] * 100, dtype=np.uint8)
    y[:4] = 1 - y[:4]
    found = mode.run(lambda y, s, g: qk.roc_auc(y, s, groups=g, num_groups=300), y, s, few)
    assert np.flatnonzero(~np.isnan(found)).tolist() == [50, 60]


def test_a_batch_of_rankings_is_mapped(mode: Mode):
    if not mode.name.endswith("-vmap"):
        pytest.skip("of mapped functions")
    ranking = qk.rank(DATA["y"], DATA["s"], groups=DATA["groups"])
    wanted = qk.roc_auc(ranking)
    with mode.context():
        moved = qk.rank(*map(mode.array, (DATA["y"], DATA["s"])), groups=mode.array(DATA["groups"]))
        found = mode._transformed(qk.roc_auc)(moved)
        np.testing.assert_allclose(mode.to_numpy(found), wanted, rtol=1e-6)


DAY, NOON = datetime.date(2026, 3, 2), datetime.datetime(2026, 3, 2, 12)


def test_dates_name_groups():
    y, s = [1, 1, 0, 0, 1], [5, 4, 3, 2, 1]
    later = datetime.date(2026, 3, 10)
    for days, unit in (
        ([later, DAY, DAY, later, DAY], "D"),
        (np.array([later, DAY, DAY, later, DAY], dtype=object), "D"),
        ([NOON.replace(day=10), NOON, NOON, NOON.replace(day=10), NOON], "us"),
        (np.array([later, DAY, DAY, later, DAY], dtype="datetime64[D]"), "D"),
    ):
        ranking = qk.rank(y, s, groups=days)
        counts = qk.group_counts(ranking)
        assert counts.ids.dtype == f"datetime64[{unit}]"
        assert counts.ids.astype("datetime64[D]").tolist() == [DAY, later]
        np.testing.assert_array_equal(qk.roc_auc(ranking), [0.5, 1])


def test_dates_of_pandas():
    pandas = pytest.importorskip("pandas")
    times = pandas.to_datetime(["2026-03-02 12:00:00.000000001", "2026-03-02 12:00:00.000000002"])
    for column in (pandas.Series(times), list(times), pandas.Series(times).astype("category")):
        counts = qk.group_counts(qk.rank([1, 0], [2, 1], groups=column))
        np.testing.assert_array_equal(counts.ids, times.to_numpy())


def test_float_ids_of_a_program():
    jax = pytest.importorskip("jax")
    program = jax.jit(lambda y, s, g: qk.roc_auc(y, s, groups=g, num_groups=2))
    with pytest.raises(TypeError, match="^groups must hold integers, strings or dates; got dtype"):
        program(np.array([1, 0]), np.array([0.2, 0.1]), np.array([0.0, 1.0]))


def test_ids_beside_tensors_are_tensors():
    torch = pytest.importorskip("torch")
    labels, scores = torch.tensor([1, 0, 1]), torch.tensor([0.3, 0.2, 0.1])
    of_numbers = (
        r"^y_score is an array of torch and groups one of numpy; .* torch.as_tensor\(groups,"
    )
    of_texts = r"^groups must be integers .* of torch; pass torch.as_tensor\(numpy.unique\(groups,"
    for ids, message in (([0, 1, 1], of_numbers), (["a", "b", "b"], of_texts)):
        with pytest.raises(TypeError, match=message):
            qk.rank(labels, scores, groups=ids)
        with pytest.raises(TypeError, match=message):
            qk.states.ScoreBuffer.empty(scores).update(labels, scores, groups=ids)


def test_the_number_of_groups_is_not_traced():
    jax = pytest.importorskip("jax")
    labels, scores = jax.numpy.asarray([1, 0, 1]), jax.numpy.asarray([0.3, 0.2, 0.1])
    programs = {
        "num_groups": [
            lambda n: qk.roc_auc(labels, scores, groups=labels, num_groups=n),
            lambda n: qk.states.ScoreHistogram.empty(scores, num_groups=n),
        ],
        "num_classes": [
            lambda n: qk.tables.confusion_table_from_predictions(labels, labels, num_classes=n)
        ],
    }
    for name, some in programs.items():
        for program in some:
            with pytest.raises(TypeError, match=f"^{name} is traced, but shapes depend on it: mak"):
                jax.jit(program)(2)


@pytest.mark.long_program
def test_bad_values_spoil_their_group_alone(mode: Mode):
    y, groups = np.array([1, 0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 2, 2])
    scores = np.array([0.9, 0.8, np.nan, 0.6, 0.5, 0.4])

    def computed(y: Any, s: Any, groups: Any) -> Any:
        ranking = qk.rank(y, s, groups=groups, num_groups=4, validate=False)
        counts = qk.group_counts(ranking)
        return qk.roc_auc(ranking), qk.hit_rate(ranking, quota=1), counts.examples

    for found in mode.run(computed, y, scores, groups)[:2]:
        np.testing.assert_array_equal(found, [1, np.nan, 1, np.nan])
    counts = mode.run(computed, y, scores, groups)[2]
    np.testing.assert_array_equal(counts, [2, np.nan, 2, 0])
    groups[3] = 9
    for found in mode.run(computed, y, scores, groups)[:2]:
        assert np.isnan(found).all()


@pytest.mark.long_program
@pytest.mark.parametrize("names", [(), ("w",), ("where",)])
def test_a_bad_label_changes_no_measure_of_other_groups(mode: Mode, names: tuple[str, ...]):
    """The examples of its own group stay among the others, which stand where they stood."""

    def computed(y: Any, s: Any, groups: Any, *beside: Any) -> dict[str, Any]:
        given = {NAMES[name]: x for name, x in zip(names, beside, strict=True)}
        given |= {"groups": groups, "num_groups": GROUPS, "validate": False}
        ranking = qk.rank(y, s, **given)
        single = {f"{x} alone": PUBLIC[x](y, s, **given) for x in ("roc_auc", "average_qrecall")}
        single |= {"hit_rate alone": qk.hit_rate(y, s, quota=2, **given)}
        ties = qk.average_hit_rate(y, s, ties="optimistic", **given)
        return of_ranking(ranking, False, "w" in names) | single | {"optimistic": ties}

    bad = DATA["y"].copy()
    spoilt = int(DATA["groups"][next(k for k in range(SIZE) if DATA["w"][k] and DATA["where"][k])])
    bad[np.flatnonzero((DATA["groups"] == spoilt) & (DATA["w"] > 0) & DATA["where"])[0]] = 2
    beside = (DATA["s"][0], DATA["groups"], *(DATA[name] for name in names))
    good, found = (mode.run(computed, y, *beside) for y in (DATA["y"], bad))
    others = np.arange(GROUPS) != spoilt
    for name, values in good.items():
        assert np.isnan(found[name][spoilt]).all(), name
        np.testing.assert_array_equal(found[name][others], values[others], err_msg=name)


@pytest.mark.long_program
@pytest.mark.parametrize("weights", [None, "examples", "positives", "negatives", "own"])
def test_mean_over_groups(mode: Mode, weights: Any):
    own = np.arange(GROUPS) / 4.0
    arrays = [DATA["s"][0] if name == "s" else DATA[name] for name in ("y", "s", "groups", "w")]

    def mean(y: Any, s: Any, groups: Any, w: Any, own: Any) -> Any:
        chosen = own if weights == "own" else weights
        given = {"groups": groups, "num_groups": GROUPS, "sample_weight": w}
        return qk.group_mean(qk.roc_auc, y, s, weights=chosen, **given)

    found = mode.run(mean, *arrays, own)
    values, sizes = [], []
    for g in range(GROUPS):
        here = DATA["groups"] == g
        y, w = DATA["y"][here], [Fraction(x) for x in DATA["w"][here].tolist()]
        table = ex.groups(y.tolist(), DATA["s"][0][here].tolist(), w)
        value = ex.roc_auc(table)
        by = {"examples": [1] * len(y), "positives": y.tolist(), "negatives": (1 - y).tolist()}
        sums = {k: sum(map(mul, w, x), Fraction(0)) for k, x in by.items()}
        size = sums.get(weights, Fraction(g, 4) if weights == "own" else Fraction(1))
        if value is not None:
            values.append(value * size)
            sizes.append(size)
    exact = float(sum(values) / sum(sizes))
    np.testing.assert_allclose(found[0], exact, rtol=1e-6 if mode.float32 else 1e-14)
    assert found[1] == len(values)


def test_a_mean_is_of_groups_and_of_measures_of_this_library():
    y, s = [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.4]
    ranking = qk.rank(y, s, groups=[0, 0, 1, 1])
    found = qk.group_mean(functools.partial(qk.hit_rate, quota=[1, 2]), ranking)
    np.testing.assert_array_equal(found.value, [0.5, 0.5])
    np.testing.assert_array_equal(found.defined, [2, 2])


@pytest.mark.long_program
@pytest.mark.parametrize("cut", [{"quota": 2}, {"fraction": 0.3}, {"quota": "each"}], ids=str)
def test_who_fills_the_quota_of_each_group(mode: Mode, cut: dict[str, Any]):
    each = np.arange(GROUPS)[:, None] / 2.0
    names = ("s", "groups", "w", "where")

    def computed(s: Any, groups: Any, w: Any, where: Any, each: Any) -> Any:
        given = {name: each if x == "each" else x for name, x in cut.items()}
        given |= {"groups": groups, "num_groups": GROUPS, "where": where, "sample_weight": w}
        return qk.select(s, **given), *qk.quota_threshold(s, **given)

    s, *rest = (DATA["s"][0] if name == "s" else DATA[name] for name in names)
    shares, *ends = mode.run(computed, s, *rest, each)
    for group in range(GROUPS):
        here = DATA["groups"] == group
        given = {"where": DATA["where"][here], "sample_weight": DATA["w"][here], **cut}
        if cut.get("quota") == "each":
            given["quota"] = group / 2.0
        if not (DATA["w"][here] * DATA["where"][here]).any():
            assert all(np.isnan(x[group]).all() for x in ends)
            continue
        given |= {} if "fraction" in given else {"when_short": "all"}
        near = 1e-6 if mode.float32 else 1e-14
        np.testing.assert_allclose(shares[here], qk.select(s[here], **given), rtol=near)
        for value, wanted in zip(ends, qk.quota_threshold(s[here], **given), strict=True):
            np.testing.assert_allclose(np.squeeze(value[group]), wanted, rtol=near)


@pytest.mark.full
@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@pytest.mark.parametrize(("dtype", "masked"), [("float32", False), ("bfloat16", True)])
def test_counts_of_groups_on_a_device_are_those_of_their_ranking(dtype: str, masked: bool):
    """Where values cannot be read, what is counted alone finds bad ones when it has sorted them."""
    import torch

    cuts: tuple[dict[str, Any], ...] = (
        *({"quota": 0}, {"quota": 2.5}, {"quota": [1, 50]}, {"fraction": 0.3}),
        *({"quota": 4, "when_short": "nan"}, {"quota": torch.arange(8.0)[:, None] / 2}),
    )
    measures = [qk.roc_auc, qk.pem, qk.average_qrecall, functools.partial(qk.lift, quota=3)]
    measures += [functools.partial(qk.hit_rate, **cut) for cut in cuts]
    measures += [functools.partial(qk.qrecall, **cut) for cut in cuts[2:4]]
    known: dict[str, Any] = {"num_groups": 8, "validate": False}

    def measured(y: Any, s: Any, groups: Any, where: Any) -> list[Any]:
        return [x(y, s, groups=groups, where=where, **known) for x in measures]

    torch._dynamo.reset()
    rng = np.random.default_rng(5)
    program = torch.compile(measured, dynamic=False, fullgraph=True, backend="eager")
    draws = ((2, 1), (6, 5), (6, 7), (40, 8))
    for (levels, number), spoilt in product(draws, ("nothing", "label", "score", "id")):
        y, s = rng.integers(0, 2, 37), rng.integers(0, levels, 37) / 4 - 1
        s[rng.random(37) < 0.1], s[rng.random(37) < 0.1] = -0.0, np.inf
        groups = rng.integers(0, number, 37)
        match spoilt:
            case "label":
                y[rng.integers(37)] = 2
            case "score":
                s[rng.integers(37)] = np.nan
            case "id":
                groups[rng.integers(37)] = rng.choice([-1, 8, 10**12])
        where = torch.from_numpy(rng.random(37) < 0.8) if masked else None
        labels, scores, ids = (torch.from_numpy(x) for x in (y, s, groups))
        scores = scores.to(getattr(torch, dtype))
        ranking = qk.rank(labels, scores, groups=ids, where=where, **known)
        counted = program(labels, scores, ids, where)
        for measure, found in zip(measures, counted, strict=True):
            exact = measure(ranking)
            torch.testing.assert_close(found, exact, equal_nan=True, rtol=1e-15, atol=0)


def test_marks_between_models():
    """The models are compared within each group, as if it were alone."""
    scores = np.stack([*DATA["s"], np.arange(SIZE), -np.arange(SIZE) % 7])
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
            qk.best_boundary(ranking, impacts=(5, -4, -1, 0)).quota,
            qk.best_cut(qk.f_score, ranking).value,
            qk.tables.cell_impacts(ranking, threshold=0.0).tp,
            qk.pearson(ranking, quota=2, labels="observed"),
        )

    for found in mode.run(computed, y, scores, gain, groups):
        assert np.isnan(found).tolist() == [False, True, False, True]


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


def test_small_amounts_are_not_lost_behind_another_group():
    """Sums begin anew in each group, from both ends."""
    groups, gain = np.asarray([0, 0, 1, 1, 2, 2]), np.asarray([1e20, 1e20, 1e-20, 3e-20, 1e20, 7.0])
    found = qk.impact_at_quota(None, -gain, gain=gain, gain_rejected=gain, groups=groups, quota=1)
    assert found.selected.tolist() == [1e20, 1e-20, 7.0]
    assert found.rejected.tolist() == [1e20, 3e-20, 1e20]
