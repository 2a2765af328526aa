"""A file of named arrays and of what is said about them, which is whole or refused.

The layout, of which the first two lines and the last hold for all versions of the format:

- 8 bytes ``QKSTATE`` and a line feed
- 4 bytes the version of the format, an unsigned little-endian integer
- 4 bytes the length of the header
- the header: JSON in UTF-8, an object whose "arrays" list of each array its name, dtype, bytes of
  one number, shape, bytes in the file, and whether these are compressed by zlib; all else is what
  the caller says of the state
- the arrays in that order, their numbers little-endian and in C order
- 32 bytes the SHA-256 of everything before
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from quotakernels._bits import Bits

__all__ = ["FORMAT_VERSION", "Column", "DamagedFileError", "Stored", "read", "write"]

FORMAT_VERSION = 1
_MAGIC = b"QKSTATE\n"
_START = struct.Struct("<8sII")
_DIGEST_BYTES = 32
_SAMPLE_BYTES = 2**16
_FASTEST = 1


class DamagedFileError(ValueError):
    """A file that is incomplete, has been changed, or never was a state file."""


class Column(NamedTuple):
    """The bits of an array, and the name of its type."""

    dtype: str
    bits: Bits


class Stored(NamedTuple):
    """What is said in a file that is whole, and its arrays as they are stored."""

    header: dict[str, Any]
    parts: dict[str, memoryview]

    def columns(self) -> dict[str, Column]:
        """All arrays, in memory of their own."""
        return {
            entry["name"]: Column(entry["dtype"], _unpacked(entry, self.parts[entry["name"]]))
            for entry in self.header["arrays"]
        }


def write(path: str | os.PathLike[str], header: dict[str, Any], columns: dict[str, Column]) -> None:
    """Write a file in place of the one that is there, if any; an error leaves that as it is."""
    entries, parts = [], []
    for name, (dtype, bits) in columns.items():
        data, compressed = _packed(bits)
        entries.append(
            {
                "name": name,
                "dtype": dtype,
                "width": bits.itemsize,
                "shape": list(bits.shape),
                "bytes": len(data),
                "compressed": compressed,
            }
        )
        parts.append(data)
    import json  # not needed but for files

    text = json.dumps(
        {**header, "arrays": entries}, allow_nan=False, separators=(",", ":")
    ).encode()
    start = _START.pack(_MAGIC, FORMAT_VERSION, len(text))
    _replace(Path(os.path.realpath(path)), _with_digest([start, text, *parts]))


def _packed(bits: Bits) -> tuple[bytes, bool]:
    """Bytes of an array, compressed if the first of them are worth it."""
    data = bits.astype(bits.dtype.newbyteorder("<"), copy=False).tobytes()
    sample = data[:_SAMPLE_BYTES]
    if 2 * len(zlib.compress(sample, _FASTEST)) > len(sample):
        return data, False
    return zlib.compress(data, _FASTEST), True


def _unpacked(entry: dict[str, Any], part: memoryview) -> Bits:
    data = bytearray(zlib.decompress(part) if entry["compressed"] else part)
    little: Bits = np.ndarray(tuple(entry["shape"]), f"<u{entry['width']}", buffer=data)
    return little.astype(little.dtype.newbyteorder("="), copy=False)


def _with_digest(parts: Iterable[bytes]) -> Iterator[bytes]:
    import hashlib  # not needed but for files

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
        yield part
    yield digest.digest()


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    """Readers see the old file or the new one, also after the machine has lost its power."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        with open(temporary, "xb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # where directories cannot be opened
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def read(path: str | os.PathLike[str]) -> Stored:
    """What a file holds, if nothing of it has changed since it was written."""
    import hashlib
    import json

    data = memoryview(Path(path).read_bytes())
    body = data[:-_DIGEST_BYTES]
    if len(body) < _START.size or body[: len(_MAGIC)] != _MAGIC:
        raise DamagedFileError(f"{path} is not a state file, or the beginning of it is damaged")
    _, version, length = _START.unpack_from(body)
    of_version = f"format version {version}; this library reads version {FORMAT_VERSION}"
    if hashlib.sha256(body).digest() != data[-_DIGEST_BYTES:]:
        other = "" if version == FORMAT_VERSION else f", or it has {of_version}"
        raise DamagedFileError(
            f"{path} is damaged or incomplete: its SHA-256 is not that of what it holds{other}"
        )
    if version != FORMAT_VERSION:
        raise ValueError(f"{path} has {of_version}")
    place = _START.size + length
    header = json.loads(bytes(body[_START.size : place]))
    parts = {}
    for entry in header["arrays"]:
        parts[entry["name"]] = body[place : place + entry["bytes"]]
        place += entry["bytes"]
    return Stored(header, parts)
