"""Files whose content is not what their name says, or that no command reads; and what to do."""

from __future__ import annotations

from pathlib import Path

from quotakernels.cli.errors import InputError
from quotakernels.cli.streams import name_of

_SAVE = "save it as .xlsx or as CSV UTF-8"
_BEGINNINGS = {
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
    for beginning, kind in _BEGINNINGS.items():
        if first[: len(beginning)].lower() == beginning.lower():
            raise InputError(f"{name_of(path)} is no CSV; it looks like {kind}")
    zeros = first[::2].count(0), first[1::2].count(0)
    if min(zeros) > max(zeros) / 8:  # of UTF-16 nearly all are on one side
        raise InputError(f"{name_of(path)} is no CSV; it is not text")


def unknown_kind(path: Path, readable: str) -> InputError:
    """The error of a file whose name ends as none that can be read."""
    advice = _ADVICE.get(path.suffix.lower())
    more = f"; {advice}" if advice else ""
    return InputError(f"{name_of(path)}: unknown file type, expected {readable}{more}")
