"""The formats of files, by their names; and which files a path means."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path

from quotakernels.cli.errors import InputError

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
    ".npz": "npz",
    ".jsonl": "json",
    ".ndjson": "json",
}
READABLE = "CSV, TSV, TXT or JSON lines (also .gz, .bz2, .zst), .xlsx, Parquet, Arrow/Feather, NPZ"
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
