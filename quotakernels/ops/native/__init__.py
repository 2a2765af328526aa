"""Faster forms of the operations, one module for each array library."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING

from quotakernels._array import Array, Namespace, backend, readable

if TYPE_CHECKING:
    from quotakernels.ops.native import cupy_ as cupy_
    from quotakernels.ops.native import jax_ as jax_
    from quotakernels.ops.native import numpy_ as numpy_
    from quotakernels.ops.native import torch_ as torch_

STANDARD_ONLY = os.environ.get("QUOTAKERNELS_STANDARD_ONLY", "") not in ("", "0")
"""Whether the faster forms stay unused, which have standard twins: to look for a fault in them."""


def library(xp: Namespace, beyond: bool = False) -> str:
    """The library whose forms are used, ``"standard"`` where none is.

    Forms that go `beyond` the standard are always used: of bits, types and bounds.
    """
    return "standard" if STANDARD_ONLY and not beyond else backend(xp)


def all_readable(*arrays: Array | None) -> bool:
    """Whether all can be read; of some that were given, ``vmap`` may go over one alone."""
    return all(x is None or readable(x) for x in arrays)


def __getattr__(name: str) -> ModuleType:
    """The module of a library, imported when an array of it first arrives.

    Import statements, because torch.compile traces through them.
    """
    if name == "numpy_":
        import quotakernels.ops.native.numpy_ as numpy_

        return numpy_
    if name == "jax_":
        import quotakernels.ops.native.jax_ as jax_

        return jax_
    if name == "torch_":
        import quotakernels.ops.native.torch_ as torch_

        return torch_
    if name == "cupy_":
        import quotakernels.ops.native.cupy_ as cupy_

        return cupy_
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
