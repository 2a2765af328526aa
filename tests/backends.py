"""The ways in which every measure must give the same result: libraries, and transformations."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pytest

from quotakernels.ops import STANDARD_ONLY, native

ON_DEVICE = os.environ.get("QUOTAKERNELS_ON_DEVICE", "").split()
"""Libraries whose arrays are on a GPU: of "torch", which has a CPU too, and "jax", as it is set."""


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply to every array of nested dicts and tuples."""
    if isinstance(tree, dict):
        return {name: tree_map(function, x) for name, x in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(tree_map(function, x) for x in tree))
    if isinstance(tree, (tuple, list)):
        return tuple(tree_map(function, x) for x in tree)
    return function(tree)


def tree_leaves(tree: Any) -> list[Any]:
    """Every array of nested dicts and tuples."""
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in tree_leaves(part)]
    return [tree]


STRICT_PROMOTION = ("jax64-jit", "jax32")
"""The modes of JAX that forbid what mixes types of arrays, of programs and of single calls."""


@functools.lru_cache(maxsize=1)
def mapped_by_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """One program for all arrays of a test, as `jax.vmap` makes another function each time."""
    import jax

    return jax.jit(jax.vmap(function))


@dataclass(frozen=True)
class Mode:
    """One library, and one way to run a function of its arrays."""

    name: str
    library: str
    float32: bool = False

    def __str__(self) -> str:
        return self.name

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if self.library == "jax":
                import jax

                stack.enter_context(jax.enable_x64(not self.float32))
                if self.name in STRICT_PROMOTION:
                    stack.enter_context(jax.numpy_dtype_promotion("strict"))
            if self.name.startswith("strictest"):
                import array_api_strict as xs

                stack.enter_context(
                    xs.ArrayAPIStrictFlags(boolean_indexing=False, data_dependent_shapes=False)
                )
            yield

    def array(self, x: Any) -> Any:
        """A NumPy array in this library, on the device under test."""
        x = np.asarray(x)
        if self.library == "numpy":
            return x
        if self.library == "jax":
            import jax.numpy as jnp

            return jnp.asarray(x)
        if self.library == "torch":
            import torch

            return torch.from_numpy(x.copy()).to("cuda" if "torch" in ON_DEVICE else "cpu")
        if self.library == "cupy":
            import cupy

            return cupy.asarray(x)
        import array_api_strict as xs

        if x.dtype == np.float16:  # the standard has no half precision
            x = x.astype(np.float32)
        return xs.asarray(x, device=xs.Device("device1") if "device1" in self.name else None)

    def to_numpy(self, x: Any) -> Any:
        """The values of a result, whose library and device are checked on the way."""
        if self.library == "numpy":
            assert isinstance(x, (np.ndarray, np.generic)), type(x)
            return np.asarray(x)
        if self.library == "jax":
            import jax

            assert isinstance(x, jax.Array), type(x)
            return np.asarray(x)
        if self.library == "torch":
            import torch

            assert isinstance(x, torch.Tensor), type(x)
            assert x.device.type == ("cuda" if "torch" in ON_DEVICE else "cpu"), x.device
            return x.cpu().numpy()
        if self.library == "cupy":
            import cupy

            assert isinstance(x, cupy.ndarray), type(x)
            return cupy.asnumpy(x)
        import array_api_strict as xs

        if "device1" in self.name:
            assert x.device == xs.Device("device1"), x.device
            x = xs.asarray(x, device=xs.Device("CPU_DEVICE"))
        return np.asarray(x)

    def run(self, function: Callable[..., Any], *arrays: Any) -> Any:
        """`function` of NumPy arrays, computed by this mode, as NumPy arrays.

        The vmap modes map over an added leading axis and return its last entry.
        """
        with self.context():
            moved = [self.array(x) for x in arrays]
            if self.name.endswith("-vmap"):
                twice = [self.array(np.stack([x, x])) for x in map(np.asarray, arrays)]
                mapped = self._transformed(function)(*twice)
                return tree_map(lambda x: self.to_numpy(x)[-1], mapped)
            return tree_map(self.to_numpy, self._transformed(function)(*moved))

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` as one program in JAX, so that the next arrays of a shape have it."""
        if self.library != "jax":
            return function
        import jax

        return jax.jit(function)

    def _transformed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.name.endswith("-jit"):
            return self.compiled(function)
        if self.name == "torch-vmap":
            import torch

            return torch.func.vmap(function)
        if self.name.endswith("-vmap"):
            return mapped_by_jax(function)
        if self.name == "torch-compile":
            import torch

            torch._dynamo.reset()
            return torch.compile(function, fullgraph=True, backend="eager")
        return function

    @property
    def lazy(self) -> bool:
        """Whether values cannot be read while the function runs."""
        transformed = self.name.endswith(("-jit", "-vmap", "-compile", "device1"))
        return transformed or self.library in ("cupy", *ON_DEVICE)


MODES = [
    Mode("numpy", "numpy"),
    Mode("strict", "array_api_strict"),
    Mode("strictest", "array_api_strict"),
    Mode("strictest-device1", "array_api_strict"),
    Mode("jax64", "jax"),
    Mode("jax64-jit", "jax"),
    Mode("jax32", "jax", float32=True),
    Mode("jax32-jit", "jax", float32=True),
    Mode("jax32-vmap", "jax", float32=True),
    Mode("torch", "torch"),
    Mode("torch-vmap", "torch"),
    Mode("torch-compile", "torch"),
    Mode("cupy", "cupy"),
]


DISTINCT = [mode for mode in MODES if mode.name not in ("jax64", "jax32-jit")]
"""Those that others do not make up: in JAX single calls without x64, which are compiled too, a
program with it, and one of a mapped function without it.
"""


QUICK = [mode for mode in DISTINCT if mode.name not in ("strict", "torch-compile")]
"""Every library, transformation and precision, but not each with each.  torch.compile, which takes
long for each function, meets all public functions in test_lazy.
"""

LAZY = [mode for mode in DISTINCT if mode.lazy]
"""The modes in which values cannot be read, with the same JAX programs."""


FIRST = (
    *("numpy", "strictest-device1", "strictest", "strict"),
    *("jax64-jit", "jax32-jit", "jax32-vmap"),
    *("torch", "torch-vmap", "torch-compile", "cupy"),
)
"""The modes of which the test command takes the first of each library that a test has.

The others run with the full matrix alone.
"""


of_fast_forms = pytest.mark.skipif(STANDARD_ONLY, reason="QUOTAKERNELS_STANDARD_ONLY is set")
"""For tests of what the fast forms do, and not of a value."""


def standard_forms() -> Any:
    """A context in which no operation takes a native form, of whatever library."""
    return mock.patch.multiple(native, FORMS=2)


def in_full(*values: Any) -> Any:
    """A parameter, or several at once, for the full matrix alone."""
    return pytest.param(*values, marks=pytest.mark.full)


def in_turns(names: list[str], always: tuple[str, ...]) -> list[Any]:
    """Parameters of which the full matrix takes every second one: the other half is `repeated`."""
    marks = [[pytest.mark.full, *[pytest.mark.repeated] * (k % 2)] for k in range(len(names))]
    pairs = zip(names, marks, strict=True)
    return [x if x in always else pytest.param(x, marks=own) for x, own in pairs]


any_quota = pytest.mark.filterwarnings("ignore:quota=.* is less than one example")
"""For tests of quotas of any size, also of less than one example, which warn."""


def random_state(mode: Mode) -> Any:
    """Of JAX a key, which may be one of a program; the standard draws are NumPy's and know none."""
    if mode.library != "jax" or STANDARD_ONLY:
        return 5
    import jax

    return jax.random.key(5)


def available(library: str) -> bool:
    """Whether a library can run here; CuPy needs a device too."""
    if importlib.util.find_spec(library) is None:
        return False
    if library == "cupy":
        import cupy

        try:
            return bool(cupy.cuda.runtime.getDeviceCount())
        except cupy.cuda.runtime.CUDARuntimeError:
            return False
    return True


def missing(*libraries: str) -> str:
    """Why tests that need these are skipped, empty if they are not; raise for what is required."""
    required = os.environ.get("QUOTAKERNELS_REQUIRE", "").split()
    lacking = [library for library in libraries if not available(library)]
    for library in lacking:
        if library in required:
            raise RuntimeError(f"{library} is required here and cannot be imported")
    return f"{' and '.join(lacking)} not available" if lacking else ""


def parameters(modes: list[Mode] = MODES) -> list[Any]:
    """Pytest parameters; a library that is missing is skipped, or fails where it is required."""
    required = os.environ.get("QUOTAKERNELS_REQUIRE", "").split()
    marked = []
    for mode in modes:
        skip = not available(mode.library)
        if skip and mode.library in required:
            raise RuntimeError(f"{mode.library} is required here and cannot be imported")
        marks = [pytest.mark.skipif(skip, reason=f"{mode.library} is not available")]
        marked.append(pytest.param(mode, id=mode.name, marks=marks))
    return marked


def mode_fixture(modes: list[Mode]) -> Any:
    """A fixture to stand for `mode` in a module that does not need all of them."""

    @pytest.fixture(params=parameters(modes))
    def mode(request: pytest.FixtureRequest) -> Mode:
        chosen: Mode = request.param
        return chosen

    return mode
