"""Rankings of tables, queries and Parquet files that DuckDB reads.

The database groups the rows by score, with all its threads and, if memory is short, on disk.  It
returns one row per distinct score.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple, overload

import numpy as np

from quotakernels import Ranking, ops
from quotakernels.adapters import _sql as sql
from quotakernels.adapters import requiring
from quotakernels.adapters._sql import (
    Amounts,
    Labels,
    all_positive,
    amounts_of,
    counted_rows,
    group_of,
    groups_there,
    is_date,
    labels_of,
    rows_by_value,
    rows_of,
    score_of,
)
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

__all__ = ["ranking", "read_parquet"]


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
    group: str | None = ...,
    cost: str | None = ...,
    treatment: str | None = ...,
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
    group: str | None = ...,
    cost: str | None = ...,
    treatment: str | None = ...,
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
        The name of a table or view, or one SELECT query, or a relation.  For several Parquet files
        use `read_parquet` of this module.
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
    amounts = amounts_of(weight, gain, gain_rejected, cost, treatment)
    others = [name for name in (label, group) if name is not None]
    every = rows_of(relation, [*others, *names], amounts, where)
    rows = counted_rows(every, amounts)
    empty = groups_there(every, group) if group is not None and weight is not None else None
    groups = None if group is None else _Named(group, is_date(rows, group), empty)
    scores = {name: score_of(rows, name) for name in names}
    labels = labels_of(rows, label, pos_label) if label is not None else all_positive(gain)
    found = {
        name: _ranking(rows, name, column, labels, amounts, groups, ties)
        for name, column in scores.items()
    }
    return found[score] if isinstance(score, str) else found


@public
def read_parquet(
    connection: Any, files: str | Sequence[str], columns: Sequence[str], *, hive: bool = False
) -> Any:
    """Read columns of Parquet files, whose types may differ where no value is lost.

    DuckDB's own ``read_parquet`` casts all files to the types of the first, so floats are rounded
    if the first file has integers.  Here the order of the files does not matter: narrow types
    become the widest one, and booleans and integers become DOUBLE if another file has floats.

    Parameters
    ----------
    connection : DuckDB connection, or the module ``duckdb``
        The connection that reads them.
    files : str or sequence of str
        Paths, or patterns such as ``"scores/*.parquet"``. Files without rows are left out.
    columns : sequence of str
        Names of the columns.
    hive : bool
        Whether directories such as ``day=7`` are columns too; their values are text.

    Returns
    -------
    DuckDB relation

    Raises
    ------
    TypeError
        A column whose types no single type can hold, such as numbers and text, or floats and
        integers beyond 2**53.  The error names two files and both types.
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
    full = _with_rows(connection, found) if found else []
    if not full:
        raise ValueError(f"{', '.join(patterns)}: there is no {'row' if found else 'such file'}")
    names = list(dict.fromkeys(columns))
    groups = list(_groups(connection, full, names, hive))
    _refuse_absent(groups, names)
    kinds = {name: _promoted(connection, groups, name, hive) for name in names}
    parts = (f"SELECT {_columns(x, kinds)} FROM {_read(x.files, hive)}" for x in groups)
    return connection.sql(" UNION ALL ".join(parts))


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
        _refuse(rows, groups.column, f"{sql.identifier(groups.column)} IS NULL", "a group")
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
        wanted.append(f"{group_of(rows, groups.column)} AS segment")
        keys.append("segment")
    for x in amounts:
        wanted += [f"{x.value} AS {x.name}", f"{sql.scale(x.value, x.fits)} AS {x.name}_scale"]
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
    units = sql.units(name, f"{name}_scale")
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
        return ops.ByClass(*(sql.mass(x, scales[name][order]) for x in found))

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
    bad = rows_by_value(rows).filter(condition)
    count = bad.aggregate("count(*)").fetchall()[0][0]
    value = bad.project(f"CAST({sql.identifier(name)} AS VARCHAR)").limit(1).fetchall()[0][0]
    raise ValueError(
        f"column {name!r}: {count} row{'' if count == 1 else 's'} without {expected}, for example "
        f"{'NULL' if value is None else value}; SQL numbers no rows, WHERE {condition} finds them"
    )


_SCHEMA = "name, type, type_length, num_children, converted_type, scale, precision, logical_type"
_SIGNED = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}
_UNSIGNED = {"boolean": 1, "utinyint": 8, "usmallint": 16, "uinteger": 32, "ubigint": 64}
_BITS = {**_SIGNED, **_UNSIGNED}
_FLOATS = {"float", "double"}
_EXACT_BITS = 53
"""Of whole numbers that a DOUBLE holds exactly."""


class _Alike(NamedTuple):
    """Files of the same types, and these types by column."""

    files: tuple[str, ...]
    kinds: dict[str, Any]


def _with_rows(connection: Any, files: Sequence[str]) -> list[str]:
    """The files that hold any row, sorted."""
    counted = connection.sql(
        f"SELECT file_name FROM parquet_file_metadata([{_listed(files)}]) WHERE num_rows > 0"
    )
    full = {name for (name,) in counted.fetchall()}
    return sorted(file for file in files if file in full)


