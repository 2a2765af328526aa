"""Rankings of tables, queries and Parquet files that DuckDB reads.

The database groups the rows by score, with all its threads and, where memory does not suffice, on
its disk. What comes back is one row per distinct score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from quotakernels import Ranking, ops
from quotakernels.adapters import _sql as sql
from quotakernels.adapters._parquet import dataset, with_rows
from quotakernels.adapters._tables import check_grouped_ties, combined, ranking_of_groups
from quotakernels.inputs.keywords import public
from quotakernels.ranking import TiePolicy

try:
    import duckdb
except ModuleNotFoundError as error:
    raise ImportError(
        f"quotakernels.adapters.duckdb needs the package {error.name!r}; install it with: "
        'pip install "quotakernels[duckdb]"'
    ) from error

__all__ = ["ranking", "read_parquet"]

_WHOLE = {f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big")}
_WHOLE |= {"integer", "uinteger"}
_SCORES = {"boolean", "float", "double", *_WHOLE}
_NUMBERS = {*_SCORES, "hugeint", "uhugeint", "decimal"}
_TEXTS = {"varchar", "enum"}


class _Amounts(NamedTuple):
    """Numbers that are summed exactly: their name and column, SQL for them and for what fits."""

    name: str
    column: str
    value: str
    fits: str
    expected: str


class _Labels(NamedTuple):
    """The column of labels, SQL that tells the positive ones (NULL: neither), and what fits."""

    name: str
    positive: str
    expected: str


@overload
def ranking(
    connection: Any,
    source: Any,
    *,
    label: str | None,
    score: str,
    weight: str | None = ...,
    where: str | None = ...,
    pos_label: Any = ...,
    ties: TiePolicy = ...,
    gain: str | None = ...,
    gain_rejected: str | float = ...,
) -> Ranking: ...
@overload
def ranking(
    connection: Any,
    source: Any,
    *,
    label: str | None,
    score: Sequence[str],
    weight: str | None = ...,
    where: str | None = ...,
    pos_label: Any = ...,
    ties: TiePolicy = ...,
    gain: str | None = ...,
    gain_rejected: str | float = ...,
) -> dict[str, Ranking]: ...
@public
def ranking(
    connection: Any,
    source: Any,
    *,
    label: str | None,
    score: str | Sequence[str],
    weight: str | None = None,
    where: str | None = None,
    pos_label: Any = None,
    ties: TiePolicy = "expected",
    gain: str | None = None,
    gain_rejected: str | float = 0,
) -> Ranking | dict[str, Ranking]:
    """Rank scores by ``SELECT score, COUNT(*), … GROUP BY score``: `rank` for DuckDB.

    Without weights the result is that of `rank` on the columns, bit for bit. The database reads the
    source once for each column of scores, and again to tell what is wrong.

    Parameters
    ----------
    connection : DuckDB connection, or the module ``duckdb``
        Where `source` is looked up, if it is a string.
    source : str or DuckDB relation
        The name of a table or view, or one SELECT query, or a relation. For several Parquet files
        take that of `read_parquet` of this module.
    label, weight : str
        Columns of the labels and of the weights; names are taken as they are, never as SQL.  With
        gains the label may be None.
    score : str or sequence of str
        Column of the scores, or those of several models.
    where : str, optional
        A condition of SQL for the rows to use, as behind WHERE; the one argument beside a query
        that is run as SQL.
    pos_label, ties : optional
        As `rank` takes them; not ``ties="given"``.
    gain, gain_rejected : str, optional
        Columns of what each row brings if it is selected, and if it is not, as `rank` takes them;
        `gain_rejected` may be one number.

    Returns
    -------
    Ranking, or dict of Ranking by column
        Of NumPy arrays. Thresholds are in the type of the column; DECIMAL becomes float64.  Masses
        are the exact sums of the weights within a few ulp, and gains within a few ulp of the sum
        of their sizes, which no order of rows or threads changes.

    Raises
    ------
    TypeError
        Columns of other types: scores of more than 64 bits, or DECIMAL of more than 15 digits,
        in which distinct ones could become equal.
    ValueError
        Columns that are not there; NULL or NaN scores, labels that are NULL or not 0 and 1, NULL,
        negative, NaN or infinite weights, gains that are not finite, with their number, an
        example, and the condition that finds them, as rows have no number in SQL.  A row of weight
        0 is as if it were not there.

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
    names = [score] if isinstance(score, str) else list(score)
    relation = _relation(connection, source)
    amounts = _amounts(weight, gain, gain_rejected)
    rows = _rows(relation, [*names] if label is None else [label, *names], amounts, where)
    for name in names:
        _check_score(rows, name)
    labels = _labels(rows, label, pos_label) if label is not None else _all_positive(gain)
    found = {
        name: ranking_of_groups(_groups(rows, name, labels, amounts), ties)
        for name in dict.fromkeys(names)
    }
    return found[score] if isinstance(score, str) else found


