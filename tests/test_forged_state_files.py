"""State files with a right checksum that this library did not write: refused, and cheaply."""

from __future__ import annotations

import json
import random
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from quotakernels._bits import from_bits

LABELS, SCORES = np.array([1, 0, 1, 0]), np.float32([0.9, 0.8, 0.3, 0.1])
STATES = {
    "histogram": qk.states.ScoreHistogram.empty(SCORES, bits=4, weighted=True).update(
        LABELS, SCORES
    ),
    "buffer": qk.states.ScoreBuffer.empty(SCORES).update(LABELS, SCORES),
    "fixed": qk.states.FixedScoreBuffer.empty(SCORES, capacity=200).update(LABELS, SCORES),
}
Header = dict[str, Any]


def parts_of(path: Path, state: Any) -> tuple[Header, bytes]:
    """The header of the file that a state makes, and the bytes of its arrays."""
    qk.states.save_state(state, path, notes={"next": 3}, measures=["auc"])
    whole = path.read_bytes()
    start = 16 + struct.unpack_from("<I", whole, 12)[0]
    return json.loads(whole[16:start]), whole[start:-32]


def forge(path: Path, header: Header | bytes, parts: bytes, length: int | None = None) -> None:
    """A file with a right checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = len(text) if length is None else length
    body = b"QKSTATE\n" + struct.pack("<II", 1, length) + text + parts
    path.write_bytes(body + sha256(body).digest())


def put(*where: Any) -> Callable[[Header], None]:
    """Set what is at a place; the last of the arguments is the value."""
    *way, last, value = where

    def change(header: Header) -> None:
        inner: Any = header
        for step in way:
            inner = inner[step]
        inner[last] = value

    return change


def without(*where: Any) -> Callable[[Header], None]:
    *way, last = where

    def change(header: Header) -> None:
        inner: Any = header
        for step in way:
            inner = inner[step]
        del inner[last]

    return change


ARRAY = ("arrays", 1)
"""Labels, in a file of a buffer of fixed length."""
MALFORMED: list[tuple[Callable[[Header], None], str]] = [
    (put("arrays", None), "arrays of its header must be a list; got None"),
    (put("arrays", {}), "arrays of its header must be a list"),
    (put("arrays", [[]]), r"array 0 must be an object; got \[\]"),
    (put("arrays", []), "its arrays have 0 bytes"),
    (without("arrays"), "its header has no arrays"),
    (without("kind"), "its header has no kind"),
    (put("kind", "Ranking"), "kind of its header must be one of ScoreHistogram"),
    (put("kind", ["ScoreBuffer"]), "kind of its header must be one of"),
    (put("kind", "ScoreBuffer"), "its arrays are .*; expected like, bad, scores, labels"),
    (put("scores", "loads"), "scores of its header must be the name of a type"),
    (put("scores", "int8"), "array 'scores' must have type int8 and shape"),
    (put("batch", -1), "batch of its header must be a list of sizes; got -1"),
    (put("batch", [True]), r"batch of its header must be a list of sizes; got \[True\]"),
    (put("batch", [2]), r"array 'scores' must have type float32 and shape \(2, 200\)"),
    (put("capacity", 10**30), "array 'scores' must have type float32 and shape"),
    (put("capacity", 200.0), "capacity of its header must be at least 1; got 200.0"),
    (put("weighted", 0), "weighted of its header must be true or false; got 0"),
    (put("weighted", True), r"array 'weights' must have type .* and shape \(200,\)"),
    (put("measures", [1]), r"measures of its header must be null or a list of names; got \[1\]"),
    (put("library", 1), "library of its header must be a version; got 1"),
    (without("notes"), "its header has no notes"),
    (put(*ARRAY, "name", 1), "name of array 1 must be a name; got 1"),
    (put(*ARRAY, "name", "scores"), "two arrays have one name"),
    (put(*ARRAY, "name", "other"), "its arrays are .*; expected scores, labels"),
    (put(*ARRAY, "dtype", "save"), "dtype of array 1 must be the name of a type"),
    (put(*ARRAY, "dtype", ["bool"]), "dtype of array 1 must be the name of a type"),
    (put(*ARRAY, "dtype", "uint8"), "array 'labels' must have type bool and shape"),
    (put(*ARRAY, "width", 8), "array 'labels' has 8 bytes a number and is of bool"),
    (put(*ARRAY, "shape", 200), "shape of array 1 must be a list of sizes; got 200"),
    (put(*ARRAY, "shape", [-200]), r"shape of array 1 must be a list of sizes; got \[-200\]"),
    (put(*ARRAY, "shape", [200.0]), "shape of array 1 must be a list of sizes"),
    (put(*ARRAY, "shape", [float("nan")]), "its header is not JSON: NaN is not a JSON number"),
    (put(*ARRAY, "shape", [2**40]), ".* bytes, which cannot be the 1099511627776 that its shape"),
    (put(*ARRAY, "shape", [2**70, 0]), "array 'labels' cannot have shape"),
    (put(*ARRAY, "shape", [1] * 33), "array 'labels' cannot have shape"),
    (put(*ARRAY, "shape", [201]), r"array 'labels' must have type bool and shape \(200,\)"),
    (put(*ARRAY, "bytes", 10**6), "its arrays have .* bytes and there are"),
    (put(*ARRAY, "bytes", -1), "bytes of array 1 must be a number of bytes; got -1"),
    (put(*ARRAY, "bytes", float("inf")), "its header is not JSON: Infinity is not a JSON number"),
    (put(*ARRAY, "compressed", 1), "compressed of array 1 must be true or false; got 1"),
    (put(*ARRAY, "compressed", False), "array 'labels' has .* bytes, which cannot be the 200"),
    (without(*ARRAY, "bytes"), "array 1 has no bytes"),
    (without("arrays", 5), "its arrays have .* bytes and there are"),
]


def refused(path: Path, message: str) -> None:
    for read in (qk.states.load_state, qk.states.state_info):
        with pytest.raises(
            qk.states.DamagedFileError,
            match=f"^{path} is damaged, or not written by this library: {message}",
        ):
            read(path)


def test_malformed_headers_are_refused_and_named(tmp_path: Path):
    path = tmp_path / "state"
    header, parts = parts_of(path, STATES["fixed"])
    assert header["arrays"][1]["name"] == "labels"
    for change, message in MALFORMED:
        changed = deepcopy(header)
        change(changed)
        forge(path, changed, parts)
        refused(path, message)
    for text in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"kind": 1' + b"1" * 9999 + b"}"):
        forge(path, text, parts)
        refused(path, "its header is not JSON")
    for text in (b"[]", b"3", b"null"):
        forge(path, text, parts)
        refused(path, "its header must be an object")
    forge(path, header, parts, length=2**32 - 1)
    refused(path, "its header is not JSON")
    forge(path, header, parts + b"\0")
    refused(path, "its arrays have .* bytes and there are")


def test_no_more_bits_than_the_scores_have(tmp_path: Path):
    path = tmp_path / "state"
    state = qk.states.ScoreHistogram.empty(np.zeros(0, np.float64), bits=9)
    header, parts = parts_of(path, state)
    header["scores"] = header["arrays"][0]["dtype"] = "int8"
    header["arrays"][0]["width"] = 1
    forge(path, header, parts)
    refused(path, "9 bits are more than int8 has")


def with_labels(header: Header, parts: bytes, data: bytes) -> tuple[Header, bytes]:
    """The second array of a file with other bytes."""
    start, own = header["arrays"][0]["bytes"], header["arrays"][1]
    after = parts[start + own["bytes"] :]
    own["bytes"] = len(data)
    return header, parts[:start] + data + after


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zlib.compress(bytes(201)), "does not have 200 bytes"),
        (zlib.compress(bytes(199)), "does not have 200 bytes"),
        (zlib.compress(bytes(200))[:-1], "does not have 200 bytes"),
        (zlib.compress(bytes(200)) + b"\0", "does not have 200 bytes"),
        (zlib.compress(bytes(200)) + bytes(2**17), "does not have 200 bytes"),
        (b"\0" * 20, "does not have 200 bytes"),
        (zlib.compress(b"\x02" * 200), "has bytes that are neither 0 nor 1"),
    ],
)
def test_arrays_are_as_long_as_is_said(data: bytes, message: str, tmp_path: Path):
    path = tmp_path / "state"
    forge(path, *with_labels(*parts_of(path, STATES["fixed"]), data))
    with pytest.raises(qk.states.DamagedFileError, match=f"array 'labels' {message}"):
        qk.states.load_state(path)
    assert qk.states.state_info(path).notes == {"next": 3}


def most_memory(read: Callable[[], Any]) -> int:
    """The most bytes that are taken at a time while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(qk.states.DamagedFileError):
            read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.full
