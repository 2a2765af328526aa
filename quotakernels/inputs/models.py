"""Scores of several models, checked, each under its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quotakernels._array import Array, Namespace, concrete, instead_of, is_array, readable, to_numpy
from quotakernels._bits import host_array
from quotakernels.inputs.columns import (
    adopt,
    as_column,
    check_types,
    column_hint,
    warn_of_other_order,
)
from quotakernels.inputs.examples import Validated, validated
from quotakernels.inputs.keywords import show_value
from quotakernels.ops import EXACT_IN_FLOAT64

NDArray = np.ndarray[Any, Any]


def named_scores(models: Any, y_true: Any, at_least: int = 2) -> dict[str, Any]:
    """The scores of each model for the examples of these labels, under the model's name.

    Models may also be the columns of a data frame, or a leading axis of an array, which are called
    "0", "1", ….
    """
    if instead := instead_of("models", models):
        raise TypeError(instead)
    if isinstance(y_true, Mapping):
        raise TypeError("y_true must be the labels, and models come after it; got a mapping")
    if _is_nameless(models):
        rows = _rows(models, y_true)
        models, names = rows, list(rows)
    else:
        names = _names(models)
    frame = "; each column of a data frame is a model" if hasattr(models, "columns") else ""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the names of models must be strings; got {show_value(name)}{frame}")
        if names.count(name) > 1:
            raise ValueError(f"the names of models must differ; got {show_value(name)} twice")
    if len(names) < at_least:
        number = "one model" if at_least == 1 else "two models"
        raise ValueError(f"models must hold at least {number}; got {len(names)}")
    return {name: models[name] for name in names}


def label_of(models: Any, name: str) -> str:
    """The name that messages use for the scores of one of the models."""
    return f"models[{name if _is_nameless(models) else repr(name)}]"


def two_models(models: Any, y_true: Any) -> dict[str, Any]:
    """The scores of exactly two models, by the names that messages use."""
    named = named_scores(models, y_true)
    if len(named) != 2:
        raise ValueError(f"models must hold two models, the first and the second; got {len(named)}")
    return {label_of(models, name): scores for name, scores in named.items()}


def _is_nameless(models: Any) -> bool:
    """Whether these are arrays with a leading axis of models, or a list of such."""
    return is_array(models) or (
        isinstance(models, (list, tuple)) and not hasattr(models, "_fields")
    )


def _rows(models: Any, y_true: Any) -> dict[str, Any]:
    if not is_array(models):
        return {str(k): row for k, row in enumerate(models)}
    shape = tuple(models.shape)
    examples = tuple(y_true.shape) if is_array(y_true) else np.shape(y_true)
    if len(shape) < 2:
        order = "; y_true comes before models" if len(examples) > 1 else ""
        raise ValueError(
            "models must be a mapping from names to scores, or have an axis of models before that "
            f"of the examples; got shape {shape}{order}"
        )
    if shape[:-1] == examples != shape[1:]:
        raise ValueError(
            f"models has shape {shape}, and the last axis holds the examples, {shape[0]} in "
            "y_true; pass models.T"
        )
    return {str(k): models[k, ...] for k in range(models.shape[0])}


def _names(models: Any) -> list[Any]:
    """The names of a mapping, or of the columns of anything like a data frame."""
    if isinstance(models, Mapping):
        return list(models)
    named = getattr(models, "column_names", None)  # of Arrow, whose columns are without names
    named = getattr(models, "columns", None) if named is None else named
    if named is None or isinstance(models, tuple) or not hasattr(models, "__getitem__"):
        kind = type(models).__name__
        raise TypeError(
            "models must be a mapping from names to scores, a data frame, or an array with a "
            f"leading axis of models; got {kind}"
        )
    return list(named)


def stacked(named: dict[str, Any], y_true: Any, **data: Any) -> Array:
    """The scores of all models, shape (M, n), each checked with labels and other columns."""
    return _stack(validated_models(named, {"y_true": y_true, **data})[0])


def _stack(columns: dict[str, Array]) -> Array:
    xp, columns = adopt(columns, tuple(columns))
    with xp.computing():
        return xp.stack(of_one_dtype(xp, columns))


def stacked_by_name(scores: Any, y_true: Any) -> Any:
    """Scores as they are, or those of a mapping of models, not checked, as an array (M, n)."""
    if not isinstance(scores, Mapping):
        return scores
    named = named_scores(scores, y_true, 1)
    warn_of_other_order({"y_true": y_true, **named})
    columns = {f"y_score[{name!r}]": as_column(name, x) for name, x in named.items()}
    _check_lists(columns)
    return _stack(columns)


def validated_models(
    named: dict[str, Any], beside: dict[str, Any]
) -> tuple[dict[str, Array], list[Validated]]:
    """The scores of each model, shape (n,), and its checked examples, with `beside`."""
    warn_of_other_order({"y_true": beside.get("y_true"), **named})
    columns = {name: as_column(name, x) for name, x in named.items()}
    for name, x in (columns | beside).items():
        if is_array(x) and not concrete(x):
            raise TypeError(
                f"{name} is traced, or holds shapes only; this comparison reads values and gives "
                "its results on the host: call it outside the compiled program"
            )
    _check_lists(columns)
    return columns, [validated({name: x, **beside}, leader=name) for name, x in columns.items()]


def host_columns(given: dict[str, Any]) -> dict[str, NDArray]:
    """Columns of any library as NumPy arrays, by the names that messages use."""
    warn_of_other_order(given)
    return {name: host_array(as_column(name, x)) for name, x in given.items()}


def _check_lists(columns: dict[str, Array]) -> None:
    """Raise unless all are lists of numbers, of one length."""
    check_types(columns)
    first, *_ = columns
    for name, x in columns.items():
        if x.ndim != 1:
            hint = column_hint(name, tuple(x.shape))
            raise ValueError(
                f"{name} must have shape (n,), a list of scores; got {tuple(x.shape)}{hint}"
            )
        if x.shape != columns[first].shape:
            raise ValueError(
                f"{name} must have as many scores as {first}, {columns[first].shape[0]}; "
                f"got {x.shape[0]}"
            )


def of_one_dtype(xp: Namespace, columns: dict[Any, Array]) -> list[Array]:
    """Columns of several types as wide floats, which keep their order and their ties."""
    if len({x.dtype for x in columns.values()}) == 1:
        return list(columns.values())
    for name, x in columns.items():
        if xp.of_kind(x.dtype, "integral") and x.shape[0] and readable(x):
            low, high = (int(f(to_numpy(x))) for f in (np.min, np.max))
            if max(high, -low) > EXACT_IN_FLOAT64:
                raise ValueError(
                    f"{name} holds integers beyond 2**53 and other models scores of another type; "
                    "pass scores of one type"
                )
    return [xp.widened(x) for x in columns.values()]


def host_floats(x: Array) -> NDArray:
    """A NumPy copy of an array, wherever it is, as floats; integers become doubles."""
    host = host_array(x)
    return host if host.dtype.kind == "f" else host.astype(np.float64)
