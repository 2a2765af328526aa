"""What the arrays at hand can do: namespace, device, precision, and may their values be read?

This is the only module that imports array-api-compat.  Apart from the native
operations in ``ops/native`` it is the only one that names an array library.
No library is imported here that the caller has not imported already.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import array_api_compat
import numpy as np

Array: TypeAlias = Any
Namespace: TypeAlias = Any
Device: TypeAlias = Any
Across: TypeAlias = Callable[[Array], Array]
"""Sums an array of integers over all shards of the data, and gives each shard the sum."""
F = TypeVar("F", bound=Callable[..., Any])

_BACKENDS = {
    name: library
    for library in ("cupy", "jax", "numpy", "torch")
    for name in (library, f"array_api_compat.{library}", f"{library}.numpy")
}
_NOT_IN_MEMORY = {
    "dask.array": "a Dask array; take quotakernels.adapters.dask, or pass {}.compute()",
    "scipy.sparse": "a sparse array; pass {}.toarray()",
    "sparse": "a sparse array; pass {}.todense()",
    "polars.lazyframe": "a LazyFrame of polars; pass {}.collect(), or a column of that",
    "polars.expr": "an expression of polars; pass the column that frame.select({}) gives",
    "torch.distributed.tensor": "a DTensor; pass {}.full_tensor(), or for one quota of all shards "
    "{}.to_local() to rank_at_quota, with across=",
}
"""By the modules of what has not all its values in memory: what to do with it."""


def _is_host(x: Any) -> bool:
    """Whether `x` is NumPy's and of one of its own types, which needs no further inquiry."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind != "V"


