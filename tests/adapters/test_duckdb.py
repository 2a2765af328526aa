"""Rankings that DuckDB groups are those of the columns."""

from __future__ import annotations

import importlib
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from expected import assert_same_bits

import quotakernels as qk
from quotakernels import ops

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

from quotakernels.adapters._tables import merged, ranking_of_merged  # noqa: E402
from quotakernels.adapters.duckdb import ranking  # noqa: E402


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as found:
        yield found


def scores_of(dtype: str, n: int = 500) -> np.ndarray:
    return (3 * np.random.default_rng(5).normal(size=n)).round(1).astype(dtype)


LABELS = np.random.default_rng(6).integers(0, 2, 500)
LABEL_COLUMNS: dict[str, tuple[Any, Any]] = {
    "numbers": (LABELS, None),
    "booleans": (LABELS == 1, None),
    "booleans, positive 0": (LABELS == 0, 0),
    "floats": (LABELS.astype("f4"), None),
    "single precision": (np.where(LABELS, 0.1, 0.7).astype("f4"), 0.1),
    "texts": (np.where(LABELS, "it's", "not"), "it's"),
    "categories": (pa.array(np.where(LABELS, "it's", "not")).dictionary_encode(), "it's"),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u8", "?"])
def test_it_is_the_ranking_of_the_columns(connection: Any, dtype: str) -> None:
    content = connection.from_arrow(pa.table({"y": LABELS, "s": scores_of(dtype)}))
    for ties in ("expected", "optimistic", "pessimistic"):
        found = ranking(connection, content, label="y", score="s", ties=ties)
        assert_same_bits(found, qk.rank(LABELS, scores_of(dtype), ties=ties))


@pytest.mark.parametrize("name", LABEL_COLUMNS)
def test_labels(connection: Any, name: str) -> None:
    labels, positive = LABEL_COLUMNS[name]
    content = connection.from_arrow(pa.table({"y": labels, "s": scores_of("f8")}))
    found = ranking(connection, content, label="y", score="s", pos_label=positive)
    assert_same_bits(found, qk.rank(LABELS, scores_of("f8")))


GROUPS = np.random.default_rng(7).integers(-9, 9, 500)


DAYS = np.datetime64("2026-03-01") + GROUPS
TIMES = [(DAYS + np.timedelta64(250, "ms")).astype(f"M8[{unit}]") for unit in ("s", "us", "ns")]


@pytest.mark.parametrize(
    "ids", [GROUPS, GROUPS.astype(str), GROUPS > 0, GROUPS.astype("i2"), DAYS, *TIMES]
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "u8"])
def test_groups(connection: Any, dtype: str, ids: np.ndarray) -> None:
    named = {"y": LABELS, "s": scores_of(dtype), "g": ids, "w": 1 + GROUPS % 4}
    content = connection.from_arrow(pa.table(named))
    weighted = qk.rank(LABELS, scores_of(dtype), groups=ids, sample_weight=named["w"])
    for ties in ("expected", "optimistic", "pessimistic"):
        found = ranking(connection, content, label="y", score="s", group="g", ties=ties)
        wanted = qk.rank(LABELS, scores_of(dtype), groups=ids, ties=ties)
        assert found.groups.ids.tolist() == wanted.groups.ids.tolist()
        for measure in (qk.roc_auc, qk.hit_rate.with_options(quota=3), qk.average_qrecall):
            np.testing.assert_array_equal(measure(found), measure(wanted))
        assert qk.group_mean(qk.roc_auc, found) == qk.group_mean(qk.roc_auc, wanted)
        for counted in ("examples", "positives"):
            of_each = (getattr(qk.group_counts(x), counted) for x in (found, wanted))
            np.testing.assert_array_equal(*of_each)
    found = ranking(connection, content, label="y", score="s", group="g", weight="w")
    np.testing.assert_array_equal(qk.qrecall(found, quota=5), qk.qrecall(weighted, quota=5))


def test_no_groups(connection: Any) -> None:
    nothing = "SELECT 1 AS y, 0.5::DOUBLE AS s, NULL::INTEGER AS g LIMIT 0"
    found = ranking(connection, nothing, label="y", score="s", group="g")
    assert qk.roc_auc(found).shape == (0,)


