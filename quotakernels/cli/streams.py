"""Data from pipes and from the standard input, which can be read only once."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

import click

from quotakernels.cli.errors import InputError

_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"{": ".jsonl",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"PK\x03\x04": ".npz",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}
"""What tells the format of a file without a name; all else is CSV."""
_STREAMS = ("/dev/", "/proc/")
_COPIES = f"{__name__}.copies"


class _Given(NamedTuple):
    """A pipe that was copied: its path, and what to call it."""

    path: Path
    name: str


def name_of(path: Path) -> str:
    """What to call a file; a copy of a pipe is called what the pipe is."""
    return _given(path).name


def path_given(path: Path) -> Path:
    """The path that the user gave, where another one is that of a copy."""
    return _given(path).path


def _given(path: Path) -> _Given:
    ctx = click.get_current_context(silent=True)
    copies: dict[Path, _Given] = {} if ctx is None else ctx.meta.get(_COPIES, {})
    return copies.get(path, _Given(path, path.name))


def as_file(path: Path, ctx: click.Context) -> Path:
    """What a path leads to; of a pipe a copy, which is there while the command runs."""
    kind = path.stat().st_mode
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise InputError(f"{path} is a device or a terminal, not a file")
    if stat.S_ISDIR(kind) or (stat.S_ISREG(kind) and not _is_open_file(path)):
        return path
    folder = Path(ctx.with_resource(tempfile.TemporaryDirectory(prefix="quotakernels-")))
    copy = folder / path.name
    try:
        with path.open("rb") as stream, copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if not path.suffix:
        copy = copy.rename(copy.with_suffix(_suffix(copy)))
    ctx.meta.setdefault(_COPIES, {})[copy] = _Given(path, _name(path))
    return copy


def _name(stream: Path) -> str:
    try:
        if os.path.samestat(stream.stat(), os.fstat(0)):
            return "standard input"
    except OSError:  # it is closed
        pass
    return str(stream) if _is_open_file(stream) else stream.name


def _is_open_file(path: Path) -> bool:
    """Whether a name without a suffix stands for an open file, as `/dev/stdin` does."""
    return not path.suffix and str(path.absolute()).startswith(_STREAMS)


def _suffix(path: Path) -> str:
    with path.open("rb") as file:
        first = file.readline(2**16)
    for beginning, suffix in _BEGINNINGS.items():
        if first.startswith(beginning):
            return suffix
    return ".csv"
