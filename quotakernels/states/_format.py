"""A file of named arrays and of what is said about them, which is whole or refused.

The layout, of which the first two lines and the last hold for all versions of the format:

- 8 bytes ``QKSTATE`` and a line feed
- 4 bytes the version of the format, an unsigned little-endian integer
- 4 bytes the length of the header
- the header: JSON in UTF-8, an object whose "arrays" list of each array its name, dtype, bytes of
  one number, shape, bytes in the file, and whether these are compressed by zlib; all else is what
  the caller says of the state
- the arrays in that order and nothing else, their numbers little-endian and in C order
- 32 bytes the SHA-256 of everything before

What a file says is checked before memory is taken for what it describes, and it must have the
arrays of the state that it says it holds.  A right checksum shows that a file is as somebody wrote
it, not that this library did.
"""

from __future__ import annotations

import math
import os
import reprlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._bits import WIDTHS, Bits
from quotakernels._replacing import replacing
from quotakernels.inputs.examples import COLUMNS
from quotakernels.states.histogram import MOST_BITS

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


FORMAT_VERSION = 1
_MAGIC = b"QKSTATE\n"
_START = struct.Struct("<8sII")
_DIGEST_BYTES = 32
_SAMPLE_BYTES = 2**16
_FASTEST = 1


class StoredArray(NamedTuple):
    """The bits of an array, and the name of its type."""

    dtype: str
    bits: Bits


class Stored(NamedTuple):
    """What is said in a file that is whole, and its arrays as they are stored."""

    path: str | os.PathLike[str]
    header: dict[str, Any]
    entries: list[Entry]
    parts: memoryview

    def columns(self) -> dict[str, StoredArray]:
        """All arrays, in memory of their own."""
        found, place = {}, 0
        for entry in self.entries:
            part = self.parts[place : place + entry.stored]
            place += entry.stored
            found[entry.name] = StoredArray(entry.dtype, _unpacked(self.path, entry, part))
        return found


def write(
    path: str | os.PathLike[str], header: dict[str, Any], columns: dict[str, StoredArray]
) -> None:
    """Write a file in place of the one that is there, if any; an error leaves that as it is."""
    entries, parts = [], []
    for name, (dtype, bits) in columns.items():
        data, compressed = _packed(bits)
        said = (name, dtype, bits.itemsize, list(bits.shape), len(data), compressed)
        entries.append(dict(zip(ENTRY, said, strict=True)))
        parts.append(data)
    import json  # not needed but for files

    text = json.dumps(
        {**header, "arrays": entries}, allow_nan=False, separators=(",", ":")
    ).encode()
    start = _START.pack(_MAGIC, FORMAT_VERSION, len(text))
    with replacing(path) as file:
        file.writelines(_with_digest([start, text, *parts]))


def _packed(bits: Bits) -> tuple[bytes, bool]:
    """Bytes of an array, compressed if the first of them are worth it."""
    data = bits.astype(bits.dtype.newbyteorder("<"), copy=False).tobytes()
    sample = data[:_SAMPLE_BYTES]
    if 2 * len(zlib.compress(sample, _FASTEST)) > len(sample):
        return data, False
    return zlib.compress(data, _FASTEST), True


def _unpacked(path: str | os.PathLike[str], entry: Entry, part: memoryview) -> Bits:
    """The numbers of an array, of which no more is decompressed than its shape needs."""
    data = _decompressed(part, entry.size) if entry.compressed else np.array(part)
    if data is None:
        raise damaged(path, f"array {entry.name!r} does not have {entry.size} bytes")
    if entry.dtype == "bool" and data.size and data.max() > 1:
        raise damaged(path, f"array {entry.name!r} has bytes that are neither 0 nor 1")
    little: Bits = data.view(f"<u{WIDTHS[entry.dtype]}").reshape(entry.shape)
    return little.astype(little.dtype.newbyteorder("="), copy=False)