def test_names_and_texts_are_never_run(connection: Any) -> None:
    name, text = 's" FROM x; DROP TABLE x; --', "'; DROP TABLE x; --"
    content = pa.table({name: [0.5, 0.2], 'y"': [text, "b"]})
    connection.register("incoming", content)
    connection.execute('CREATE TABLE "x; y" AS FROM incoming; CREATE TABLE x AS FROM incoming')
    found = ranking(connection, '"x; y"', label='y"', score=name, pos_label=text)
    assert_same_bits(found, qk.rank([1, 0], [0.5, 0.2]))
    for bad in ("DROP TABLE x", "SELECT 1; DROP TABLE x"):
        with pytest.raises(ValueError, match="the name of a table, or one SELECT query"):
            ranking(connection, bad, label="y", score=name)
    assert len(connection.table("x").fetchall()) == 2


def test_sources(connection: Any, tmp_path: Path) -> None:
    connection.execute(
        "CREATE TABLE t AS SELECT i % 7 AS s, i % 3 = 0 AS y, i % 2 AS part FROM range(99) AS t(i);"
        "CREATE VIEW v AS FROM t"
    )
    connection.execute(f"COPY t TO '{tmp_path}/p' (FORMAT parquet, PARTITION_BY (part))")
    i = np.arange(99)
    expected = qk.rank(i % 3 == 0, i % 7)
    files = connection.read_parquet(f"{tmp_path}/p/*/*.parquet", hive_partitioning=True)
    for source in ("t", "v", "main.t", "SELECT * FROM t", "FROM t", connection.table("t"), files):
        assert_same_bits(ranking(connection, source, label="y", score="s"), expected)
    chosen = ranking(connection, files, label="Y", score="s", where="part = 1")
    odd = i % 2 == 1
    assert_same_bits(chosen, qk.rank(i[odd] % 3 == 0, i[odd] % 7))
    nobody = ranking(connection, "t", label="y", score="s", where="part = 2")
    assert_same_bits(nobody, qk.rank([], np.zeros(0, "i8")))


def write(path: Path, **columns: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table(columns), path)


def test_nan_that_statistics_of_files_hide(connection: Any, tmp_path: Path) -> None:
    for name, scores in (("a", [0.5, 0.25]), ("b", [0.5, math.nan])):
        write(tmp_path / f"{name}.parquet", y=[0, 1], s=scores)
    source = connection.read_parquet(f"{tmp_path}/*.parquet")
    with pytest.raises(ValueError, match="column 's': 1 row without a number, for example nan;"):
        ranking(connection, source, label="y", score="s")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"s": [2.0, 2.0, math.nan]}, {}, "column 's': 1 row without a number, for example nan"),
        ({"y": [1.0, 1.0, math.nan]}, {}, "column 'y': 1 row without 0 or 1, for example nan"),
        ({"y": [1.0, 1.0, math.nan]}, {"pos_label": 1.0}, "labels nan and nan beside pos_label"),
        ({"y": [1.0, 1.0, math.nan]}, {"pos_label": 0.0}, "labels 1.0 and nan beside pos_label"),
        ({"w": [0.0, 0.0, math.nan]}, {"weight": "w"}, "column 'w': 1 row without a finite weight"),
        ({"w": [0.0, 0.0, math.nan]}, {"gain": "w"}, "column 'w': 1 row without a finite gain"),
        ({"w": [1.0, 1.0, math.nan]}, {"weight": "w"}, "column 'w': 1 row without a finite weight"),
        ({"s": [2.0, 2.0, math.nan]}, {"where": "s > 2"}, "column 's': 1 row without a number"),
    ],
)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_nan_beside_one_value(
    connection: Any,
    tmp_path: Path,
    kind: str,
    columns: dict[str, list[float]],
    options: dict[str, Any],
    message: str,
) -> None:
    """The statistics know of that value alone."""
    content = {"y": [1.0, 0.0, 1.0], "s": [1.0, 2.0, 3.0], "w": [1.0, 1.0, 1.0]} | columns
    write(tmp_path / "a.parquet", **{name: pa.array(x, kind) for name, x in content.items()})
    source = connection.read_parquet(f"{tmp_path}/a.parquet")
    with pytest.raises(ValueError, match=message):
        ranking(connection, source, label="y", score="s", **options)


def test_zeros_of_both_signs_tie(connection: Any) -> None:
    source = "SELECT * FROM (VALUES (1, -0.0::DOUBLE), (0, 0.0::DOUBLE), (1, 5e-324)) AS t(y, s)"
    found = ranking(connection, source, label="y", score="s")
    assert_same_bits(found, qk.rank([1, 0, 1], [-0.0, 0.0, 5e-324]))


