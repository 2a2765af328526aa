"""The door: what callers pass becomes clean arrays of one library on one device, or an error.

Values that can be read are checked here and raise.  Where they cannot (in a trace, on an
accelerator) a bad value empties its whole row of the batch, which makes every measure of that
row undefined, NaN.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    backend,
    cast,
    computing,
    device,
    is_array,
    namespace,
    readable,
    to_numpy,
    wide_float,
)

__all__ = ["Examples", "admit", "admit_scores", "adopt", "as_column", "check_tie_policy", "first_bad"]

TIE_POLICIES = ("expected", "optimistic", "pessimistic", "given")


class Examples(NamedTuple):
    """Checked input: labels are boolean, weights float, and ``valid`` is None where all count."""

    scores: Array
    labels: Array | None
    weights: Array | None
    valid: Array | None


def check_tie_policy(ties: str) -> None:
    """Raise unless `ties` names a tie policy."""
    if ties not in TIE_POLICIES:
        raise ValueError(f"ties must be one of {', '.join(TIE_POLICIES)}; got {ties!r}")


def admit(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> Examples:
    """Check and convert labels and scores."""
    given = {
        "y_score": y_score,
        "y_true": y_true,
        "sample_weight": sample_weight,
        "where": where,
    }
    return _examples(given, pos_label, validate)


def admit_scores(
    y_score: Any, sample_weight: Any = None, where: Any = None, validate: bool = True
) -> Examples:
    """Check and convert scores that come without labels."""
    given = {"y_score": y_score, "sample_weight": sample_weight, "where": where}
    return _examples(given, None, validate)


def _examples(given: dict[str, Any], pos_label: Any, validate: bool) -> Examples:
    named = {name: as_column(name, x) for name, x in given.items() if x is not None}
    if "y_true" in named:
        named["y_true"] = _mark_positives(named["y_true"], pos_label)
    _check_types(named)
    xp, arrays = adopt(named)
    shape = arrays["y_score"].shape
    _check_shapes(arrays, shape)
    with computing(xp):
        columns = {name: xp.broadcast_to(x, shape) for name, x in arrays.items()}
        scores, labels = columns["y_score"], columns.get("y_true")
        weights, valid = columns.get("sample_weight"), columns.get("where")
        if weights is not None:
            weights = cast(xp, weights, wide_float(xp, device(scores)))
            counted = weights != 0
            valid = counted if valid is None else valid & counted
        bad = _bad_values(xp, scores, labels, weights)
        valid = _raise_or_exclude(xp, arrays, bad, columns.get("where"), valid, validate)
        if labels is not None and not xp.isdtype(labels.dtype, "bool"):
            labels = labels == 1
        if shape[-1] == 0:
            scores, labels, weights, valid = _one_absent_example(xp, scores, labels, weights)
    return Examples(scores, labels, weights, valid)


def _one_absent_example(
    xp: Namespace, scores: Array, labels: Array | None, weights: Array | None
) -> tuple[Array, Array | None, Array | None, Array]:
    """Empty lists become one example that does not count, so that every table has a row."""

    def absent(x: Array) -> Array:
        return xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))

    valid = xp.zeros((*scores.shape[:-1], 1), dtype=xp.bool, device=device(scores))
    labels = None if labels is None else absent(labels)
    return absent(scores), labels, None if weights is None else absent(weights), valid


def as_column(name: str, x: Any) -> Any:
    """`x` as an array: lists and data-frame columns become NumPy arrays."""
    if isinstance(x, np.ma.MaskedArray):
        if np.ma.getmaskarray(x).any():
            raise ValueError(_missing(name))
        return x.data
    if is_array(x):
        if isinstance(x, np.ndarray) and not x.dtype.isnative:
            return x.astype(x.dtype.newbyteorder("="))
        return x
    nulls = getattr(x, "null_count", None)  # polars and Arrow
    if nulls is not None and (nulls() if callable(nulls) else nulls) > 0:
        raise ValueError(_missing(name))
    if hasattr(getattr(x, "dtype", None), "na_value"):  # pandas' nullable types
        if x.isna().any():
            raise ValueError(_missing(name))
        if getattr(x.dtype, "kind", "O") in "biuf":
            return x.to_numpy(dtype=x.dtype.numpy_dtype)
    try:
        return _native(np.asarray(x))
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from None


def _native(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def _missing(name: str) -> str:
    return (
        f"{name} has missing values; fill them with any number and pass where= with False "
        "at their positions"
    )


def _mark_positives(y_true: Array, pos_label: Any) -> Array:
    """Boolean labels where `pos_label` says which class is the positive one."""
    host = isinstance(y_true, np.ndarray)
    if pos_label is None:
        if host and y_true.dtype.kind in "OUST":
            raise ValueError(
                "y_true must hold 0 and 1; for other labels pass pos_label, "
                f"e.g. pos_label={y_true.ravel()[0] if y_true.size else 'yes'!r}"
            )
        return y_true
    if not (host or readable(y_true)):
        return y_true == pos_label
    labels = to_numpy(y_true)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(_nan_label(labels))
    if labels.dtype.kind == "O" and any(x is None or x != x for x in labels.ravel()):
        raise ValueError(_missing("y_true"))
    positive = np.asarray(labels == pos_label)
    if positive.shape != labels.shape:
        raise TypeError(f"pos_label={pos_label!r} cannot be compared with the labels of y_true")
    others = labels[~positive]
    if others.size and not (others == others[0]).all():
        third = others[others != others[0]][0]
        raise ValueError(
            f"y_true must be binary; beside pos_label={pos_label!r} it holds "
            f"{others[0]!r} and {third!r}"
        )
    return positive if host else y_true == pos_label


def _nan_label(labels: np.ndarray[Any, Any]) -> str:
    where = tuple(int(i) for i in np.argwhere(np.isnan(labels))[0])
    return f"y_true is NaN at position {_position(where)}; expected a label"


def _check_types(named: dict[str, Array]) -> None:
    for name, x in named.items():
        kind = "bool" if name == "where" else "real number or bool"
        if isinstance(x, np.ndarray):
            fits = x.dtype.kind == "b" if name == "where" else _is_real_numpy(x.dtype)
        else:
            xp = namespace(x)
            kinds = ("bool",) if name == "where" else ("bool", "integral", "real floating")
            fits = xp.isdtype(x.dtype, kinds)
        if not fits:
            raise TypeError(f"{name} must have a {kind} dtype; got {x.dtype}")


def _is_real_numpy(dtype: Any) -> bool:
    return dtype.kind in "biuf" or dtype.name == "bfloat16"


def adopt(named: dict[str, Array]) -> tuple[Namespace, dict[str, Array]]:
    """All arrays in the namespace and on the device of those that are not NumPy's."""
    foreign = {name: x for name, x in named.items() if not isinstance(x, (np.ndarray, np.generic))}
    if not foreign:
        return namespace(np.empty(0)), named
    first, leader = next(iter(foreign.items()))
    xp, where = namespace(leader), device(leader)
    library = backend(xp)
    for name, x in foreign.items():
        if namespace(x) is not xp:
            raise TypeError(
                f"{first} is an array of {xp.__name__} and {name} one of {namespace(x).__name__}; "
                "pass arrays of one library"
            )
        if device(x) != where:
            raise TypeError(
                f"{first} is on device {where} and {name} on device {device(x)}; "
                "move them to one device"
            )
    for name, x in named.items():
        if name not in foreign and library != "jax":
            raise TypeError(
                f"{first} is an array of {xp.__name__} and {name} one of numpy; "
                "pass arrays of one library"
            )
    return xp, {
        name: x if name in foreign else _to_jax(xp, name, x) for name, x in named.items()
    }


