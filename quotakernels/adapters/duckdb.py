"""Rankings of tables, queries and Parquet files that DuckDB reads.

The database groups the rows by score, with all its threads and, if memory is short, on disk.  It
returns one row per distinct score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Required, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from quotakernels import Ranking, ops
from quotakernels.adapters import requiring
from quotakernels.adapters._tables import (
    check_grouped_ties,
    combined,
    ranking_by_group,
    ranking_of_groups,
)
from quotakernels.inputs.groups import GroupsOfExamples, groups_of
from quotakernels.inputs.keywords import public
from quotakernels.ranking import TiePolicy

with requiring("DuckDB", "duckdb"):
    import duckdb

__all__ = ["ranking"]


class _Columns(TypedDict, total=False):
    label: Required[str | None]
    weight: str | None
    where: str | None
    pos_label: Any
    ties: TiePolicy
    gain: str | None
    gain_rejected: str | float
    group: str | None
    cost: str | None
    treatment: str | None


@overload
def ranking(
    connection: Any, source: Any, *, score: str, **columns: Unpack[_Columns]
) -> Ranking: ...
@overload
def ranking(
    connection: Any, source: Any, *, score: Sequence[str], **columns: Unpack[_Columns]
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
    group: str | None = None,
    cost: str | None = None,
    treatment: str | None = None,
) -> Ranking | dict[str, Ranking]:
    """Rank scores by ``SELECT score, COUNT(*), … GROUP BY score``: `rank` for DuckDB.

    Without weights the result equals that of `rank` on the columns, bit for bit.  The database
    reads the source once for each column of scores, and again to describe an error.

    Parameters
    ----------
    connection : DuckDB connection, or the module ``duckdb``
        Where `source` is looked up, if it is a string.
    source : str or DuckDB relation
        The name of a table or view, or one SELECT query, or a relation.
    label, weight : str
        Columns of the labels and of the weights; names are never run as SQL.  With gains the label
        may be None.
    score : str or sequence of str
        Column of the scores, or those of several models.
    where : str, optional
        An SQL condition for the rows to use, as after WHERE.  Only this argument, and a query, are
        run as SQL.
    pos_label, ties : optional
        As `rank` takes them; not ``ties="given"``.
    gain, gain_rejected : str, optional
        Columns of what each row brings if it is selected, and if it is not, as `rank` takes them;
        `gain_rejected` may be one number.
    group : str, optional
        Column of the group of each row, integers, text, dates or timestamps without a time zone:
        `groups` of `rank`, by ``GROUP BY group, score``.  A group whose rows are all left out by
        `where` does not appear.
    cost : str, optional
        Column of what each row costs if it is selected, as `rank` takes it.
    treatment : str, optional
        Column of 1 for treated rows and 0 for controls, as `rank` takes it.

    Returns
    -------
    Ranking, or dict of Ranking by column
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
    names = [score] if isinstance(score, str) else list(score)
    relation = _relation(connection, source)
    amounts = _amounts_of(weight, gain, gain_rejected, cost, treatment)
    others = [name for name in (label, group) if name is not None]
    every = _rows_of(relation, [*others, *names], amounts, where)
    rows = _counted_rows(every, amounts)
    empty = _groups_there(every, group) if group is not None and weight is not None else None
    groups = None if group is None else _Named(group, _is_date(rows, group), empty)
    scores = {name: _score_of(rows, name) for name in names}
    labels = _labels_of(rows, label, pos_label) if label is not None else _all_positive(gain)
    found = {
        name: _ranking(rows, name, column, labels, amounts, groups, ties)
        for name, column in scores.items()
    }
    return found[score] if isinstance(score, str) else found


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


def _ranking(
    rows: Any,
    name: str,
    score: str,
    labels: Labels,
    amounts: list[Amounts],
    groups: _Named | None,
    ties: TiePolicy,
) -> Ranking:
    """The ranking of one column of scores, which is `score` in SQL."""
    columns = _grouped(rows, score, labels, amounts, groups)
    _refuse_bad(rows, columns, name, labels, amounts)
    if groups is not None and np.ma.getmaskarray(columns["segment"]).any():
        _refuse(rows, groups.column, f"{_identifier(groups.column)} IS NULL", "a group")
    sums = _sums(columns, amounts)
    counted: Any = [np.asarray(columns[x]) for x in ("score", "counts", "positives")]
    masses: Any = sums.pop("weight", (None, None))
    table = ops.TieTable(*counted, *masses)._replace(columns=sums)
    if groups is None:
        return ranking_of_groups(combined([table]), ties)
    return ranking_by_group(table, groups.of_rows(np.asarray(columns["segment"])), ties)


class _Named(NamedTuple):
    """The column of groups, and what names them where some may have no weight."""

    column: str
    has_days: bool
    there: np.ndarray | None

    def of_rows(self, ids: np.ndarray) -> GroupsOfExamples:
        """The group of each row that has an id."""
        every = ids if self.there is None else np.concatenate([ids, self.there])
        every = every.astype("datetime64[D]") if self.has_days else every
        codes, names = groups_of("group", every)
        return GroupsOfExamples(codes[: len(ids)], names)


