"""Data beyond memory: which engine reads them, and rows in batches, as often as is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from quotakernels._text import formatted
from quotakernels.cli.columns import (
    are_positive,
    columns_read,
    cost_column,
    fulfilling,
    group_codes,
    group_values,
    label_values,
    no_row_has,
    number_column,
    parse_label,
    positive_value,
    score_column,
    weight_column,
)
from quotakernels.cli.csv_files import csv_batches, csv_names
from quotakernels.cli.errors import InputError, RowError, no_rows
from quotakernels.cli.files import open_arrow, told_by_folders, with_told
from quotakernels.cli.given import given_options
from quotakernels.cli.options import bytes_of
from quotakernels.cli.paths import file_format, files_of, means_files, picked_columns, refusing
from quotakernels.evaluation.batches import Batch
from quotakernels.evaluation.settings import Settings
from quotakernels.evaluation.words import Conditions, listed

_SHARE = 0.25
"""Of the available memory, for the columns as they are read; evaluating them takes more."""
_TEXT_BYTES = 16
_IN_MEMORY = "give --engine memory"


def streams(path: Path, settings: Settings, engine: str, memory_limit: str | None) -> bool:
    """Whether the data are read as a stream, which can do less, and says so unless asked to."""
    if engine == "memory":
        return False
    refusals = list(_refusals_of_stream(path, settings))
    if engine == "stream":
        if refusals:
            raise InputError(f"{settings.source}: --engine stream {refusals[0]}")
        return True
    needed, limit = _bytes_in_memory(path, columns_read(settings)), _limit(memory_limit)
    if needed <= limit:
        return False
    size, large = formatted(needed / 1e9, ".2g"), formatted(limit / 1e9, ".2g")
    said = f"The columns of {settings.source} take about {size} GB, and the limit is {large} GB"
    if refusals:
        raise InputError(f"{said}: a stream {refusals[0]}")
    click.echo(f"{said}: read as a stream. --engine memory reads them all.", err=True)
    return True


def selects_in_passes(path: Path) -> bool:
    """Whether rows are selected with few of them in memory: those of several or large files."""
    if file_format(path) != "parquet" or given_options():
        return False
    return means_files(path) or _bytes_in_memory(path, None) > _limit(None)


def _limit(memory_limit: str | None) -> float:
    """How many bytes columns may take: what the user says, or a share of what is available."""
    if memory_limit is not None:
        return bytes_of(memory_limit)
    available = _available_bytes()
    return math.inf if available is None else _SHARE * available


def _bytes_in_memory(path: Path, names: Sequence[str] | None) -> float:
    """What columns take as arrays; 0 where reading will tell what is wrong."""
    return sum(_bytes_of_file(file, names) for file in files_of(path))


def _bytes_of_file(path: Path, names: Sequence[str] | None) -> float:
    from pyarrow import parquet

    if file_format(path) != "parquet":
        return path.stat().st_size
    try:
        with parquet.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, OSError):
        return 0.0
    read = set(schema.names if names is None else names)
    kinds = [schema.field(name).type for name in read if schema.names.count(name) == 1]
    return float(rows * sum(_width(kind) for kind in kinds))


def _width(kind: object) -> float:
    try:
        return kind.bit_width / 8  # type: ignore[attr-defined]
    except ValueError:
        return _TEXT_BYTES


def _available_bytes() -> int | None:
    """Memory that can be had without swapping, also in a container, where the system tells."""
    found = [int(line.split()[1]) * 1024 for line in _lines("/proc/meminfo") if "Avail" in line]
    limit, used = (_lines(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if limit and used and limit[0].isdigit():
        found.append(int(limit[0]) - int(used[0]))
    return min(found, default=None)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _refusals_of_stream(path: Path, settings: Settings) -> Iterable[str]:
    """What a stream cannot do."""
    if file_format(path) not in ("parquet", "arrow", "csv"):
        yield "reads Parquet, Arrow and CSV files only"
    if settings.resampling is not None and (only := _needs_resamples(settings)):
        yield (
            f"keeps no rows to resample, so it takes {only}; give --engine memory, with a sample "
            "of the rows if they are too many"
        )
    if settings.tune or (settings.unit is not None and not settings.quotas):
        yield (
            "finds no best cut, so it takes no --tune, and --gain and --impact only with --quota "
            f"or --budget; {_IN_MEMORY}"
        )
    if settings.treatment is not None:
        yield f"counts all rows together, so it takes no --treatment; {_IN_MEMORY}"
    if asked := given_options():
        yield f"takes no {listed(asked)}; {_IN_MEMORY}"


def _needs_resamples(settings: Settings) -> str:
    """Which intervals and tests a stream does not take, as they are no closed forms; or nothing."""
    if settings.resampling is not None and settings.resampling.compare:
        return "no --compare"
    if not settings.quotas:
        return "--confidence only with --quota"
    beside = {
        "--weight": settings.weight,
        "--budget": settings.cost,
        "--gain": settings.gain,
        "--per or --by": settings.grouped_by,
    }
    names = [name for name, column in beside.items() if column is not None]
    return f"no --confidence with {listed(names)}" if names else ""


_R = TypeVar("_R")
_ROWS_AT_ONCE = 2**18
_GROUPS = 1000
_EXACT_DIGITS, _LARGEST = 15, 2**53


# the rows


class Rows(NamedTuple):
    """The rows that fulfil conditions; those of a directory with what its folders tell."""

    source: str
    path: Path
    where: Conditions
    scores: Sequence[str]

    @property
    def files(self) -> list[Path]:
        """The files that the path means."""
        return files_of(self.path)

    def read(self, names: Sequence[str] | None, result: Callable[[pa.Table], _R]) -> Iterator[_R]:
        """Go over the rows once, with all columns or those that are named: what each batch gives.

        Errors tell the file and the row in it.
        """
        some = False
        for file in self.files:
            before = 0
            for table in _batches(self, file, names):
                with self._placing(file, before):
                    chosen = fulfilling(table, self.where) if self.where else None
                kept = table if chosen is None else table.filter(chosen)
                if kept.num_rows:
                    some = True
                    with self._placing(file, before, chosen):
                        found = result(kept)
                    yield found
                before += table.num_rows
        if not some:
            raise no_row_has(self.where) if self.where else no_rows(self.source)

    @contextmanager
    def _placing(
        self, file: Path, before: int, chosen: pa.ChunkedArray | None = None
    ) -> Iterator[None]:
        """Tell of an error where it is; rows before the batch count, and those not chosen."""
        several = means_files(self.path)
        try:
            yield
        except RowError as error:

            def place(row: int) -> str:
                own = row if chosen is None else int(np.flatnonzero(chosen)[row - 1]) + 1
                return f"row {before + own} of {file}" if several else f"row {before + own}"

            raise error.placed(place) from error
        except InputError as error:
            raise InputError(
                f"{error.message} (in {file})" if several else error.message
            ) from error

    def groups(self, name: str) -> list[Any]:
        """The names of the groups of rows, in order, of a pass over their column."""
        found: dict[Any, None] = {}

        def more(table: pa.Table) -> None:
            found.update(dict.fromkeys(pc.unique(group_values(table, name)).to_pylist()))
            if len(found) > _GROUPS:
                raise InputError(
                    f"column {name!r} has more than {_GROUPS} groups, for which --engine stream "
                    f"does not count scores; {_IN_MEMORY}"
                )

        names = dict.fromkeys([name, *(x.column for x in self.where)])
        for _ in self.read([*names], more):
            pass
        if len({isinstance(x, str) for x in found}) > 1:
            raise InputError(f"column {name!r} holds texts in some rows and numbers in others")
        return sorted(found)

    def batches(self, settings: Settings, groups: list[Any] | None = None) -> Iterator[Batch]:
        """Go over the labels and scores once; with groups, by their names, over these too."""
        kinds = {name: score_kind(self, name) for name in settings.models}
        values: list[Any] = []

        def batch(table: pa.Table) -> Batch:
            column, values[:] = label_values(table, settings.label, values)
            positive = _positive(values, column[0].as_py(), settings)
            scores = {name: scores_of(table, name, kind) for name, kind in kinds.items()}
            weight = settings.weight
            weights = None if weight is None else weight_column(table, weight)
            codes = costs = gains = None
            if groups is not None:
                codes = group_codes(group_values(table, str(settings.grouped_by)), groups)
            if settings.cost is not None:
                costs = cost_column(table, settings.cost)
            if settings.gain is not None and settings.unit is not None:
                gains = number_column(table, settings.gain) - settings.unit.place_cost
            return Batch(are_positive(column, positive), scores, weights, codes, costs, gains)

        yield from self.read(columns_read(settings), batch)
        positive_value(values, settings.label, settings.pos_label)


def _positive(values: list[Any], sample: Any, settings: Settings) -> Any:
    """The positive label in the type of a batch, which may lack it."""
    if settings.pos_label is None:
        return type(sample)(positive_value(values, settings.label, None))
    try:
        return positive_value(values, settings.label, settings.pos_label)
    except InputError:
        positive = parse_label(settings.pos_label, sample)
        if len(values) > 1 or positive is None:
            raise
        return positive


def score_kind(rows: Rows, name: str) -> np.dtype[Any]:
    """The type in which scores of all files are distinct and in order."""
    kinds: dict[pa.DataType, None] = {}
    if file_format(rows.path) == "csv":
        return np.dtype(np.float64)
    for file in rows.files:
        with refusing(file):
            schema, number = _schema(file)
        picked_columns(file, schema.names, [name])
        if number:
            kinds[schema.field(name).type] = None
    if any(pa.types.is_decimal(x) and x.precision > _EXACT_DIGITS for x in kinds):
        digits = f"decimals of up to {_EXACT_DIGITS} digits"
        raise InputError(f"column {name!r}: --engine stream takes {digits}")
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    narrow = kind is not None and (
        pa.types.is_float16(kind)
        or pa.types.is_float32(kind)
        or (pa.types.is_integer(kind) and kind.bit_width <= 16)
    )
    return np.dtype(kind.to_pandas_dtype() if narrow and kind is not None else np.float64)


def scores_of(table: pa.Table, name: str, kind: np.dtype[Any]) -> NDArray[Any]:
    """The scores of a batch in the type of all."""
    scores = score_column(table, name)
    whole = scores.dtype.kind in "iu" and kind.kind == "f"
    if whole and max(-int(scores.min()), int(scores.max())) > _LARGEST:
        raise InputError(f"column {name!r}: whole numbers beyond 2**53 need another engine")
    return scores.astype(kind, copy=False)


def _schema(file: Path) -> tuple[pa.Schema, int]:
    """The columns of a file, and how many rows it has; of Arrow's, that is not asked."""
    from pyarrow import parquet

    if file_format(file) == "parquet":
        with parquet.ParquetFile(file) as opened:
            return opened.schema_arrow, opened.metadata.num_rows
    with pa.memory_map(str(file)) as source:
        return open_arrow(source).schema, 1


