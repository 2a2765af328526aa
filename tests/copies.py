"""Numbers that PyTorch copies from the host to a device, for which it waits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

MAKERS = {"asarray", "as_tensor", "from_numpy", "scalar_tensor", "tensor"}


@contextlib.contextmanager
def host_copies() -> Iterator[list[str]]:
    """The calls that make tensors of numbers of the host, collected while the context lasts."""
    from torch import Tensor
    from torch.overrides import TorchFunctionMode

    found: list[str] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(
            self, called: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            name = getattr(called, "__name__", "")
            if name in MAKERS and not isinstance(args[0], Tensor):
                found.append(f"{name}({args[0]!r})")
            return called(*args, **(kwargs or {}))

    with Watch():
        yield found
