"""Which arrays a file must have for the state that it says it holds."""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._bits import WIDTHS
from quotakernels.inputs.examples import COLUMNS
from quotakernels.states._container import Stored
from quotakernels.states._header import Fields, check_fields, damaged, is_list_of, is_size
from quotakernels.states.histogram import MOST_BITS


class _Wanted(NamedTuple):
    dtypes: tuple[str, ...]
    shapes: list[tuple[int, ...]]


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


_WEIGHTED = (lambda x: isinstance(x, bool), "true or false")
_NUM_GROUPS = (lambda x: x is None or (is_size(x) and x > 0), "null or at least 1")


def _are_columns(x: Any) -> bool:
    """Whether they are the names of a state's columns, in order."""
    named = is_list_of(_is_text)(x) and x == [name for name in COLUMNS if name in x]
    return named and ("gain" in x or "gain_rejected" not in x)


_COLUMN_NAMES = (_are_columns, f"a list of names among {', '.join(COLUMNS)}")
_FACTS: Fields = {
    "library": (_is_text, "a version"),
    "scores": (lambda x: _is_text(x) and x in WIDTHS, "the name of a type of numbers"),
    "batch": (is_list_of(is_size), "a list of sizes"),
    "measures": (lambda x: x is None or is_list_of(_is_text)(x), "null or a list of names"),
    "notes": (lambda _: True, "anything"),
}
_OWN: dict[str, Fields] = {
    "ScoreHistogram": {
        "bits": (lambda x: is_size(x) and 1 <= x <= MOST_BITS, f"from 1 to {MOST_BITS}"),
        "weighted": _WEIGHTED,
        "num_groups": _NUM_GROUPS,
        "column_names": _COLUMN_NAMES,
    },
    "ScoreBuffer": {"num_groups": _NUM_GROUPS},
    "FixedScoreBuffer": {
        "capacity": (lambda x: is_size(x) and x > 0, "at least 1"),
        "weighted": _WEIGHTED,
        "num_groups": _NUM_GROUPS,
        "column_names": _COLUMN_NAMES,
    },
}
_WIDE = ("float64", "float32")
_IDS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))


def check_layout(stored: Stored) -> None:
    """Raise unless a file says all that it must, and has the arrays that follow from it."""
    path, said = stored.path, stored.header
    kinds = {"kind": (lambda x: _is_text(x) and x in _OWN, f"one of {', '.join(_OWN)}")}
    check_fields(path, "its header", said, kinds)
    check_fields(path, "its header", said, _FACTS | _OWN[said["kind"]])
    found = {entry.name: entry for entry in stored.entries}
    if said.get("bits", 1) > 8 * WIDTHS[said["scores"]]:
        raise damaged(path, f"{said['bits']} bits are more than {said['scores']} has")
    wanted = _WANTED[said["kind"]](said, {name: x.shape for name, x in found.items()})
    if found.keys() != wanted.keys():
        names = reprlib.repr(list(found))
        raise damaged(path, f"its arrays are {names}; expected {', '.join(wanted)}")
    for name, (dtypes, shapes) in wanted.items():
        entry = found[name]
        if entry.dtype not in dtypes or entry.shape not in shapes:
            raise damaged(
                path,
                f"array {name!r} must have type {' or '.join(dtypes)} and shape {shapes[0]}; got "
                f"{entry.dtype} and {reprlib.repr(entry.shape)}",
            )


Shapes = dict[str, tuple[int, ...]]


def _lists(said: dict[str, Any]) -> tuple[int, ...]:
    """The shape of what there is once for each list, or group of examples."""
    batch = tuple(said["batch"])
    return batch if said["num_groups"] is None else (*batch, said["num_groups"])


def _histogram(said: dict[str, Any], _: Shapes) -> dict[str, _Wanted]:
    batch, bins = tuple(said["batch"]), 2 ** said["bits"]
    lists = _lists(said)
    summed = ops.to_sum(dict.fromkeys(said["column_names"], 0.0), None)
    masses = _Wanted(_WIDE, [(*lists, bins if said["weighted"] else 0, 2)])
    return {
        "like": _Wanted((said["scores"],), [(*batch, 0)]),
        "counts": _Wanted(("int64",), [(*lists, bins, 2)]),
        "bad": _Wanted(("int64",), [lists]),
        "masses": masses,
        "corrections": masses,
        **{name: _Wanted(_WIDE, [(*lists, bins, 2, 2)]) for name in summed},
    }


def _buffer(said: dict[str, Any], shapes: Shapes) -> dict[str, _Wanted]:
    """Examples are there or not, and as many as there are scores."""
    batch = tuple(said["batch"])
    length = shapes.get("scores", ())[-1:]
    wanted = {
        "like": _Wanted((said["scores"],), [(*batch, 0)]),
        "bad": _Wanted(("int64",), [_lists(said)]),
    }
    columns = _columns(said, (*batch, *length))
    if said["num_groups"] is not None:
        columns["groups"] = _Wanted(("int64",), [(*batch, *length)])
    if not shapes.keys() & columns.keys():
        return wanted
    optional = {"weights", "valid", *COLUMNS}
    if said["num_groups"] is None:
        optional.add("groups")
    absent = optional - shapes.keys()
    return wanted | {name: x for name, x in columns.items() if name not in absent}


def _fixed_buffer(said: dict[str, Any], _: Shapes) -> dict[str, _Wanted]:
    """States that ``vmap`` has put side by side have a number of filled places each."""
    batch = tuple(said["batch"])
    columns = _columns(said, (*batch, said["capacity"]))
    if not said["weighted"]:
        columns["weights"] = _Wanted(_WIDE, [(*batch, 0)])
    places = 0 if said["num_groups"] is None else said["capacity"]
    columns["groups"] = _Wanted(("int64",), [(*batch, places)])
    absent = set(COLUMNS).difference(said["column_names"])
    columns = {name: x for name, x in columns.items() if name not in absent}
    filled = _Wanted(("int64",), [batch[:axes] for axes in range(len(batch) + 1)])
    return {**columns, "filled": filled, "bad": _Wanted(("int64",), [_lists(said)])}


def _columns(said: dict[str, Any], shape: tuple[int, ...]) -> dict[str, _Wanted]:
    return {
        "scores": _Wanted((said["scores"],), [shape]),
        "labels": _Wanted(("bool",), [shape]),
        "weights": _Wanted(_WIDE, [shape]),
        "valid": _Wanted(("bool",), [shape]),
        "groups": _Wanted(_IDS, [shape]),
        **{name: _Wanted(_WIDE, [shape]) for name in COLUMNS},
    }


_WANTED = {
    "ScoreHistogram": _histogram,
    "ScoreBuffer": _buffer,
    "FixedScoreBuffer": _fixed_buffer,
}
