"""The namespace of arrays: a class for each array library, and faster forms of operations."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING

from quotakernels._array import Array, Namespace, backend, standard_namespace
from quotakernels.ops.standard import Standard
from quotakernels.ops.standard import all_readable as all_readable

if TYPE_CHECKING:
    from quotakernels.ops.native import cupy_ as cupy_
    from quotakernels.ops.native import jax_ as jax_
    from quotakernels.ops.native import numpy_ as numpy_
    from quotakernels.ops.native import torch_ as torch_

STANDARD_ONLY = os.environ.get("QUOTAKERNELS_STANDARD_ONLY", "") not in ("", "0")
"""Whether the faster forms stay unused, which have standard twins: to look for a fault in them."""


FORMS = 1 if STANDARD_ONLY else 0
"""Which class of a library serves: 0 for all forms, 1 for those beyond the standard, 2 for none."""
_MADE: dict[str, list[Standard]] = {}


def namespace(x: Array) -> Namespace:
    """The array API namespace of one array, with the operations that it lacks."""
    xp = standard_namespace(x)
    made = _MADE.get(xp.__name__)
    if made is not None:
        return made[FORMS]
    if backend(xp) == "torch":  # by an import, which torch.compile traces through
        from quotakernels.ops.native.torch_ import NAMESPACES

        return NAMESPACES[FORMS]
    return _made(xp)[FORMS]


def _made(xp: Namespace) -> list[Standard]:
    """The namespaces with the operations of a library, which is imported here."""
    classes: tuple[type[Standard], ...] = (Standard, Standard, Standard)
    name = backend(xp)
    if name == "numpy":
        from quotakernels.ops.native.numpy_ import NumPy, NumPyTypes

        classes = (NumPy, NumPyTypes, Standard)
    elif name == "jax":
        from quotakernels.ops.native.jax_ import Jax, JaxTypes

        classes = (Jax, JaxTypes, Standard)
    elif name == "cupy":
        from quotakernels.ops.native.cupy_ import CuPy, CuPyTypes

        classes = (CuPy, CuPyTypes, Standard)
    return _MADE.setdefault(xp.__name__, [library(xp) for library in classes])


def library(xp: Namespace, beyond: bool = False) -> str:
    """The library whose forms are used, ``"standard"`` where none is.

    Forms that go `beyond` the standard are always used: of bits, types and bounds.
    """
    return "standard" if STANDARD_ONLY and not beyond else backend(xp)


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
