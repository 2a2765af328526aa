"""States in files: saved without pickle, loaded whole and of the kind expected, or not at all.

A file is an ``.npz`` file, so ``numpy.load`` opens it.  It is a zip of

- ``state.json``, uncompressed: the version of the format, and what `state_info` tells beside what
  follows from the arrays, such as a capacity
- an ``.npy`` file for each array; scores of a type that NumPy lacks are their bits, as integers
- the comment at its end: the SHA-256 of every byte before it, as 64 hexadecimal digits

The comment and the version of the format stay as they are in later versions.

The checksum shows that a file is as somebody wrote it, not that this library did.  So the
description, and the type and shape of every array, are checked before an array is read.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from quotakernels._bits import WIDTHS, dtype_name, from_bits, to_bits
from quotakernels._records import plainly
from quotakernels._replacing import replacing
from quotakernels._version import __version__
from quotakernels.inputs.examples import COLUMNS, Examples
from quotakernels.inputs.keywords import public, show_value
from quotakernels.ops import namespace
from quotakernels.states._batch import TITLES, facts_of
from quotakernels.states.buffer import ScoreBuffer, joined_ids
from quotakernels.states.fixed_buffer import FixedScoreBuffer
from quotakernels.states.histogram import ScoreHistogram

if TYPE_CHECKING:
    from zipfile import ZipFile

State: TypeAlias = ScoreHistogram | ScoreBuffer | FixedScoreBuffer
_FORMAT = 1
_DESCRIPTION = "state.json"
_DIGEST_BYTES = 64
_START = b"PK\3\4"
_FASTEST = 1
_DEFLATE_RATIO = 1032
"""No zlib stream decompresses to more than so many times its bytes."""
_OF_NUMPY = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
}
_KINDS: dict[str, Any] = {x.__name__: x for x in (ScoreHistogram, ScoreBuffer, FixedScoreBuffer)}


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
    facts = _facts("state", state)
    said = {
        "format": _FORMAT,
        "library": __version__,
        "kind": facts["kind"],
        "scores": facts["scores"],
        "measures": _names(measures),
        "notes": notes,
    }
    _write(path, said, _arrays(state))


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
    stored, beside = _read(path), {} if like is None else _arrays(like)
    _check_equal(stored.said, expected)
    _check_types(stored.types, beside)
    found = {
        name: from_bits(x, stored.types[name], beside.get(name, beside.get("bad")))
        for name, x in stored.arrays().items()
    }
    return _made(_KINDS[stored.said["kind"]], found)


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
    said = _read(path).said
    found = {name: said.get(name) for name in StateInfo._fields}
    if said["measures"] is not None:
        found["measures"] = tuple(said["measures"])
    return StateInfo(**found)  # type: ignore[arg-type]


def _facts(name: str, state: Any) -> dict[str, Any]:
    """The facts of what must be a state."""
    if type(state) not in _KINDS.values():
        raise TypeError(f"{name} must be a {' or a '.join(_KINDS)}; got {type(state).__name__}")
    return facts_of(state)


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
                f"the states differ in {TITLES.get(name, name)}: "
                f"the file has {said[name]}, and {asked} {wanted}"
            )


def _check_types(types: Mapping[str, str], beside: Mapping[str, Any]) -> None:
    """Raise for numbers in a precision that the library or device of others does not have."""
    for name in [x for x in types if x in beside]:
        wanted = dtype_name(beside[name].dtype)
        if types[name] != wanted:
            raise ValueError(
                f"the states differ in the type of {name}: the file has {types[name]}, and like "
                f"has {wanted}"
            )


def _arrays(state: State) -> dict[str, Any]:
    """What is kept of a state, by name."""
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
    """The state that has these arrays, of any library."""
    if kind is not ScoreBuffer:
        own = {name: x for name, x in arrays.items() if name in kind._fields}
        columns = {name: x for name, x in arrays.items() if name not in own}
        made: State = kind(**own, columns=columns)
        return made
    pieces = (Examples.of(arrays),) if "scores" in arrays else ()
    groups = tuple(x for name, x in arrays.items() if name == "groups")
    return ScoreBuffer(arrays["like"], pieces, arrays["bad"], groups)


def _as_stored(name: str) -> str:
    """The type of NumPy in which numbers of a type are in a file."""
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


class _Stored(NamedTuple):
    """A file that is whole: what it says of its state, and the types of its arrays, by name."""

    path: str | os.PathLike[str]
    said: dict[str, Any]
    types: dict[str, str]
    archive: ZipFile

    def arrays(self) -> dict[str, Any]:
        """All arrays as they are stored, in memory of their own."""
        with _as_damaged(self.path):
            return {name: self._array(name) for name in self.types}

    def _array(self, name: str) -> Any:
        with self.archive.open(f"{name}.npy") as member:
            found = np.lib.format.read_array(member, allow_pickle=False)
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


def _read(path: str | os.PathLike[str]) -> _Stored:
    """A file that nothing has changed, and that has the arrays of the state that it tells of."""
    from hashlib import sha256
    from zipfile import ZipFile

    data = Path(path).read_bytes()
    if not data.startswith(_START):
        raise DamagedFileError(f"{path} is not a state file, or the beginning of it is damaged")
    body = memoryview(data)[:-_DIGEST_BYTES]
    if sha256(body).hexdigest().encode() != data[-_DIGEST_BYTES:]:
        raise DamagedFileError(
            f"{path} is damaged or incomplete: its SHA-256 does not match its contents; or it is "
            "not a state file"
        )
    with _as_damaged(path):
        archive = ZipFile(io.BytesIO(data))
        _check_members(archive, len(data))
        said = _description(archive)
    if said["format"] != _FORMAT:
        raise ValueError(
            f"{path} has format version {said['format']}; this library reads version {_FORMAT}"
        )
    with _as_damaged(path):
        told = _told(said)
        names = [x.removesuffix(".npy") for x in archive.namelist() if x != _DESCRIPTION]
        outlines = {name: _outline(archive, name) for name in names}
        state = _outlined(_KINDS[told["kind"]], told["scores"], outlines)
    types = {name: x.dtype.name for name, x in outlines.items()}
    types |= dict.fromkeys(types.keys() & {"like", "scores"}, told["scores"])
    return _Stored(path, _facts("state", state) | told, types, archive)


def _check_members(archive: ZipFile, room: int) -> None:
    """Raise if what a file holds can be out of proportion to its size."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED

    members, names = archive.infolist(), archive.namelist()
    if len(set(names)) < len(names):
        raise ValueError(f"two members have one name among {reprlib.repr(names)}")
    if sum(x.compress_size for x in members) > room:
        raise ValueError("its members have more bytes than the file")
    ratios = {ZIP_STORED: 1, ZIP_DEFLATED: _DEFLATE_RATIO}
    for x in members:
        ratio = 1 if x.filename == _DESCRIPTION else ratios.get(x.compress_type, 0)
        if x.file_size > ratio * x.compress_size:
            raise ValueError(
                f"{reprlib.repr(x.filename)} cannot have {x.file_size} bytes in {x.compress_size}"
            )


