"""What displays are given: models, classes and rankings by the names in legends, as NumPy's."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from quotakernels import Ranking, rank
from quotakernels._array import Array, concrete, device, tree_map
from quotakernels._bits import host_array
from quotakernels._text import formatted
from quotakernels.inputs.classes import validate_classes
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.examples import check_tie_policy
from quotakernels.inputs.keywords import show_value
from quotakernels.ops import namespace
from quotakernels.ranking import rank_examples

# arrays of any library as NumPy's


Numbers = np.ndarray[Any, Any]


def on_host(result: Any) -> Any:
    """The arrays of a ranking or of any other named tuple, in NumPy.

    The thresholds of a ranking become floats that NumPy has, and rows without examples go.
    """
    if isinstance(result, Ranking):
        return _ranking_on_host(result)
    return tree_map(_values, result)


def _ranking_on_host(ranking: Ranking) -> Ranking:
    xp = namespace(ranking.counts)
    with xp.computing():
        wide = xp.cast(ranking.thresholds, xp.wide_float(device(ranking.counts)))
    found = ranking._replace(thresholds=wide).map(_values)
    filled = found.counts > 0
    if found.counts.ndim > 1 or filled.all() or not filled.any():
        return found
    return found.map(lambda x: x[filled])


def _values(x: Array) -> Numbers:
    if not concrete(x):
        raise TypeError("traced arrays, and arrays of shapes only, have no values to draw")
    return host_array(x)


# models


Named = dict[str, Ranking]


def named_rankings(rankings: Any, name: Any = None) -> Named:
    """Rankings in NumPy, each of one list of scores, under their names; one alone may be ''."""
    found: Named = {}
    for key, ranking in models_of(rankings, "rankings", name).items():
        if not isinstance(ranking, Ranking):
            label = f"rankings[{key!r}]" if isinstance(rankings, Mapping) else "rankings"
            raise TypeError(
                f"{label} must be a Ranking, or a mapping from names to Rankings; "
                f"got {type(ranking).__name__}"
            )
        names = None if isinstance(rankings, Mapping) else name
        shape = tuple(ranking.counts.shape[:-1])
        found |= apart(key, ranking, shape, model_axes(shape, names))
    return found


def models_of(given: Any, what: str, name: Any) -> dict[str, Any]:
    """What is given for each model, by name; one thing alone has no name yet."""
    if not isinstance(given, Mapping):
        return {"": given}
    if name is not None:
        raise TypeError(f"name cannot be combined with a mapping, whose keys name the {what}")
    if not given:
        raise ValueError(f"{what} must hold at least one model; got none")
    return {str(key): each for key, each in given.items()}


def rankings_of_predictions(
    y_true: Any, y_score: Any, name: Any, classes: Any, keywords: dict[str, Any], refusal: str
) -> Named:
    """A ranking for each model and, of several classes, for each class against the rest.

    Where classes cannot be drawn there is a `refusal`.
    """
    found: Named = {}
    for key, scores in models_of(by_columns(y_score, classes), "models", name).items():
        column = as_column("y_score", scores)
        shape = tuple(column.shape)
        if "treatment" in keywords or not _of_classes(y_true, shape, classes):
            ranking = rank(y_true, column, **keywords)
            axes = model_axes(shape[:-1], name)
        elif refusal:
            raise ValueError(refusal)
        else:
            ranking = _one_vs_rest(y_true, column, classes, keywords)
            *models, number = ranking.counts.shape[:-1]
            labels = range(number) if classes is None else classes
            axes = [*model_axes(tuple(models), name), [str(label) for label in labels]]
        found |= apart(key, ranking, tuple(ranking.counts.shape[:-1]), axes)
    return found


def by_columns(y_score: Any, classes: Any) -> Any:
    """The columns of a data frame as models, unless they are said to be classes."""
    names = getattr(y_score, "columns", None)
    if classes is not None or names is None or isinstance(y_score, Mapping):
        return y_score
    return {str(name): y_score[name] for name in names}


def _of_classes(y_true: Any, shape: tuple[int, ...], classes: Any) -> bool:
    """Whether it is said so, or the last axis of the scores is not that of the labels."""
    if classes is not None:
        return True
    size = tuple(as_column("y_true", y_true).shape)[-1:]
    by_columns = len(shape) > 1 and shape[-1:] != size and shape[-2:-1] == size
    if by_columns and shape[-1] == 2:
        raise ValueError(
            f"y_score of shape {shape} may be of two models or of two classes: models are on the "
            "first axis, or in a mapping from names to scores; for classes pass classes"
        )
    return by_columns


def _one_vs_rest(y_true: Any, y_score: Any, classes: Any, keywords: dict[str, Any]) -> Ranking:
    if keywords["pos_label"] is not None:
        raise TypeError("scores of several classes take classes instead of pos_label")
    check_tie_policy(keywords["ties"])
    beside = (keywords[x] for x in ("sample_weight", "where", "validate"))
    examples, _ = validate_classes(y_true, y_score, classes, *beside)
    return rank_examples(examples, keywords["ties"])


def model_axes(shape: tuple[int, ...], name: Any) -> list[list[str]]:
    """The names along the axis of models, if there is one."""
    if len(shape) > 1:
        raise ValueError(f"models must be one leading axis; got axes of shape {shape}")
    number = shape[0] if shape else 1
    if name is None:
        return [[f"model {m}" for m in range(number)]] if shape else []
    names = [name] if isinstance(name, str) else name
    if not isinstance(names, Sequence) or not all(isinstance(x, str) for x in names):
        raise TypeError(f"name must be a string, or one for each model; got {show_value(name)}")
    if len(names) != number:
        raise ValueError(f"name must hold {number} names, one for each model; got {len(names)}")
    return [list(names)]


def apart(key: str, result: Any, shape: tuple[int, ...], axes: list[list[str]]) -> dict[str, Any]:
    """What is known of a batch of that shape one by one, by names made of those along its axes."""
    found, names = on_host(result), itertools.product(*axes)
    return {
        label_of(key, *each): on_host(tree_map(itemgetter(index), found))
        for index, each in zip(np.ndindex(*shape), names, strict=True)
    }


def label_of(*parts: str) -> str:
    """A name in the legend made of several."""
    return ", ".join(part for part in parts if part)


Value = tuple[str, Any]
"""A measure by the short name that legends have for it."""


def with_value(name: str, value: Value | None, ranking: Ranking) -> str:
    """A model's name with what it has of a measure."""
    if value is None or not name:
        return name
    short, measure = value
    return f"{name} ({short} = {formatted(measure(ranking), '.3f')})"


def written(text: str) -> str:
    """Text that Matplotlib shows as it is.

    Dollars would begin mathematics, and what begins with an underscore is left out of legends.
    """
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")