def _grouped(
    rows: Any, score: str, labels: Labels, amounts: list[Amounts], groups: _Named | None
) -> dict[str, Any]:
    """What the database groups by score, by units of amounts, and by group if there are any."""
    wanted = [f"{score} AS score", f"{labels.positive} AS positive"]
    keys = ["score", *(f"{x.name}_scale" for x in amounts)]
    if groups is not None:
        wanted.append(f"{_group_of(rows, groups.column)} AS segment")
        keys.append("segment")
    for x in amounts:
        wanted += [f"{x.value} AS {x.name}", f"{_scale(x.value, x.fits)} AS {x.name}_scale"]
    aggregates = [x for each in amounts for x in _exact_sums(each.name)]
    found = rows.project(", ".join(wanted)).aggregate(
        ", ".join([*keys, *_COUNTS, *aggregates]), ", ".join(keys)
    )
    columns: dict[str, Any] = found.fetchnumpy()
    return columns


_COUNTS = (
    "count(*) AS counts",
    "count(*) FILTER (positive) AS positives",
    "count(*) FILTER (positive IS NULL) AS unlabelled",
)


def _exact_sums(name: str) -> list[str]:
    """Sums of units of the positives and of the negatives; of gains also of their sizes."""
    units = _units(name, f"{name}_scale")
    summed = [units, f"abs({units})"] if name.startswith("gain") else [units]
    sums = [f"sum({x}) FILTER ({which})" for x in summed for which in ("positive", "NOT positive")]
    return [f"CAST(coalesce({x}, 0) AS DOUBLE) AS {name}_{k}" for k, x in enumerate(sums)]


def _sums(columns: dict[str, Any], amounts: list[Amounts]) -> ops.Columns:
    """The sums of each amount by class; the rows of a score come into an order of their own."""
    scales = {x.name: np.asarray(columns[f"{x.name}_scale"], dtype=np.int64) for x in amounts}
    if scales:
        order = np.lexsort([*scales.values()][::-1])
        for name in columns:
            columns[name] = columns[name][order]

    def by_class(name: str, first: int) -> ops.ByClass:
        found = (np.asarray(columns[f"{name}_{k}"]) for k in (first, first + 1))
        return ops.ByClass(*(_mass(x, scales[name][order]) for x in found))

    found, sizes = {}, []
    for x in amounts:
        sums = [by_class(x.name, k) for k in ((0, 2) if x.name.startswith("gain") else (0,))]
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(np.sum(sums)):
                what = f"column {x.column!r}: the sum of the {x.name.partition('_')[0]}s"
                raise ValueError(f"{what} is too large for a number")
        found[x.name] = sums[0]
        sizes += [size.map(lambda own: ops.GAIN_SCALE * own) for size in sums[1:]]
    if sizes:
        found["gain_size"] = ops.ByClass(*(sum(own) for own in zip(*sizes, strict=True)))
    return found


def _refuse_bad(
    rows: Any, columns: dict[str, Any], name: str, labels: Labels, amounts: list[Amounts]
) -> None:
    """Raise for what came back from rows that cannot be used."""
    scores = columns["score"]
    absent = np.ma.getmaskarray(scores)
    if scores.dtype.kind == "f":
        absent = absent | np.isnan(np.ma.getdata(scores))
    if absent.any():
        column = _identifier(name)
        nan = f" OR {_is_nan(column)}" if scores.dtype.kind == "f" else ""
        _refuse(rows, name, f"{column} IS NULL{nan}", "a number")
    if columns["unlabelled"].any():
        _refuse(rows, labels.name, f"{labels.positive} IS NULL", labels.expected)
    for x in amounts:
        if np.ma.getmaskarray(columns[f"{x.name}_scale"]).any():
            _refuse(rows, x.column, f"NOT {x.fits}", x.expected)


def _refuse(rows: Any, name: str, condition: str, expected: str) -> None:
    """Raise for the rows that a condition finds: how many, and one of them."""
    bad = _rows_by_value(rows).filter(condition)
    count = bad.aggregate("count(*)").fetchall()[0][0]
    value = bad.project(f"CAST({_identifier(name)} AS VARCHAR)").limit(1).fetchall()[0][0]
    raise ValueError(
        f"column {name!r}: {count} row{'' if count == 1 else 's'} without {expected}, for example "
        f"{'NULL' if value is None else value}; SQL numbers no rows, WHERE {condition} finds them"
    )


# SQL: names, values, checked columns, and sums of floats that lose nothing
#
# A weight is a whole number of units of a power of two, and sums of whole numbers are exact in any
# order. Weights that lie within a factor of 2**32 have the same unit; those of another unit are
# summed apart, and 128 bits hold the sum of 2**41 of them. So it is with gains, which have signs.


_EXACT_DIGITS = 15
"""Decimal numbers of so many digits are rounded once to DOUBLE, stay distinct and in order."""

_SCALE_BITS = 32
_UNIT_BITS = 53


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


