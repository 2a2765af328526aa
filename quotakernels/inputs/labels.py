"""Labels of two classes: which of them are positive, whatever they are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, constant, device, namespace, of_kind, readable

NAMED_LABELS = "OUST"
"""NumPy's kinds of labels that are no numbers: objects, and strings of three sorts."""


ONE_OTHER = "pos_label or a single other label"
"""What is expected of labels beside `pos_label`."""


def numeric_labels(y_true: Array, pos_label: Any) -> tuple[Array, Any]:
    """Labels as numbers, and the number of the positive class (None: labels are 0 and 1)."""
    if isinstance(y_true, np.ndarray) and y_true.dtype.kind in NAMED_LABELS:
        if pos_label is None:
            raise ValueError(f"y_true must hold 0 and 1; {_way_out(y_true)}")
        return _label_codes(y_true, pos_label), 1.0
    return y_true, None if pos_label is None else label_number(y_true, pos_label)


def told_of_labels(message: str, name: str, given: dict[str, Array]) -> str:
    """A message about a bad label that says which occur, or that the scores were given first."""
    if ONE_OTHER in message:
        labels = given[name]
        if len(set(_first_values(labels))) > 2:
            message += f"; for one class against all others pass {equals(name, labels, 'label')}"
        return message + _that_occur(name, labels)
    leader = next(iter(given))
    swapped = {leader, name}.isdisjoint(("y_pred",)) and _are_fractions(given[name])
    if not (swapped and set(_first_values(given[leader])) <= {0, 1}):
        return message
    what, _, _ = message.partition("; for other labels")
    return f"{what}; {leader} holds only 0 and 1: labels come first, scores second"


def equals(name: str, x: Array, value: str) -> str:
    """How messages compare an array with one value; what is read by NumPy may have been a list."""
    return f"{f'numpy.asarray({name})' if isinstance(x, np.ndarray) else name} == {value}"


def _are_fractions(labels: Array) -> bool:
    return any(isinstance(x, float) and x % 1 > 0 for x in _first_values(labels))


def _that_occur(name: str, labels: Array) -> str:
    """The labels that occur, for messages, if they can be read."""
    seen = [repr(x) for x in dict.fromkeys(_first_values(labels)) if x == x]
    listed = ", ".join([*seen[:5], *(["…"] if len(seen) > 5 else [])])
    return f"; {name} holds {listed}" if seen else ""


def _first_values(x: Array) -> list[Any]:
    """As many as messages look at, none where they cannot be read."""
    if not readable(x):
        return []
    flat = namespace(x).reshape(x, (-1,))
    first = flat[: min(flat.shape[0], 1000)]
    values: list[Any] = (first if hasattr(first, "tolist") else np.asarray(first)).tolist()
    return values


def _way_out(y_true: np.ndarray[Any, Any]) -> str:
    """What to do with labels that are no numbers."""
    seen = list(dict.fromkeys(_first_values(y_true)))
    if seen and all(isinstance(x, (bool, int, float)) and x in (0, 1) for x in seen):
        return f"these have dtype {y_true.dtype}: pass y_true.astype(int)"
    known = f", the positive one of {seen[0]!r} and {seen[1]!r}" if len(seen) == 2 else ""
    return f"for other labels pass pos_label{known}"


def _label_codes(y_true: np.ndarray[Any, Any], pos_label: Any) -> np.ndarray[Any, Any]:
    """1 for the positive class, 2, 3, … for the others in order of appearance, NaN for NaN."""
    codes: dict[Any, float] = {pos_label: 1.0}
    listed = y_true.ravel().tolist()
    numbers = [codes.setdefault(x, len(codes) + 1.0) if x == x else np.nan for x in listed]
    return np.asarray(numbers).reshape(y_true.shape)


def label_number(y_true: Array, label: Any, name: str = "pos_label") -> Any:
    """The label that the argument `name` gives, as a number of the labels' type."""
    xp, dtype = namespace(y_true), y_true.dtype
    number = label.item() if isinstance(label, np.generic) else label
    if not isinstance(number, (bool, int, float)):
        known = _that_occur("y_true", y_true)
        raise TypeError(f"{name}={label!r} cannot be compared with y_true, of dtype {dtype}{known}")
    if of_kind(xp, dtype, "bool"):
        number, fits = bool(number), number in (0, 1)
    elif of_kind(xp, dtype, "integral"):
        info = xp.iinfo(dtype)
        fits = number % 1 == 0 and info.min <= number <= info.max
        number = int(number) if fits else number
    else:
        number, fits = float(number), number == number
    if not fits:
        known = _that_occur("y_true", y_true)
        raise ValueError(f"{name}={label!r} cannot occur in y_true, of dtype {dtype}{known}")
    return number


def zero_or_one(labels: Any) -> np.ndarray[Any, Any] | None:
    """Integers that NumPy sees to be 0 and 1 as booleans; None of all else."""
    if not (isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and labels.size):
        return None
    if np.bitwise_or.reduce(labels, axis=None) >> 1:
        return None
    return labels.astype(np.uint8).view(np.bool)  # the faster cast


def positive_labels(
    xp: Namespace, labels: Array, pos_label: Any, valid: Array | None
) -> tuple[Array, tuple[Array, str]]:
    """Which labels are positive; where they are bad, and what was expected.

    Labels are compared by their order keys: a subnormal is not 0 on any hardware, and all types
    of integers can be compared.  With `pos_label` the negative class is that of the first example
    of the row that counts and is not positive.
    """
    key = ops.order_key(xp, labels)

    def key_of(label: Any) -> Any:
        if key is labels and of_kind(xp, labels.dtype, "integral"):
            return label
        return ops.order_key(xp, constant(xp, [label], labels.dtype, device(labels)))

    if pos_label is None:
        expected = "0 or 1; for other labels pass pos_label"
        positive = key == key_of(1)
        if key is labels and of_kind(xp, labels.dtype, "integral"):
            return positive, (ops.neither(xp, labels, positive), expected)
        return positive, (positive == (key == key_of(0)), expected)
    positive = key == key_of(pos_label)
    others = ~positive if valid is None else ~positive & valid
    places = xp.arange(key.shape[-1], dtype=xp.int64, device=device(key))
    places = xp.where(others, places, xp.full_like(places, key.shape[-1] - 1))
    first = xp.min(places, axis=-1, keepdims=True)
    wrong = ~positive & (key != ops.taken(xp, key, first))
    if of_kind(xp, labels.dtype, "real floating"):
        wrong = wrong | xp.isnan(labels)
    return positive, (wrong, ONE_OTHER)
