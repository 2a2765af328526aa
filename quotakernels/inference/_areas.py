"""Which area is meant, and what its variance is not made for."""

from __future__ import annotations

import functools
from typing import Any, Literal, TypeAlias

from quotakernels import ops
from quotakernels.inputs.keywords import brief
from quotakernels.measures.over_quotas.areas import gini, pem, roc_auc

AreaName: TypeAlias = Literal["roc_auc", "gini", "pem"]
_FUNCTIONS: dict[AreaName, Any] = {"roc_auc": roc_auc, "gini": gini, "pem": pem}
_SCALES = {"roc_auc": 1, "gini": 2, "pem": 2}
"""How much each grows where AUC grows by 1."""


def area_name(measure: Any) -> AreaName | None:
    """The name of an area that is given by its name or function; None of anything else."""
    while isinstance(measure, functools.partial) and not (measure.args or measure.keywords):
        measure = measure.func
    named = measure if isinstance(measure, str) else None
    return next((name for name, x in _FUNCTIONS.items() if measure is x or named == name), None)


def scale_of(measure: Any) -> int:
    name = area_name(measure)
    if name is None:
        raise ValueError(f'measure must be "roc_auc", "gini" or "pem"; got {brief(measure)}')
    return _SCALES[name]


def refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise TypeError("sample_weight is refused: the variance assumes single examples")


def refuse_masses(table: ops.Groups, name: str) -> None:
    if table.weighted:
        raise TypeError(f"{name} has weights, but the variance assumes examples drawn one by one")
