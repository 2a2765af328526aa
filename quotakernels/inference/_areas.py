"""Which measure is meant, and what its variance is not made for."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from quotakernels import ops
from quotakernels.inputs.keywords import brief
from quotakernels.measures._measure import Measure
from quotakernels.measures.over_quotas.areas import gini, pem, roc_auc

AreaName: TypeAlias = Literal["roc_auc", "gini", "pem"]
AreaMeasure: TypeAlias = AreaName | Measure
Name = TypeVar("Name", bound=str)
_AREAS: dict[AreaName, Any] = {"roc_auc": roc_auc, "gini": gini, "pem": pem}
_SCALES = {"roc_auc": 1, "gini": 2, "pem": 2}
"""How much each grows where AUC grows by 1."""


def area_name(measure: Any) -> AreaName | None:
    """The name of an area that is given by its name or function; None of anything else."""
    return name_if_any(measure, _AREAS)


def scale_of(measure: Any) -> int:
    return _SCALES[name_of(measure, _AREAS)]


def name_of(measure: Any, known: Mapping[Name, Any]) -> Name:
    """The name of a measure that must be one of those that are known."""
    name = name_if_any(measure, known)
    if name is None:
        *names, last = (f'"{x}"' for x in known)
        raise ValueError(f"measure must be {', '.join(names)} or {last}; got {brief(measure)}")
    return name


def name_if_any(measure: Any, known: Mapping[Name, Any]) -> Name | None:
    while isinstance(measure, functools.partial) and not (measure.args or measure.keywords):
        measure = measure.func
    named = measure if isinstance(measure, str) else None
    return next((name for name, x in known.items() if measure is x or named == name), None)


def refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise TypeError("sample_weight is refused: the variance assumes single examples")


def refuse_masses(table: ops.Groups, name: str) -> None:
    if table.weighted:
        raise TypeError(f"{name} has weights, but the variance assumes examples drawn one by one")
