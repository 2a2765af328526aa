"""Rankings of tables, queries and Parquet files that DuckDB reads.

The database groups the rows by score, with all its threads and, if memory is short, on disk.  It
returns one row per distinct score.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from quotakernels import Ranking, ops
from quotakernels.adapters import requiring
from quotakernels.adapters._tables import merged, ranking_of_merged
from quotakernels.inputs.examples import check_grouped_ties
from quotakernels.inputs.keywords import public, show_value
from quotakernels.ranking import TiePolicy

with requiring("DuckDB", "duckdb"):
    import duckdb

__all__ = ["ranking"]


@public
def ranking(
    connection: Any,
    source: Any,
    *,
    label: str | None,
    score: str,
    weight: str | None = None,
    where: str | None = None,
    pos_label: Any = None,
    ties: TiePolicy = "expected",
    gain: str | None = None,
    gain_rejected: str | float = 0,
    group: str | None = None,
    cost: str | None = None,
    treatment: str | None = None,
) -> Ranking:
    """Rank scores by ``SELECT score, COUNT(*), … GROUP BY score``: `rank` for DuckDB.

    Without weights the result equals that of `rank` on the columns, bit for bit.  The database
    reads the source once, and again to describe an error.

    Parameters
    ----------
    connection : DuckDB connection, or the module ``duckdb``
        Where `source` is looked up, if it is a string.
    source : str or DuckDB relation
        The name of a table or view, or one SELECT query, or a relation.
    label, weight : str
        Columns of the labels and of the weights; names are never run as SQL.  With gains the label
        may be None.
    score : str
        Column of the scores.
    where : str, optional
        An SQL condition for the rows to use, as after WHERE.  Only this argument, and a query, are
        run as SQL.
    pos_label : optional
        The label of the positive class, if labels are not 0 and 1.
    ties : {"expected", "optimistic", "pessimistic"}
        Whether equal scores count by the mean over their orders, or with the positives first, or
        last.
    gain, gain_rejected : str, optional
        Columns of what each row brings if it is selected, and if it is not; `gain_rejected` may be
        one number.
    group : str, optional
        Column of the group of each row, integers, text, dates or timestamps without a time zone;
        rows are counted by ``GROUP BY group, score``.  A group whose rows are all left out, or have
        no weight, does not appear.
    cost : str, optional
        Column of what each row costs if it is selected, not negative.
    treatment : str, optional
        Column of 1 for treated rows and 0 for controls.

    Returns
    -------
    Ranking
        Of NumPy arrays.  Thresholds have the type of the column; DECIMAL becomes float64.  Masses
        are the exact sums of the weights within a few ulp, and gains within a few ulp of the sum of
        their absolute values.  They do not depend on the order of rows or threads.

    Raises
    ------
    TypeError
        Columns of other types: scores of more than 64 bits, or DECIMAL of more than 15 digits,
        in which distinct ones could become equal.
    ValueError
        Missing columns.  NULL or NaN scores; labels that are NULL or not 0 and 1; NULL, negative,
        NaN or infinite weights and costs; gains that are not finite; treatments that are not 0 and
        1.  The error has their number, an example, and the condition that finds them, because rows
        have no number in SQL.  A row of weight 0 counts as absent.

    Examples
    --------
    >>> import duckdb
    >>> from quotakernels import hit_rate
    >>> from quotakernels.adapters.duckdb import ranking
    >>> query = "SELECT i / 10 AS score, i % 3 = 0 AS bought FROM range(10) AS t(i)"
    >>> found = ranking(duckdb, query, label="bought", score="score")
    >>> print(hit_rate(found, quota=4))
    0.5
    """
    check_grouped_ties(ties)
    if label is None and gain is None:
        raise TypeError("label must be the name of a column; got None, which only gains allow")
    _check_names(label=label, score=score, group=group)
    relation = _relation(connection, source)
    amounts = _amounts_of(weight, gain, gain_rejected, cost, treatment)
    named = [name for name in (label, group, score) if name is not None]
    rows = _rows_of(relation, named, amounts, where)
    column = _score_of(rows, score)
    labels = _labels_of(rows, label, pos_label)
    found = _grouped(rows, column, labels, amounts, group)
    _refuse_bad(rows, found, score, labels, amounts)
    of_rows = []
    if group is not None:
        if np.ma.getmaskarray(found["segment"]).any():
            _refuse(rows, group, f"{_identifier(group)} IS NULL", "a group")
        ids = np.asarray(found["segment"])
        of_rows = [ids.astype("datetime64[D]") if _type(rows, group).id == "date" else ids]
    return ranking_of_merged(*merged([_table(found, amounts)], of_rows), ties)


def _check_names(**columns: Any) -> None:
    for name, x in columns.items():
        if not isinstance(x, str) and (x is not None or name == "score"):
            raise TypeError(f"{name} must be the name of one column; got {show_value(x)}")


def _relation(connection: Any, source: Any) -> Any:
    """The table with a name, or the rows of a query."""
    if not isinstance(source, str):
        return source
    try:
        return connection.table(source)
    except (duckdb.CatalogException, duckdb.ParserException) as error:
        try:
            statements = connection.extract_statements(source)
        except duckdb.ParserException:
            raise error from None
        if [x.type for x in statements] != [duckdb.StatementType.SELECT]:
            raise ValueError("source must be the name of a table, or one SELECT query") from None
    return connection.sql(source)


def _grouped(
    rows: Any, score: str, labels: Labels, amounts: list[Amounts], group: str | None
) -> dict[str, Any]:
    """The result of grouping by score, and by group if there are any, in the database."""
    wanted = [f"{score} AS score", f"{labels.positive} AS positive"]
    wanted += [f"{x.value} AS {x.name}, {x.fits} AS {x.name}_fits" for x in amounts]
    wanted += [] if group is None else [f"{_group_of(rows, group)} AS segment"]
    keys = "score" if group is None else "score, segment"
    sums = [column for x in amounts for column in _sums_of(x.name)]
    found = rows.project(", ".join(wanted)).aggregate(", ".join([keys, *_COUNTS, *sums]), keys)
    columns: dict[str, Any] = found.fetchnumpy()
    return columns


_COUNTS = (
    "count(*) AS counts",
    "count(*) FILTER (positive) AS positives",
    "count(*) FILTER (positive IS NULL) AS unlabelled",
)


def _sums_of(name: str) -> Iterator[str]:
    """SQL for the sums of positives and of negatives, and for the number of bad amounts.

    Summing in one order gives the same result in every run, and compensated summation is exact
    within an ulp or two.
    """
    for key, which in (("a", "positive"), ("b", "NOT positive")):
        total = f"fsum({name} ORDER BY {name}) FILTER ({which})"
        yield f"coalesce({total}, 0) AS {name}_{key}"
    yield f"count(*) FILTER (NOT {name}_fits) AS {name}_unfit"


def _table(columns: dict[str, Any], amounts: list[Amounts]) -> ops.TieTable:
    """The table of the grouped rows, in any order."""
    sums: ops.Columns = {}
    for x in amounts:
        sums[x.name] = ops.ByClass(*(np.asarray(columns[f"{x.name}_{k}"]) for k in "ab"))
        if not np.isfinite(np.sum(sums[x.name])):
            what = f"column {x.column!r}: the sum of the {x.name.partition('_')[0]}s"
            raise ValueError(f"{what} is too large for a number")
    masses: Any = sums.pop("weight", (None, None))
    counted: Any = [np.asarray(columns[x]) for x in ("score", "counts", "positives")]
    return ops.TieTable(*counted, *masses)._replace(columns=sums)


def _refuse_bad(
    rows: Any, columns: dict[str, Any], name: str, labels: Labels, amounts: list[Amounts]
) -> None:
    """Raise for rows that cannot be used, by what the database returned."""
    scores = columns["score"]
    absent = np.ma.getmaskarray(scores)
    if scores.dtype.kind == "f":
        absent = absent | np.isnan(np.ma.getdata(scores))
    if absent.any():
        column = _identifier(name)
        nan = f" OR (CAST({column} AS VARCHAR) = 'nan')" if scores.dtype.kind == "f" else ""
        _refuse(rows, name, f"{column} IS NULL{nan}", "a number")
    if columns["unlabelled"].any():
        _refuse(rows, labels.name, f"{labels.positive} IS NULL", labels.expected)
    for x in amounts:
        if columns[f"{x.name}_unfit"].any():
            _refuse(rows, x.column, f"NOT {x.fits}", x.expected)


def _refuse(rows: Any, name: str, condition: str, expected: str) -> None:
    """Raise for rows that fulfil a condition: how many there are, and one of them."""
    bad = _rows_by_value(rows).filter(condition)
    count = bad.aggregate("count(*)").fetchall()[0][0]
    value = bad.project(f"CAST({_identifier(name)} AS VARCHAR)").limit(1).fetchall()[0][0]
    raise ValueError(
        f"column {name!r}: {count} row{'' if count == 1 else 's'} without {expected}, for example "
        f"{'NULL' if value is None else value}; SQL numbers no rows, WHERE {condition} finds them"
    )


# SQL: names, values, checked columns


_EXACT_DIGITS = 15
"""Decimal numbers with up to so many digits stay distinct and in order as DOUBLE."""


def _identifier(name: str) -> str:
    """A name of a column or table, whatever characters it has."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _literal(value: bool | int | float | str) -> str:
    """A value of Python as one of SQL."""
    if isinstance(value, str):
        escaped = value.replace("'", "''")
        return f"'{escaped}'"
    return f"CAST('{value!r}' AS DOUBLE)" if isinstance(value, float) else str(value)


