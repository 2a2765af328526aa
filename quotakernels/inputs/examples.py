"""The door: what callers pass becomes clean arrays of one library on one device, or an error.

Values that can be read are checked here and raise.  Where they cannot (in a trace, on an
accelerator) a bad value spoils its whole row of the batch: none of its examples counts, and all its
results are NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    device,
    from_host,
    instead_of,
    is_array,
    lent,
    library,
    namespace,
    of_kind,
    placement,
    readable,
    returned,
    takes_host_arrays,
    to_numpy,
    wide_float,
)
from quotakernels.inputs.keywords import brief, check_flag
from quotakernels.inputs.labels import NAMED_LABELS, numeric_labels, positive_labels
from quotakernels.inputs.shapes import check_shapes

__all__ = [
    "MASS_ROUNDING",
    "Admitted",
    "Examples",
    "admit",
    "admit_columns",
    "admit_scores",
    "admitted",
    "adopt",
    "as_column",
    "bad_values",
    "check_one_device",
    "check_same_totals",
    "check_tie_policy",
    "check_types",
    "example_columns",
    "first_bad",
    "one_absent_example",
    "raise_or_exclude",
    "read_without_fault",
    "refuse_records",
]

TIE_POLICIES = ("expected", "optimistic", "pessimistic", "given")
MASS_ROUNDING = 2.0**-40
"""Relative difference between two sums of the same weights that is put down to rounding."""
_COLUMNS = (
    *("y_true", "y_score", "scores_a", "scores_b", "y_pred", "sample_weight", "where"),
    *("gain", "gain_rejected"),
)


class Examples(NamedTuple):
    """Checked input: labels are boolean, weights float, and ``valid`` is None where all count."""

    scores: Array
    labels: Array | None
    weights: Array | None
    valid: Array | None


class Admitted(NamedTuple):
    """What the door lets in: examples, columns of numbers beside them, and which rows of the batch
    had no bad value, shape (..., 1); None where all values were read, and so are good.
    """

    examples: Examples
    numbers: dict[str, Array]
    good: Array | None


def check_tie_policy(ties: str) -> None:
    """Raise unless `ties` names a tie policy."""
    if ties not in TIE_POLICIES:
        raise ValueError(f"ties must be one of {', '.join(TIE_POLICIES)}; got {brief(ties)}")


def admit(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> Examples:
    """Check and convert labels and scores."""
    return admitted(y_true, y_score, sample_weight, where, pos_label, validate).examples


def admitted(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> Admitted:
    """The same, with the rows of the batch that are good."""
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    return admit_columns(given, pos_label, validate)


def admit_scores(
    y_score: Any, sample_weight: Any = None, where: Any = None, validate: bool = True
) -> Examples:
    """Check and convert scores that come without labels."""
    given = {"y_score": y_score, "sample_weight": sample_weight, "where": where}
    return admit_columns(given, None, validate).examples


def admit_columns(
    given: dict[str, Any],
    pos_label: Any,
    validate: bool,
    numbers: tuple[str, ...] = (),
    leader: str = "y_score",
    batched: bool = False,
) -> Admitted:
    """Check and convert the scores, which the leader names, and what is given beside them.

    Columns of `numbers` come out as wide floats, finite where they count.  The scores of a state
    may be known to be a batch.
    """
    check_flag("validate", validate)
    named = example_columns(given)
    as_given = dict(named)
    if "y_true" in named:
        named["y_true"], pos_label = numeric_labels(named["y_true"], pos_label)
    check_types(named)
    arrays = adopt(named, (leader,))[1]
    check_shapes(arrays, leader, given, batched)
    if (on_host := lent(tuple(arrays.values()))) is not None:
        columns = dict(zip(arrays, on_host, strict=True))
        examples, floats, good = _clean(columns, as_given, pos_label, validate, numbers, leader)
        scores = arrays[leader]
        floats = {name: returned(x, scores) for name, x in floats.items()}
        return Admitted(returned(examples, scores), floats, returned(good, scores))
    return _clean(arrays, as_given, pos_label, validate, numbers, leader)


def _clean(
    arrays: dict[str, Array],
    as_given: dict[str, Array],
    pos_label: Any,
    validate: bool,
    numbers: tuple[str, ...],
    leader: str,
) -> Admitted:
    """Arrays of one library and of fitting shapes, when their values are checked too."""
    xp = namespace(arrays[leader])
    with computing(xp):
        if arrays[leader].shape[-1] == 0:
            arrays = one_absent_example(xp, arrays)
        shape = arrays[leader].shape
        columns = {name: _stretched(xp, x, shape) for name, x in arrays.items()}
        scores, labels = columns[leader], columns.get("y_true")
        wide = wide_float(xp, device(scores))
        floats = {name: cast(xp, columns[name], wide) for name in numbers}
        weights, valid = columns.get("sample_weight"), columns.get("where")
        if weights is not None:
            weights = cast(xp, weights, wide)
            counted = weights != 0
            valid = counted if valid is None else valid & counted
        bad = bad_values(xp, scores, weights, leader)
        if labels is not None and not (labels.dtype == xp.bool and pos_label is None):
            labels, bad["y_true"] = positive_labels(xp, labels, pos_label, valid)
        bad |= {name: (~xp.isfinite(x), "a finite number") for name, x in floats.items()}
        valid, good = raise_or_exclude(xp, as_given, bad, valid, validate)
        valid = None if valid is None else _stretched(xp, valid, shape)
    return Admitted(Examples(scores, labels, weights, valid), floats, good)


def _stretched(xp: Namespace, x: Array, shape: tuple[int, ...]) -> Array:
    return x if x.shape == shape else xp.broadcast_to(x, shape)


def one_absent_example(xp: Namespace, arrays: dict[str, Array]) -> dict[str, Array]:
    """Empty lists become one example that does not count, so that every table has a row."""
    leader = next(iter(arrays.values()))
    absent = {
        name: xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
        for name, x in arrays.items()
    }
    return absent | {"where": xp.zeros((1,), dtype=xp.bool, device=device(leader))}


def example_columns(given: dict[str, Any]) -> dict[str, Array]:
    """Each as an array, without the weights and the mask that are None."""
    absent = {name for name in ("sample_weight", "where") if given.get(name) is None}
    columns = {name: as_column(name, x) for name, x in given.items() if name not in absent}
    for name, x in columns.items():
        if isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in NAMED_LABELS:
            kind = type(x.item()).__name__
            raise TypeError(f"{name} must be an array or a list; got a {kind}")
    return columns


def as_column(name: str, x: Any) -> Any:
    """`x` as an array: lists and data-frame columns become NumPy arrays."""
    if x is None:
        raise TypeError(f"{name} must be an array; got None")
    if type(x) is np.ndarray and x.dtype.kind in "biuf" and x.dtype.isnative:
        return x
    refuse_records(name, x)
    if instead := instead_of(name, x):
        raise TypeError(instead)
    if is_array(x) and not isinstance(x, (np.ndarray, np.generic)):
        return x
    if _has_nulls(x):
        raise ValueError(_missing(name))
    if hasattr(getattr(x, "dtype", None), "numpy_dtype") and x.dtype.kind in "biuf":
        x = x.to_numpy(dtype=x.dtype.numpy_dtype)  # pandas' nullable types
    try:
        column = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from None
    if column.dtype.kind == "O" and any(_is_missing(value) for value in column.ravel()):
        raise ValueError(_missing(name))
    return column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))


def refuse_records(name: str, x: Any) -> None:
    """Raise for a named tuple, whose fields would be taken for the rows of a batch."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        kind = type(x).__name__
        hint = "; pass one of its fields"
        if kind == "Ranking":
            hint = ": it has lost the order of the examples, and their scores are needed"
        raise TypeError(f"{name} must be an array; got a {kind}{hint}")