def is_tensor(x: Any) -> bool:
    """Whether `x` is PyTorch's."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_array(x: Any) -> bool:
    """Whether `x` belongs to an array library (lists, numbers and data-frame columns do not)."""
    if _is_host(x):
        return True
    if x is None or isinstance(x, (bool, int, float, str, list, tuple)):
        return False
    return is_tensor(x) or array_api_compat.is_array_api_obj(x)


def instead_of(name: str, x: Any) -> str:
    """What to say of an array that is lazy or sparse; nothing of others."""
    module = f"{type(x).__module__}."
    hints = [hint for key, hint in _NOT_IN_MEMORY.items() if module.startswith(f"{key}.")]
    return f"{name} is {hints[0].replace('{}', name)}" if hints else ""


def standard_namespace(x: Array) -> Namespace:
    """The array API namespace of one array."""
    if _is_host(x):
        return _host_namespace()
    if is_tensor(x):  # array_namespace inspects caches that torch.compile cannot trace quietly
        import array_api_compat.torch as xp

        return xp
    return array_api_compat.array_namespace(x)


@functools.cache
def _host_namespace() -> Namespace:
    import array_api_compat.numpy as host  # slow the first time

    return host


def backend(xp: Namespace) -> str:
    """``"numpy"``, ``"jax"``, ``"torch"``, ``"cupy"``, or ``"standard"`` for any other library."""
    return _BACKENDS.get(xp.__name__, "standard")


def library(x: Array) -> str:
    """The name of the library of `x`, for messages."""
    xp = standard_namespace(x)
    name = backend(xp)
    return str(xp.__name__) if name == "standard" else name


def device(x: Array) -> Device:
    """The device of `x`; None for JAX, whose computations follow the data by themselves."""
    if _is_host(x):
        return "cpu"
    if is_tensor(x):
        return x.device
    if array_api_compat.is_jax_array(x):
        return None
    return array_api_compat.device(x)


def placement(x: Array) -> Any:
    """Where `x` has to stay: its device, or the devices of a JAX array that was put on them."""
    place = device(x)
    if place is None and concrete(x) and x.committed:
        return x.devices()
    return place


def may_warn(x: Array) -> bool:
    """Whether Python may warn of a plain number: torch.compile would break the graph there."""
    return concrete(x) or library(x) == "jax"


def concrete(x: Array) -> bool:
    """Whether `x` holds values, on whatever device, instead of standing for them in a trace."""
    if is_tensor(x):
        return _concrete_tensor(x)
    if array_api_compat.is_jax_array(x):
        return not isinstance(x, sys.modules["jax"].core.Tracer)
    return True


def _concrete_tensor(x: Array) -> bool:
    torch = sys.modules["torch"]
    if torch.compiler.is_compiling() or x.is_meta:
        return False
    if torch.jit.is_tracing():
        raise TypeError(
            "torch.jit.trace would return this result for every other input; use torch.compile "
            "or torch.export"
        )
    kind = type(x)  # not of FakeTensor and other subclasses
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        return False
    return not torch._C._functorch.is_functorch_wrapped_tensor(x)


def readable(x: Array) -> bool:
    """Whether reading values of `x` needs neither a trace to end nor a transfer between devices."""
    if isinstance(x, (np.ndarray, np.generic)):
        return True
    if is_tensor(x):
        return _concrete_tensor(x) and bool(x.is_cpu)
    if not concrete(x):
        return False
    if array_api_compat.is_jax_array(x):
        return all(d.platform == "cpu" for d in x.devices())
    if array_api_compat.is_cupy_array(x):
        return False
    xp = standard_namespace(x)
    return bool(device(x) == xp.__array_namespace_info__().default_device())


def known(flags: Array) -> bool:
    """Whether it can be read that all flags are raised."""
    return readable(flags) and bool(to_numpy(flags).all())


def known_between(x: Array, low: float, high: float) -> bool:
    """Whether it can be read, cheaply, that all numbers are between two."""
    return readable(x) and bool((low < (host := to_numpy(x)).min()) and (host.max() < high))


def known_end(x: Array) -> np.ndarray[Any, Any] | None:
    """The last entries of the last axis, shape (..., 1), if they can be read."""
    return to_numpy(x)[..., -1:] if readable(x) else None


def kept(x: Array) -> Array:
    """`x` as it is now, whatever its memory is used for later, and without its gradients."""
    if is_tensor(x):
        return x.detach().clone()
    if array_api_compat.is_jax_array(x):
        return x
    return standard_namespace(x).asarray(x, copy=True)


def to_numpy(x: Array) -> np.ndarray[Any, Any]:
    """The values of a readable array as a NumPy array, without a copy where the library allows."""
    return x.detach().numpy() if is_tensor(x) else np.asarray(x)


def host_view(data: tuple[Array | None, ...], *beside: Any) -> list[Any] | None:
    """Tensors in memory that NumPy can read as NumPy's arrays, which share that memory.

    None for what NumPy may not compute with: other arrays, values that are not readable, gradients
    to follow, and arrays of libraries beside the data.  Floats that NumPy lacks become float32.
    """
    if isinstance(data[0], np.ndarray) or not all(map(_has_host_view, data)):
        return None
    if beside and any(is_array(x) and not isinstance(x, (np.ndarray, np.generic)) for x in beside):
        return None
    return [_as_numpy(x) if is_tensor(x) else tree_map(_as_numpy, x) for x in data]


def _has_host_view(x: Any) -> bool:
    if is_tensor(x):
        return not x.requires_grad and _concrete_tensor(x) and bool(x.is_cpu)
    if isinstance(x, dict):
        return all(map(_has_host_view, x.values()))
    return x is None or (isinstance(x, tuple) and all(map(_has_host_view, x)))


def _as_numpy(x: Array) -> np.ndarray[Any, Any]:
    host: np.ndarray[Any, Any] = (x.float() if _is_narrow(x.dtype) else x).numpy()
    return host


def _is_narrow(dtype: Any) -> bool:
    """Whether NumPy lacks this type of floats."""
    narrow: bool = dtype.itemsize <= 2 and dtype.is_floating_point
    return narrow and dtype is not sys.modules["torch"].float16


def like_tuple(given: Any, parts: Iterable[Any]) -> Any:
    """A tuple of such parts, named as the given one if that has names."""
    if not hasattr(given, "_fields"):
        return tuple(parts)
    if is_compiling():  # before PyTorch 2.13 nothing that `_make` of an object gives is returned
        return type(given)(*parts)
    return given._make(parts)


def with_fields(record: Any, **fields: Any) -> Any:
    """The record with other values of some fields, made so that programs can return it."""
    return like_tuple(
        record, [fields.get(k, x) for k, x in zip(record._fields, record, strict=True)]
    )


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """Nested tuples and mappings, with the function applied to each array in them; None stays."""
    if tree is None:
        return None
    if isinstance(tree, tuple):
        return like_tuple(tree, [tree_map(function, x) for x in tree])
    if not hasattr(tree, "dtype") and isinstance(tree, Mapping):
        return {name: tree_map(function, x) for name, x in tree.items()}
    return function(tree)


def from_host_view(result: Any, scores: Array) -> Any:
    """What NumPy made of host views, as tensors; float32 results get the dtype of `scores`."""
    if isinstance(scores, np.ndarray):
        return result

    def tensor(x: Any) -> Any:
        host = np.asarray(x)
        if not (host.flags.c_contiguous and host.flags.writeable):
            host = np.require(host, requirements=["C", "W"])
        made = sys.modules["torch"].from_numpy(host)
        return made.to(scores.dtype) if x.dtype == np.float32 else made

    return tree_map(tensor, result)


class once:  # noqa: N801  a decorator
    """A property that is made when it is first read, and stays.

    ``functools.cached_property`` has a lock on Python 3.11, which ``torch.compile`` cannot trace.
    """

    def __init__(self, make: Callable[[Any], Any]):
        functools.update_wrapper(self, make)  # type: ignore[arg-type]
        self._make, self._name = make, make.__name__

    def __get__(self, instance: Any, owner: Any) -> Any:
        value = self._make(instance)
        setattr(instance, self._name, value)
        return value


def is_compiling() -> bool:
    """Whether `torch.compile` traces what runs, so that plain numbers may be symbols."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.compiler.is_compiling())


def tolerance(x: Array, relative: float) -> float:
    """A relative rounding error of float64, as large as it is in the floats of `x`.

    The errors of float32 that are allowed for are at most 2**-20, about ten last places.
    """
    narrower = float(standard_namespace(x).finfo(x.dtype).eps) * 2**52
    return relative if narrower == 1 else min(relative * narrower, 2.0**-20)
