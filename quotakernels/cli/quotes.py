"""Quotation marks of a CSV file: a cell that begins with one must also end with one.

Arrow reads on where it does not, so that one cell swallows the rows up to the next mark.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from itertools import chain
from pathlib import Path

from quotakernels.cli.errors import InputError
from quotakernels.cli.formats import BLOCK_BYTES, blocks_of
from quotakernels.cli.streams import name_of

_SHOWN = 40
_QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')


def refuse_stray_quotes(path: Path, separator: str, encoding: str, skipped: int) -> None:
    """Raise for the first quoted cell that does not end with its quotation mark."""
    changed = path.stat().st_mtime_ns, path.stat().st_size
    if found := _stray_quote(path, separator, encoding, skipped, changed):
        raise InputError(f"{name_of(path)}: {found}")


@lru_cache(maxsize=64)  # a file is read in several passes
def _stray_quote(
    path: Path, separator: str, encoding: str, skipped: int, _: tuple[int, int]
) -> str | None:
    """What is wrong with the first such cell, below some lines that are skipped."""
    if not any(b'"' in block for block in blocks_of(path)):
        return None
    edge = rf"[^{re.escape(separator)}\r\n]"
    # Outside of quoted cells, a mark within a cell is part of its text.
    cells = re.compile(rf'(?:[^"]++|(?<!{edge}){_QUOTED.pattern}(?!{edge})|(?<={edge})")*+')
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    text, line = "", 1 + skipped
    for block in chain(blocks_of(path), [b""]):
        text += decoder.decode(block, final=not block)
        if len(text) > 2 * BLOCK_BYTES or "\0" in text:  # which reading refuses
            return None
        if skipped or text.startswith("\ufeff"):
            text, skipped = text.removeprefix("\ufeff").split("\n", skipped)[-1], 0
        whole = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] if block else text
        found = cells.match(whole)
        end = 0 if found is None else found.end()
        line += whole.count("\n", 0, end)
        text, whole = text[end:], whole[end:]
        closed = _QUOTED.match(whole)
        if whole and (closed or not block or len(text) > BLOCK_BYTES):
            first = whole[1:].split("\n", 1)[0].rstrip("\r")[:_SHOWN]
            if not closed:
                return f"the quotation mark before {first!r} in line {line} is not closed"
            last = line + whole.count("\n", 0, closed.end())
            return (
                f"in line {last}, text follows a closing quotation mark; its cell begins in line "
                f"{line}, with {first!r}"
            )
    return None