def test_what_is_refused_takes_little_memory(tmp_path: Path):
    """Much zlib for a short shape, a long shape for little zlib, and both, for another state."""
    path, long = tmp_path / "state", 2**26
    bomb = zlib.compress(bytes(long), 9)
    assert len(bomb) < 2**17
    header, parts = with_labels(*parts_of(path, STATES["fixed"]), bomb)
    forge(path, header, parts)
    assert most_memory(lambda: qk.states.load_state(path)) < 2**20
    header["arrays"][1]["shape"] = [long]
    forge(path, header, parts)
    assert most_memory(lambda: qk.states.load_state(path)) < 2**20
    header, parts = parts_of(path, STATES["fixed"])
    header["capacity"] = long
    for entry in header["arrays"]:
        entry["shape"] = [long] if entry["shape"] == [200] else entry["shape"]
    forge(path, header, parts)
    assert most_memory(lambda: qk.states.load_state(path)) < 2**20


def test_types_come_from_a_list():
    for name in ("load", "float128", "object", "tensor"):
        with pytest.raises(TypeError, match=f"numbers of type '{name}' cannot be saved"):
            from_bits(np.zeros(1, np.uint8), name, None)


JUNK: list[Any] = [
    *(None, True, 0, 1, -1, 2, 200, 2**31, 2**62, 10**30, 2.5, float("nan"), float("inf"), ""),
    *("a", "float32", "float64", "int64", "bool", "complex64", "object", "V8", "load", "scores"),
    *STATES,
    *([], [0], [-1], [200], [2**62], [2**62, 0], [1] * 70, [[]], ["a"], [None], {}, {"a": 1}),
]


