"""States in files: saved without pickle, loaded whole and of the kind expected, or not at all.

A file is an ``.npz`` file, so ``numpy.load`` opens it.  It is a zip of

- ``state.json``, uncompressed: the version of the format, and what `state_info` tells
- an ``.npy`` file for each array; scores of a type that NumPy lacks are their bits, as integers
- the comment at its end: the SHA-256 of every byte before it, as 64 hexadecimal digits

The comment and the version of the format stay as they are in later versions.

The checksum shows that a file is as somebody wrote it, not that this library did.  So the names,
types and shapes of the arrays are compared with those of an empty state of that description.
"""

from __future__ import annotations

import contextlib
import io
import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quotakernels._bits import WIDTHS, dtype_name, from_bits, to_bits
from quotakernels._records import plainly
from quotakernels._replacing import replacing
from quotakernels._version import __version__
from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import public, show_value
from quotakernels.ops import namespace
from quotakernels.states._batch import TITLES, facts_of
from quotakernels.states.buffer import ScoreBuffer, joined_ids
from quotakernels.states.fixed_buffer import FixedScoreBuffer
from quotakernels.states.histogram import ScoreHistogram

State: TypeAlias = ScoreHistogram | ScoreBuffer | FixedScoreBuffer
_FORMAT = 2
_DESCRIPTION = "state.json"
_DIGEST_BYTES = 64
_FASTEST = 1
_OF_NUMPY = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
}
_STATES: dict[str, Any] = {x.__name__: x for x in (ScoreHistogram, ScoreBuffer, FixedScoreBuffer)}


class DamagedFileError(ValueError):
    """A file that is incomplete, has been changed, or never was a state file."""


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
    killed or the machine stops.  Then a hidden file ``.….part`` may stay beside it.  The new
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
    said = {"format": _FORMAT, "library": __version__, **_facts("state", state)}
    _write(path, said | {"measures": _names(measures), "notes": notes}, _arrays(state))


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
    expected = {} if like is None else _facts("like", like)
    if measures is not None:
        expected["measures"] = _names(measures)
    (said, archive), beside = _read(path), {} if like is None else _arrays(like)
    _check_equal(said, expected)
    with _as_damaged(path):
        arrays = {x: _array(archive, x) for x in archive.files if x != _DESCRIPTION}
        _check_arrays(said, arrays)
    types = {name: x.dtype.name for name, x in arrays.items()}
    types |= dict.fromkeys(types.keys() & {"like", "scores"}, said.scores)
    _check_types(types, beside)
    found = {
        name: from_bits(x, types[name], beside.get(name, beside.get("bad")))
        for name, x in arrays.items()
    }
    return _made(_STATES[said.kind], found)


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
        A file that is damaged, holds no state, or cannot be read.  Arrays that do not match the
        description are noticed by `load_state` only.

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
    return _read(path)[0]


def _facts(name: str, state: Any) -> dict[str, Any]:
    """The facts about a state; raise for anything else."""
    if type(state) not in _STATES.values():
        raise TypeError(f"{name} must be a {' or a '.join(_STATES)}; got {type(state).__name__}")
    return facts_of(state)


def _names(measures: Iterable[str] | None) -> tuple[str, ...] | None:
    if measures is None:
        return None
    names = [measures] if isinstance(measures, str) else list(measures)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"measures must be names, or a mapping from names; got {show_value(measures)}"
        )
    return tuple(sorted(set(names)))


def _check_equal(said: StateInfo, expected: dict[str, Any]) -> None:
    """Raise at the first fact in which a file and what is expected differ."""
    for name, wanted in expected.items():
        if (found := getattr(said, name)) != wanted:
            asked = "asked for are" if name == "measures" else "like has"
            raise ValueError(
                f"the states differ in {TITLES.get(name, name)}: "
                f"the file has {found}, and {asked} {wanted}"
            )


def _check_types(types: Mapping[str, str], beside: Mapping[str, Any]) -> None:
    """Raise for numbers in a precision that the library or device of `like` lacks."""
    for name in [x for x in types if x in beside]:
        wanted = dtype_name(beside[name].dtype)
        if types[name] != wanted:
            raise ValueError(
                f"the states differ in the type of {name}: the file has {types[name]}, and like "
                f"has {wanted}"
            )


def _arrays(state: State) -> dict[str, Any]:
    """The arrays of a state by name."""
    if not isinstance(state, ScoreBuffer):
        kept = dict(state._asdict())
        columns: dict[str, Any] = kept.pop("columns")
        return kept | columns
    kept = state.examples().named() if state.pieces else {}
    ids = joined_ids(namespace(state.like), state.groups, len(state.pieces))
    if ids is not None:
        if dtype_name(ids.dtype) not in _OF_NUMPY:
            raise TypeError(
                f"groups in a file are integers; got ids of type {ids.dtype}: number them before, "
                "as numpy.unique(groups, return_inverse=True) does"
            )
        kept["groups"] = ids
    return {"like": state.like, **kept, "bad": state.bad}


def _made(kind: Any, arrays: Mapping[str, Any]) -> State:
    """The state made of these arrays, of any library."""
    if kind is not ScoreBuffer:
        own = {name: x for name, x in arrays.items() if name in kind._fields}
        columns = {name: x for name, x in arrays.items() if name not in own}
        made: State = kind(**own, columns=columns)
        return made
    pieces = (Examples.of(arrays),) if "scores" in arrays else ()
    groups = tuple(x for name, x in arrays.items() if name == "groups")
    return ScoreBuffer(arrays["like"], pieces, arrays["bad"], groups)


