"""Parquet files as one table of DuckDB, whose types hold what every file has.

DuckDB alone would cast the columns of all files to the types of the first one.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from quotakernels.adapters import _sql as sql

FILE, ROW = "quotakernels file", "quotakernels row"
"""Columns of a numbered table; rows of a file are counted from 1, or NULL if they cannot be."""
_NUMBER = "file_row_number"
"""What DuckDB calls its number, unless the file has a column of that name."""

_SCHEMA = "name, type, type_length, num_children, converted_type, scale, precision, logical_type"
_SIGNED = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}
_UNSIGNED = {"boolean": 1, "utinyint": 8, "usmallint": 16, "uinteger": 32, "ubigint": 64}
_BITS = {**_SIGNED, **_UNSIGNED}
_FLOATS = {"float", "double"}
_EXACT_BITS = 53
"""Of whole numbers that a DOUBLE holds exactly."""


class AbsentColumnError(ValueError):
    """Columns that no file has."""

    def __init__(self, columns: list[str], available: list[str]):
        super().__init__(f"there is no column {columns[0]!r}; there are {available}")
        self.columns, self.available = columns, available


class _Alike(NamedTuple):
    """Files of the same types, and these types by column."""

    files: tuple[str, ...]
    kinds: dict[str, Any]


class Dataset(NamedTuple):
    """Columns of files as a table, and the same with FILE and ROW, to tell where something is."""

    rows: Any
    numbered: Any


def with_rows(connection: Any, files: Sequence[str]) -> list[str]:
    """The files that hold any row, sorted."""
    counted = connection.sql(
        f"SELECT file_name FROM parquet_file_metadata([{_listed(files)}]) WHERE num_rows > 0"
    )
    full = {name for (name,) in counted.fetchall()}
    return sorted(file for file in files if file in full)


def dataset(
    connection: Any,
    files: Sequence[str],
    names: Sequence[str],
    hive: bool,
    filtered: Iterable[str] = (),
) -> Dataset:
    """The named columns of files that differ in their types at most where no value is lost.

    Filters see the NaN of columns in `filtered`, and of all columns of the numbered table.
    """
    names = list(dict.fromkeys(names))
    groups = list(_groups(connection, files, names, hive))
    _refuse_absent(groups, names)
    kinds = {name: _promoted(connection, groups, name, hive) for name in names}

    def table(filtered: Iterable[str], more: str = "", *options: str) -> Any:
        parts = (
            f"SELECT {_columns(group, kinds, filtered)}{more} "
            f"FROM {_read(group.files, hive, *options)}"
            for group in groups
        )
        return connection.sql(" UNION ALL ".join(parts))

    taken = any(_NUMBER in group.kinds for group in groups)
    row, options = ("NULL", ()) if taken else (f"{_NUMBER} + 1", (f"{_NUMBER} = true",))
    place = f", {sql.identifier(FILE)}, {row} AS {sql.identifier(ROW)}"
    return Dataset(
        table(filtered), table(names, place, f"filename = {sql.literal(FILE)}", *options)
    )


def _listed(files: Iterable[str]) -> str:
    return ", ".join(sql.literal(glob.escape(file)) for file in files)


def _read(files: Iterable[str], hive: bool, *options: str) -> str:
    parts = "true, hive_types_autocast = false" if hive else "false"
    arguments = [f"[{_listed(files)}]", f"hive_partitioning = {parts}", *options]
    return f"read_parquet({', '.join(arguments)})"


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
        raise AbsentColumnError(absent, list(groups[0].kinds))
    for name in names:
        has, lacks = ([g for g in groups if (name in g.kinds) is x] for x in (True, False))
        if lacks:
            raise ValueError(f"{lacks[0].files[0]} has no column {name!r}; {has[0].files[0]} has")


def _columns(group: _Alike, kinds: dict[str, str], filtered: Iterable[str]) -> str:
    listed = []
    for name, kind in kinds.items():
        column = sql.identifier(name)
        same = str(group.kinds[name]) == kind
        value = column if same else f"CAST({column} AS {kind})"
        value = sql.by_value(value, kind) if name in filtered else value
        listed.append(f"{value} AS {column}")
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
