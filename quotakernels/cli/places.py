"""Where rows of a table are: which row of which file, also after others were left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from quotakernels.cli.errors import RowError

_FILES, _ROW = "quotakernels files", "quotakernels row"


def of_files(table: pa.Table, rows: Mapping[Path, int]) -> pa.Table:
    """The table, which knows from which files its rows are, and how many of each."""
    found = json.dumps([(str(file), count) for file, count in rows.items()])
    return table.replace_schema_metadata({_FILES: found})


def filtered(table: pa.Table, kept: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The rows that are kept, each with the number that it had."""
    if _ROW not in table.column_names:
        table = table.append_column(_ROW, pa.array(np.arange(1, table.num_rows + 1)))
    return table.filter(kept)


@contextmanager
def placing(table: pa.Table) -> Iterator[None]:
    """Tell of the row of an error where it is in its file."""
    try:
        yield
    except RowError as error:
        raise error.placed(lambda row: _place(table, row)) from error


def _place(table: pa.Table, row: int) -> str:
    if _ROW in table.column_names:
        row = table.column(_ROW)[row - 1].as_py()
    for file, count in json.loads((table.schema.metadata or {}).get(_FILES.encode(), "[]")):
        if row <= count:
            return f"row {row} of {file}"
        row -= count
    return f"row {row}"
