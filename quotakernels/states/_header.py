"""The header of a state file, checked before memory is taken for what it describes.

A right checksum shows that a file is as somebody wrote it, not that this library did.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeAlias

from quotakernels._bits import WIDTHS

StrPath: TypeAlias = str | os.PathLike[str]
Fields: TypeAlias = dict[str, tuple[Callable[[Any], bool], str]]
"""What each field must fulfil, and that in words."""

_MOST_AXES = 32
_MOST_BYTES = 2**62
_DEFLATE_RATIO = 1032
"""No zlib stream decompresses to more than so many times its bytes."""


class DamagedFileError(ValueError):
    """A file that is incomplete, has been changed, or never was a state file."""


def damaged(path: StrPath, what: str) -> DamagedFileError:
    return DamagedFileError(f"{path} is damaged, or not written by this library: {what}")


class Entry(NamedTuple):
    """One array in a file; ``stored`` is how many bytes it takes there."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    stored: int
    compressed: bool

    @property
    def size(self) -> int:
        """How many bytes the numbers take."""
        return math.prod(self.shape) * WIDTHS[self.dtype]


def is_size(x: Any) -> bool:
    return type(x) is int and x >= 0


def is_list_of(good: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, list) and all(map(good, x))


ENTRY: Fields = {
    "name": (lambda x: isinstance(x, str), "a name"),
    "dtype": (lambda x: isinstance(x, str) and x in WIDTHS, "the name of a type of numbers"),
    "width": (is_size, "a number of bytes"),
    "shape": (is_list_of(is_size), "a list of sizes"),
    "bytes": (is_size, "a number of bytes"),
    "compressed": (lambda x: isinstance(x, bool), "true or false"),
}


def parsed(path: StrPath, text: bytes) -> dict[str, Any]:
    """The object that the header is."""
    import json  # not needed but for files

    try:
        header = json.loads(text.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"its header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise damaged(path, f"its header must be an object; got {reprlib.repr(header)}")
    return header


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def check_fields(path: StrPath, what: str, said: Any, fields: Fields) -> None:
    """Raise unless an object has all these fields, and each is good."""
    if not isinstance(said, dict):
        raise damaged(path, f"{what} must be an object; got {reprlib.repr(said)}")
    for name, (good, wanted) in fields.items():
        if name not in said:
            raise damaged(path, f"{what} has no {name}")
        if not good(said[name]):
            raise damaged(
                path, f"{name} of {what} must be {wanted}; got {reprlib.repr(said[name])}"
            )


def entries_of(path: StrPath, header: dict[str, Any], room: int) -> list[Entry]:
    """What is said of the arrays, which take all the bytes behind the header."""
    check_fields(path, "its header", header, {"arrays": (is_list_of(lambda _: True), "a list")})
    entries: list[Entry] = []
    for number, said in enumerate(header["arrays"]):
        check_fields(path, f"array {number}", said, ENTRY)
        shape = tuple(said["shape"])
        entry = Entry(said["name"], said["dtype"], shape, said["bytes"], said["compressed"])
        _check_size(path, entry, said["width"])
        entries.append(entry)
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        raise damaged(path, f"two arrays have one name among {reprlib.repr(names)}")
    needed = sum(entry.stored for entry in entries)
    if needed != room:
        raise damaged(path, f"its arrays have {needed} bytes and there are {room}")
    return entries


def _check_size(path: StrPath, entry: Entry, width: int) -> None:
    """Raise unless the bytes in the file can be those of the shape."""
    what = f"array {reprlib.repr(entry.name)}"
    if width != WIDTHS[entry.dtype]:
        raise damaged(path, f"{what} has {width} bytes a number and is of {entry.dtype}")
    extent = math.prod(max(x, 1) for x in entry.shape) * width
    if len(entry.shape) > _MOST_AXES or extent > _MOST_BYTES:
        raise damaged(path, f"{what} cannot have shape {reprlib.repr(entry.shape)}")
    least = entry.size if not entry.compressed else -(-entry.size // _DEFLATE_RATIO)
    if entry.stored < least or (entry.stored > least and not entry.compressed):
        raise damaged(
            path,
            f"{what} has {entry.stored} bytes, which cannot be the {entry.size} that its shape "
            f"{reprlib.repr(entry.shape)} needs",
        )