def _as_stored(name: str) -> str:
    """The NumPy type in which a file stores numbers of a type."""
    return name if name in _OF_NUMPY else f"uint{8 * WIDTHS[name]}"


def _write(
    path: str | os.PathLike[str], said: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a file in place of the one that is there, if any; an error leaves that as it is."""
    import json  # not needed but for files, as are the others
    from hashlib import sha256
    from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

    zipped = io.BytesIO()
    sparse = said["kind"] == ScoreHistogram.__name__  # most of its bins are empty
    how = ZIP_DEFLATED if sparse else ZIP_STORED
    with ZipFile(zipped, "w") as archive:
        archive.writestr(ZipInfo(_DESCRIPTION), json.dumps(said, allow_nan=False))
        for name, x in arrays.items():
            member = io.BytesIO()
            stored = to_bits(x).view(_as_stored(dtype_name(x.dtype)))
            np.save(member, stored, allow_pickle=False)
            data = member.getbuffer()
            archive.writestr(ZipInfo(f"{name}.npy"), data, how, _FASTEST)
        archive.comment = bytes(_DIGEST_BYTES)
    body = zipped.getbuffer()[:-_DIGEST_BYTES]
    with replacing(path) as file:
        file.writelines((body, sha256(body).hexdigest().encode()))


def _array(archive: Any, name: str) -> Any:
    found = archive[name]
    if found.dtype == np.bool and found.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"array {name!r} has bytes that are neither 0 nor 1")
    return found.astype(found.dtype.newbyteorder("="), copy=False)


@contextlib.contextmanager
def _as_damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Any error but too little memory means a bad file: NumPy and zipfile raise many types."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise DamagedFileError(
            f"{path} is damaged, or not written by this library: {error}"
        ) from error


def _read(path: str | os.PathLike[str]) -> tuple[StateInfo, Any]:
    """The description in an undamaged file, and its arrays, for NumPy to load."""
    import json
    from hashlib import sha256

    data = Path(path).read_bytes()
    if not data.startswith(b"PK"):  # as all zip files do
        raise DamagedFileError(f"{path} is not a state file, or its beginning is damaged")
    body = memoryview(data)[:-_DIGEST_BYTES]
    if sha256(body).hexdigest().encode() != data[-_DIGEST_BYTES:]:
        raise DamagedFileError(
            f"{path} is damaged or incomplete: its SHA-256 does not match its contents; or "
            "save_state did not write it"
        )
    with _as_damaged(path):
        archive: Any = np.load(io.BytesIO(data), allow_pickle=False)
        said = json.loads(archive[_DESCRIPTION])
        version = said["format"]
    if version != _FORMAT:
        raise ValueError(
            f"{path} has format version {version}; this library reads version {_FORMAT}: make "
            "the state anew, or read it with the version that wrote it"
        )
    several = ("batch", "column_names", "measures")
    with _as_damaged(path):
        said |= {name: tuple(said[name]) for name in several if said.get(name) is not None}
        return StateInfo(*map(said.get, StateInfo._fields)), archive


def _check_arrays(said: StateInfo, arrays: dict[str, Any]) -> None:
    """Raise unless the arrays have the names, types and shapes of such a state."""
    wanted = _expected(said, arrays)
    if wanted.keys() != arrays.keys():
        raise ValueError(f"its arrays are {reprlib.repr(list(arrays))}; expected {list(wanted)}")
    for name, x in wanted.items():
        found, narrow = arrays[name], x.dtype == np.float64 and name not in ("like", "scores")
        types = {x.dtype.name, "float32"} if narrow else {x.dtype.name}
        if found.dtype.name not in types or found.shape != x.shape:
            raise ValueError(
                f"array {name!r} must have type {x.dtype} and shape {x.shape}; got {found.dtype} "
                f"and {reprlib.repr(found.shape)}"
            )


def _expected(said: StateInfo, arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays of an empty state with these options, or of a buffer of so many examples."""
    kind, like = _STATES[said.kind], np.zeros((*said.batch, 0), _as_stored(said.scores))
    options: dict[str, Any] = {"num_groups": said.num_groups}
    if kind is ScoreBuffer:
        empty = _arrays(kind.empty(like, **options))
        return empty | _expected_examples(said, arrays) if "scores" in arrays else empty
    options |= {"weighted": said.weighted, "columns": said.column_names}
    if kind is ScoreHistogram:
        return _arrays(kind.empty(like, bits=said.bits, **options))
    found = _arrays(kind.empty(like, capacity=said.capacity, **options))
    several = said.batch[: arrays["filled"].ndim]  # of states that vmap has put side by side
    return found | {"filled": np.zeros(several, np.int64)}


def _expected_examples(said: StateInfo, arrays: dict[str, Any]) -> dict[str, Any]:
    """Zeros of the type and shape that each array must have: a value per score and column."""
    types: dict[str, Any] = dict.fromkeys(("weights", *COLUMNS), np.float64)
    types |= {"scores": _as_stored(said.scores), "labels": np.bool, "valid": np.bool}
    if said.num_groups is not None:
        types["groups"] = np.int64
    elif "groups" in arrays and arrays["groups"].dtype.kind in "biu":
        types["groups"] = arrays["groups"].dtype
    shape = (*said.batch, *arrays["scores"].shape[-1:])
    names = (arrays.keys() | {"labels"}) & types.keys()
    return {name: np.zeros(shape, types[name]) for name in names}
