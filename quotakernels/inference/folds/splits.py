"""Folds of cross-validation: which examples each holds, and measures of them one by one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Array, Namespace, computing, device, namespace, readable, to_numpy
from quotakernels.inference.resampling.values import trees_map, value_again, value_of
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.examples import Validated
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.numbers import plain_number
from quotakernels.inputs.shapes import column_hint, refuse_symbolic
from quotakernels.measures._facts import needs_ideal
from quotakernels.ranking import TiePolicy, ranked_by_group

NDArray = np.ndarray[Any, Any]
_SHOWN = 5
"""Folds that a warning names."""


class Folds(NamedTuple):
    """The folds of all repeats, one after the other: how to name each, and where its examples are.

    `shape` is (k,), or (repeats, k) where the scores have an axis of repeats; `ratio` is that of
    examples tested to examples trained on.
    """

    shape: tuple[int, ...]
    names: list[str]
    places: list[NDArray]
    ratio: float


def validate_folds(folds: Any, scores: tuple[int, ...], n_train: Any) -> Folds:
    """Check the folds of scores of a shape."""
    refuse_symbolic(scores[-1], "folds")
    column = as_column("folds", folds)
    if not readable(column):
        raise TypeError("folds must be readable: pass them as a NumPy array")
    column = to_numpy(column)
    if column.ndim not in (1, 2) or column.shape != scores[len(scores) - column.ndim :]:
        raise ValueError(
            f"folds must have shape (n,), or (repeats, n) where the scores have such axes; got "
            f"{column.shape} and scores of shape {scores}{column_hint('folds', column.shape)}"
        )
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise ValueError("folds must not be NaN; -1 marks examples that are in none")
    names, places = [], []
    for repeat, row in enumerate(np.atleast_2d(column)):
        numbered = [(x, np.flatnonzero(row == x)) for x in np.unique(row)]
        numbered = [(x, at) for x, at in numbered if column.dtype.kind not in "if" or x != -1]
        beside = f" of repeat {repeat}" if column.ndim == 2 else ""
        names += [f"{x}{beside}" for x, _ in numbered]
        places.append([at for _, at in numbered])
    if len({len(part) for part in places}) != 1 or not places[0]:
        raise ValueError("folds must have the same number in each repeat, and at least one")
    shape = (*column.shape[:-1], len(places[0]))
    flat = [at for part in places for at in part]
    return Folds(shape, names, flat, _ratio(flat, column.shape[-1], n_train))


def _ratio(places: list[NDArray], whole: int, n_train: Any) -> float:
    """The mean number of examples tested, over that of examples trained on."""
    tested = math.fsum(at.shape[0] for at in places) / len(places)
    trained = whole - tested if n_train is None else plain_number("n_train", n_train)
    if not 0 < trained < math.inf:
        hint = "; pass it, as the folds hold all examples" if n_train is None else ""
        raise ValueError(f"n_train must be above 0; got {brief(trained)}{hint}")
    return float(tested / trained)


def _part(xp: Namespace, x: Array, folds: Folds, repeat: int, places: NDArray) -> Array:
    row = x[..., repeat, :] if len(folds.shape) == 2 else x
    return xp.take(row, xp.asarray(places, device=device(x)), axis=-1)


def _taken(found: Validated, folds: Folds, repeat: int, places: NDArray) -> Validated:
    xp, groups, good = namespace(found.examples.scores), found.groups, found.good
    with computing(xp):
        examples = found.examples.map(lambda x: _part(xp, x, folds, repeat, places))
        if groups is not None:
            groups = groups._replace(codes=_part(xp, groups.codes, folds, repeat, places))
        if good is not None and len(folds.shape) == 2:
            good = good[..., repeat, :] if groups is None else good[..., repeat, :, :]
    return found._replace(examples=examples, groups=groups, good=good)


def _parts(found: Validated, folds: Folds) -> list[Validated]:
    """The examples of each fold."""
    k = folds.shape[-1]
    return [_taken(found, folds, number // k, at) for number, at in enumerate(folds.places)]


def each_fold(measure: Any, found: Validated, folds: Folds, ties: TiePolicy) -> Any:
    """The measure of each fold by itself, on a last axis that is added."""
    ideal = needs_ideal(measure)
    first, *others = (ranked_by_group(x, ties, ideal) for x in _parts(found, folds))
    return _stacked([value_of(measure, first), *(value_again(measure, x) for x in others)])


def pooled_value(measure: Any, found: Validated, folds: Folds, ties: TiePolicy) -> Any:
    """The measure of all folds of a repeat ranked together, on a last axis of repeats."""
    k, values = folds.shape[-1], []
    for repeat in range(len(folds.places) // k):
        places = np.sort(np.concatenate(folds.places[repeat * k : (repeat + 1) * k]))
        taken = _taken(found, folds, repeat, places)
        values.append(value_again(measure, ranked_by_group(taken, ties, needs_ideal(measure))))
    return _stacked(values)


def split_groups(found: Validated, folds: Folds) -> int:
    """How many groups have examples that count in several folds; 0 where that cannot be read."""
    if found.groups is None:
        return 0
    size, there = found.groups.ids.shape[0], []
    for part in _parts(found, folds):
        assert part.groups is not None
        columns = (part.groups.codes, part.examples.valid)
        if not all(x is None or readable(x) for x in columns):
            return 0
        shape = tuple(part.examples.scores.shape)
        codes, valid = (np.broadcast_to(True if x is None else to_numpy(x), shape) for x in columns)
        counted = codes[valid & (codes >= 0) & (codes < size)]
        there.append(np.bincount(counted, minlength=size) > 0)
    by_repeat = np.reshape(there, (-1, folds.shape[-1], size))
    return int((by_repeat.sum(axis=1) > 1).any(axis=0).sum())


def _stacked(values: list[Any]) -> Any:
    def joined(parts: list[Array]) -> Array:
        if len({tuple(x.shape) for x in parts}) > 1:
            raise ValueError(
                "measure must give arrays of one shape in all folds; of a record with a curve pass "
                "one field: lambda ranking: best_quota(ranking).value"
            )
        return namespace(parts[0]).stack(parts, axis=-1)

    return trees_map(joined, values)


def why_undefined(found: Validated, folds: Folds, undefined: NDArray) -> str:
    """Which folds leave a measure undefined, as far as it can be told with their classes."""
    parts = _parts(found, folds)
    told = []
    for number in np.flatnonzero(undefined)[:_SHOWN].tolist():
        part = parts[number].examples
        absent = ""
        if readable(part.labels) and (part.valid is None or readable(part.valid)):
            valid = True if part.valid is None else to_numpy(part.valid)
            classes = [to_numpy(x) & valid for x in (part.labels, ~part.labels)]
            names = ("positives", "negatives")
            missing = [name for name, x in zip(names, classes, strict=True) if not x.any()]
            absent = f" (no {' and no '.join(missing)})" if missing else ""
        told.append(f"{folds.names[number]}{absent}")
    more = int(undefined.sum()) - len(told)
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")
