"""The bits of any array in host memory, and arrays made of bits: for files and pickles."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    backend,
    concrete,
    device,
    is_array,
    library,
    placement,
    standard_namespace,
    to_numpy,
)

Bits = np.ndarray[Any, Any]
"""Unsigned integers as wide as the numbers that they stand for."""

_TYPES_OF_WIDTH = {
    1: (
        "bool int8 uint8 int4 uint4 int2 uint2 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz "
        "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
    ),
    2: "int16 uint16 float16 bfloat16",
    4: "int32 uint32 float32",
    8: "int64 uint64 float64",
}
WIDTHS = {name: width for width, names in _TYPES_OF_WIDTH.items() for name in names.split()}
"""The types whose bits are kept, by name, and how many bytes hold one number."""


def dtype_name(dtype: Any) -> str:
    """The name of a type, the same in all libraries."""
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def to_bits(x: Array) -> Bits:
    """The bits of an array that has values, wherever they are."""
    if not concrete(x):
        raise TypeError("the state is traced, or has shapes only, so it has no values to save")
    host = np.asarray(_on_host(x))
    flat = np.ascontiguousarray(host).reshape(-1)
    return flat.view(f"u{host.dtype.itemsize}").reshape(host.shape)


def _on_host(x: Array) -> Any:
    own = backend(standard_namespace(x))
    if own == "torch":
        torch = sys.modules["torch"]
        words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        return x.detach().cpu().contiguous().view(words[x.element_size()]).numpy()
    if own == "cupy":
        return x.get()
    if own == "standard":
        return x.to_device(standard_namespace(x).__array_namespace_info__().default_device())
    return x


def from_bits(bits: Bits, name: str, beside: Array | None) -> Array:
    """The numbers of a type that have these bits, in the library and on the device of `beside`.

    None stands for NumPy.  The memory of the bits may become that of the array.
    """
    if name not in WIDTHS:
        raise TypeError(f"numbers of type {name!r} cannot be saved")
    xp = None if beside is None else standard_namespace(beside)
    if xp is None or backend(xp) == "numpy":
        return bits.view(_host_type(name))
    if backend(xp) == "torch":
        torch = sys.modules["torch"]
        words = torch.from_numpy(bits.view(f"i{bits.itemsize}"))
        return words.view(getattr(torch, name)).to(device(beside))
    if backend(xp) == "jax":
        return _placed(xp, bits.view(_host_type(name)), beside)
    return xp.asarray(bits.view(_host_type(name)), device=device(beside))


def _placed(xp: Namespace, x: Bits, beside: Array) -> Array:
    """A JAX array of the bits, divided among devices as `beside` is if the shapes agree."""
    with sys.modules["jax"].enable_x64(True):
        made = xp.asarray(x)
        place = placement(beside)
        if place is None:
            return made
        target = beside.sharding if made.shape == beside.shape else min(place, key=lambda d: d.id)
        return sys.modules["jax"].device_put(made, target)


def _host_type(name: str) -> np.dtype[Any]:
    """NumPy's type of a name; small floats come from a package of their own."""
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeError(
            f"NumPy has {name} only with the package ml_dtypes; install it, or load the state into "
            "another library by like="
        ) from error
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found


def host_array(x: Array) -> np.ndarray[Any, Any]:
    """An array of any library in NumPy."""
    if isinstance(x, (np.ndarray, np.generic)):
        return np.asarray(x)
    if not concrete(x):
        raise TypeError(
            "an argument is traced, or holds shapes only; its values are read here: make this call "
            "outside the compiled program"
        )
    return np.asarray(from_bits(to_bits(x), dtype_name(x.dtype), None))


def pickled(record: Any) -> Any:
    """What ``__reduce__`` of a named tuple of arrays has to return, so that every bit is kept.

    JAX reads its own pickles back as its x64 flag says.
    """
    return _restored, _packed(record)


def _packed(x: Any) -> Any:
    """A tuple as its type and its packed fields; an array of JAX as what makes it of NumPy's."""
    if isinstance(x, tuple):
        return (type(x), *map(_packed, x))
    if isinstance(x, dict):
        return {name: _packed(column) for name, column in x.items()}
    return (_of_jax, to_numpy(x)) if is_array(x) and library(x) == "jax" else x


def _restored(make: Callable[..., Any], *fields: Any) -> Any:
    parts = map(_unpacked, fields)
    return tuple(parts) if make is tuple else make(*parts)


def _unpacked(x: Any) -> Any:
    if isinstance(x, dict):
        return {name: _unpacked(column) for name, column in x.items()}
    return _restored(*x) if isinstance(x, tuple) else x


def _of_jax(x: Bits) -> Array:
    import jax

    with jax.enable_x64(True):
        return jax.numpy.asarray(x)
