"""Columns as a data frame of the library that the caller uses."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Library = Literal["pandas", "polars"]


def frame_of(columns: Mapping[str, Sequence[Any]], library: Library | None) -> Any:
    """A data frame; by default of the library that is imported, of pandas if both are."""
    names = ("pandas", "polars") if library is None else (library,)
    for name in [x for x in names if sys.modules.get(x)] or names:
        try:
            if name == "pandas":
                import pandas as frames
            else:
                import polars as frames
        except ImportError:
            continue
        return frames.DataFrame(columns)
    raise ImportError(f"to_frame needs {' or '.join(names)}, which is not installed")