@public
def read_parquet(
    connection: Any, files: str | Sequence[str], columns: Sequence[str], *, hive: bool = False
) -> Any:
    """Read columns of Parquet files, whose types may differ where no value is lost.

    DuckDB's own ``read_parquet`` casts all files to the types of the first, so that floats behind
    integers are rounded. Here the order of the files changes nothing: narrow types become the
    widest one, and booleans and integers beside floats become DOUBLE.

    Parameters
    ----------
    connection : DuckDB connection, or the module ``duckdb``
        What reads them.
    files : str or sequence of str
        Paths, or patterns such as ``"scores/*.parquet"``. Files without rows are left out.
    columns : sequence of str
        Names of the columns.
    hive : bool
        Whether directories such as ``day=7`` are columns too; their values are texts.

    Returns
    -------
    DuckDB relation

    Raises
    ------
    TypeError
        A column of types that no type holds, such as numbers and texts, or floats and integers
        beyond 2**53; with two of the files and both types.
    ValueError
        No file, no file with rows, or a column that is not in all files.

    See Also
    --------
    ranking

    Examples
    --------
    >>> import duckdb, os, tempfile
    >>> from quotakernels.adapters.duckdb import read_parquet
    >>> folder = tempfile.mkdtemp()
    >>> for name, score in ("a", "1"), ("b", "CAST(0.5 AS DOUBLE)"):
    ...     _ = duckdb.execute(f"COPY (SELECT {score} AS score) TO '{folder}/{name}.parquet'")
    >>> found = read_parquet(duckdb, os.path.join(folder, "*.parquet"), ["score"])
    >>> print(sorted(found.fetchall()))
    [(0.5,), (1.0,)]
    """
    patterns = [files] if isinstance(files, str) else list(files)
    matching = (connection.sql(f"FROM glob({sql.literal(x)})").fetchall() for x in patterns)
    found = sorted({file for rows in matching for (file,) in rows})
    full = with_rows(connection, found) if found else []
    if not full:
        raise ValueError(f"{', '.join(patterns)}: there is no {'row' if found else 'such file'}")
    return dataset(connection, full, columns, hive).rows


def _relation(connection: Any, source: Any) -> Any:
    """The table of a name, else the rows of a query."""
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


def _amounts(weight: str | None, gain: str | None, gain_rejected: str | float) -> list[_Amounts]:
    """The columns to sum: weights, and gains as many times as there is weight."""
    found = []
    if weight is not None:
        value, expected = _double(weight), "a finite weight, not negative"
        found.append(_Amounts("weight", weight, value, sql.is_weight(value), expected))
    if gain is None and gain_rejected != 0:
        raise TypeError("gain_rejected needs gain, the column of what each row brings if selected")
    gains = {} if gain is None else {"gain": gain, "gain_rejected": gain_rejected}
    for name, brought in gains.items():
        if isinstance(brought, str):
            value = _double(brought)
        elif not math.isfinite(brought):
            raise ValueError(f"gain_rejected is {brought}; expected a finite number")
        else:
            value = sql.literal(float(brought))
        value += "" if weight is None else f" * {_double(weight)}"
        column = brought if isinstance(brought, str) else str(gain)
        if brought != 0:
            found.append(_Amounts(name, column, value, sql.is_gain(value), "a finite gain"))
    return found


