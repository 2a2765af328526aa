"""Columns: what callers pass as arrays of one library, device and shape, or an error."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    device,
    instead_of,
    is_array,
    is_tensor,
    library,
    placement,
    readable,
    to_numpy,
)
from quotakernels.inputs.keywords import warn_once
from quotakernels.ops import namespace


def check_shapes(
    arrays: dict[str, Array],
    leader: str = "y_score",
    given: dict[str, Any] | None = None,
    batched: bool = False,
) -> None:
    """Raise unless all have the shape of the leader, or that of its last axis.

    Column vectors are refused too, unless the leading axes are known to be those of a batch: of a
    state, or because the labels say that there is one example.  Messages name the arrays as they
    were `given`.
    """
    shapes = {name: tuple(x.shape) for name, x in arrays.items()}
    shape, given = shapes[leader], given or {}
    if len(shape) == 0:
        raise ValueError(
            f"{leader} must have at least one axis, that of the examples; got a scalar"
        )
    if len(shapes) == 1:
        _refuse_frame(leader, shape, given)
    if shape[-1] == 1 and not (batched or (1,) in (shapes.get("y_true"), shapes.get("gain"))):
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
    """Raise for a data frame without labels: its rows would be taken for lists, not examples."""
    if len(shape) == 2 and hasattr(given.get(name), "columns"):
        raise ValueError(
            f"{name} is a data frame of shape {shape}, and the last axis holds the examples; "
            f"pass one column, or {_as_array(name, given)}.T if each column is a model"
        )


def refuse_columns(
    shapes: dict[str, tuple[int, ...]], given: dict[str, Any] | None = None, held: str = "examples"
) -> None:
    """Raise for column vectors: each row would be taken for a list of one example."""
    columns = {name: shape for name, shape in shapes.items() if _is_column(shape)}
    for name, shape in columns.items():
        instead = " and ".join(_first_column(x, columns[x], given) for x in columns)
        raise ValueError(
            f"{name} has shape {shape}, and the last axis holds the {held}; pass {instead}"
        )


def refuse_symbolic(size: Any, what: str) -> None:
    """Raise if the number of examples is a symbol of `jax.export`; a plain one is needed."""
    if ops.is_symbolic(size):
        raise TypeError(
            f"{what} need a known number of examples, and {size} is symbolic; export a program "
            "of a fixed length, and mask the padding with where="
        )


def column_hint(name: str, shape: tuple[int, ...], given: dict[str, Any] | None = None) -> str:
    """The hint that a message about a wrong shape adds for a column vector."""
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
    """How messages write the scores of the positive class; of logits, their difference."""
    return f"{scores}[:, 1] of probabilities, {scores}[:, 1] - {scores}[:, 0] of logits"


def _as_array(name: str, given: dict[str, Any] | None) -> str:
    """How messages write what was given as an array that can be indexed."""
    x = (given or {}).get(name)
    if isinstance(x, (list, tuple)):
        return f"numpy.asarray({name})"
    return f"{name}.to_numpy()" if hasattr(x, "columns") else name


NAMED_LABELS = "OUST"
"""NumPy's kinds of labels that are no numbers: objects, and strings of three sorts."""


ONE_OTHER = "pos_label or a single other label"
"""What labels may be, if `pos_label` is given."""


def numeric_labels(y_true: Array, pos_label: Any) -> tuple[Array, Any]:
    """Labels as numbers, and the number of the positive class (None: labels are 0 and 1)."""
    if isinstance(y_true, np.ndarray) and y_true.dtype.kind in NAMED_LABELS:
        if pos_label is None:
            raise ValueError(f"y_true must hold 0 and 1; {_way_out_of_labels(y_true)}")
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
    """How messages compare an array with one value; a list must become an array first."""
    return f"{f'numpy.asarray({name})' if isinstance(x, np.ndarray) else name} == {value}"


def _are_fractions(labels: Array) -> bool:
    return any(isinstance(x, float) and x % 1 > 0 for x in _first_values(labels))


def _that_occur(name: str, labels: Array) -> str:
    """The labels that occur, for messages, if they can be read."""
    seen = [repr(x) for x in dict.fromkeys(_first_values(labels)) if x == x]
    listed = ", ".join([*seen[:5], *(["…"] if len(seen) > 5 else [])])
    return f"; {name} holds {listed}" if seen else ""


