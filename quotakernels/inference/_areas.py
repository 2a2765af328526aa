"""Which area is meant, and what its variance is not made for."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quotakernels import ops

__all__ = ["AreaName", "refuse_masses", "refuse_weights", "scale_of"]

AreaName: TypeAlias = Literal["roc_auc", "gini", "pem"]
_SCALES = {"roc_auc": 1, "gini": 2, "pem": 2}
"""How much each grows where AUC grows by 1."""


def scale_of(measure: str) -> int:
    if measure not in _SCALES:
        raise ValueError(f'measure must be "roc_auc", "gini" or "pem"; got {measure!r}')
    return _SCALES[measure]


def refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise TypeError("sample_weight has no place here: the variance is that of single examples")


def refuse_masses(table: ops.Groups, name: str) -> None:
    if table.weighted:
        raise TypeError(f"{name} has weights; the variance is that of examples drawn one by one")
