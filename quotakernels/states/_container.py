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
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from quotakernels._bits import WIDTHS, Bits
from quotakernels._replacing import replacing
from quotakernels.states._header import ENTRY, DamagedFileError, Entry, damaged, entries_of, parsed

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
