"""How functions of arrays run: in which context, as which program, in which precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quotakernels._array import Array, device, from_host_view, host_view
from quotakernels.ops.native import namespace

_SCALAR = np.zeros(())


def float_of(values: Array) -> Any:
    """The float type of what is made of values; to be asked before `computing` is entered."""
    xp = namespace(values)
    is_float = xp.of_kind(values.dtype, "real floating")
    return values.dtype if is_float else xp.result_float(device(values))


def by_numpy(function: Callable[..., Any], *tables: Any) -> Any:
    """The result of a function for tables of NumPy arrays, where 0/0 is NaN without a warning."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        found = function(*tables)
    if type(found) is np.float64 or (type(found) is np.ndarray and found.ndim > 0):
        return found
    return namespace(_SCALAR).finished(found, np.float64)


def computed(function: Callable[..., Any], data: tuple[Any, ...], **options: Any) -> Any:
    """A function of arrays as one program, in the precision of results; of tensors by NumPy."""
    if (on_host := host_view(data)) is not None:
        return from_host_view(computed(function, tuple(on_host), **options), data[0])
    xp = namespace(data[0])
    dtype = xp.result_float(device(data[0]))
    with xp.computing():
        return xp.finished(xp.compiled(function, tuple(options))(*data, **options), dtype)
