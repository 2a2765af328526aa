"""Predicted classes: labels and predictions become columns of one kind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, computing, device, of_kind, wide_float
from quotakernels.inputs.columns import (
    adopt,
    check_types,
    example_columns,
    warn_of_other_order,
)
from quotakernels.inputs.examples import (
    bad_weights,
    one_absent_example,
    raise_or_exclude,
    weights_and_mask,
)
from quotakernels.inputs.labels import NAMED_LABELS, numeric_labels, positive_labels
from quotakernels.inputs.shapes import check_shapes


class Predictions(NamedTuple):
    """Checked labels and predictions: whether positive, or the numbers of their classes.

    ``good`` is as in `examples.Validated`.
    """

    truth: Array
    predicted: Array
    weights: Array | None
    valid: Array | None
    good: Array | None


def validate_predictions(
    y_true: Any,
    y_pred: Any,
    num_classes: int | None,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> tuple[Namespace, Predictions]:
    """Check and convert the labels and predictions of two classes, or of a number of them."""
    given = {"y_pred": y_pred, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    warn_of_other_order(given)
    as_given = example_columns(given)
    named, label = (as_given, None) if num_classes else _numbered(as_given, pos_label)
    check_types(named)
    xp, arrays = adopt(named)
    check_shapes(arrays, "y_pred", given)
    with computing(xp):
        arrays = one_absent_example(xp, arrays)
        shape = arrays["y_pred"].shape
        columns = {name: xp.broadcast_to(x, shape) for name, x in arrays.items()}
        weights, valid = weights_and_mask(xp, columns, wide_float(xp, device(columns["y_pred"])))
        if num_classes is None:
            found, bad = _two_classes(xp, columns, label, valid)
        else:
            found, bad = _several_classes(xp, columns, num_classes)
        if weights is not None:
            bad |= bad_weights(xp, weights)
        valid, good = raise_or_exclude(xp, as_given, bad, valid, validate)
        valid = None if valid is None else xp.broadcast_to(valid, shape)
    return xp, Predictions(found["y_true"], found["y_pred"], weights, valid, good)


_Found = tuple[dict[str, Array], dict[str, tuple[Array, str]]]


def _numbered(named: dict[str, Array], pos_label: Any) -> tuple[dict[str, Array], Any]:
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

    With a `label` for the positive class both have to share the negative one, so that they are
    looked at together.
    """
    both = {name: columns[name] for name in ("y_pred", "y_true")}
    if label is None:
        pairs = {name: positive_labels(xp, x, None, valid) for name, x in both.items()}
        return {k: x[0] for k, x in pairs.items()}, {k: x[1] for k, x in pairs.items()}
    first, second = both["y_true"], both["y_pred"]
    if first.dtype != second.dtype:
        wide = wide_float(xp, device(first))
        first, second = cast(xp, first, wide), cast(xp, second, wide)
    size = first.shape[-1]
    twice = None if valid is None else xp.concat([valid, valid], axis=-1)
    joined = xp.concat([first, second], axis=-1)
    positive, (wrong, expected) = positive_labels(xp, joined, label, twice)
    return (
        {"y_true": positive[..., :size], "y_pred": positive[..., size:]},
        {"y_true": (wrong[..., :size], expected), "y_pred": (wrong[..., size:], expected)},
    )


def _several_classes(xp: Namespace, columns: dict[str, Array], size: int) -> _Found:
    """The numbers of the classes; where they are bad, and what was expected.

    Labels are compared by their order keys, as those of two classes are.
    """
    found, bad = {}, {}
    for name in ("y_true", "y_pred"):
        labels = columns[name]
        if of_kind(xp, labels.dtype, "bool"):
            labels = cast(xp, labels, xp.int8)
        whole = of_kind(xp, labels.dtype, "integral")
        wide = cast(xp, labels, xp.int64 if whole else wide_float(xp, device(labels)))
        known = cast(xp, xp.clip(wide, 0, size - 1), xp.int64)
        if whole:
            wrong = wide != known
        else:
            key = ops.order_key(xp, labels)
            wrong = key != ops.order_key(xp, cast(xp, known, labels.dtype))
        found[name] = known
        bad[name] = (wrong, f"one of the classes 0 to {size - 1}")
    return found, bad