def _listed(files: Iterable[str]) -> str:
    return ", ".join(sql.literal(glob.escape(file)) for file in files)


def _read(files: Iterable[str], hive: bool) -> str:
    parts = "true, hive_types_autocast = false" if hive else "false"
    return f"read_parquet([{_listed(files)}], hive_partitioning = {parts})"


def _groups(
    connection: Any, files: Sequence[str], names: Sequence[str], hive: bool
) -> Iterable[_Alike]:
    """The files by the types of the named columns, in the order of their names."""
    wanted = ", ".join(map(sql.literal, names))
    said = connection.sql(
        f"SELECT file_name, {_SCHEMA} FROM parquet_schema([{_listed(files)}]) "
        f"WHERE name IN ({wanted})"
    )
    schemas: dict[str, list[str]] = {file: [] for file in sorted(files)}
    for file, *column in said.fetchall():
        schemas[file].append(repr(column))
    alike: dict[tuple[str, ...], list[str]] = {}
    for file, columns in schemas.items():
        alike.setdefault(tuple(sorted(columns)), []).append(file)
    for same in alike.values():
        found = connection.sql(f"FROM {_read(same, hive)}")
        yield _Alike(tuple(same), dict(zip(found.columns, found.types, strict=True)))


def _refuse_absent(groups: Sequence[_Alike], names: Sequence[str]) -> None:
    if absent := [x for x in dict.fromkeys(names) if not any(x in g.kinds for g in groups)]:
        raise ValueError(f"there is no column {absent[0]!r}; there are {list(groups[0].kinds)}")
    for name in names:
        has, lacks = ([g for g in groups if (name in g.kinds) is x] for x in (True, False))
        if lacks:
            raise ValueError(f"{lacks[0].files[0]} has no column {name!r}; {has[0].files[0]} has")


def _columns(group: _Alike, kinds: dict[str, str]) -> str:
    listed = []
    for name, kind in kinds.items():
        column = sql.identifier(name)
        same = str(group.kinds[name]) == kind
        listed.append(f"{column if same else f'CAST({column} AS {kind})'} AS {column}")
    return ", ".join(listed)


def _promoted(connection: Any, groups: Sequence[_Alike], name: str, hive: bool) -> str:
    """The type that holds the values of a column of all files."""
    found = {str(group.kinds[name]): group for group in reversed(groups)}
    kinds = [group.kinds[name] for group in found.values()]
    common = str(kinds[0]) if len(kinds) == 1 else _common(kinds)
    if common is None:
        pairs = combinations(groups, 2)  # no type holds all where none holds two of them
        unfit = next(pair for pair in pairs if _common([g.kinds[name] for g in pair]) is None)
        raise TypeError(_differ(name, *unfit, "no type holds both"))
    if common != "DOUBLE":
        return common
    for group in groups:
        if _BITS.get(group.kinds[name].id, 0) > _EXACT_BITS:
            _refuse_large(connection, groups, group, name, hive)
    return common


def _refuse_large(
    connection: Any, groups: Sequence[_Alike], group: _Alike, name: str, hive: bool
) -> None:
    """Raise for whole numbers that would be rounded beside those of other files."""
    column = sql.identifier(name)
    for file in group.files:
        ends = connection.sql(f"SELECT min({column}), max({column}) FROM {_read([file], hive)}")
        low, high = (0 if x is None else x for x in ends.fetchall()[0])
        if max(-low, high) > 2**_EXACT_BITS:
            other = next(g for g in groups if g.kinds[name].id not in _BITS)
            why = f"beyond 2**{_EXACT_BITS} no type holds both"
            raise TypeError(_differ(name, other, group._replace(files=(file,)), why))


def _differ(name: str, one: _Alike, other: _Alike, why: str) -> str:
    return (
        f"column {name!r} is of type {other.kinds[name]} in {other.files[0]} and of type "
        f"{one.kinds[name]} in {one.files[0]}; {why}, so write both with one type"
    )


def _common(kinds: Sequence[Any]) -> str | None:
    """The type that holds what several types hold, if there is one; 64 bits beside floats may."""
    names = {kind.id for kind in kinds}
    if len({str(kind) for kind in kinds}) == 1:
        return str(kinds[0])
    if names <= set(_BITS):
        return _whole(names)
    decimals = [dict(kind.children)["precision"] for kind in kinds if kind.id == "decimal"]
    exact = max(decimals, default=0) <= sql.EXACT_DIGITS
    return "DOUBLE" if exact and names <= {*_BITS, *_FLOATS, "decimal"} else None


def _whole(names: set[str]) -> str | None:
    """The least type of whole numbers that holds others."""
    signed = max((_SIGNED.get(name, 0) for name in names), default=0)
    unsigned = max((_UNSIGNED.get(name, 0) for name in names), default=0)
    if not signed:
        return _of_bits(_UNSIGNED, lambda bits: bits >= unsigned)
    return _of_bits(_SIGNED, lambda bits: bits >= signed and bits > unsigned)


def _of_bits(kinds: dict[str, int], fits: Callable[[int], bool]) -> str | None:
    return next((name for name, bits in kinds.items() if fits(bits)), None)
