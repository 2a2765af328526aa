"""Labels, scores and predictions of several classes, checked."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from quotakernels._array import Array, Namespace, device, readable, to_numpy
from quotakernels.inputs.columns import (
    NAMED_LABELS,
    adopt,
    as_column,
    check_shapes,
    check_types,
    column_hint,
    example_columns,
    label_number,
    numeric_labels,
    positive_labels,
    refuse_records,
)
from quotakernels.inputs.examples import (
    Examples,
    bad_values,
    bad_weights,
    one_absent_example,
    raise_or_exclude,
    weights_and_mask,
)
from quotakernels.inputs.keywords import show_value
from quotakernels.ops import namespace

_TRANSPOSE = "; if y_score has a row for each class pass its transpose"


def validate_classes(
    y_true: Any,
    y_score: Any,
    classes: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
) -> tuple[Examples, Array | None]:
    """Check and convert labels and scores of K classes to columns of shape (..., K, n).

    Also returns which rows of the batch are good for all classes, shape (..., 1); None if all are.
    """
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    as_given = example_columns(given)
    _check_score_shape(tuple(as_given["y_score"].shape))
    named, numbers, expected = _numbered(as_given, classes)
    check_types(named)
    scores = named["y_score"]
    named["y_score"] = namespace(scores).matrix_transpose(scores)
    xp, arrays = adopt(named)
    _check_shapes(arrays)
    with xp.computing():
        arrays = one_absent_example(xp, arrays)
        scores = arrays.pop("y_score")
        belongs, invalid = _classified(xp, arrays["y_true"], numbers)
        rows = (*scores.shape[:-2], scores.shape[-1])
        flat = {k: xp.broadcast_to(x, rows) for k, x in (arrays | {"y_true": invalid}).items()}
        weights, valid = weights_and_mask(xp, flat, xp.wide_float(device(scores)))
        bad = bad_values(xp, scores, weights) | {"y_true": (flat["y_true"], expected)}
        valid, good = raise_or_exclude(xp, as_given, bad, valid, validate, by_class=True)
        weights, valid = (
            None if x is None else xp.broadcast_to(xp.expand_dims(x, axis=-2), scores.shape)
            for x in (weights, valid)
        )
        labels = xp.broadcast_to(belongs, scores.shape)
        return Examples(scores, labels, weights, valid), good


def _check_score_shape(shape: tuple[int, ...]) -> None:
    if len(shape) < 2 or shape[-1] == 0:
        raise ValueError(
            f"y_score must have shape (n, classes) or (..., n, classes); got shape {shape}"
        )
    if hint := column_hint("y_score", shape):
        raise ValueError(
            f"y_score has shape {shape}, the scores of one class; several are needed{hint}"
        )


def _check_shapes(arrays: dict[str, Array]) -> None:
    *batch, classes, n = arrays["y_score"].shape
    rows = (*batch, n)
    wanted = f"{(n,)} or {rows}" if batch else f"{rows}"
    for name, x in arrays.items():
        own = tuple(x.shape)
        if name != "y_score" and own not in (rows, (n,)):
            hint = _TRANSPOSE if own == (classes,) else column_hint(name, own)
            if name == "y_true" and own == (*rows, classes):
                hint = (
                    "; pass y_true.argmax(-1) of one-hot labels; where examples have several "
                    "labels call the measure itself with y_true.T and y_score.T"
                )
            raise ValueError(
                f"{name} must have shape {wanted}, as y_score has shape {(*rows, classes)}; "
                f"got shape {own}{hint}"
            )


def _numbered(as_given: dict[str, Array], classes: Any) -> tuple[dict[str, Array], list[Any], str]:
    """The arguments with labels as numbers, the number of each class, and what labels may be."""
    y_true, size = as_given["y_true"], as_given["y_score"].shape[-1]
    has_names = isinstance(y_true, np.ndarray) and y_true.dtype.kind in NAMED_LABELS
    if classes is None:
        if has_names:
            raise ValueError(
                f"y_true must hold the classes 0 to {size - 1}; for other labels pass classes, "
                "in the order of the columns of y_score"
            )
        numbers = [label_number(y_true, k, "class") for k in range(size)]
        return dict(as_given), numbers, f"0 to {size - 1}; for other labels pass classes"
    listed = _listed(classes, as_given["y_score"].shape)
    if has_names:
        index = {label: k for k, label in enumerate(listed)}
        codes = np.asarray([index.get(x, -1) for x in y_true.ravel().tolist()], dtype=np.int64)
        y_true, numbers = codes.reshape(y_true.shape), list(range(size))
    else:
        numbers = [label_number(y_true, x, f"classes[{k}]") for k, x in enumerate(listed)]
    return as_given | {"y_true": y_true}, numbers, "one of classes"


def _listed(classes: Any, shape: tuple[int, ...]) -> list[Any]:
    """The labels of the classes, all different."""
    *_, rows, size = shape
    refuse_records("classes", classes)
    if not isinstance(classes, (list, tuple)):
        column = as_column("classes", classes)
        if column.ndim != 1 or not readable(column):
            raise TypeError(f"classes must be a sequence of labels; got {show_value(classes)}")
        classes = to_numpy(column).tolist()
    if len(classes) != size:
        raise ValueError(
            f"classes must have {size} labels, one per column of y_score; got {len(classes)}"
            f"{_TRANSPOSE if len(classes) == rows else ''}"
        )
    seen: set[Any] = set()
    for k, label in enumerate(classes):
        if not isinstance(label, Hashable) or label is None or label != label:
            raise TypeError(f"classes[{k}]={label!r} cannot be a label")
        if label in seen:
            raise ValueError(f"classes must be different labels; got {show_value(label)} twice")
        seen.add(label)
    return list(classes)


def _classified(xp: Namespace, labels: Array, numbers: list[Any]) -> tuple[Array, Array]:
    """Which class each label is, shape (..., K, n), and which labels are not exactly one.

    Labels are compared by their order keys, as those of two classes are.
    """
    wanted = xp.constant(numbers, labels.dtype, device(labels))
    key = xp.expand_dims(xp.order_key(labels), axis=-2)
    belongs = key == xp.expand_dims(xp.order_key(wanted), axis=-1)
    return belongs, xp.sum(xp.cast(belongs, xp.int32), axis=-2) != 1


def validate_predictions(
    y_true: Any,
    y_pred: Any,
    num_classes: int | None,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> tuple[Examples, Array | None]:
    """Check and convert the labels and predictions of two classes, or of a number of them.

    They become flags, or the numbers of the classes, with predictions in the place of scores.  Also
    returns which rows of the batch are good, shape (..., 1); None if all are.
    """
    given = {"y_pred": y_pred, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    as_given = example_columns(given)
    named, label = (as_given, None) if num_classes else _numbered_pairs(as_given, pos_label)
    check_types(named)
    xp, arrays = adopt(named)
    check_shapes(arrays, "y_pred", given)
    with xp.computing():
        arrays = one_absent_example(xp, arrays)
        shape = arrays["y_pred"].shape
        columns = {name: xp.broadcast_to(x, shape) for name, x in arrays.items()}
        weights, valid = weights_and_mask(xp, columns, xp.wide_float(device(columns["y_pred"])))
        if num_classes is None:
            found, bad = _two_classes(xp, columns, label, valid)
        else:
            found, bad = _several_classes(xp, columns, num_classes)
        if weights is not None:
            bad |= bad_weights(xp, weights)
        valid, good = raise_or_exclude(xp, as_given, bad, valid, validate)
        valid = None if valid is None else xp.broadcast_to(valid, shape)
    return Examples(found["y_pred"], found["y_true"], weights, valid), good


_Found = tuple[dict[str, Array], dict[str, tuple[Array, str]]]


def _numbered_pairs(named: dict[str, Array], pos_label: Any) -> tuple[dict[str, Array], Any]:
    """Labels and predictions as numbers, and the number of the positive class, if one is given."""
    truth, predicted = named["y_true"], named["y_pred"]
    has_names = [
        isinstance(x, np.ndarray) and x.dtype.kind in NAMED_LABELS for x in (truth, predicted)
    ]
    if not any(has_names):
        return named, numeric_labels(truth, pos_label)[1]
    if not all(has_names):
        raise TypeError(
            "y_true and y_pred must hold the same labels; "
            f"got dtypes {truth.dtype} and {predicted.dtype}"
        )
    joined = np.concatenate([x.astype(object).ravel() for x in (truth, predicted)])
    codes, label = numeric_labels(joined, pos_label)
    own = {"y_true": codes[: truth.size], "y_pred": codes[truth.size :]}
    return named | {name: x.reshape(named[name].shape) for name, x in own.items()}, label


def _two_classes(
    xp: Namespace, columns: dict[str, Array], label: Any, valid: Array | None
) -> _Found:
    """Which labels and predictions are positive; where they are bad, and what was expected.

    They are checked together: with a `label` for the positive class, both share the negative one.
    """
    first, second = columns["y_true"], columns["y_pred"]
    if first.dtype != second.dtype:
        first, second = xp.wide(first), xp.wide(second)
    size = first.shape[-1]
    twice = None if valid is None else xp.concat([valid, valid], axis=-1)
    joined = xp.concat([first, second], axis=-1)
    positive, (invalid, expected) = positive_labels(xp, joined, label, twice)
    return (
        {"y_true": positive[..., :size], "y_pred": positive[..., size:]},
        {"y_true": (invalid[..., :size], expected), "y_pred": (invalid[..., size:], expected)},
    )


def _several_classes(xp: Namespace, columns: dict[str, Array], size: int) -> _Found:
    """The numbers of the classes; where they are bad, and what was expected.

    Labels are compared by their order keys, as those of two classes are.
    """
    found, bad = {}, {}
    for name in ("y_true", "y_pred"):
        labels = columns[name]
        if xp.of_kind(labels.dtype, "bool"):
            labels = xp.cast(labels, xp.int8)
        whole = xp.of_kind(labels.dtype, "integral")
        wide = xp.cast(labels, xp.int64 if whole else xp.wide_float(device(labels)))
        known = xp.cast(xp.clip(wide, 0, size - 1), xp.int64)
        if whole:
            invalid = wide != known
        else:
            key = xp.order_key(labels)
            invalid = key != xp.order_key(xp.cast(known, labels.dtype))
        found[name] = known
        bad[name] = (invalid, f"one of the classes 0 to {size - 1}")
    return found, bad