def _to_jax(xp: Namespace, name: str, x: np.ndarray[Any, Any]) -> Array:
    """A NumPy array beside JAX ones, with a warning where JAX makes distinct scores equal."""
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8:
        with computing(xp):  # JAX without x64 would wrap integers beyond 32 bits
            return xp.asarray(x)
    converted = xp.asarray(x)
    if name == "y_score" and converted.dtype.itemsize < x.dtype.itemsize:
        kept = np.unique(np.asarray(converted)).size
        lost = np.unique(x).size - kept
        if lost > 0:
            warnings.warn(
                f"y_score is {x.dtype} and JAX runs without x64: as {converted.dtype} the scores "
                f"have {lost} new ties; call jax.config.update('jax_enable_x64', True) to keep "
                "them apart",
                stacklevel=2,
            )
    return converted


def _check_shapes(arrays: dict[str, Array], shape: tuple[int, ...]) -> None:
    if len(shape) == 0:
        raise ValueError("y_score must have at least one axis, that of the examples; got a scalar")
    for name, x in arrays.items():
        if x.shape not in (shape, shape[-1:]):
            raise ValueError(
                f"{name} must have shape {shape[-1:]} or that of y_score, {shape}; "
                f"got shape {tuple(x.shape)}"
            )


def _bad_values(
    xp: Namespace, scores: Array, labels: Array | None, weights: Array | None
) -> dict[str, tuple[Array, str]]:
    """For every argument: where it is bad, and what was expected."""
    bad = {}
    if not xp.isdtype(scores.dtype, ("bool", "integral")):
        bad["y_score"] = (xp.isnan(scores), "a number")
    if labels is not None and not xp.isdtype(labels.dtype, "bool"):
        bad["y_true"] = ((labels != 0) & (labels != 1), "a label 0 or 1 (or pass pos_label)")
    if weights is not None:
        right = (weights >= 0) & (weights < xp.inf)
        bad["sample_weight"] = (~right, "a finite weight, not negative")
    return bad


def _raise_or_exclude(
    xp: Namespace,
    arrays: dict[str, Array],
    bad: dict[str, tuple[Array, str]],
    where: Array | None,
    valid: Array | None,
    validate: bool,
) -> Array | None:
    """Raise for the first bad value that counts, or exclude the rows of the batch that have one.

    A bad weight always counts, unless `where` masks it; a bad score or label counts unless its
    example is masked or has weight 0.
    """
    for name, (wrong, expected) in bad.items():
        counting = where if name == "sample_weight" else valid
        wrong = wrong if counting is None else wrong & counting
        if not validate or not readable(wrong):
            row_is_good = ~xp.any(wrong, axis=-1, keepdims=True)
            valid = row_is_good if valid is None else valid & row_is_good
        elif bool(xp.any(wrong)):
            raise ValueError(first_bad(name, arrays[name], wrong, expected))
    return None if valid is None else xp.broadcast_to(valid, arrays["y_score"].shape)


def first_bad(name: str, x: Array, wrong: Array, expected: str) -> str:
    """The message about the first bad value of an argument."""
    index = tuple(int(i) for i in np.argwhere(to_numpy(wrong))[0])
    value = x[index[-x.ndim :]]
    value = value.item() if hasattr(value, "item") else value
    return f"{name} is {value} at position {_position(index)}; expected {expected}"


def _position(index: tuple[int, ...]) -> str:
    return str(index[0]) if len(index) == 1 else str(index)