def _description(archive: ZipFile) -> dict[str, Any]:
    """The object in JSON, which has a version of the format."""
    import json

    said = json.loads(archive.read(_DESCRIPTION))
    if not isinstance(said, dict) or type(said.get("format")) is not int:
        raise ValueError(f"its description has no format version; got {reprlib.repr(said)}")
    return said


def _told(said: dict[str, Any]) -> dict[str, Any]:
    """What the description tells, as the arrays do not, each of its type."""
    told = {x: said.get(x) for x in ("kind", "scores", "library", "measures", "notes")}
    kind, scores, library, measures, _ = told.values()
    are_names = isinstance(measures, list) and all(isinstance(x, str) for x in measures)
    of_known = kind in [*_KINDS] and scores in [*WIDTHS] and isinstance(library, str)
    if not of_known or not (measures is None or are_names):
        shown = ", ".join(f"{name}={reprlib.repr(x)}" for name, x in told.items())
        raise ValueError(f"its description is {shown}")
    return told


def _outline(archive: ZipFile, name: str) -> Any:
    """An array of the type and shape of one in the file, which takes no memory."""
    with archive.open(f"{name}.npy") as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError(f"array {name!r} is of another version of NumPy's format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        start = member.tell()
    if dtype.name not in _OF_NUMPY:
        raise ValueError(f"array {name!r} must have numbers; got {reprlib.repr(dtype.name)}")
    size, wanted = archive.getinfo(f"{name}.npy").file_size - start, math.prod(shape)
    if size != wanted * dtype.itemsize:
        raise ValueError(
            f"array {name!r} has {size} bytes, which cannot be the {wanted * dtype.itemsize} that "
            f"its shape {reprlib.repr(shape)} needs"
        )
    return np.broadcast_to(np.zeros((), dtype.newbyteorder("=")), shape)


def _outlined(kind: Any, scores: str, outlines: dict[str, Any]) -> State:
    """The state of arrays without memory, which must be those of a state with its options."""
    needed = [name for name in kind._fields if name != "columns"]
    if kind is ScoreBuffer:
        needed = ["like", "bad", *(["scores", "labels"] if len(outlines) > 2 else [])]
    if missing := [name for name in needed if name not in outlines]:
        raise ValueError(f"it has no array {missing[0]!r}")
    state = _made(kind, outlines)
    if state.like.dtype != _as_stored(scores):
        raise ValueError(f"its scores are of {state.like.dtype} and said to be of {scores}")
    wanted = _empty_arrays(state)
    if wanted.keys() != outlines.keys():
        raise ValueError(f"its arrays are {reprlib.repr(list(outlines))}; expected {list(wanted)}")
    for name, x in wanted.items():
        found, narrow = outlines[name], x.dtype == np.float64 and name not in ("like", "scores")
        types = {x.dtype.name, "float32"} if narrow else {x.dtype.name}
        if found.dtype.name not in types or found.shape != x.shape:
            raise ValueError(
                f"array {name!r} must have type {x.dtype} and shape {x.shape}; got {found.dtype} "
                f"and {reprlib.repr(found.shape)}"
            )
    return state


def _empty_arrays(state: State) -> dict[str, Any]:
    """The arrays of an empty state with the options of another.

    Its sizes are checked before so far that it takes no more memory than that state may have.
    """
    batch, lists = state.like.shape[:-1], state.bad.shape
    apart = isinstance(state, ScoreHistogram) and state.counts.shape[:-2] != lists
    if lists[: len(batch)] != batch or apart:
        raise ValueError("its arrays are of different numbers of lists")
    options: dict[str, Any] = {"num_groups": state.num_groups}
    if isinstance(state, ScoreBuffer):
        empty = _arrays(ScoreBuffer.empty(state.like, **options))
        return empty if not state.pieces else empty | _empty_examples(state)
    options |= {"weighted": state.weighted, "columns": state.column_names}
    if isinstance(state, ScoreHistogram):
        return _arrays(ScoreHistogram.empty(state.like, bits=state.bits, **options))
    found = _arrays(FixedScoreBuffer.empty(state.like, capacity=state.capacity, **options))
    several = batch[: state.filled.ndim]  # of states that vmap has put side by side
    return found | {"filled": np.zeros(several, np.int64)}


def _empty_examples(state: ScoreBuffer) -> dict[str, Any]:
    """The arrays of a fixed buffer for as many examples, as far as the state may have them."""
    examples, groups = state.pieces[0].named(), state.num_groups
    fixed = FixedScoreBuffer.empty(
        state.like,
        capacity=examples["scores"].shape[-1],
        weighted=True,
        num_groups=groups,
        columns=COLUMNS,
    )
    found = {name: x for name, x in _arrays(fixed).items() if name in examples}
    if groups is not None:
        found["groups"] = fixed.columns["groups"]
    elif state.groups and state.groups[0].dtype.kind in "biu":
        found["groups"] = fixed.labels.astype(state.groups[0].dtype)
    return found