def test_decimals_stay_distinct(connection: Any) -> None:
    source = "SELECT 1 AS y, (999999999999990 + i)::DECIMAL(15, 0) / 1 AS s FROM range(9) AS t(i)"
    narrow = f"SELECT y, s::DECIMAL(15, 0) AS s FROM ({source})"
    assert len(ranking(connection, narrow, label="y", score="s").counts) == 9


def masses(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> dict[Any, Fraction]:
    """Exact sums of weights, by score and label."""
    sums: dict[Any, Fraction] = {}
    for key, weight in zip(zip(scores, labels, strict=True), weights, strict=True):
        sums[key] = sums.get(key, Fraction(0)) + Fraction(weight)
    return sums


@pytest.mark.parametrize("spread", [0, 1, 100])
def test_masses_are_exact_sums(connection: Any, spread: float) -> None:
    """Whatever the magnitudes, one class beside the other, in any order of the rows."""
    random = np.random.default_rng(7)
    n, drawn = len(LABELS), random.normal(size=len(LABELS))
    weights = np.exp(spread * drawn) * (random.random(n) < 0.9)
    weights[:4] = 5e-324, 2.0**-1022, 2.0**1000, math.nextafter(2.0**32, 0)
    scores = random.integers(0, 3, n)
    order = random.permutation(n)
    results = []
    for rows in (np.arange(n), order):
        content = {"y": LABELS[rows], "s": scores[rows], "w": weights[rows]}
        table = connection.from_arrow(pa.table(content))
        results.append(ranking(connection, table, label="y", score="s", weight="w"))
    assert_same_bits(results[1], results[0])
    exact = masses(LABELS, scores, weights)
    for row, score in enumerate(results[0].thresholds):
        assert results[0].counts[row] == ((scores == score) & (weights > 0)).sum()
        for label, found in ((1, results[0].positive_weights), (0, results[0].negative_weights)):
            wanted = exact[score, label]
            assert abs(Fraction(found[row]) - wanted) <= 2 * Fraction(math.ulp(float(wanted)))


DICE = np.random.default_rng(8)
ROWS = {
    "y": LABELS,
    "s": scores_of("f8"),
    "w": DICE.integers(0, 4, 500),
    "light": DICE.choice([0, 1e-20, 3.0, 1e20], 500),
    "gain": DICE.integers(-9, 10, 500) * 2.0 ** DICE.choice([-3, 35], 500),
    "rejected": DICE.integers(-5, 6, 500) / 8,
    "cost": DICE.integers(0, 9, 500) / 4,
    "treatment": DICE.integers(0, 2, 500),
    "group": DICE.integers(0, 5, 500),
}
BESIDE: list[dict[str, Any]] = [
    {"gain": "gain"},
    {"gain": "gain", "gain_rejected": -2.5},
    {"gain": "gain", "gain_rejected": "rejected"},
    {"cost": "cost"},
    {"treatment": "treatment"},
]


def both(connection: Any, label: Any = "y", ties: Any = "expected", **options: Any) -> Any:
    """The ranking of the rows, and that of their columns."""
    rows = connection.from_arrow(pa.table(ROWS))
    names = {"weight": "sample_weight", "group": "groups"}
    given = {names.get(k, k): ROWS[x] if isinstance(x, str) else x for k, x in options.items()}
    found = ranking(connection, rows, label=label, score="s", ties=ties, **options)
    return found, qk.rank(LABELS, ROWS["s"], ties=ties, **given)


@pytest.mark.parametrize("weight", [{}, {"weight": "w"}])
@pytest.mark.parametrize("options", BESIDE, ids=str)
def test_columns_are_those_of_rank(connection: Any, options: Any, weight: Any) -> None:
    """Bit for bit, where sums are exact; gains of 0, of both signs and of several units."""
    for ties in ("expected", "pessimistic"):
        assert_same_bits(*both(connection, ties=ties, **options, **weight))


@pytest.mark.parametrize("weight", [{}, {"weight": "w"}])
def test_measures_of_columns(connection: Any, weight: Any) -> None:
    """Without labels, by group, and of arms of very unequal weights."""
    for options in BESIDE[:3]:
        best, alone = map(qk.best_quota, both(connection, None, **options, **weight))
        assert (best.value, best.quota) == (alone.value, alone.quota)
        np.testing.assert_array_equal(best.curve.value, alone.curve.value)
    each = both(connection, cost="cost", group="group", **weight)
    for measure in (qk.hit_rate, qk.budgets.positives_per_cost):
        np.testing.assert_array_equal(*(measure(x, budget=[3, 30]) for x in each))
    light = {"treatment": "treatment", "weight": "light"} if weight else BESIDE[-1]
    found, wanted = both(connection, **light)
    for name, sums in wanted.columns.items():
        np.testing.assert_allclose(found.columns[name], sums, rtol=1e-15)
    by_group = map(qk.uplift.auuc, both(connection, **light, group="group"))
    np.testing.assert_allclose(*by_group, rtol=1e-12)


def test_groups_without_weight_are_absent(connection: Any) -> None:
    rows = "FROM (VALUES (1, .5, 0, 'a'), (1, .5, 2, 'b'), (0, .25, 1, 'b'), (0, 0, 0, 'c'))"
    source = f"SELECT col0 AS y, CAST(col1 AS DOUBLE) AS s, col2 AS w, col3 AS g {rows}"
    found = ranking(connection, source, label="y", score="s", weight="w", group="g")
    assert found.groups.ids.tolist() == ["b"]
    assert qk.roc_auc(found).tolist() == [1]
    nobody = f"SELECT * REPLACE (0 AS w) FROM ({source})"
    found = ranking(connection, nobody, label="y", score="s", weight="w", group="g")
    assert qk.roc_auc(found).shape == (0,)


def test_gains_are_exact_sums(connection: Any) -> None:
    random = np.random.default_rng(9)
    gain = np.exp(30 * random.normal(size=500)) * random.choice([-1, 0, 1], 500)
    gain[:2] = 5e-324, -1e300
    content = pa.table({"s": random.integers(0, 3, 500), "g": gain, "y": LABELS})
    found = ranking(connection, connection.from_arrow(content), label="y", score="s", gain="g")
    exact = masses(LABELS, content["s"].to_numpy(), gain)
    sizes = masses(LABELS, content["s"].to_numpy(), np.abs(gain))
    gains, found_sizes = found.columns["gain"], found.columns["gain_size"]
    for row, score in enumerate(found.thresholds):
        for label, sums, size in zip((1, 0), gains, found_sizes, strict=True):
            exact_size = sizes[score, label]
            assert abs(Fraction(sums[row]) - exact[score, label]) <= exact_size / 2**52
            near = Fraction(size[row]) * 2**32 / exact_size
            assert abs(near - 1) < Fraction(1, 2**50)


def test_types_of_weights(connection: Any) -> None:
    source = "SELECT i % 2 AS y, i % 3 AS s, (i / 8)::{kind} AS w FROM range(40) AS t(i)"
    i = np.arange(40)
    for kind, weights in (("DECIMAL(9, 3)", i / 8), ("FLOAT", i / 8), ("BOOLEAN", i > 0)):
        found = ranking(connection, source.format(kind=kind), label="y", score="s", weight="w")
        assert_same_bits(found, qk.rank(i % 2, i % 3, sample_weight=weights))


def test_a_row_of_weight_0_may_hold_anything(connection: Any) -> None:
    rows = "(1, 0.5, 2), (0, 0.1, 1), (NULL, NULL, 0), (7, 'nan'::DOUBLE, -0.0)"
    source = f"SELECT y, s::DOUBLE AS s, w::DOUBLE AS w FROM (VALUES {rows}) AS t(y, s, w)"
    found = ranking(connection, source, label="y", score="s", weight="w")
    assert_same_bits(found, qk.rank([1, 0], [0.5, 0.1], sample_weight=[2, 1]))


def test_a_table_that_is_not_there(connection: Any) -> None:
    with pytest.raises(duckdb.CatalogException, match="nope"):
        ranking(connection, "nope", label="y", score="s")


@pytest.mark.parametrize("name", ["dask", "duckdb"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delitem(sys.modules, f"quotakernels.adapters.{name}", raising=False)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf'pip install "quotakernels\[{name}\]"'):
        importlib.import_module(f"quotakernels.adapters.{name}")


def test_counts_beyond_32_bits() -> None:
    """Tables of many rows are added in 64 bits, and keep them."""
    columns = np.array([0.1, 0.9]), np.array([2**30, 3], "i4"), np.array([2**29, 1], "i4")
    rows = ops.TieTable(*(np.tile(x, 2) for x in columns), None, None)
    found = ranking_of_merged(*merged([rows] * 4), "pessimistic")
    assert found.counts.tolist() == [16, 8, 2**32, 2**32]
    assert found.positives.tolist() == [0, 8, 0, 2**32]