def _first_values(x: Array) -> list[Any]:
    """The values that a message may quote, at most 1,000; none where they cannot be read."""
    if not readable(x):
        return []
    flat = namespace(x).reshape(x, (-1,))
    first = flat[: min(flat.shape[0], 1000)]
    values: list[Any] = (first if hasattr(first, "tolist") else np.asarray(first)).tolist()
    return values


def _way_out_of_labels(y_true: np.ndarray[Any, Any]) -> str:
    """Advice for labels that are not numbers."""
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
    if xp.of_kind(dtype, "bool"):
        number, fits = bool(number), number in (0, 1)
    elif xp.of_kind(dtype, "integral"):
        info = xp.iinfo(dtype)
        fits = number % 1 == 0 and info.min <= number <= info.max
        number = int(number) if fits else number
    else:
        number, fits = float(number), number == number
    if not fits:
        known = _that_occur("y_true", y_true)
        raise ValueError(f"{name}={label!r} cannot occur in y_true, of dtype {dtype}{known}")
    return number


def positive_labels(
    xp: Namespace, labels: Array, pos_label: Any, valid: Array | None
) -> tuple[Array, tuple[Array, str]]:
    """Which labels are positive; where they are bad, and what was expected.

    Labels are compared by their order keys: a subnormal is not 0 on any hardware, and all types
    of integers can be compared.  With `pos_label` the negative class is that of the first example
    of the row that counts and is not positive.
    """
    key = xp.order_key(labels)

    def key_of(label: Any) -> Any:
        if key is labels and xp.of_kind(labels.dtype, "integral"):
            return label
        return xp.order_key(xp.constant([label], labels.dtype, device(labels)))

    if pos_label is None:
        expected = "0 or 1; for other labels pass pos_label"
        positive = key == key_of(1)
        if key is labels and xp.of_kind(labels.dtype, "integral"):
            return positive, (xp.neither(labels, positive), expected)
        return positive, (positive == (key == key_of(0)), expected)
    positive = key == key_of(pos_label)
    others = ~positive if valid is None else ~positive & valid
    places = xp.arange(key.shape[-1], dtype=xp.int64, device=device(key))
    places = xp.where(others, places, xp.full_like(places, key.shape[-1] - 1))
    first = xp.min(places, axis=-1, keepdims=True)
    invalid = ~positive & (key != xp.take_last_axis(key, first))
    if xp.of_kind(labels.dtype, "real floating"):
        invalid = invalid | xp.isnan(labels)
    return positive, (invalid, ONE_OTHER)


MASS_ROUNDING = 2.0**-40
"""Relative difference between two sums of the same weights that is put down to rounding."""

COLUMNS = ("gain", "gain_rejected", "cost", "treatment")
"""What an example may have beside its score, label and weight; keywords of `rank`."""
_PER_EXAMPLE = ("y_true", "y_score", "y_pred", "sample_weight", "where", *COLUMNS, "groups")


_REAL = ("bool", "integral", "real floating")
_EXPECTED = {"where": ("booleans", ("bool",)), "groups": ("integers", ("bool", "integral"))}
"""What columns hold that are no real numbers: in words, and their kinds of dtype."""


_STACK = "; for several models pass an array, numpy.stack(list({}.values()))"


def example_columns(given: dict[str, Any]) -> dict[str, Array]:
    """Each as an array, without the weights and the mask that are None."""
    warn_of_other_order(given)
    absent = {name for name in ("sample_weight", "where") if given.get(name) is None}
    columns = {name: as_column(name, x) for name, x in given.items() if name not in absent}
    for name, x in columns.items():
        if isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in NAMED_LABELS:
            value = x.item()
            models = isinstance(value, dict) and any(np.ndim(x) for x in value.values())
            raise TypeError(
                f"{name} must be an array or a list; got a {type(value).__name__}"
                f"{_STACK.format(name) if models else ''}"
            )
    return columns


