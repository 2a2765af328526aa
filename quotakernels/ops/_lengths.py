"""Lengths of arrays, which `jax.export` may leave open."""

from __future__ import annotations

import sys
from typing import Any


def is_symbolic(size: Any) -> bool:
    """Whether a length stands for many, in a program that `jax.export` makes for all of them."""
    export = None if isinstance(size, int) else sys.modules.get("jax.export")
    symbolic: bool = export is not None and export.is_symbolic_dim(size)
    return symbolic


def is_below(low: Any, high: Any) -> bool:
    """Whether one length is less than another; of symbolic ones, whether constraints say so."""
    if is_symbolic(low) or is_symbolic(high):
        try:
            below: bool = low < high
        except sys.modules["jax"].errors.InconclusiveDimensionOperation:
            return False
    else:
        below = low < high
    return below