def _by_value(column: str, kind: str) -> str:
    """A column for filters and ``max``, which the statistics of a file must not answer.

    Statistics of Parquet files ignore NaN, so DuckDB would find none, or take it for another value.
    It does not use them for volatile expressions.  Only floats have NaN.
    """
    floats = kind.lower() in ("float", "double")
    return f"({column} + CAST(0 * random() AS {kind}))" if floats else column


_INTEGERS = {f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big")}
_INTEGERS |= {"integer", "uinteger"}
_SCORES = {"boolean", "float", "double", *_INTEGERS}
_NUMBERS = {*_SCORES, "hugeint", "uhugeint", "decimal"}
_TEXTS = {"varchar", "enum"}
_DATES = {"date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"}


# columns of a relation, checked


class Amounts(NamedTuple):
    """Numbers that are summed exactly: their name and column, SQL for them and for what fits."""

    name: str
    column: str
    value: str
    fits: str
    expected: str


class Labels(NamedTuple):
    """The column of labels, SQL for which are positive (NULL: neither), and what is allowed."""

    name: str
    positive: str
    expected: str


_FITS = {
    "weight": ("{0} > 0 AND isfinite({0})", "a finite weight, not negative"),
    "gain": ("isfinite({0})", "a finite gain"),
    "gain_rejected": ("isfinite({0})", "a finite gain"),
    "cost": ("{0} >= 0 AND isfinite({0})", "a finite cost, not negative"),
    "treated": ("{0} IN (0, 1)", "a treatment of 1 or 0"),
    "control": ("{0} IN (0, 1)", "a treatment of 1 or 0"),
}
"""Which DOUBLE values a column may have, in SQL and in words."""


def _amounts_of(
    weight: str | None,
    gain: str | None,
    gain_rejected: str | float,
    cost: str | None,
    treatment: str | None,
) -> list[Amounts]:
    """The columns to sum: weights; and gains, costs and both arms, times the weight."""
    _check_names(weight=weight, gain=gain, cost=cost, treatment=treatment)
    if gain is None and gain_rejected != 0:
        raise TypeError("gain_rejected needs gain, the column of what each row brings if selected")
    named = {"weight": weight, "gain": gain, "cost": cost}
    named |= {"treated": treatment, "control": treatment}
    columns = {name: (x, _double(x)) for name, x in named.items() if x is not None}
    if isinstance(gain_rejected, str):
        columns["gain_rejected"] = gain_rejected, _double(gain_rejected)
    elif not math.isfinite(gain_rejected):
        raise ValueError(f"gain_rejected is {gain_rejected}; expected a finite number")
    elif gain_rejected != 0:
        columns["gain_rejected"] = str(gain), _literal(float(gain_rejected))
    found = []
    for name in (x for x in _FITS if x in columns):
        column, value = columns[name]
        fits, expected = _FITS[name]
        of_flag = name in ("treated", "control")
        times = "" if weight is None or name == "weight" else f" * {_double(weight)}"
        amount = f"(1 - {value})" if name == "control" else value
        tested = value if of_flag else f"{value}{times}"
        fits = f"coalesce({fits.format(tested)}, false)"
        found.append(Amounts(name, column, f"{amount}{times}", fits, expected))
    if sizes := [f"abs({x.value})" for x in found if x.name.startswith("gain")]:
        size = f"({' + '.join(sizes)}) * {_literal(ops.GAIN_SCALE)}"
        found.append(Amounts("gain_size", str(gain), size, "true", ""))
    return found


def _rows_of(relation: Any, names: list[str], amounts: list[Amounts], where: str | None) -> Any:
    """SQL for the rows to use, those with a weight other than 0; raise if a column is missing."""
    if where is not None or amounts:
        relation = _rows_by_value(relation)
    if where is not None:
        relation = relation.filter(where)
    for name in [*names, *(x.column for x in amounts)]:
        if str(name).lower() not in [column.lower() for column in relation.columns]:
            raise ValueError(f"there is no column {name!r}; there are {relation.columns}")
    for x in amounts:
        if _type(relation, x.column).id not in _NUMBERS:
            raise TypeError(_holds(relation, x.column, "numbers"))
    weighted = [f"{x.value} IS DISTINCT FROM 0" for x in amounts if x.name == "weight"]
    return relation.filter(*weighted) if weighted else relation


def _rows_by_value(relation: Any) -> Any:
    """SQL for all rows, read so that filters see NaN, which costs some 20 ns a row."""
    named = zip(map(_identifier, relation.columns), map(str, relation.types), strict=True)
    read = [(column, _by_value(column, kind)) for column, kind in named]
    replaced = ", ".join(f"{value} AS {column}" for column, value in read if value != column)
    return relation.project(f"* REPLACE ({replaced})") if replaced else relation


def _type(relation: Any, name: str) -> Any:
    return relation.types[[column.lower() for column in relation.columns].index(name.lower())]


def _holds(relation: Any, name: str, expected: str) -> str:
    return f"column {name!r} is of type {_type(relation, name)}; expected {expected}"


def _double(name: str) -> str:
    return f"CAST({_identifier(name)} AS DOUBLE)"


def _score_of(relation: Any, name: str) -> str:
    """SQL for scores, whose values stay distinct and in order."""
    kind = _type(relation, name)
    if kind.id in _SCORES:
        return _identifier(name)
    if kind.id != "decimal" or dict(kind.children)["precision"] > _EXACT_DIGITS:
        numbers = f"numbers of up to 64 bits, or DECIMAL of up to {_EXACT_DIGITS} digits"
        raise TypeError(_holds(relation, name, f"{numbers}; cast it in a query"))
    return _double(name)


def _group_of(relation: Any, name: str) -> str:
    """SQL for the ids of groups: integers, texts or dates."""
    if (kind := _type(relation, name).id) not in _INTEGERS | _TEXTS | _DATES | {"boolean"}:
        raise TypeError(_holds(relation, name, "integers, texts or dates; cast it in a query"))
    column = _identifier(name)
    return f"CAST({column} AS VARCHAR)" if kind == "enum" else column


def _labels_of(relation: Any, name: str | None, pos_label: Any) -> Labels:
    """The labels; without any, all rows are positive, since gains do not depend on labels."""
    if name is None:
        return Labels("", "true", "")
    column, kind = _identifier(name), _type(relation, name).id
    column = f"CAST({column} AS VARCHAR)" if kind == "enum" else column
    if kind not in _NUMBERS | _TEXTS:
        raise TypeError(_holds(relation, name, "booleans, numbers or texts"))
    if pos_label is None:
        if kind in _TEXTS:
            raise ValueError(_holds(relation, name, "0 and 1; for other labels pass pos_label"))
        positive = (
            column if kind == "boolean" else f"CASE {column} WHEN 1 THEN true WHEN 0 THEN false END"
        )
        return Labels(name, positive, "0 or 1")
    positive = f"({column} = {_label_value(relation, name, pos_label)})"
    others = _rows_by_value(relation).filter(f"NOT {positive}")
    found = others.aggregate(f"min({column}), max({column})")
    low, high = found.fetchall()[0]
    if low != high:  # so too where the only one is NaN
        raise ValueError(
            f"column {name!r} has the labels {low!r} and {high!r} beside pos_label; expected one"
        )
    return Labels(name, positive, "a label")


def _label_value(relation: Any, name: str, pos_label: Any) -> str:
    """The positive label in the type of the column, where it has one."""
    kind = _type(relation, name).id
    value = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
    if isinstance(value, str) != (kind in _TEXTS) or not isinstance(value, (bool, int, float, str)):
        raise TypeError(
            _holds(relation, name, f"what pos_label={pos_label!r} can be compared with")
        )
    if value != value:
        raise ValueError("pos_label is NaN, which equals no label")
    if kind == "boolean":
        if value not in (0, 1):
            raise ValueError(f"pos_label={pos_label!r} cannot occur among booleans")
        return _literal(bool(value))
    return f"CAST({_literal(value)} AS FLOAT)" if kind == "float" else _literal(value)