def warn_of_other_order(given: dict[str, Any]) -> None:
    """Warn if columns of pandas have indexes that name other rows: no index is looked at.

    An index that only numbers the rows names none.
    """
    indexes = {
        name: x.index
        for name, x in given.items()
        if not is_array(x) and hasattr(getattr(x, "index", None), "sort_values")
    }
    first = "y_true" if "y_true" in indexes else next(iter(indexes), "")
    for name, own in indexes.items():
        if len(own) != len(indexes[first]) or _alike(own, indexes[first]):
            continue
        reordered = set(own) == set(indexes[first])
        if reordered or not any(_counts(given[x]) for x in (first, name)):
            instead = f"{name}.reindex({first}.index), or " if reordered else ""
            warn_once(
                f"{first} and {name} have different indexes, and are matched by position; pass "
                f"{instead}to_numpy() of both if the positions are right"
            )


def _alike(one: Any, other: Any) -> bool:
    """Whether two indexes name the same rows, perhaps in other types."""
    if one.dtype != other.dtype:
        one, other = one.astype(object), other.astype(object)
    return bool(one.equals(other))


def _counts(column: Any) -> bool:
    """Whether the index only numbers the rows, as pandas makes it by default."""
    return _alike(column.index, column.reset_index(drop=True).index)


def as_column(name: str, x: Any) -> Any:
    """`x` as an array: lists and data-frame columns become NumPy arrays."""
    if x is None:
        raise TypeError(f"{name} must be an array; got None")
    if type(x) is np.ndarray and x.dtype.kind in "biuf" and x.dtype.isnative:
        return x
    if instead := instead_of(name, x):
        raise TypeError(instead)
    if is_tensor(x):
        return x
    refuse_records(name, x)
    if is_array(x) and not isinstance(x, (np.ndarray, np.generic)):
        return _in_own_precision(x)
    _refuse_list_of_arrays(name, x)
    refuse_missing(name, _nulls(x))
    if hasattr(getattr(x, "dtype", None), "numpy_dtype") and x.dtype.kind in "biuf":
        x = x.to_numpy(dtype=x.dtype.numpy_dtype)  # pandas' nullable types
    try:
        column = np.asarray(x)
    except ValueError as error:
        ragged = f"its parts differ in length; of batches pass numpy.concatenate({name})"
        why = ragged if "inhomogeneous" in str(error) else error
        raise ValueError(f"{name} must be an array of numbers: {why}") from None
    if column.dtype.kind == "U" and isinstance(x, (list, tuple)):
        column = _as_given(column, x)
    if column.dtype.kind == "O":
        lacking = [_is_missing(value) for value in column.ravel()]
        refuse_missing(name, np.reshape(lacking, column.shape))
    return column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))


def _refuse_list_of_arrays(name: str, x: Any) -> None:
    """Raise for a list of arrays, as loops over batches make it: these would count as models.

    Lists of numbers, even if each is an array, and lists of NumPy's arrays are NumPy input.
    """
    first: Any = x[0] if isinstance(x, (list, tuple)) and x else None
    on_host = isinstance(first, (np.ndarray, np.generic)) or not is_array(first)
    if not on_host and first.ndim:
        own = namespace(first).__name__.removeprefix("array_api_compat.")
        instead = f"{own}.concat({name}) of batches, or {own}.stack({name}) of models"
        if any(getattr(part, "ndim", 0) != first.ndim for part in x):
            instead = f"one of them, such as {name}[0]"
        kind = type(x).__name__
        raise TypeError(f"{name} is a {kind} of arrays of {library(first)}; pass {instead}")


def _in_own_precision(x: Array) -> Array:
    """The array, or a copy of what `jax.vmap` maps over an array of NumPy's.

    Without x64 its dtype says 32 bits while it has 64, on which JAX fails if it computes in 64.
    """
    held = x
    while hasattr(held, "val"):
        held = held.val
    mapped = held is not x and isinstance(held, np.ndarray)
    return namespace(x).asarray(x, copy=True) if mapped else x


def _as_given(column: np.ndarray[Any, Any], x: Any) -> np.ndarray[Any, Any]:
    """The column of a list, or its objects if not all are strings: NumPy makes "nan" of a NaN."""
    given = np.asarray(x, dtype=object)
    return column if all(isinstance(value, str) for value in given.ravel()) else given


