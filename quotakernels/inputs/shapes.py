"""Shapes of what callers pass: the last axis holds the examples, read or not."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import Array


def check_shapes(
    arrays: dict[str, Array],
    leader: str = "y_score",
    given: dict[str, Any] | None = None,
    batched: bool = False,
) -> None:
    """Raise unless all have the shape of the leader, or that of its last axis.

    Nor may they be columns, unless it is known that the leading axes are those of a batch: of a
    state, or because the labels say that there is one example.  What was `given` tells how messages
    have to write it.
    """
    shapes = {name: tuple(x.shape) for name, x in arrays.items()}
    shape, given = shapes[leader], given or {}
    if len(shape) == 0:
        raise ValueError(
            f"{leader} must have at least one axis, that of the examples; got a scalar"
        )
    if len(shapes) == 1:
        _refuse_frame(leader, shape, given)
    if shape[-1] == 1 and not (batched or shapes.get("y_true") == (1,)):
        refuse_columns(shapes, given)
    wanted = f"{shape}" if len(shape) == 1 else f"{shape[-1:]} or {shape}"
    for name, own in shapes.items():
        if own not in (shape, shape[-1:]):
            if _has_examples_first(shape, own) and leader != "y_pred":
                raise ValueError(_other_axis(leader, shape, name, given))
            hint = column_hint(name, own, given)
            raise ValueError(
                f"{name} must have shape {wanted}, as {leader} has shape {shape}; "
                f"got shape {own}{hint}"
            )


def _refuse_frame(name: str, shape: tuple[int, ...], given: dict[str, Any]) -> None:
    """Raise for a data frame, whose rows are examples, where no labels tell by their shape."""
    if len(shape) == 2 and hasattr(given.get(name), "columns"):
        raise ValueError(
            f"{name} is a data frame of shape {shape}, and the last axis holds the examples; "
            f"pass one column, or {_as_array(name, given)}.T if each column is a model"
        )


def refuse_columns(
    shapes: dict[str, tuple[int, ...]], given: dict[str, Any] | None = None, held: str = "examples"
) -> None:
    """Raise if there are column vectors, whose rows would be taken for a batch."""
    columns = {name: shape for name, shape in shapes.items() if _is_column(shape)}
    for name, shape in columns.items():
        instead = " and ".join(_first_column(x, columns[x], given) for x in columns)
        raise ValueError(
            f"{name} has shape {shape}, and the last axis holds the {held}; pass {instead}"
        )


def refuse_symbolic(size: Any, what: str) -> None:
    """Raise where there must be a plain number of examples, and `jax.export` stands for many."""
    if ops.is_symbolic(size):
        raise TypeError(
            f"{what} need a known number of examples, and {size} is symbolic; export a program "
            "of a fixed length, and mask the padding with where="
        )


def column_hint(name: str, shape: tuple[int, ...], given: dict[str, Any] | None = None) -> str:
    """What to add to the message about a wrong shape if it is that of a column vector."""
    if not _is_column(shape):
        return ""
    return f"; the last axis holds the examples; pass {_first_column(name, shape, given)}"


def _is_column(shape: tuple[int, ...]) -> bool:
    """Whether the last axis has the length 1, and another is longer; lengths may be symbols."""
    return shape[-1:] == (1,) and any(size not in (0, 1) for size in shape[:-1])


def _first_column(name: str, shape: tuple[int, ...], given: dict[str, Any] | None) -> str:
    return f"{_as_array(name, given)}[{':' if len(shape) == 2 else '...'}, 0]"


def _has_examples_first(shape: tuple[int, ...], own: tuple[int, ...]) -> bool:
    """Whether scores have a row for each example, and fewer columns."""
    return len(shape) == 2 and own == shape[:1] and (shape[1] == 2 or 1 < shape[1] < shape[0])


def _other_axis(leader: str, shape: tuple[int, ...], name: str, given: dict[str, Any]) -> str:
    """The message about scores with a row for each example."""
    size, scores = shape[1], _as_array(leader, given)
    one = f"{of_two_columns(scores)}, " if size == 2 else ""
    return (
        f"{leader} has shape {shape}, and the last axis holds the examples, {shape[0]} in {name}; "
        f"pass {one}{scores}.T of {size} models, or take one_vs_rest for {size} classes"
    )


def of_two_columns(scores: str) -> str:
    """How messages write the scores of the positive class: logits differ by both columns."""
    return f"{scores}[:, 1] of probabilities, {scores}[:, 1] - {scores}[:, 0] of logits"


def _as_array(name: str, given: dict[str, Any] | None) -> str:
    """How to write what was given where it is to be indexed like an array."""
    x = (given or {}).get(name)
    if isinstance(x, (list, tuple)):
        return f"numpy.asarray({name})"
    return f"{name}.to_numpy()" if hasattr(x, "columns") else name
