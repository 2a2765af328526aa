"""The namespace of arrays: a class for each array library has the operations of it."""

from __future__ import annotations

import os

from quotakernels._array import Array, Namespace, backend, standard_namespace
from quotakernels.ops.standard import Standard

STANDARD_ONLY = os.environ.get("QUOTAKERNELS_STANDARD_ONLY", "") not in ("", "0")
"""Whether the faster forms stay unused, which have standard twins: to look for a fault in them."""
FORMS = 1 if STANDARD_ONLY else 0
"""Which class of a library serves: 0 for all forms, 1 for those beyond the standard, 2 for none."""
_MADE: dict[str, list[Standard]] = {}


def namespace(x: Array) -> Standard:
    """The array API namespace of one array, with the operations that it lacks."""
    xp = standard_namespace(x)
    made = _MADE.get(xp.__name__)
    if made is not None:
        return made[FORMS]
    if backend(xp) == "torch":  # by an import, which torch.compile traces through
        from quotakernels.ops.native.torch_ import NAMESPACES

        return NAMESPACES[FORMS]
    return _MADE.setdefault(xp.__name__, [library(xp) for library in _classes(xp)])[FORMS]


def _classes(xp: Namespace) -> tuple[type[Standard], ...]:
    """The classes of a library, the one with most forms first; they are imported here."""
    name = backend(xp)
    if name == "numpy":
        from quotakernels.ops.native.numpy_ import NumPy, NumPyTypes

        return NumPy, NumPyTypes, Standard
    if name == "jax":
        from quotakernels.ops.native.jax_ import Jax, JaxTypes

        return Jax, JaxTypes, Standard
    if name == "cupy":
        from quotakernels.ops.native.cupy_ import CuPy, CuPyTypes

        return CuPy, CuPyTypes, Standard
    return Standard, Standard, Standard
