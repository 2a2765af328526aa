"""Which files a path means, and their formats; pipes, which are copied; what is none of these."""

from __future__ import annotations

import glob
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from quotakernels.cli.errors import InputError, no_columns

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".xlsx": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
}
READABLE = "CSV, TSV, TXT or JSON lines (also .gz, .bz2, .zst), .xlsx, Parquet, Arrow/Feather"

WRITABLE = ".csv, .tsv, .xlsx, .parquet, .arrow or .feather"

BLOCK_BYTES = 2**24
"""Of a text file that are read at once; longer rows cannot be read."""
_COMPRESSIONS = (".gz", ".bz2", ".zst")


def suffix_of(path: Path) -> str:
    """Return the suffix that tells the format: `.csv` for `a.csv` and for `a.csv.gz`."""
    name = path.name.lower()
    for compression in _COMPRESSIONS:
        inner = Path(name.removesuffix(compression)).suffix
        if name.endswith(compression) and inner in (".csv", ".tsv", ".txt", ".jsonl", ".ndjson"):
            return inner
    return path.suffix.lower()


def file_format(path: Path) -> str:
    """Tell the format of what a path means by its name: csv or parquet, or nothing if unknown."""
    return FORMATS.get(suffix_of(files_of(path)[0]), "")


def means_files(path: Path) -> bool:
    """Whether a path is a directory or a pattern, however many files these hold."""
    return not path.is_file()


def files_of(path: Path) -> list[Path]:
    """The file that a path means, or the files of a directory or a pattern, all of one format.

    Where there are Parquet files, they are meant.
    """
    if not means_files(path):
        return [path]
    by_format: dict[str, list[Path]] = {}
    for file in sorted(x for x in _within(path) if x.is_file()):
        by_format.setdefault(FORMATS.get(suffix_of(file), ""), []).append(file)
    by_format.pop("", None)
    if not by_format:
        raise InputError(f"{path} holds no file that can be read: {READABLE}")
    if len(by_format) > 1 and "parquet" not in by_format:
        first, second, *_ = (x[0].name for x in by_format.values())
        several = f"{path} holds files of several types, such as {first} and {second}"
        raise InputError(f'{several}; a pattern such as "*{suffix_of(Path(first))}" takes one')
    return by_format.get("parquet") or next(iter(by_format.values()))


def _within(path: Path) -> Iterable[Path]:
    if not path.is_dir():
        return map(Path, glob.glob(str(path), recursive=True))
    inner = (x for x in path.rglob("*") if not x.name.startswith((".", "_", "~$")))
    return (x for x in inner if suffix_of(x) != ".txt")  # which is there to be read by people


def blocks_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file, as they are without compression, in blocks."""
    import pyarrow as pa

    with pa.input_stream(str(path), compression="detect") as stream:
        while block := stream.read(BLOCK_BYTES):
            yield block


# pipes, which can be read only once


_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"{": ".jsonl",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"PK\x03\x04": ".xlsx",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}
"""What tells the format of a file without a name; all else is CSV."""
_COPIES = f"{__name__}.copies"


def path_given(path: Path) -> Path:
    """The path that the user gave, where another one is that of a copy."""
    ctx = click.get_current_context(silent=True)
    copies: dict[Path, Path] = {} if ctx is None else ctx.meta.get(_COPIES, {})
    return copies.get(path, path)


def name_of(path: Path) -> str:
    """What to call a file; a copy of a pipe is called what the pipe is."""
    path = path_given(path)
    if path == Path("/dev/stdin"):
        return "standard input"
    return str(path) if path.is_relative_to("/dev") else path.name


def as_file(path: Path, ctx: click.Context) -> Path:
    """What a path leads to; of a pipe, and of what has no suffix, a copy, which is there while the
    command runs and whose suffix tells the format.
    """
    kind = path.stat().st_mode
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise InputError(f"{path} is a device or a terminal, not a file")
    if stat.S_ISDIR(kind) or (stat.S_ISREG(kind) and path.suffix):
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
    ctx.meta.setdefault(_COPIES, {})[copy] = path
    return copy


def _suffix(path: Path) -> str:
    with path.open("rb") as file:
        first = file.readline(2**16)
    for beginning, suffix in _BEGINNINGS.items():
        if first.startswith(beginning):
            return suffix
    return ".csv"


_SAVE = "save it as .xlsx or as CSV UTF-8"

_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive, as .xlsx files are; give it that ending if it is one",
    b"\xd0\xcf\x11\xe0": f"a file of an older Excel; {_SAVE}",
    b"%PDF": "a PDF; export the table as CSV",
    b"PAR1\x15": "a Parquet file; give it the ending .parquet",
    b"ARROW1\0\0": "an Arrow file; give it the ending .arrow",
    b"\x1f\x8b": "a gzip archive; give it the ending .csv.gz",
    b"<!DOCTYPE": "a web page; download the file itself",
    b"<html": "a web page; download the file itself",
}
_ADVICE = {
    **dict.fromkeys((".xls", ".xlsm", ".xlsb", ".ods", ".numbers"), _SAVE),
    ".zip": "unpack it",
}


def refuse_other_kinds(path: Path, first: bytes) -> None:
    """Raise for the beginning of a file that is no text, whatever its name."""
    for beginning, kind in _OTHER_KINDS.items():
        if first[: len(beginning)].lower() == beginning.lower():
            raise InputError(f"{name_of(path)} is not CSV; it looks like {kind}")
    zeros = first[::2].count(0), first[1::2].count(0)
    if min(zeros) > max(zeros) / 8:  # of UTF-16 nearly all are on one side
        raise InputError(f"{name_of(path)} is not CSV, and not text")


def unknown_kind(path: Path, readable: str) -> InputError:
    """The error of a file whose name ends as none that can be read."""
    advice = _ADVICE.get(path.suffix.lower())
    more = f"; {advice}" if advice else ""
    return InputError(f"{name_of(path)}: unknown file type, expected {readable}{more}")


_TOO_LONG = f"a row has more than {BLOCK_BYTES // 2**20} MB"

_OF_RECORDS = (
    "; put a cell that holds the separator in quotation marks, and give --header-row if the names "
    "of the columns are in a later row"
)


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turn what readers complain about into the error that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        said = _TOO_LONG if "straddl" in str(error) else str(error)
        hint = _OF_RECORDS if "columns, got" in said else ""
        raise InputError(f"{name_of(path)} cannot be read: {said}{hint}") from error


def picked_columns(path: Path, available: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Return the columns to read; refuse one that is not there, or there more than once."""
    picked = list(dict.fromkeys(available if names is None else names))
    if absent := [name for name in picked if name not in available]:
        raise no_columns(name_of(path), absent, available)
    for name in picked:
        if (count := available.count(name)) > 1:
            which = f"with the name {name!r}" if name else "without a name"
            raise InputError(f"{name_of(path)} has {count} columns {which}: give each its own")
    return picked
