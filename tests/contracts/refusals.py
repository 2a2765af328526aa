"""The table of refused calls: what each says, in `refusals.txt`.

A message stands in the first column, after its type; the calls that end with it follow, indented.
A line that begins with `#` is a heading.  With QUOTAKERNELS_WRITE=1 in the environment the tests
write the messages again, after a change that was meant: look at the difference before you keep it.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

import quotakernels as qk
from quotakernels import plots

TABLE = Path(__file__).with_name("refusals.txt")
LISTS = {
    "Y": np.asarray([1, 0, 1, 1, 0, 0, 1, 0]),
    "S": np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0]),
    "W": np.asarray([1.0, 0.5, 2, 0, 3, 0.25, 1, 1]),
    "M": np.asarray([True, True, False, True, True, True, True, True]),
}
"""Labels, scores, weights and a mask, by the names that calls have for them."""
OTHERS: dict[str, Any] = {
    "qk": qk,
    "np": np,
    "pd": pd,
    "pl": pl,
    "pa": pa,
    "scipy": scipy,
    "plots": plots,
    "math": math,
    "datetime": datetime,
    "Decimal": Decimal,
    "Fraction": Fraction,
    "partial": functools.partial,
    "nan": math.nan,
    "inf": math.inf,
}


@functools.cache
def of_scorers() -> dict[str, Any]:
    """What the calls about scorers for scikit-learn have by name."""
    from adapters import test_sklearn as own
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.svm import SVC

    x, names = own.X, np.asarray(["no", "yes"])[own.CODES]
    return vars(own) | {
        "fitted": GaussianNB().fit(x, own.CODES),
        "of_names": GaussianNB().fit(x, names),
        "of_three": GaussianNB().fit(x, own.KINDS),
        "pairs": SVC(decision_function_shape="ovo").fit(x, own.KINDS + (x[:, 1] > 1)),
        "line": LinearRegression().fit(x, own.CODES),
        "clusters": KMeans(2, n_init=1, random_state=0).fit(x),
        "names": names,
    }


@functools.cache
def of_duckdb() -> dict[str, Any]:
    """`ranking` of two rows whose columns y, s and w may be other expressions."""
    from adapters import test_duckdb as own

    def ranking(values: dict[str, str], **options: Any) -> qk.Ranking:
        columns = {"y": "1", "s": "0.5::DOUBLE", "w": "1"} | values
        listed = ", ".join(f"{value} AS {name}" for name, value in columns.items())
        source = f"SELECT {listed} FROM range(1, 3) AS t(i)"
        with own.duckdb.connect() as connection:
            return own.ranking(connection, source, **{"label": "y", "score": "s", **options})

    return {"ranking": ranking}


@functools.cache
def of_torchmetrics() -> dict[str, Any]:
    """`update` of a metric with one batch, of which nothing is kept if it is refused."""
    from adapters import test_torchmetrics as own

    from quotakernels.adapters.torch_distributed import reduced

    def update(*batch: Any, state: str, options: Any = (), **named: Any) -> None:
        metric = own.RankingMetric(qk.roc_auc, state=state, **dict(options))
        try:
            metric.update(*batch, **named)
        finally:
            assert metric._kept.read(metric).ranking().counts.sum() == 0

    return vars(own) | {"update": update, "reduced": reduced}


@functools.cache
def of_flax() -> dict[str, Any]:
    """`update` of a metric with a state of one list, and states of other kinds."""
    from adapters import test_flax as own
    from adapters.test_jax_states import across_devices, emptied

    states, one = qk.states, own.LOGITS[0]
    fixed = states.FixedScoreBuffer.empty(one, capacity=8)

    def update(names: dict[str, Any], state: Any = fixed, **batch: Any) -> None:
        own.RankingMetric(qk.roc_auc, state, **names).update(**batch)

    return vars(own) | {
        "update": update,
        "emptied": emptied,
        "across_devices": across_devices,
        "fixed": fixed,
        "weighted": states.FixedScoreBuffer.empty(one, capacity=8, weighted=True),
        "coarse": states.ScoreHistogram.empty(own.jnp.zeros(1)),
    }


@functools.cache
def of_dask() -> dict[str, Any]:
    """`ranking` in this thread, and that of eight rows in blocks of three, with last values."""
    from adapters import test_dask as own

    def ranking(*columns: Any, **given: Any) -> qk.Ranking:
        with own.dask.config.set(scheduler="synchronous"):
            return own.ranking(*columns, **given)

    def eight(**last: Any) -> qk.Ranking:
        columns = {name: np.ones(8) for name in ("y_true", "y_score", *last)}
        for name, value in last.items():
            columns[name][7] = value
        return ranking(**{name: own.from_array(x, 3) for name, x in columns.items()})

    def frame(parts: int = 2, **columns: Any) -> Any:
        return own.dask.dataframe.from_pandas(pd.DataFrame(columns), npartitions=parts)

    ones = own.dask.array.ones(4, chunks=2)
    return vars(own) | {"ranking": ranking, "eight": eight, "frame": frame, "ones": ones}


ADAPTERS = {
    "Dask": of_dask,
    "Scorers": of_scorers,
    "DuckDB": of_duckdb,
    "torchmetrics": of_torchmetrics,
    "Flax": of_flax,
}
"""Headings of calls of an adapter, which are skipped where its library is missing."""
Rows = list[tuple[str, list[tuple[str, str]]]]
"""Of each heading the calls, and what they say."""


def read() -> Rows:
    """The table."""
    rows: Rows = []
    message = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            rows.append((line[2:], []))
        elif line.startswith("    "):
            rows[-1][1].append((line[4:], message))
        elif line:
            message = line
    return rows


def write(rows: Rows) -> None:
    """The table, with each message once under its heading."""
    lines: list[str] = []
    for heading, calls in rows:
        lines += [f"# {heading}", ""]
        said: dict[str, list[str]] = {}
        for call, message in calls:
            said.setdefault(message, []).append(call)
        for message, same in said.items():
            lines += [message, *(f"    {call}" for call in same)]
        lines.append("")
    TABLE.write_text("\n".join(lines), encoding="utf-8")


def outcome(call: str, array: Callable[[Any], Any] = np.asarray, heading: str = "") -> str:
    """What a call says, with its arrays of some library, on one line and without addresses."""
    others = OTHERS | (ADAPTERS[heading]() if heading in ADAPTERS else {})
    lists = {name: array(x) for name, x in LISTS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(call, {**lists, **others, "array": array})
        except Exception as error:
            said = f"{type(error).__name__}: {error}".replace("\n", " ")
            return re.sub("0x[0-9a-f]{6,}", "0x…", said)
    return f"no error, but {value}"


def write_again() -> None:
    """The table, with what each call says now."""
    table = read()
    write([(name, [(x, outcome(x, heading=name)) for x, _ in calls]) for name, calls in table])