def refuse_records(name: str, x: Any) -> None:
    """Raise for a named tuple, whose fields would be taken for the rows of a batch."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        kind = type(x).__name__
        hint = "; pass one of its fields"
        if kind == "Ranking":
            hint = ": it has lost the order of the examples, and their scores are needed"
        raise TypeError(f"{name} must be an array; got a {kind}{hint}")


def _nulls(x: Any) -> Any:
    """Which values are missing from a masked array, or a column of pandas, polars or Arrow."""
    if isinstance(x, (int, float, list, tuple)):
        return False
    if isinstance(x, np.ma.MaskedArray):
        return np.ma.getmaskarray(x)
    if hasattr(getattr(x, "dtype", None), "na_value"):
        return x.isna()
    nulls = getattr(x, "null_count", 0)
    there = bool(np.any(np.asarray(nulls() if callable(nulls) else nulls)))
    return x.is_null() if there and hasattr(x, "is_null") else there


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def refuse_missing(name: str, lacking: Any) -> None:
    """Raise for an argument with missing values; one flag may stand for all of them."""
    if lacking is False or not np.any(lacking := np.asarray(lacking)):
        return
    hint = "they have no place here"
    if name in ("groups", "clusters", "by", "per"):
        hint = "give these examples an id, or leave them out"
    elif name in _PER_EXAMPLE or name.startswith("models["):
        hint = "fill them with any number and pass where= with False at their positions"
    first = tuple(int(i) for i in np.argwhere(lacking)[0])
    place = f"; the first is at position {first[0] if len(first) == 1 else first}" if first else ""
    raise ValueError(f"{name} has missing values; {hint}{place}")


def check_types(named: dict[str, Array]) -> None:
    """Raise unless the mask has booleans and all other columns have real numbers."""
    for name, x in named.items():
        what, kinds = _EXPECTED.get(name, ("real numbers or booleans", _REAL))
        empty_list = isinstance(x, np.ndarray) and x.shape == (0,)
        if not (empty_list or namespace(x).of_kind(x.dtype, kinds)):
            raise TypeError(f"{name} must hold {what}; got dtype {x.dtype}{_type_hint(name, x)}")


def _type_hint(name: str, x: Array) -> str:
    """The hint that a message adds about a column of the wrong type."""
    if name == "where" and namespace(x).of_kind(x.dtype, _REAL):
        return f"; if it holds 0 and 1 pass {equals(name, x, '1')}"
    if not (isinstance(x, np.ndarray) and x.dtype.kind in NAMED_LABELS):
        return ""
    numbers = (Real, Decimal, np.bool_)
    if x.dtype.kind == "O" and all(isinstance(value, numbers) for value in x.ravel()):
        return f"; pass numpy.asarray({name}, dtype={'bool' if name == 'where' else 'float'})"
    classes = "; pass scores, such as predict_proba gives, not classes"
    return classes if name == "y_score" else ""


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
        may_join = name not in foreign and xp.takes_host_arrays
        if namespace(x) is not xp and not may_join:
            on_host = is_tensor(leader) and name not in foreign
            own, make = library(leader), f"as_tensor({name}, device={first}.device)"
            hint = f", here {own}.{make}" if on_host else ""
            raise TypeError(
                f"{first} is an array of {own} and {name} one of {library(x)}; "
                f"pass arrays of one library{hint}"
            )
    check_one_device(foreign)
    return xp, {
        name: x if name in foreign else xp.from_host(name, x, is_score=name in scores)
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


def read_and_good(
    xp: Namespace, name: str, x: Array, invalid: Array, expected: str, validate: bool = True
) -> bool:
    """Whether values were read, and are good: the first bad one raises."""
    if not validate or not readable(invalid):
        return False
    if bool(xp.any(invalid)):
        raise ValueError(first_bad(name, x, invalid, expected))
    return True


def first_bad(name: str, x: Array, invalid: Array, expected: str) -> str:
    """The message about the first bad value of an argument."""
    index = tuple(int(i) for i in np.argwhere(to_numpy(invalid))[0])
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


def short_repr(
    name: str,
    x: Array,
    shape: tuple[int, ...],
    counts: list[Array],
    positives: list[Array],
    *beside: str,
) -> str:
    """A repr of examples like `x`, with `beside` at its end.

    For one list it also says how many examples and positives there are, if that is known.
    """
    said = [f"shape={tuple(shape)}", library(x)]
    for columns, what in ((counts, "examples"), (positives, "positive")):
        if len(shape) == 1 and all(map(readable, columns)):
            said.append(f"{sum(int(to_numpy(x).sum()) for x in columns)} {what}")
    return f"{name}({', '.join([*said, *beside])})"
