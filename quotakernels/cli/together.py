"""The rows of several files as one table, whose columns hold the values of each file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pyarrow as pa

from quotakernels.cli.columns import first_text
from quotakernels.cli.errors import InputError

_WORDS: dict[str, Callable[[pa.DataType], bool]] = {
    "text": lambda x: pa.types.is_string(x) or pa.types.is_large_string(x),
    "true and false": pa.types.is_boolean,
    "whole numbers": pa.types.is_integer,
    "floats": pa.types.is_floating,
    "decimals": pa.types.is_decimal,
    "dates": pa.types.is_date,
    "times": pa.types.is_timestamp,
}
_Kinds = Mapping[pa.DataType, Path]
"""The types of a column, each with the first file that has it."""


def together(parts: Mapping[Path, pa.Table]) -> pa.Table:
    """The rows of all files; those that have none need no types that fit."""
    filled = {file: x for file, x in parts.items() if x.num_rows} or dict(list(parts.items())[:1])
    names = dict.fromkeys(name for x in filled.values() for name in x.column_names)
    known = {name: _kinds(name, filled) for name in names}
    tables = {file: _as_others(table, known) for file, table in filled.items()}
    for name in names:
        _refuse_unlike(name, _kinds(name, tables), tables)
    return pa.concat_tables(tables.values(), promote_options="permissive")


def _kinds(name: str, parts: Mapping[Path, pa.Table]) -> _Kinds:
    found: dict[pa.DataType, Path] = {}
    for file, part in parts.items():
        if name in part.column_names:
            found.setdefault(part.schema.field(name).type, file)
    return found


def _as_others(table: pa.Table, known: Mapping[str, _Kinds]) -> pa.Table:
    """The table with plain values for categories, and 0 and 1 for booleans, where others differ."""
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kinds = known[name]
        if pa.types.is_dictionary(column.type) and len(kinds) > 1:
            table = table.set_column(place, name, column.cast(column.type.value_type))
        elif pa.types.is_boolean(column.type) and any(map(_is_number, kinds)):
            table = table.set_column(place, name, column.cast(pa.int8()))
    return table


def _refuse_unlike(name: str, kinds: _Kinds, tables: Mapping[Path, pa.Table]) -> None:
    for pair in combinations(kinds, 2):
        if not _go_together(pair):
            one, other = (f"{_held(kind)} in {kinds[kind]}" for kind in pair)
            first = _text_among_numbers(name, pair, kinds, tables)
            raise InputError(
                f"column {name!r} holds {one} and {other}{first}; write it alike in both"
            )


def _text_among_numbers(
    name: str, pair: Sequence[pa.DataType], kinds: _Kinds, tables: Mapping[Path, pa.Table]
) -> str:
    """The first text that is no number, and its row, where the other file has numbers."""
    texts = [x for x in pair if _WORDS["text"](x)]
    if not texts or not any(map(_is_number, pair)):
        return ""
    column = tables[kinds[texts[0]]].column(name).to_pylist()
    _, text = first_text([x for x in column if x is not None])
    return f" ({text!r} in row {column.index(text) + 1})"


def _go_together(kinds: Sequence[pa.DataType]) -> bool:
    """Whether a type holds the values of two; floats do not hold those of decimals."""
    if any(map(pa.types.is_decimal, kinds)) and any(map(pa.types.is_floating, kinds)):
        return False
    try:
        pa.unify_schemas([pa.schema([("", x)]) for x in kinds], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _is_number(kind: pa.DataType) -> bool:
    return any(_WORDS[x](kind) for x in ("whole numbers", "floats", "decimals"))


def _held(kind: pa.DataType) -> str:
    """What a column holds, in words."""
    return next((words for words, holds in _WORDS.items() if holds(kind)), f"{kind} values")
