"""Data beyond memory: which engine reads them, and rows in batches, as often as is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
    filtered,
    fulfilling,
    group_codes,
    group_values,
    label_values,
    no_row_has,
    parse_label,
    positive_value,
    sample_of,
    score_column,
)
from quotakernels.cli.errors import InputError, no_rows
from quotakernels.cli.files import read_batches, values_of
from quotakernels.cli.given import given
from quotakernels.cli.paths import file_format, files_of, name_of, refusing
from quotakernels.evaluation.settings import Sample, Settings
from quotakernels.evaluation.words import Conditions, listed
from quotakernels.inputs.groups import GroupsOfExamples

_SHARE = 0.25
"""Of the available memory, for the columns as they are read; evaluating them takes more."""
_VALUE_BYTES = 8
_IN_MEMORY = "give --engine memory"


def streams(path: Path, settings: Settings, engine: str, memory_limit: float | None) -> bool:
    """Whether the data are read as a stream, which can do less, and says so unless asked to."""
    if engine == "memory":
        return False
    refusals = list(_refusals_of_stream(settings))
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


def _limit(memory_limit: float | None) -> float:
    """How many bytes columns may take: what the user says, or a share of what is available."""
    if memory_limit is not None:
        return memory_limit
    available = _available_bytes()
    return math.inf if available is None else _SHARE * available


def _bytes_in_memory(path: Path, names: Collection[str]) -> int:
    """About what columns take as arrays: of files that tell no number of rows, what all takes."""
    return sum(_bytes_of_file(file, names) for file in files_of(path))


def _bytes_of_file(path: Path, names: Collection[str]) -> int:
    from pyarrow import parquet

    if file_format(path) != "parquet":
        return path.stat().st_size
    with refusing(path):
        return _VALUE_BYTES * len(set(names)) * int(parquet.read_metadata(path).num_rows)


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


def _refusals_of_stream(settings: Settings) -> Iterable[str]:
    """What a stream cannot do."""
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
    if asked := [f"--{x.replace('_', '-')}" for x in ("drop_missing", "missing") if given().get(x)]:
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
_GROUPS = 1000
_LARGEST = 2**53


# the rows


class Rows(NamedTuple):
    """The rows that fulfil conditions; those of a directory with what its folders tell."""

    path: Path
    where: Conditions

    def read(self, names: Sequence[str], result: Callable[[pa.Table], _R]) -> Iterator[_R]:
        """Go over the named columns of all rows once: what each batch gives."""
        some, values = False, values_of(self.path)
        for texts in read_batches(self.path, names):
            table = values(texts)
            kept = filtered(table, fulfilling(table, self.where)) if self.where else table
            if kept.num_rows:
                some = True
                yield result(kept)
        if not some:
            raise no_row_has(self.where) if self.where else no_rows(name_of(self.path))

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

    def batches(self, settings: Settings, groups: list[Any] | None = None) -> Iterator[Sample]:
        """Go over the labels and scores once; with groups, by their names, over these too."""
        values, names = list[Any](), groups or []

        def labels(table: pa.Table, name: str) -> NDArray[np.bool_]:
            column, values[:] = label_values(table, name, values)
            return are_positive(column, _positive(values, column[0].as_py(), settings))

        def codes(table: pa.Table, name: str) -> GroupsOfExamples:
            return GroupsOfExamples(group_codes(group_values(table, name), names), names)

        def batch(table: pa.Table) -> Sample:
            found = sample_of(settings, table, labels=labels, scores=_scores, groups=codes)
            unit, gains = settings.unit, found.gains
            paid = gains if unit is None or gains is None else gains - unit.place_cost
            return found._replace(gains=paid)

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


def _scores(table: pa.Table, name: str) -> NDArray[np.float64]:
    """The scores of a batch in the type that holds those of all batches."""
    scores = score_column(table, name)
    if scores.dtype.kind in "iu" and max(-int(scores.min()), int(scores.max())) > _LARGEST:
        raise InputError(f"column {name!r}: whole numbers beyond 2**53 need another engine")
    return scores.astype(np.float64, copy=False)