def _rows(relation: Any, names: list[str], amounts: list[_Amounts], where: str | None) -> Any:
    """The rows that count, when the columns are there."""
    if where is not None or amounts:
        relation = _by_value(relation)
    if where is not None:
        relation = relation.filter(where)
    for name in [*names, *(x.column for x in amounts)]:
        if name.lower() not in [column.lower() for column in relation.columns]:
            raise ValueError(f"there is no column {name!r}; there are {relation.columns}")
    for x in amounts:
        if _type(relation, x.column).id not in _NUMBERS:
            raise TypeError(_holds(relation, x.column, "numbers"))
    weighted = [f"{x.value} IS DISTINCT FROM 0" for x in amounts if x.name == "weight"]
    return relation.filter(*weighted) if weighted else relation


def _by_value(relation: Any) -> Any:
    """The same rows, for filters that see NaN; it costs some 20 ns a row."""
    named = zip(map(sql.identifier, relation.columns), map(str, relation.types), strict=True)
    read = [(column, sql.by_value(column, kind)) for column, kind in named]
    replaced = ", ".join(f"{value} AS {column}" for column, value in read if value != column)
    return relation.project(f"* REPLACE ({replaced})") if replaced else relation


def _type(relation: Any, name: str) -> Any:
    return relation.types[[column.lower() for column in relation.columns].index(name.lower())]


def _holds(relation: Any, name: str, expected: str) -> str:
    return f"column {name!r} is of type {_type(relation, name)}; expected {expected}"


def _double(name: str) -> str:
    return f"CAST({sql.identifier(name)} AS DOUBLE)"


def _check_score(relation: Any, name: str) -> None:
    kind = _type(relation, name)
    exact = kind.id == "decimal" and dict(kind.children)["precision"] <= sql.EXACT_DIGITS
    if not (exact or kind.id in _SCORES):
        numbers = f"numbers of up to 64 bits, or DECIMAL of up to {sql.EXACT_DIGITS} digits"
        raise TypeError(_holds(relation, name, f"{numbers}; cast it in a query"))


def _labels(relation: Any, name: str, pos_label: Any) -> _Labels:
    column, kind = sql.identifier(name), _type(relation, name).id
    column = f"CAST({column} AS VARCHAR)" if kind == "enum" else column
    if kind not in _NUMBERS | _TEXTS:
        raise TypeError(_holds(relation, name, "booleans, numbers or texts"))
    if pos_label is None:
        if kind in _TEXTS:
            raise ValueError(_holds(relation, name, "0 and 1; for other labels pass pos_label"))
        positive = (
            column if kind == "boolean" else f"CASE {column} WHEN 1 THEN true WHEN 0 THEN false END"
        )
        return _Labels(name, positive, "0 or 1")
    positive = f"({column} = {_label_value(relation, name, pos_label)})"
    found = _by_value(relation).filter(f"NOT {positive}").aggregate(f"min({column}), max({column})")
    low, high = found.fetchall()[0]
    if low != high:  # so too where the only one is NaN
        raise ValueError(
            f"column {name!r} has the labels {low!r} and {high!r} beside pos_label; expected one"
        )
    return _Labels(name, positive, "a label")


def _all_positive(gain: str | None) -> _Labels:
    """What stands for labels where there are none, as what rows bring does not depend on them."""
    if gain is None:
        raise TypeError("label must be the name of a column; got None, which only gains allow")
    return _Labels("", "true", "")


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
        return sql.literal(bool(value))
    return f"CAST({sql.literal(value)} AS FLOAT)" if kind == "float" else sql.literal(value)


def _groups(rows: Any, name: str, labels: _Labels, amounts: list[_Amounts]) -> ops.Groups:
    """The table of one column of scores."""
    score = sql.identifier(name) if _type(rows, name).id != "decimal" else _double(name)
    wanted = [f"{score} AS score", f"{labels.positive} AS positive"]
    for x in amounts:
        wanted += [f"{x.value} AS {x.name}", f"{sql.scale(x.value, x.fits)} AS {x.name}_scale"]
    keys = ["score", *(f"{x.name}_scale" for x in amounts)]
    aggregates = [x for each in amounts for x in _exact_sums(each.name)]
    found = rows.project(", ".join(wanted)).aggregate(
        ", ".join([*keys, *_COUNTS, *aggregates]), ", ".join(keys)
    )
    columns = found.fetchnumpy()
    _refuse_bad(rows, columns, name, labels, amounts)
    sums = _sums(columns, amounts)
    counted = (np.asarray(columns[x]) for x in ("score", "counts", "positives"))
    masses = _masses(sums["weight"], amounts[0].column) if "weight" in sums else (None, None)
    gains = _gains(*sums["gain"], *sums.get("gain_rejected", ())) if "gain" in sums else ()
    return combined([ops.Groups(*counted, *masses)._replace(gains=gains)])


