"""The command `sql`: what a database groups is the ranking of the rows."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from command import run

import quotakernels as qk

GIVEN = {
    "bought": np.asarray([1, 0, 1, 0, 0, 1, 0, 0]),
    'my `"score': np.asarray([0.5, 0.5, 0.25, 0.75, -0.0, 0.0, 0.25, 0.5]),
    "w": np.asarray([1, 2, 0.5, 4, 0, 1, 2, 0.25]),
    "gain": np.asarray([8, -1, 4, -2, -4, 0, 1.5, 2]),
    "lost": np.asarray([0, 1, -2, 0.5, 0, 3, 0, 1]),
    "cost": np.asarray([1, 2, 3, 4, 5, 6, 7, 8.0]),
    "mailed": np.asarray([1, 0, 1, 1, 0, 0, 1, 0]),
    "part": np.asarray(["a", "a", "b", "b", "a", "a", "a", "b"]),
    "text": np.asarray(["it's \\", "no", "it's \\", "no", "no", "it's \\", "no", "no"]),
}
PLAIN = ("--label", "bought", "--score", 'my `"score')
AMOUNTS = ("--weight", "w", "--gain", "gain", "--cost", "cost", "--treatment", "mailed")
WITH_AMOUNTS = {"sample_weight": GIVEN["w"], "gain": GIVEN["gain"], "cost": GIVEN["cost"]}
WITH_AMOUNTS |= {"treatment": GIVEN["mailed"]}
LOST = {"gain": GIVEN["gain"], "gain_rejected": GIVEN["lost"]}
CASES: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    ((), {}),
    (AMOUNTS, WITH_AMOUNTS),
    (("--gain", "gain", "--gain-rejected", "lost"), LOST),
    ((*AMOUNTS, "--by", "part"), {**WITH_AMOUNTS, "groups": GIVEN["part"]}),
    (
        ("--where", "part!=a", "--where", "w>=0.25", "--where", "w<4"),
        {"where": (GIVEN["part"] == "b") & (GIVEN["w"] < 4)},
    ),
    (("--label", "text", "--pos-label", "it's \\"), {}),
]


def columns(names: Iterable[str], rows: Iterable[Any]) -> dict[str, np.ndarray]:
    return dict(zip(names, map(np.asarray, zip(*rows, strict=True)), strict=True))


def values(ranking: qk.Ranking) -> dict[str, Any]:
    found = {"auc": qk.roc_auc(ranking), "hits": qk.hit_rate(ranking, fraction=0.5)}
    if ranking.columns and not ranking.groups:
        found["brings"] = qk.impact_at_quota(ranking, fraction=0.5).whole
    if "cost" in ranking.columns and not ranking.groups:
        found["spent"] = qk.hit_rate(ranking, budget=9)
        found["uplift"] = qk.uplift.auuc(ranking)
    return found


def check(grouped: dict[str, np.ndarray], keywords: dict[str, Any]) -> None:
    wanted = values(qk.rank(*list(GIVEN.values())[:2], **keywords))
    found = values(qk.Ranking.from_counts(**grouped))
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-14, err_msg=name)


@pytest.mark.parametrize(("options", "keywords"), CASES)
def test_duckdb_groups_as_rank_does(options: Any, keywords: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    with duckdb.connect() as connection:
        connection.register("scored", pa.table(GIVEN))
        query = run("sql", "scored", "--dialect", "duckdb", *PLAIN, *options).out
        found = connection.sql(query)
        check(columns(found.columns, found.fetchall()), keywords)


def test_what_is_no_value_is_refused() -> None:
    duckdb = pytest.importorskip("duckdb")
    good = {"y": "1", "s": "0.5", "w": "1.0", "g": "1.0"}
    bad = {"y": ["2", "NULL"], "s": ["NULL", "'NaN'::DOUBLE"], "w": ["NULL", "-1"], "g": ["NULL"]}
    given = ("--label", "y", "--score", "s", "--weight", "w", "--gain", "g")
    query = run("sql", "(TABLE)", "--dialect", "duckdb", *given).out
    for name, wrong in bad.items():
        for value in wrong:
            rows = (good, {"y": "0", "s": "0.25", "w": "1.0", "g": "1.0"}, {**good, name: value})
            selects = (", ".join(f"{x} AS {k}" for k, x in row.items()) for row in rows)
            table = " UNION ALL ".join(f"SELECT {x}" for x in selects)
            found = duckdb.sql(query.replace("TABLE", table))
            with pytest.raises((TypeError, ValueError)):
                qk.Ranking.from_counts(**columns(found.columns, found.fetchall()))


@pytest.mark.full
def test_spark_groups_as_rank_does() -> None:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", 1).getOrCreate()
    try:
        rows = list(zip(*(x.tolist() for x in GIVEN.values()), strict=True))
        spark.createDataFrame(rows, list(GIVEN)).createOrReplaceTempView("scored")
        for options, keywords in CASES:
            query = run("sql", "scored", "--dialect", "spark", *PLAIN, *options).out
            found = spark.sql(query)
            check(columns(found.columns, map(tuple, found.collect())), keywords)
    finally:
        spark.stop()
