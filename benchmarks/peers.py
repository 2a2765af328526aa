"""Other libraries' ROC AUC, as a user of each backend would call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.backends import missing


class Peer(NamedTuple):
    """A rival.

    Attributes
    ----------
    name : str
        As in the results.
    backends : tuple of str
        Whose arrays it takes.
    why_not : str or None
        Why it cannot run here.
    make : callable
        Gives the function of labels and scores.
    """

    name: str
    backends: tuple[str, ...]
    modules: tuple[str, ...]
    make: Callable[[], Callable[[Any, Any], Any]]

    @property
    def why_not(self) -> str | None:
        return missing(*self.modules)


def _scikit_learn() -> Callable[[Any, Any], Any]:
    from sklearn.metrics import roc_auc_score

    auc: Callable[[Any, Any], Any] = roc_auc_score
    return auc


def _torchmetrics() -> Callable[[Any, Any], Any]:
    from torchmetrics.functional.classification import binary_auroc

    return lambda labels, scores: binary_auroc(scores, labels.long(), thresholds=None)


def _torcheval() -> Callable[[Any, Any], Any]:
    from torcheval.metrics.functional import binary_auroc

    return lambda labels, scores: binary_auroc(scores, labels)


def _metrax() -> Callable[[Any, Any], Any]:
    import metrax

    def auc(labels: Any, scores: Any) -> Any:
        return metrax.AUCROC.from_model_output(predictions=scores, labels=labels).compute()

    return auc


PEERS = (
    Peer("scikit-learn", ("numpy",), ("sklearn",), _scikit_learn),
    Peer("torchmetrics", ("torch-cpu", "torch-gpu"), ("torchmetrics",), _torchmetrics),
    Peer("torcheval", ("torch-cpu", "torch-gpu"), ("torcheval",), _torcheval),
    Peer("metrax", ("jax-cpu", "jax-gpu"), ("metrax",), _metrax),
)


def peers_of(backend: str) -> list[Peer]:
    return [peer for peer in PEERS if backend in peer.backends]
