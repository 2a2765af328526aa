"""Native forms of the operations, one module per array library."""

from __future__ import annotations

from types import ModuleType

from quotakernels.ops.native import numpy_

__all__ = ["natives"]


def natives(library: str) -> ModuleType | None:
    """The module of native forms for a backend, imported when arrays of it first arrive.

    Import statements, because torch.compile traces through them; NumPy is there already.
    """
    if library == "numpy":
        return numpy_
    native: ModuleType | None = None
    if library == "jax":
        from quotakernels.ops.native import jax_ as native
    elif library == "torch":
        from quotakernels.ops.native import torch_ as native
    elif library == "cupy":
        from quotakernels.ops.native import cupy_ as native
    return native
