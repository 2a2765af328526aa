"""States in files: saved without pickle, loaded whole and of the kind expected, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from quotakernels._bits import WIDTHS, dtype_name, from_bits, to_bits
from quotakernels._records import plainly
from quotakernels._version import __version__
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import public, show_value
from quotakernels.ops import namespace
from quotakernels.states import _format
from quotakernels.states._format import Entry, Stored, StoredArray, check_layout
from quotakernels.states.buffer import ScoreBuffer, joined_ids
from quotakernels.states.fixed_buffer import FixedScoreBuffer
from quotakernels.states.histogram import ScoreHistogram

State: TypeAlias = ScoreHistogram | ScoreBuffer | FixedScoreBuffer
_KINDS: dict[str, Any] = {x.__name__: x for x in (ScoreHistogram, ScoreBuffer, FixedScoreBuffer)}
_TITLES = {
    "column_names": "columns",
    "kind": "kind",
    "scores": "type of scores",
    "batch": "batch axes",
}


@plainly
class StateInfo(NamedTuple):
    """The description of a state in its file.

    Attributes
    ----------
    kind : str
        The name of its type, such as ``"ScoreHistogram"``.
    scores : str
        The name of the type of its scores, such as ``"bfloat16"``.
    batch : tuple of int
        Its leading axes.
    bits, capacity, weighted, num_groups, column_names
        The properties of the state with these names; None if it does not have them.
    measures : tuple of str, or None
        The names that it was saved with.
    notes : any
        What was saved with it, such as the number of the next batch.
    library : str
        The version of the library that saved it.
    """

    kind: str
    scores: str
    batch: tuple[int, ...]
    bits: int | None
    capacity: int | None
    weighted: bool | None
    num_groups: int | None
    column_names: tuple[str, ...] | None
    measures: tuple[str, ...] | None
    notes: Any
    library: str


@public
def save_state(
    state: State,
    path: str | os.PathLike[str],
    *,
    measures: Iterable[str] | None = None,
    notes: Any = None,
) -> None:
    """Write a state to a file, replacing an old file whole or not at all.

    Another process that reads the file sees the old file or the new one, also if this process is
    killed or the machine stops.  Then a hidden file ``.NAME.….part`` may stay beside it.  The new
    file has the mode and, where possible, the owner of the old one.  Links are followed; a pipe or
    a device is written directly.

    Parameters
    ----------
    state : ScoreHistogram, ScoreBuffer or FixedScoreBuffer
        From any library and device.  Its numbers are kept bit for bit.  The batches of a
        `ScoreBuffer` become one.
    path : path
        The file.
    measures : mapping or iterable of str, optional
        Names of the measures that the state is for, or the mapping that `compute` takes.
    notes : optional
        Anything else to keep, such as the number of the next batch, as far as JSON can hold it.

    Raises
    ------
    TypeError
        A `state` that is not a state, or has no values; notes that JSON cannot hold.
    OSError
        A file that cannot be written, or that is write-protected.  An error leaves the old file as
        it is.

    See Also
    --------
    load_state, state_info

    Examples
    --------
    >>> import os, tempfile
    >>> from quotakernels import roc_auc
    >>> from quotakernels.states import ScoreHistogram, load_state, save_state, state_info
    >>> empty = ScoreHistogram.empty(like=[0.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "state")
    >>> save_state(empty.update([1, 0, 1], [3.0, 2, 1]), path, notes={"next batch": 1})
    >>> state, first = load_state(path, like=empty), state_info(path).notes["next batch"]
    >>> print(state.update([0], [0.0]).compute(roc_auc).lower.round(4), first)
    0.75 1
    """
    header = {
        "library": __version__,
        **_facts("state", state),
        "measures": _names(measures),
        "notes": notes,
    }
    columns = {
        name: StoredArray(dtype_name(x.dtype), to_bits(x)) for name, x in _arrays(state).items()
    }
    _format.write(path, header, columns)


@public
def load_state(
    path: str | os.PathLike[str],
    *,
    like: State | None = None,
    measures: Iterable[str] | None = None,
) -> Any:
    """The state in a file.

    Parameters
    ----------
    path : path
        A file that `save_state` wrote.
    like : state, optional
        An empty state of the expected kind.  The loaded state gets its library and device.  By
        default any kind is loaded, as NumPy arrays.
    measures : mapping or iterable of str, optional
        The names that the state must have been saved with, in any order.

    Returns
    -------
    ScoreHistogram, ScoreBuffer or FixedScoreBuffer
        The saved state, bit for bit.

    Raises
    ------
    DamagedFileError
        A file with a changed bit, or that is not a state file, or whose contents do not match its
        description.
    ValueError
        Another format version; a state that differs from `like` or `measures` in kind, type of
        scores, number of bits or groups, capacity, batch axes, weights or names of measures.
    TypeError
        A `like` that is not a state; scores of a type that NumPy lacks.
    OSError
        A file that cannot be read.

    See Also
    --------
    save_state, state_info

    Examples
    --------
    >>> import os, tempfile
    >>> from quotakernels.states import ScoreHistogram, load_state, save_state
    >>> path = os.path.join(tempfile.mkdtemp(), "state")
    >>> save_state(ScoreHistogram.of([1, 0], [0.9, 0.1]), path)
    >>> load_state(path, like=ScoreHistogram.empty([0.0], bits=12))
    Traceback (most recent call last):
    ...
    ValueError: the states differ in bits: the file has 19, and like has 12
    """
    expected = None if like is None else _facts("like", like)
    stored = _read(path)
    if expected is not None:
        _check_equal(stored.header, expected)
    if measures is not None:
        _check_equal(stored.header, {"measures": _names(measures)})
    _check_types(stored.entries, like)
    return _state_of(_KINDS[stored.header["kind"]], stored.columns(), like)


@public
def state_info(path: str | os.PathLike[str]) -> StateInfo:
    """Read what a file says about its state, and the notes that were saved with it.

    Parameters
    ----------
    path : path
        A file that `save_state` wrote.

    Returns
    -------
    StateInfo

    Raises
    ------
    DamagedFileError, ValueError, OSError
        As `load_state`; the whole file is checked.

    See Also
    --------
    save_state, load_state

    Examples
    --------
    >>> import os, tempfile
    >>> from quotakernels.states import FixedScoreBuffer, save_state, state_info
    >>> path = os.path.join(tempfile.mkdtemp(), "state")
    >>> save_state(FixedScoreBuffer.empty([0.0], capacity=100), path, measures=["roc_auc"])
    >>> info = state_info(path)
    >>> print(info.kind, info.scores, info.capacity, info.measures)
    FixedScoreBuffer float64 100 ('roc_auc',)
    """
    said = _read(path).header
    found: dict[str, Any] = {name: said.get(name) for name in StateInfo._fields}
    for name in ("measures", "column_names"):
        found[name] = None if found[name] is None else tuple(found[name])
    return StateInfo(**{**found, "batch": tuple(found["batch"])})


def _facts(name: str, state: Any) -> dict[str, Any]:
    """What two states must have in common to be of one kind, as JSON has it."""
    if type(state) not in _KINDS.values():
        raise TypeError(f"{name} must be a {' or a '.join(_KINDS)}; got {type(state).__name__}")
    facts = {
        "kind": type(state).__name__,
        "scores": dtype_name(state.like.dtype),
        "batch": list(state.like.shape[:-1]),
    }
    own = ("bits", "capacity", "weighted", "num_groups", "column_names")
    found = {x: getattr(state, x) for x in own if hasattr(state, x)}
    return facts | {name: list(x) if isinstance(x, tuple) else x for name, x in found.items()}


def _names(measures: Iterable[str] | None) -> list[str] | None:
    if measures is None:
        return None
    names = [measures] if isinstance(measures, str) else list(measures)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"measures must be names, or a mapping from names; got {show_value(measures)}"
        )
    return sorted(set(names))


def _check_equal(said: Mapping[str, Any], expected: dict[str, Any]) -> None:
    """Raise at the first fact in which a file and what is expected differ."""
    for name, wanted in expected.items():
        if said[name] != wanted:
            asked = "asked for are" if name == "measures" else "like has"
            raise ValueError(
                f"the states differ in {_TITLES.get(name, name)}: "
                f"the file has {said[name]}, and {asked} {wanted}"
            )


def _read(path: str | os.PathLike[str]) -> Stored:
    """A file that is whole, and has the arrays of the state that it says it holds."""
    stored = _format.read(path)
    check_layout(stored)
    return stored


def _check_types(entries: Iterable[Entry], like: Any) -> None:
    """Raise for numbers in a precision that the library or device of `like` does not have."""
    for entry in entries:
        name, beside = entry.name, _array_of(like, entry.name)
        if beside is not None and entry.dtype != dtype_name(beside.dtype):
            raise ValueError(
                f"the states differ in the type of {name}: the file has {entry.dtype}, and like "
                f"has {dtype_name(beside.dtype)}"
            )


def _array_of(state: Any, name: str) -> Any:
    """The array of that name in a state, which may be None; None where it has batches of them."""
    found = getattr(state, name, None)
    if found is None and not isinstance(state, ScoreBuffer) and state is not None:
        return state.columns.get(name)
    return None if isinstance(found, tuple) else found


def _arrays(state: State) -> dict[str, Any]:
    """What is kept of a state, by name."""
    if not isinstance(state, ScoreBuffer):
        kept = dict(state._asdict())
        columns: dict[str, Any] = kept.pop("columns")
        return kept | columns
    kept = state.examples().named() if state.pieces else {}
    ids = joined_ids(namespace(state.like), state.groups, len(state.pieces))
    if ids is not None:
        if dtype_name(ids.dtype) not in WIDTHS:
            raise TypeError(
                f"groups in a file are integers; got ids of type {ids.dtype}: number them before, "
                "as numpy.unique(groups, return_inverse=True) does"
            )
        kept["groups"] = ids
    return {"like": state.like, **kept, "bad": state.bad}


def _state_of(kind: Any, columns: dict[str, StoredArray], like: Any) -> State:
    """What `_arrays` was given, in the library and on the device of `like`."""
    arrays = {}
    for name, (dtype, bits) in columns.items():
        beside = _array_of(like, name)
        beside = like.bad if like is not None and beside is None else beside
        arrays[name] = from_bits(bits, dtype, beside)
    if kind is not ScoreBuffer:
        columns = {name: x for name, x in arrays.items() if name not in kind._fields}
        own = {name: x for name, x in arrays.items() if name in kind._fields}
        made: State = kind(**own, columns=columns)
        return made
    pieces: tuple[Examples, ...] = ()
    if "scores" in arrays:
        pieces = (Examples.of(arrays),)
    groups = tuple(x for name, x in arrays.items() if name == "groups")
    return ScoreBuffer(arrays["like"], pieces, arrays["bad"], groups)
