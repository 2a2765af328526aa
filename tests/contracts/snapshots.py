"""Texts that are kept in files, and compared with what the library says today.

With QUOTAKERNELS_WRITE=1 in the environment they are written again:
read what has changed before you commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

KEPT = Path(__file__).with_name("expected")
_LONG = re.compile(r"(?<![\w.])-?\d+\.\d{7,}(?:e[-+]?\d+)?|(?<![\w.])-?\d(?:\.\d+)?e[-+]?\d+")


def rounded(text: str) -> str:
    """The text, in which numbers with many digits have eight, as the last ones may differ between
    machines.
    """
    return _LONG.sub(lambda found: format(float(found[0]), ".8g"), text)


def agrees(name: str, text: str) -> None:
    """Assert that a text is the one that is kept under this name."""
    path, text = KEPT / f"{name}.txt", rounded(text).rstrip() + "\n"
    if os.environ.get("QUOTAKERNELS_WRITE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    assert text.splitlines() == kept.splitlines()