def places(x: Any) -> Iterator[tuple[Any, Any]]:
    """Each list or object within, with an index or a name in it."""
    items = list(x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ())
    for key, inner in items:
        yield x, key
        yield from places(inner)


def mutate(header: Header, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 2, 3))):
        inside, key = rng.choice(list(places(header)))
        kind = rng.random()
        if kind < 0.2:
            del inside[key]
        elif kind < 0.3 and isinstance(inside, list):
            inside.append(deepcopy(inside[key]))
        elif kind < 0.5 and type(inside[key]) is int:
            inside[key] += rng.choice((-8, -1, 1, 8))
        else:
            inside[key] = deepcopy(rng.choice(JUNK))


def test_mutated_headers_are_refused_or_describe_a_state(tmp_path: Path):
    path, rng = tmp_path / "state", random.Random(5)
    files = [parts_of(path, state) for state in STATES.values()]
    loaded = 0
    for _ in range(600):
        header, parts = deepcopy(rng.choice(files))
        mutate(header, rng)
        forge(path, header, parts)
        try:
            state = qk.states.load_state(path)
        except qk.states.DamagedFileError:
            continue
        loaded += 1
        assert type(qk.states.state_info(path).notes) is type(header["notes"])
        state.merge(state).ranking()
    assert 10 < loaded < 200  # mutations of notes, measures and the version