def _has_nulls(x: Any) -> bool:
    """Whether masked arrays of NumPy, and columns of pandas, polars or Arrow, lack values."""
    if isinstance(x, (int, float, list, tuple)):
        return False
    if isinstance(x, np.ma.MaskedArray):
        return bool(np.ma.getmaskarray(x).any())
    if hasattr(getattr(x, "dtype", None), "na_value"):
        return bool(x.isna().any())
    nulls = getattr(x, "null_count", 0)
    return bool(np.any(np.asarray(nulls() if callable(nulls) else nulls)))


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _missing(name: str) -> str:
    hint = "fill them with any number and pass where= with False at their positions"
    return f"{name} has missing values; {hint if name in _COLUMNS else 'they have no place here'}"


def check_types(named: dict[str, Array]) -> None:
    """Raise unless the mask holds booleans and everything else real numbers."""
    for name, x in named.items():
        mask = name == "where"
        what = "booleans" if mask else "real numbers or booleans"
        kinds = ("bool",) if mask else ("bool", "integral", "real floating")
        empty_list = isinstance(x, np.ndarray) and x.shape == (0,)
        if not (empty_list or of_kind(namespace(x), x.dtype, kinds)):
            raise TypeError(f"{name} must hold {what}; got dtype {x.dtype}")