def _decompressed(part: memoryview, size: int) -> Bits | None:
    """Exactly so many bytes, or None."""
    data = np.empty(size, np.uint8)
    engine, filled = zlib.decompressobj(), 0
    for start in range(0, len(part), _SAMPLE_BYTES):
        if engine.eof:
            return None
        try:
            found = engine.decompress(part[start : start + _SAMPLE_BYTES], size - filled + 1)
        except zlib.error:
            return None
        if filled + len(found) > size:
            return None
        data[filled : filled + len(found)] = np.frombuffer(found, np.uint8)
        filled += len(found)
    return data if engine.eof and not engine.unused_data and filled == size else None


def _with_digest(parts: Iterable[bytes]) -> Iterator[bytes]:
    import hashlib  # not needed but for files

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
        yield part
    yield digest.digest()


def read(path: str | os.PathLike[str]) -> Stored:
    """What a file holds, if nothing of it has changed since it was written."""
    import hashlib

    data = memoryview(Path(path).read_bytes())
    body = data[:-_DIGEST_BYTES]
    if len(body) < _START.size or body[: len(_MAGIC)] != _MAGIC:
        raise DamagedFileError(f"{path} is not a state file, or the beginning of it is damaged")
    _, version, length = _START.unpack_from(body)
    of_version = f"format version {version}; this library reads version {FORMAT_VERSION}"
    if hashlib.sha256(body).digest() != data[-_DIGEST_BYTES:]:
        other = "" if version == FORMAT_VERSION else f", or it has {of_version}"
        raise DamagedFileError(
            f"{path} is damaged or incomplete: its SHA-256 does not match its contents{other}"
        )
    if version != FORMAT_VERSION:
        raise ValueError(f"{path} has {of_version}")
    place = _START.size + length
    header = parsed(path, bytes(body[_START.size : place]))
    entries = entries_of(path, header, len(body) - place)
    return Stored(path, header, entries, body[place:])


class _Wanted(NamedTuple):
    dtypes: tuple[str, ...]
    shapes: list[tuple[int, ...]]


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


_WEIGHTED = (lambda x: isinstance(x, bool), "true or false")
_NUM_GROUPS = (lambda x: x is None or (is_size(x) and x > 0), "null or at least 1")


def _are_columns(x: Any) -> bool:
    """Whether they are the names of a state's columns, in order."""
    named = is_list_of(_is_text)(x) and x == [name for name in COLUMNS if name in x]
    return named and ("gain" in x or "gain_rejected" not in x)


_COLUMN_NAMES = (_are_columns, f"a list of names among {', '.join(COLUMNS)}")
_FACTS: Fields = {
    "library": (_is_text, "a version"),
    "scores": (lambda x: _is_text(x) and x in WIDTHS, "the name of a type of numbers"),
    "batch": (is_list_of(is_size), "a list of sizes"),
    "measures": (lambda x: x is None or is_list_of(_is_text)(x), "null or a list of names"),
    "notes": (lambda _: True, "anything"),
}
_OWN: dict[str, Fields] = {
    "ScoreHistogram": {
        "bits": (lambda x: is_size(x) and 1 <= x <= MOST_BITS, f"from 1 to {MOST_BITS}"),
        "weighted": _WEIGHTED,
        "num_groups": _NUM_GROUPS,
        "column_names": _COLUMN_NAMES,
    },
    "ScoreBuffer": {"num_groups": _NUM_GROUPS},
    "FixedScoreBuffer": {
        "capacity": (lambda x: is_size(x) and x > 0, "at least 1"),
        "weighted": _WEIGHTED,
        "num_groups": _NUM_GROUPS,
        "column_names": _COLUMN_NAMES,
    },
}
_WIDE = ("float64", "float32")
_IDS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))