WEIGHTS, IDS = np.array([1.0, 2, 0.5, 1]), np.array([0, 1, 0, 1])
GOOD: dict[str, Any] = {
    "histogram": qk.states.ScoreHistogram.of(LABELS, SCORES, bits=4, sample_weight=WEIGHTS),
    "buffer": qk.states.ScoreBuffer.empty(SCORES, num_groups=2).update(
        LABELS, SCORES, sample_weight=WEIGHTS, gain=WEIGHTS, cost=WEIGHTS, groups=IDS
    ),
    "fixed": qk.states.FixedScoreBuffer.empty(
        SCORES, capacity=6, weighted=True, num_groups=2
    ).update(LABELS, SCORES, sample_weight=WEIGHTS, groups=IDS),
}
IMPOSSIBLE = [
    ("histogram", "counts", -1, "the state has negative counts or masses"),
    ("histogram", "masses", -1e300, "the state has negative counts or masses"),
    ("histogram", "corrections", -1e300, "the state has negative counts or masses"),
    *(("fixed", "weights", x, f"sample_weight is {x}") for x in (-7.0, np.nan, np.inf)),
    ("fixed", "scores", np.nan, "y_score is nan at position 2"),
    ("fixed", "groups", 2, "groups is 2 at position 2; expected an id from 0 to 1"),
    ("fixed", "groups", -1, "groups is -1 at position 2"),
    *(("buffer", "weights", x, f"sample_weight is {x}") for x in (-7.0, np.nan, np.inf)),
    ("buffer", "scores", np.nan, "y_score is nan at position 2"),
    ("buffer", "gain", np.inf, "gain is inf at position 2"),
    ("buffer", "cost", -1.0, "cost is -1.0 at position 2"),
    ("buffer", "groups", 7, "groups is 7 at position 2"),
]


def with_value(state: Any, name: str, value: Any) -> Any:
    """The state with another value in one of its arrays, at the third place that is not 0."""
    if name != "groups" and hasattr(state, "pieces"):
        named = dict(state.pieces[0].named())
        named[name] = _with_value(named[name], value)
        return state._replace(pieces=(type(state.pieces[0]).of(named),))
    column = getattr(state, name)
    array = _with_value(column[0] if isinstance(column, tuple) else column, value)
    return state._replace(**{name: (array,) if isinstance(column, tuple) else array})


def _with_value(column: Any, value: Any) -> Any:
    array = np.array(column)
    array.reshape(-1)[2 if array.ndim == 1 else -4] = value
    return array


@pytest.mark.parametrize(("kind", "name", "value", "message"), IMPOSSIBLE)
def test_values_that_no_batch_brings(
    kind: str, name: str, value: Any, message: str, tmp_path: Path
):
    """A file of such a state has a right checksum too."""
    state, path = GOOD[kind], tmp_path / "state"
    state.ranking()
    forged = with_value(state, name, value)
    qk.states.save_state(forged, path)
    for x in (forged, qk.states.load_state(path)):
        with pytest.raises(ValueError, match=f"^{message}"):
            x.compute(qk.roc_auc) if kind != "histogram" else x.bounds(qk.roc_auc)


def test_sums_over_batches_that_are_infinite():
    """Of each batch the sum is finite, of all it is not."""
    most = np.full(4, 4e307)
    for name, shown in (("sample_weight", "sample_weight"), ("gain", "gain"), ("cost", "cost")):
        state = qk.states.ScoreBuffer.empty(SCORES)
        for _ in range(6):
            state = state.update(LABELS, SCORES, **{name: most if name != "gain" else most / 2})
        with pytest.raises(ValueError, match=f"^{shown} is .* small enough for a finite sum"):
            state.ranking()
