"""What an interpreter shows of examples: how many there are, and no columns."""

from __future__ import annotations

from quotakernels._array import Array, library, readable, to_numpy


def in_short(
    name: str,
    x: Array,
    shape: tuple[int, ...],
    counts: list[Array],
    positives: list[Array],
    *beside: str,
) -> str:
    """A repr of examples like `x`: of one list, how many there are too, where that is known; and
    what there is beside them.
    """
    said = [f"shape={tuple(shape)}", library(x)]
    for columns, what in ((counts, "examples"), (positives, "positive")):
        if len(shape) == 1 and all(map(readable, columns)):
            said.append(f"{sum(int(to_numpy(x).sum()) for x in columns)} {what}")
    return f"{name}({', '.join([*said, *beside])})"