def check_layout(stored: Stored) -> None:
    """Raise unless a file says all that it must, and has the arrays that follow from it."""
    path, said = stored.path, stored.header
    kinds = {"kind": (lambda x: _is_text(x) and x in _OWN, f"one of {', '.join(_OWN)}")}
    check_fields(path, "its header", said, kinds)
    check_fields(path, "its header", said, _FACTS | _OWN[said["kind"]])
    found = {entry.name: entry for entry in stored.entries}
    if said.get("bits", 1) > 8 * WIDTHS[said["scores"]]:
        raise damaged(path, f"{said['bits']} bits are more than {said['scores']} has")
    wanted = _WANTED[said["kind"]](said, {name: x.shape for name, x in found.items()})
    if found.keys() != wanted.keys():
        names = reprlib.repr(list(found))
        raise damaged(path, f"its arrays are {names}; expected {', '.join(wanted)}")
    for name, (dtypes, shapes) in wanted.items():
        entry = found[name]
        if entry.dtype not in dtypes or entry.shape not in shapes:
            raise damaged(
                path,
                f"array {name!r} must have type {' or '.join(dtypes)} and shape {shapes[0]}; got "
                f"{entry.dtype} and {reprlib.repr(entry.shape)}",
            )


Shapes = dict[str, tuple[int, ...]]


def _lists(said: dict[str, Any]) -> tuple[int, ...]:
    """The shape of what there is once for each list, or group of examples."""
    batch = tuple(said["batch"])
    return batch if said["num_groups"] is None else (*batch, said["num_groups"])


def _histogram(said: dict[str, Any], _: Shapes) -> dict[str, _Wanted]:
    batch, bins = tuple(said["batch"]), 2 ** said["bits"]
    lists = _lists(said)
    summed = ops.to_sum(dict.fromkeys(said["column_names"], 0.0), None)
    masses = _Wanted(_WIDE, [(*lists, bins if said["weighted"] else 0, 2)])
    return {
        "like": _Wanted((said["scores"],), [(*batch, 0)]),
        "counts": _Wanted(("int64",), [(*lists, bins, 2)]),
        "bad": _Wanted(("int64",), [lists]),
        "masses": masses,
        "corrections": masses,
        **{name: _Wanted(_WIDE, [(*lists, bins, 2, 2)]) for name in summed},
    }


def _buffer(said: dict[str, Any], shapes: Shapes) -> dict[str, _Wanted]:
    """Examples are there or not, and as many as there are scores."""
    batch = tuple(said["batch"])
    length = shapes.get("scores", ())[-1:]
    wanted = {
        "like": _Wanted((said["scores"],), [(*batch, 0)]),
        "bad": _Wanted(("int64",), [_lists(said)]),
    }
    columns = _columns(said, (*batch, *length))
    if said["num_groups"] is not None:
        columns["groups"] = _Wanted(("int64",), [(*batch, *length)])
    if not shapes.keys() & columns.keys():
        return wanted
    optional = {"weights", "valid", *COLUMNS}
    if said["num_groups"] is None:
        optional.add("groups")
    absent = optional - shapes.keys()
    return wanted | {name: x for name, x in columns.items() if name not in absent}


def _fixed_buffer(said: dict[str, Any], _: Shapes) -> dict[str, _Wanted]:
    """States that ``vmap`` has put side by side have a number of filled places each."""
    batch = tuple(said["batch"])
    columns = _columns(said, (*batch, said["capacity"]))
    if not said["weighted"]:
        columns["weights"] = _Wanted(_WIDE, [(*batch, 0)])
    places = 0 if said["num_groups"] is None else said["capacity"]
    columns["groups"] = _Wanted(("int64",), [(*batch, places)])
    absent = set(COLUMNS).difference(said["column_names"])
    columns = {name: x for name, x in columns.items() if name not in absent}
    filled = _Wanted(("int64",), [batch[:axes] for axes in range(len(batch) + 1)])
    return {**columns, "filled": filled, "bad": _Wanted(("int64",), [_lists(said)])}


def _columns(said: dict[str, Any], shape: tuple[int, ...]) -> dict[str, _Wanted]:
    return {
        "scores": _Wanted((said["scores"],), [shape]),
        "labels": _Wanted(("bool",), [shape]),
        "weights": _Wanted(_WIDE, [shape]),
        "valid": _Wanted(("bool",), [shape]),
        "groups": _Wanted(_IDS, [shape]),
        **{name: _Wanted(_WIDE, [shape]) for name in COLUMNS},
    }


_WANTED = {
    "ScoreHistogram": _histogram,
    "ScoreBuffer": _buffer,
    "FixedScoreBuffer": _fixed_buffer,
}
