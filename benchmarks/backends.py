"""What differs between array libraries in a benchmark: arrays, waiting, clocks, memory, sorting."""

from __future__ import annotations

import importlib.util
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], Any]


def missing(*modules: str) -> str | None:
    """Which of the modules cannot be imported, in words."""
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    return f"{', '.join(absent)} not installed" if absent else None


HOST_BYTES = 80
"""What data and exact values take in the memory of the host, of one example, roughly."""


class Backend:
    """A library on a device; this one is NumPy, and the others say what they do otherwise.

    Attributes
    ----------
    name : str
        As on the command line.
    example_bytes : int
        Memory of its device that a benchmark of one example takes, roughly, by which sizes are
        chosen.
    memory_by : str
        How the peak of memory is measured.
    two_bytes : str
        A type of two bytes that its scores may have.
    fixed_shapes : bool
        Whether states are updated inside of programs.
    """

    name = "numpy"
    example_bytes = HOST_BYTES
    memory_by = "tracemalloc"
    on_gpu = False
    two_bytes = "bfloat16"
    fixed_shapes = False

    def why_not(self) -> str | None:
        """Why it cannot run here; None if it can."""
        return missing("numpy")

    def array(self, x: Any) -> Any:
        return x

    def host(self, x: Any) -> Any:
        return np.asarray(x)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def donating(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function compiled, which may use the memory of its first argument for its result."""
        return self.compiled(function)

    def ready(self, result: Any) -> Any:
        """The result, when it has been computed."""
        return result

    def sort(self, x: Any) -> Any:
        return np.sort(x)

    def bit_patterns(self, x: Any) -> Any:
        """Unsigned integers of two bytes as the library can count them."""
        return self.array(x)

    def bincount(self, x: Any) -> Any:
        return np.bincount(x, minlength=2**16)

    def seconds(self, call: Call, number: int = 1) -> float:
        """Time of one call, of `number` in a row."""
        start = time.perf_counter()
        for _ in range(number):
            self.ready(call())
        return (time.perf_counter() - start) / number

    def peak_bytes(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> int | None:
        """Peak of what is allocated beyond the arguments; None if it cannot be told in here."""
        tracemalloc.start()
        function(*arguments)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    def release(self) -> None:
        """Give memory back that the library keeps for later."""

    def waits_for_host(self, call: Call) -> bool | None:  # noqa: ARG002
        """Whether a call makes the host wait for the device; None if that cannot be told."""
        return None


class Jax(Backend):
    """JAX, without x64 as it comes, on the CPU."""

    name = "jax-cpu"
    example_bytes = 400
    memory_by = "the compiler's own analysis"
    platform = "cpu"
    fixed_shapes = True

    def why_not(self) -> str | None:
        if absent := missing("jax"):
            return absent
        import jax

        try:
            jax.devices(self.platform)
        except RuntimeError:
            return f"JAX has no {self.platform.upper()} here"
        return None

    def array(self, x: Any) -> Any:
        import jax

        return jax.device_put(x, jax.devices(self.platform)[0])

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import jax

        jitted: Callable[..., Any] = jax.jit(function)
        return jitted

    def donating(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import jax

        jitted: Callable[..., Any] = jax.jit(function, donate_argnums=0)
        return jitted

    def ready(self, result: Any) -> Any:
        import jax

        return jax.block_until_ready(result)

    def sort(self, x: Any) -> Any:
        import jax.numpy as jnp

        return jnp.sort(x)

    def bincount(self, x: Any) -> Any:
        import jax.numpy as jnp

        return jnp.bincount(x, length=2**16)

    def peak_bytes(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> int | None:
        import jax

        analysis = jax.jit(function).lower(*arguments).compile().memory_analysis()
        if analysis is None:
            return None
        return int(analysis.temp_size_in_bytes + analysis.output_size_in_bytes)


class JaxGpu(Jax):
    """JAX on a GPU."""

    name = "jax-gpu"
    platform = "gpu"
    on_gpu = True


class Torch(Backend):
    """PyTorch on the CPU, where only the process as a whole tells its memory."""

    name = "torch-cpu"
    example_bytes = 300
    memory_by = "resident set of a process of its own"
    device = "cpu"

    def why_not(self) -> str | None:
        return missing("torch")

    def array(self, x: Any) -> Any:
        import torch

        if x.dtype.name == "bfloat16":
            return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16).to(self.device)
        return torch.from_numpy(x).to(self.device)

    def host(self, x: Any) -> Any:
        return x.cpu().numpy()

    def sort(self, x: Any) -> Any:
        import torch

        return torch.sort(x).values

    def bit_patterns(self, x: Any) -> Any:
        return self.array(x.astype(np.int32))

    def bincount(self, x: Any) -> Any:
        import torch

        return torch.bincount(x, minlength=2**16)

    def peak_bytes(self, *_: Any) -> int | None:
        return None


class TorchGpu(Torch):
    """PyTorch on a GPU, whose own events are the clock."""

    name = "torch-gpu"
    memory_by = "torch.cuda.max_memory_allocated"
    device = "cuda"
    on_gpu = True

    def why_not(self) -> str | None:
        if absent := missing("torch"):
            return absent
        import torch

        return None if torch.cuda.is_available() else "PyTorch has no GPU here"

    def ready(self, result: Any) -> Any:
        import torch

        torch.cuda.synchronize()
        return result

    def seconds(self, call: Call, number: int = 1) -> float:
        import torch

        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        for _ in range(number):
            call()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / number

    def peak_bytes(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> int | None:
        import torch

        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        function(*arguments)
        torch.cuda.synchronize()
        return int(torch.cuda.max_memory_allocated() - before)

    def release(self) -> None:
        import torch

        torch.cuda.empty_cache()

    def waits_for_host(self, call: Call) -> bool | None:
        import torch

        torch.cuda.set_sync_debug_mode("error")
        try:
            call()
        except RuntimeError as error:
            if "synchroniz" not in str(error):
                raise
            return True
        finally:
            torch.cuda.set_sync_debug_mode("default")
        return False


class Cupy(Backend):
    """CuPy, whose own events are the clock and whose pool tells the memory."""

    name = "cupy"
    example_bytes = 200
    memory_by = "growth of CuPy's memory pool"
    on_gpu = True
    two_bytes = "float16"

    def why_not(self) -> str | None:
        if absent := missing("cupy"):
            return absent
        import cupy

        try:
            return None if cupy.cuda.runtime.getDeviceCount() else "CuPy has no GPU here"
        except cupy.cuda.runtime.CUDARuntimeError:
            return "CuPy has no GPU here"

    def array(self, x: Any) -> Any:
        import cupy

        return cupy.asarray(x)

    def host(self, x: Any) -> Any:
        import cupy

        return cupy.asnumpy(x)

    def ready(self, result: Any) -> Any:
        import cupy

        cupy.cuda.get_current_stream().synchronize()
        return result

    def sort(self, x: Any) -> Any:
        import cupy

        return cupy.sort(x)

    def bincount(self, x: Any) -> Any:
        import cupy

        return cupy.bincount(x, minlength=2**16)

    def seconds(self, call: Call, number: int = 1) -> float:
        import cupy

        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        self.ready(None)
        start.record()
        for _ in range(number):
            call()
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(start, end)) / 1e3 / number

    def peak_bytes(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> int | None:
        import cupy

        pool = cupy.get_default_memory_pool()
        self.release()
        before = pool.total_bytes()
        function(*arguments)
        self.ready(None)
        return int(pool.total_bytes() - before)

    def release(self) -> None:
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()


BACKENDS: dict[str, Backend] = {
    backend.name: backend for backend in (Backend(), Jax(), JaxGpu(), Torch(), TorchGpu(), Cupy())
}
