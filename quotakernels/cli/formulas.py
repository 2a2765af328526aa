"""Texts that spreadsheets run as formulas, and how to keep them texts in a CSV file."""

from __future__ import annotations

import re
from typing import Any

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How texts begin that spreadsheets may run."""
_NUMBER = re.compile(r"[+-]?([.,]?\d[\d.,]*(e[+-]?\d+)?%?|inf(inity)?)", re.IGNORECASE)


def escaped(cell: Any) -> Any:
    """The cell with an apostrophe before a text that may be run; numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(FORMULAS) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