def adopt(
    named: dict[str, Array], scores: tuple[str, ...] = ("y_score",)
) -> tuple[Namespace, dict[str, Array]]:
    """All arrays in the namespace and on the device of those that are not NumPy's."""
    foreign = {name: x for name, x in named.items() if not isinstance(x, np.ndarray)}
    if not foreign:
        return namespace(np.empty(0)), named
    first, leader = next(iter(foreign.items()))
    xp = namespace(leader)
    for name, x in named.items():
        may_join = name not in foreign and takes_host_arrays(xp)
        if namespace(x) is not xp and not may_join:
            raise TypeError(
                f"{first} is an array of {library(leader)} and {name} one of {library(x)}; "
                "pass arrays of one library"
            )
    check_one_device(foreign)
    return xp, {
        name: x if name in foreign else from_host(xp, name, x, is_score=name in scores)
        for name, x in named.items()
    }


def check_one_device(named: dict[str, Array]) -> None:
    """Raise if two of the arrays have to stay on different devices."""
    places = {name: placement(x) for name, x in named.items()}
    fixed = [name for name, place in places.items() if place is not None]
    for name in fixed[1:]:
        if places[name] != places[fixed[0]]:
            raise TypeError(
                f"{fixed[0]} is on device {places[fixed[0]]} and {name} on device {places[name]}; "
                "move them to one device"
            )


def bad_values(
    xp: Namespace, scores: Array, weights: Array | None, leader: str = "y_score"
) -> dict[str, tuple[Array, str]]:
    """For scores and weights: where they are bad, and what was expected."""
    bad = {}
    if of_kind(xp, scores.dtype, "real floating"):
        bad[leader] = (xp.isnan(scores), "a number, or where=False for an example to leave out")
    if weights is not None:
        most = float(xp.finfo(weights.dtype).max) / max(weights.shape[-1], 1)  # their sum is finite
        right = (weights >= 0) & (weights <= most)
        expected = "a finite weight, not negative, and small enough for a finite sum"
        bad["sample_weight"] = (~right, expected)
    return bad


def raise_or_exclude(
    xp: Namespace,
    as_given: dict[str, Array],
    bad: dict[str, tuple[Array, str]],
    valid: Array | None,
    validate: bool,
) -> tuple[Array | None, Array | None]:
    """Raise for the first bad value that counts, or exclude the rows of the batch that have one.

    What is masked or has weight 0 does not count; a bad weight is not 0.  Beside what is left, it
    returns which rows of the batch are good, shape (..., 1); None where all values were read.
    """
    good = None
    for name, (unfit, expected) in bad.items():
        wrong = unfit if valid is None else unfit & valid
        if not read_without_fault(xp, name, as_given[name], wrong, expected, validate):
            row_is_good = ~xp.any(wrong, axis=-1, keepdims=True)
            good = row_is_good if good is None else good & row_is_good
    if good is None:
        return valid, None
    return good if valid is None else valid & good, good


def read_without_fault(
    xp: Namespace, name: str, x: Array, wrong: Array, expected: str, validate: bool
) -> bool:
    """Raise for the first bad value of an argument; False where values are not to be read."""
    if not validate or not readable(wrong):
        return False
    if bool(xp.any(wrong)):
        raise ValueError(first_bad(name, x, wrong, expected))
    return True


def first_bad(name: str, x: Array, wrong: Array, expected: str) -> str:
    """The message about the first bad value of an argument."""
    index = tuple(int(i) for i in np.argwhere(to_numpy(wrong))[0])
    value = x[index[len(index) - x.ndim :]]
    value = value.item() if hasattr(value, "item") else np.asarray(value).item()
    place = f" at position {index[0] if len(index) == 1 else index}" if index else ""
    return f"{name} is {value!r}{place}; expected {expected}"


def check_same_totals(names: list[str], negative: Array, positive: Array, differ: Array) -> None:
    """Raise for the first of several rankings that differs from the first in its totals.

    All have the shape (..., M), with an entry for each name.
    """
    if not (readable(differ) and bool(namespace(differ).any(differ))):
        return
    index = tuple(int(i) for i in np.argwhere(to_numpy(differ))[0])
    row, model = index[:-1], index[-1]
    place = f" in row {row[0] if len(row) == 1 else row} of the batch" if row else ""
    counts = [[to_numpy(x)[*row, k].item() for x in (positive, negative)] for k in (model, 0)]
    found, wanted = (f"{p:.15g} positives and {n:.15g} negatives" for p, n in counts)
    raise ValueError(
        f"{names[model]} has {found}{place} and {names[0]} {wanted}; "
        "curves are compared on the same examples"
    )