def _is_nan(column: str) -> str:
    """Whether a number is NaN, in words that statistics answer less often; see `by_value`."""
    return f"(CAST({column} AS VARCHAR) = 'nan')"


def _by_value(column: str, kind: str) -> str:
    """A column for filters and ``max``, which the statistics of a file must not answer.

    Those of Parquet leave NaN out, so that DuckDB finds no NaN, or takes it for the other value of
    its rows. It foresees nothing of what is volatile. Other types than floats have no NaN.
    """
    floats = kind.lower() in ("float", "double")
    return f"({column} + CAST(0 * random() AS {kind}))" if floats else column


def _scale(amount: str, fits: str) -> str:
    """The number of the unit of a weight or gain; NULL for what does not fit."""
    magnitude = f"coalesce(nullif(abs({amount}), 0), 1)"  # 0 is a whole number of any unit
    return f"CASE WHEN {fits} THEN CAST(floor(log2({magnitude}) / {_SCALE_BITS}) AS INTEGER) END"


def _units(amount: str, scale: str) -> str:
    """How many units a weight or gain is: a whole number, since one bit is spare for log2's sake.

    The power of two is in two factors, as that of the least weights is beyond a DOUBLE.
    """
    half = _SCALE_BITS // 2
    factors = (f"pow(2.0, {_UNIT_BITS // 2 + k} - {half} * {scale})" for k in (1, 0))
    return f"CAST({amount} * {' * '.join(factors)} AS HUGEINT)"


def _mass(units: NDArray[np.float64], scale: NDArray[np.int64]) -> NDArray[np.float64]:
    """Units of a scale as sums of weights."""
    with np.errstate(over="ignore"):
        masses: NDArray[np.float64] = np.ldexp(units, _SCALE_BITS * scale - _UNIT_BITS)
    return masses


_WHOLE = {f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "big")}
_WHOLE |= {"integer", "uinteger"}
_SCORES = {"boolean", "float", "double", *_WHOLE}
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
    """The column of labels, SQL that tells the positive ones (NULL: neither), and what fits."""

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
"""Which DOUBLE fits in a column, in SQL, and in words."""


def _amounts_of(
    weight: str | None,
    gain: str | None,
    gain_rejected: str | float,
    cost: str | None,
    treatment: str | None,
) -> list[Amounts]:
    """The columns to sum: weights; gains, costs and both arms as many times as there is weight."""
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
    return found


def _rows_of(relation: Any, names: list[str], amounts: list[Amounts], where: str | None) -> Any:
    """The rows to use, when the columns are there."""
    if where is not None or amounts:
        relation = _rows_by_value(relation)
    if where is not None:
        relation = relation.filter(where)
    for name in [*names, *(x.column for x in amounts)]:
        if name.lower() not in [column.lower() for column in relation.columns]:
            raise ValueError(f"there is no column {name!r}; there are {relation.columns}")
    for x in amounts:
        if _type(relation, x.column).id not in _NUMBERS:
            raise TypeError(_holds(relation, x.column, "numbers"))
    return relation


def _counted_rows(relation: Any, amounts: list[Amounts]) -> Any:
    """Those whose weight is not 0."""
    weighted = [f"{x.value} IS DISTINCT FROM 0" for x in amounts if x.name == "weight"]
    return relation.filter(*weighted) if weighted else relation


def _is_date(relation: Any, name: str) -> bool:
    """Whether a column has days, of which NumPy would make times."""
    return bool(_type(relation, name).id == "date")


def _groups_there(relation: Any, group: str) -> np.ndarray:
    """What names the groups of all rows, also of those without weight."""
    named = relation.project(f"{_group_of(relation, group)} AS segment")
    found = named.filter("segment IS NOT NULL").distinct().fetchnumpy()["segment"]
    return np.asarray(found)


def _rows_by_value(relation: Any) -> Any:
    """All rows, read so that filters see NaN; it costs some 20 ns a row."""
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
    """A column of scores, whose values stay distinct and in order, in SQL."""
    kind = _type(relation, name)
    if kind.id in _SCORES:
        return _identifier(name)
    if kind.id != "decimal" or dict(kind.children)["precision"] > _EXACT_DIGITS:
        numbers = f"numbers of up to 64 bits, or DECIMAL of up to {_EXACT_DIGITS} digits"
        raise TypeError(_holds(relation, name, f"{numbers}; cast it in a query"))
    return _double(name)


def _group_of(relation: Any, name: str) -> str:
    """A column of what names groups, integers, texts or dates, in SQL."""
    if (kind := _type(relation, name).id) not in _WHOLE | _TEXTS | _DATES | {"boolean"}:
        raise TypeError(_holds(relation, name, "integers, texts or dates; cast it in a query"))
    column = _identifier(name)
    return f"CAST({column} AS VARCHAR)" if kind == "enum" else column


def _labels_of(relation: Any, name: str, pos_label: Any) -> Labels:
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


def _all_positive(gain: str | None) -> Labels:
    """What stands for labels where there are none, as what rows bring does not depend on them."""
    if gain is None:
        raise TypeError("label must be the name of a column; got None, which only gains allow")
    return Labels("", "true", "")


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
