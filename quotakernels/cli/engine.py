"""Which engine reads the data: this process, into memory, or DuckDB, which groups them first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from quotakernels.cli.columns import columns_read
from quotakernels.cli.errors import InputError
from quotakernels.cli.formats import file_format
from quotakernels.cli.missing import are_left_out
from quotakernels.evaluation.settings import Settings

_SHARE = 0.25
"""Of the available memory, for the columns as they are read; evaluating them takes more."""
_TEXT_BYTES = 16


def groups_first(path: Path, settings: Settings, engine: str) -> bool:
    """Whether DuckDB reads and groups the data, when that is possible."""
    several = not path.is_file() and file_format(path) == "parquet"
    if engine == "memory" and several:
        raise InputError("--engine memory reads one Parquet file; leave the option out for several")
    if engine == "memory" or not (several or engine == "duckdb" or _is_too_large(path, settings)):
        return False
    refusals = list(_refusals(path, settings))
    if refusals and engine == "auto" and not several:
        return False
    if refusals:
        raise InputError(f"{settings.source}: {refusals[0]}")
    return True


def _refusals(path: Path, settings: Settings) -> Iterable[str]:
    """Why DuckDB cannot be used."""
    if file_format(path) != "parquet":
        yield "--engine duckdb reads Parquet only"
    if settings.unit is not None or settings.tune:
        yield (
            "--gain, --impact and --tune need every row in memory; "
            "they work on one file, without --engine duckdb"
        )
    if settings.resampling is not None:
        yield (
            "--confidence and --compare draw rows again and again, and so need them in memory; "
            "they work on one file, without --engine duckdb"
        )
    if are_left_out():
        yield "--drop-missing works on one file, without --engine duckdb"
    if find_spec("duckdb") is None:
        yield (
            "this needs the package 'duckdb', which is not installed; install it with:  "
            'pip install "quotakernels[duckdb]"'
        )


def _is_too_large(path: Path, settings: Settings) -> bool:
    if file_format(path) != "parquet":
        return False
    available = _available_bytes()
    return (
        available is not None
        and _bytes_in_memory(path, columns_read(settings)) > _SHARE * available
    )


def _bytes_in_memory(path: Path, names: Sequence[str]) -> float:
    """What columns of a Parquet file take as arrays; 0 where reading will tell what is wrong."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, OSError):
        return 0.0
    kinds = [schema.field(name).type for name in set(names) if schema.names.count(name) == 1]
    return float(rows * sum(_width(kind) for kind in kinds))


def _width(kind: object) -> float:
    try:
        return kind.bit_width / 8  # type: ignore[attr-defined, no-any-return]
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