def _batches(rows: Rows, file: Path, names: Sequence[str] | None) -> Iterator[pa.Table]:
    """The rows of a file in batches that have some."""
    with refusing(file):
        available = _names(file)
        told = told_by_folders(file, available, names) if means_files(rows.path) else {}
        own = None if names is None else [x for x in names if x not in told]
        picked = picked_columns(file, available, own)
        for table in _READERS[file_format(file)](file, picked, rows.scores):
            yield with_told(table, told)


def _names(file: Path) -> list[str]:
    return csv_names(file) if file_format(file) == "csv" else list(_schema(file)[0].names)


def _parquet_batches(file: Path, names: list[str], *_: Sequence[str]) -> Iterator[pa.Table]:
    from pyarrow import parquet

    with parquet.ParquetFile(file) as opened:
        for batch in opened.iter_batches(_ROWS_AT_ONCE, columns=names):
            yield pa.Table.from_batches([batch]).select(names)


def _arrow_batches(file: Path, names: list[str], *_: Sequence[str]) -> Iterator[pa.Table]:
    with pa.memory_map(str(file)) as source:
        reader = open_arrow(source)
        batches = reader
        if isinstance(reader, pa.ipc.RecordBatchFileReader):
            batches = map(reader.get_batch, range(reader.num_record_batches))
        for batch in batches:
            for part in pa.Table.from_batches([batch]).to_batches(_ROWS_AT_ONCE):
                yield pa.Table.from_batches([part]).select(names)


_READERS: dict[str, Callable[..., Iterator[pa.Table]]] = {
    "parquet": _parquet_batches,
    "arrow": _arrow_batches,
    "csv": csv_batches,
}
