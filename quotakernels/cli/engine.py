"""Which engine reads the data: this process, into memory, or DuckDB, which groups them first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

import click
import pyarrow as pa

from quotakernels._text import formatted
from quotakernels.cli.columns import columns_read
from quotakernels.cli.errors import InputError
from quotakernels.cli.formats import file_format, files_of, means_files
from quotakernels.cli.missing import given_options
from quotakernels.cli.options import bytes_of
from quotakernels.evaluation.settings import Settings
from quotakernels.evaluation.words import listed

_SHARE = 0.25
"""Of the available memory, for the columns as they are read; evaluating them takes more."""
_TEXT_BYTES = 16
_TABLE_BYTES = 160
"""Of the tables of a model, for each of its distinct scores."""
_BEGINNING = 2**16
_IN_MEMORY = "give --engine memory"
GROUPED = "give --engine duckdb for Parquet files, or --engine memory"


def streams(
    path: Path, settings: Settings, engine: str, memory_limit: str | None, brief: bool
) -> bool:
    """Whether the data are read as a stream, which can do less, and says so unless asked to."""
    if engine not in ("stream", "auto") or not (brief or engine == "stream"):
        return False
    refusals = list(_refusals_of_stream(path, settings))
    if engine == "stream" and refusals:
        raise InputError(f"{settings.source}: --engine stream {refusals[0]}")
    if engine == "stream" or refusals or memory_limit is None:
        return engine == "stream"
    needed = _TABLE_BYTES * _distinct_at_most(path, settings)
    if needed <= bytes_of(memory_limit):
        return False
    other = "duckdb" if file_format(path) == "parquet" else "memory"
    click.echo(
        f"Tables of all distinct scores may need {formatted(needed / 1e9, '.2g')} GB, more than "
        f"--memory-limit {memory_limit}: read as a stream. --engine {other} keeps them all.",
        err=True,
    )
    return True


def selects_in_passes(path: Path) -> bool:
    """Whether rows are selected with few of them in memory: those of several or large files."""
    several = means_files(path) and file_format(path) == "parquet"
    return not given_options() and (several or _is_too_large(path, None))


def _distinct_at_most(path: Path, settings: Settings) -> int:
    """How many distinct scores a model may have, by the rows of files and the types."""
    counts = {"parquet": _of_parquet, "csv": _of_csv}
    count = counts.get(file_format(path))
    return 0 if count is None else sum(count(file, settings.models) for file in files_of(path))


def _of_parquet(file: Path, models: Sequence[str]) -> int:
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            rows, schema = opened.metadata.num_rows, opened.schema_arrow
    except (pa.ArrowException, OSError):  # which reading it will tell
        return 0
    names = [x for x in models if schema.names.count(x) == 1]
    widths = [8 * _width(schema.field(x).type) for x in names]
    return int(min(rows, 2 ** max(widths, default=0)))


def _of_csv(file: Path, _: Sequence[str]) -> int:
    """About as many lines as the first ones let expect; compressed there are more."""
    with file.open("rb") as opened:
        beginning = opened.read(_BEGINNING)
    return beginning.count(b"\n") * file.stat().st_size // max(len(beginning), 1)


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


def groups_first(path: Path, settings: Settings, engine: str) -> bool:
    """Whether DuckDB groups the data first; what is too large for memory is not read unasked."""
    if engine == "memory":
        return False
    several = means_files(path) and file_format(path) == "parquet"
    large = _is_too_large(path, columns_read(settings))
    if not (several or large or engine == "duckdb"):
        return False
    refusals = list(_refusals(path, settings))
    if not refusals:
        return True
    if engine == "duckdb":
        raise InputError(f"{settings.source}: {refusals[0]}")
    if large:
        raise InputError(f"{settings.source} is large for the memory: {refusals[0]}")
    return False


def _refusals(path: Path, settings: Settings) -> Iterable[str]:
    """Why DuckDB cannot be used."""
    if file_format(path) != "parquet":
        yield "--engine duckdb reads Parquet only"
    if settings.unit is not None or settings.tune:
        yield "--gain, --impact and --tune need every row in memory; give --engine memory"
    if settings.resampling is not None:
        yield (
            "--confidence and --compare resample rows, so they need them in memory; "
            "give --engine memory"
        )
    if settings.treatment is not None:
        yield "--treatment needs every row in memory; give --engine memory"
    if asked := given_options():
        yield f"every row must be in memory for {listed(asked)}; {_IN_MEMORY}"
    if find_spec("duckdb") is None:
        yield (
            "grouping its rows needs the package 'duckdb', which is not installed; give "
            '--engine memory, or install it with:  pip install "quotakernels[duckdb]"'
        )


def _is_too_large(path: Path, names: Sequence[str] | None) -> bool:
    if file_format(path) != "parquet":
        return False
    available = _available_bytes()
    return available is not None and _bytes_in_memory(path, names) > _SHARE * available


def _bytes_in_memory(path: Path, names: Sequence[str] | None) -> float:
    """What columns of Parquet files take as arrays; 0 where reading will tell what is wrong."""
    return sum(_bytes_of_file(file, names) for file in files_of(path))


def _bytes_of_file(path: Path, names: Sequence[str] | None) -> float:
    from pyarrow import parquet

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