_COUNTS = (
    "count(*) AS counts",
    "count(*) FILTER (positive) AS positives",
    "count(*) FILTER (positive IS NULL) AS unlabelled",
)


def _exact_sums(name: str) -> list[str]:
    """Sums of units of the positives and of the negatives; of gains also of their sizes."""
    units = sql.units(name, f"{name}_scale")
    sums = [f"sum({units}) FILTER (positive)", f"sum({units}) FILTER (NOT positive)"]
    sums += [] if name == "weight" else [f"sum(abs({units}))"]
    return [f"CAST(coalesce({x}, 0) AS DOUBLE) AS {name}_{k}" for k, x in enumerate(sums)]


def _sums(columns: dict[str, Any], amounts: list[_Amounts]) -> dict[str, list[np.ndarray]]:
    """The sums of each amount; the rows of a score come into an order of their own."""
    scales = {x.name: np.asarray(columns[f"{x.name}_scale"], dtype=np.int64) for x in amounts}
    if scales:
        order = np.lexsort([*scales.values()][::-1])
        for name in columns:
            columns[name] = columns[name][order]
    return {
        name: [
            sql.mass(np.asarray(columns[f"{name}_{k}"]), scale[order])
            for k in range(len(_exact_sums(name)))
        ]
        for name, scale in scales.items()
    }


def _masses(sums: list[np.ndarray], weight: str) -> list[np.ndarray]:
    """Sums of weights of both classes."""
    with np.errstate(over="ignore"):
        if not np.isfinite(sums[0].sum() + sums[1].sum()):
            raise ValueError(f"column {weight!r}: the sum of the weights is too large for a number")
    return sums


def _gains(
    positive: np.ndarray, negative: np.ndarray, size: np.ndarray, *rejected: np.ndarray
) -> ops.Gains:
    """Sums of gains, with their size that of those of the rejected."""
    size = ops.GAIN_SCALE * size
    return ops.Gains(
        positive, negative, size + ops.GAIN_SCALE * rejected[2] if rejected else size, *rejected[:2]
    )


def _refuse_bad(
    rows: Any, columns: dict[str, Any], name: str, labels: _Labels, amounts: list[_Amounts]
) -> None:
    """Raise for what came back from rows that cannot be used."""
    scores = columns["score"]
    absent = np.ma.getmaskarray(scores)
    if scores.dtype.kind == "f":
        absent = absent | np.isnan(np.ma.getdata(scores))
    if absent.any():
        column = sql.identifier(name)
        nan = f" OR {sql.is_nan(column)}" if scores.dtype.kind == "f" else ""
        _refuse(rows, name, f"{column} IS NULL{nan}", "a number")
    if columns["unlabelled"].any():
        _refuse(rows, labels.name, f"{labels.positive} IS NULL", labels.expected)
    for x in amounts:
        if np.ma.getmaskarray(columns[f"{x.name}_scale"]).any():
            _refuse(rows, x.column, f"NOT {x.fits}", x.expected)


def _refuse(rows: Any, name: str, condition: str, expected: str) -> None:
    """Raise for the rows that a condition finds: how many, and one of them."""
    bad = _by_value(rows).filter(condition)
    count = bad.aggregate("count(*)").fetchall()[0][0]
    value = bad.project(f"CAST({sql.identifier(name)} AS VARCHAR)").limit(1).fetchall()[0][0]
    raise ValueError(
        f"column {name!r}: {count} row{'' if count == 1 else 's'} without {expected}, for example "
        f"{'NULL' if value is None else value}; SQL numbers no rows, WHERE {condition} finds them"
    )
