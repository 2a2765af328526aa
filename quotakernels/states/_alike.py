"""States that are to become one are of one kind, and of the same scores."""

from __future__ import annotations

from typing import Any

from quotakernels._array import library, namespace
from quotakernels.inputs.columns import check_one_device


def check_alike(state: Any, other: Any, *properties: str) -> None:
    """Raise unless another state is of the same type, library, device, scores and properties."""
    kind = type(state).__name__
    if not isinstance(other, type(state)):
        raise TypeError(f"only a {kind} can be merged into one; got {type(other).__name__}")
    if namespace(other.like) is not namespace(state.like):
        raise TypeError(
            f"a {kind} of {library(other.like)} cannot be merged into one of {library(state.like)}"
        )
    check_one_device({"the state": state.bad, "the other": other.bad})
    described = [
        {"type of scores": str(x.like.dtype), "batch axes": tuple(x.like.shape[:-1])}
        | {name: getattr(x, name) for name in properties}
        for x in (state, other)
    ]
    for name, value in described[0].items():
        if described[1][name] != value:
            raise ValueError(f"the states differ in {name}: {value} and {described[1][name]}")
