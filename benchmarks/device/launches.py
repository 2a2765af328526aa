"""What PyTorch launches and moves, counted on its meta device, where nothing is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from benchmarks.device.calls import CALLS, Call, Examples
from benchmarks.device.marks import Counted
from quotakernels.states import ScoreHistogram

SORT, PEER = "sort", "torchmetrics"


class Launches(TorchDispatchMode):  # type: ignore[misc]
    """Counts the operations that are no views, and the bytes that they read and write.

    An operation that makes a tensor like another reads nothing of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number = self.bytes = 0
        self.by_name: dict[str, int] = {}

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        found = operation(*args, **(kwargs or {}))
        if operation.is_view or operation.overloadpacket is torch.ops.aten.detach:
            return found
        name = operation.overloadpacket.__name__
        read = [] if name.endswith("_like") or name.startswith("new_") else (args, kwargs)
        self.number += 1
        self.bytes += sum(map(_bytes, tree_leaves((read, found))))
        self.by_name[name] = self.by_name.get(name, 0) + 1
        return found


def _bytes(x: Any) -> int:
    return x.numel() * x.element_size() if isinstance(x, torch.Tensor) else 0


def examples(n: int, half: bool = False, device: str = "meta") -> Examples:
    def column(dtype: Any, *shape: int) -> Any:
        return torch.zeros(shape, dtype=dtype, device=device)

    scores = column(torch.bfloat16 if half else torch.float32, n)
    labels, weights = column(torch.int64, n), column(torch.float32, n)
    return Examples(labels, scores, weights, column(torch.float64), ScoreHistogram.empty(scores))


def counted(call: Call, n: int | None = None) -> Counted:
    """What a call costs with float32 or bfloat16 scores and int64 labels."""
    given = examples(n or call.n, call.half)
    return _cost(lambda: call.function(given), given.scores)


def _cost(function: Callable[[], Any], scores: Any) -> Counted:
    """A ranking on a device keeps what its measures share, one on the meta device does not."""
    kept = patch("quotakernels.ops._table.concrete", return_value=True)
    with kept, Launches() as seen:
        function()
    return Counted(seen.number, seen.bytes / _bytes(scores))


def operations(call: Call) -> dict[str, int]:
    """How often each operation runs, the most frequent first."""
    given = examples(call.n, call.half)
    with Launches() as seen:
        call.function(given)
    return dict(sorted(seen.by_name.items(), key=lambda x: -x[1]))


def others() -> dict[str, Counted]:
    """The bare sort, and what torchmetrics takes for AUC; its shapes depend on values."""
    given = examples(CALLS["roc_auc"].n)
    found = {SORT: _cost(lambda: torch.sort(given.scores), given.scores)}
    try:
        from torchmetrics.functional.classification import binary_auroc
    except ImportError:
        return found
    scores = torch.rand(CALLS["roc_auc"].n)
    labels = (torch.rand(scores.shape[0]) < scores).to(torch.int64)
    binary_auroc(scores, labels, validate_args=False)
    run = _cost(lambda: binary_auroc(scores, labels, validate_args=False), scores)
    return found | {PEER: run}
