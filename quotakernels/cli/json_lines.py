"""JSON lines: one object for each row."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from quotakernels.cli.errors import InputError
from quotakernels.cli.formats import BLOCK_BYTES, blocks_of
from quotakernels.cli.streams import name_of

_DEEPEST = 100
"""Levels of nesting; Arrow's parser calls itself for each, until the process dies."""
_OTHERS = bytes(set(range(256)) - set(b'"[]{}'))


def table_of(path: Path) -> pa.Table:
    """All columns of a file."""
    from pyarrow import json as arrow_json

    _refuse_deep(path)
    return arrow_json.read_json(path, arrow_json.ReadOptions(block_size=BLOCK_BYTES))


def numbers_as_written(path: Path, names: Sequence[str]) -> pa.Table:
    """Columns of numbers with all digits that the file has."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str)
    text = b"".join(blocks_of(path)).decode("utf-8-sig", errors="replace")
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    place, blank = 0, re.compile(r"\s*")
    while (place := _end_of(blank, text, place)) < len(text):
        row, place = decoder.raw_decode(text, place)
        for name, cells in columns.items():
            cell = row.get(name)
            cells.append(cell if isinstance(cell, str) else None)
    return pa.table({name: pa.array(x, pa.string()) for name, x in columns.items()})


def _end_of(blank: re.Pattern[str], text: str, place: int) -> int:
    found = blank.match(text, place)
    return place if found is None else found.end()


def _refuse_deep(path: Path) -> None:
    """Raise for values within values within values, of more levels than any table has."""
    quotes = depth = 0
    rest = b""
    for block in blocks_of(path):
        text = rest + block
        rest = text[len(text.rstrip(b"\\")) :]  # which may escape what comes next
        kept = text[: len(text) - len(rest)].replace(b"\\\\", b"").replace(b'\\"', b"")
        marks = np.frombuffer(kept.translate(None, _OTHERS), np.uint8)
        is_quote = marks == ord('"')
        within = (quotes + np.cumsum(is_quote)) % 2 == 1
        steps = np.where(np.isin(marks, list(b"[{")), 1, -1) * ~(is_quote | within)
        if depth + np.cumsum(steps).max(initial=0) > _DEEPEST:
            raise InputError(f"{name_of(path)} has values nested more than {_DEEPEST} levels deep")
        quotes, depth = quotes + int(is_quote.sum()), depth + int(steps.sum())
