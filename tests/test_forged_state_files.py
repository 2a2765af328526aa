"""State files with a right checksum that this library did not write are refused."""

from __future__ import annotations

import io
import json
import pickle
import random
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

LABELS, SCORES = np.array([1, 0, 1, 0]), np.float32([0.9, 0.8, 0.3, 0.1])
STATES = {
    "histogram": qk.states.ScoreHistogram.empty(
        SCORES, bits=4, weighted=True, columns=["gain"]
    ).update(LABELS, SCORES, gain=LABELS),
    "buffer": qk.states.ScoreBuffer.empty(SCORES).update(LABELS, SCORES, groups=LABELS),
    "fixed": qk.states.FixedScoreBuffer.empty(SCORES, capacity=200).update(LABELS, SCORES),
}
Members = dict[str, bytes]


def members_of(path: Path, state: Any) -> Members:
    """The files that the file of a state is a zip of."""
    qk.states.save_state(state, path, notes={"next": 3}, measures=["auc"])
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forge(path: Path, members: Members, packed: bool = False) -> None:
    """A file with a right checksum."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, 8 * (packed and name != "state.json"))
        archive.comment = bytes(64)
    seal(path, whole.getvalue())


def seal(path: Path, whole: bytes) -> None:
    path.write_bytes(whole[:-64] + sha256(whole[:-64]).hexdigest().encode())


def npy(x: Any, shape: Any = None) -> bytes:
    """An array in a file, which may say that it has another shape."""
    file = io.BytesIO()
    np.save(file, x)
    if shape is None:
        return file.getvalue()
    header = {"descr": x.dtype.str, "fortran_order": False, "shape": shape}
    said = io.BytesIO()
    np.lib.format.write_array_header_1_0(said, header)
    return said.getvalue() + x.tobytes()


def refused(path: Path, message: str, reads: Any = qk.states.load_state) -> None:
    with pytest.raises(
        qk.states.DamagedFileError,
        match=f"^{path} is damaged, or not written by this library: {message}",
    ):
        reads(path)


DESCRIPTIONS = [
    ({"kind": None}, ""),
    ({"kind": ["ScoreBuffer"]}, ""),
    ({"kind": "Ranking"}, ""),
    ({"kind": "ScoreBuffer"}, "its arrays are .*; expected"),
    ({"kind": "ScoreHistogram"}, "its arrays are .*; expected"),
    ({"scores": "loads"}, ".*loads"),
    ({"scores": "int8"}, "array 'scores' must have type int8 .*; got float32"),
    ({"scores": "float8_e5m2"}, "array 'scores' must have type uint8 .*; got float32"),
    ({"capacity": 7}, r"array 'scores' must have .* shape \(7,\)"),
    ({"capacity": None}, "capacity must be an integer"),
    ({"num_groups": 2}, "its arrays are .*; expected"),
    ({"weighted": 1}, "weighted must be True or False"),
    ({"batch": [3]}, r"array 'scores' must have .* shape \(3, 200\)"),
]


def test_descriptions_are_checked(tmp_path: Path):
    path = tmp_path / "state"
    members = members_of(path, STATES["fixed"])
    said = json.loads(members["state.json"])
    for change, message in DESCRIPTIONS:
        forge(path, members | {"state.json": json.dumps(said | change).encode()})
        refused(path, message)
    texts = (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"kind": 1' + b"1" * 9999 + b"}")
    for text in (*texts, b"[]", b"3", b"null", b"{}"):
        forge(path, members | {"state.json": text})
        for read in (qk.states.load_state, qk.states.state_info):
            refused(path, "", read)
    forge(path, {name: x for name, x in members.items() if name != "state.json"})
    refused(path, ".*state.json")


FLAGS = np.zeros(200, np.bool)
ARRAYS = [
    ("fixed", "labels", npy(FLAGS[1:]), r"array 'labels' must have type bool and shape \(200,\)"),
    ("fixed", "labels", npy(FLAGS.view(np.int8)), "array 'labels' must .*; got int8"),
    ("fixed", "labels", npy(FLAGS, (-20, -10)), ""),
    ("fixed", "labels", npy(FLAGS, (1,) * 70 + (200,)), ""),
    ("fixed", "labels", npy(FLAGS)[:-1], ""),
    ("fixed", "labels", npy(FLAGS.astype("S9")), "array 'labels' must .* got .S9"),
    ("fixed", "labels", pickle.dumps(FLAGS), ""),
    ("fixed", "labels", b"", ""),
    ("fixed", "other", npy(FLAGS), "its arrays are .*; expected"),
    ("buffer", "other", npy(FLAGS), "its arrays are .*; expected"),
    ("fixed", "labels", None, "its arrays are .*; expected"),
    ("fixed", "scores", npy(np.float32(0)), ""),
    ("fixed", "bad", npy(np.int64([0, 0])), r"array 'bad' must .* shape \(\)"),
    (
        "fixed",
        "bad",
        npy(np.int64([[0]])),
        r"array 'bad' must .* got int64 and \(1, 1\)",
    ),
    ("fixed", "filled", npy(np.int64([0])), r"array 'filled' must .* shape \(\)"),
    ("buffer", "groups", npy(np.zeros(4)), "its arrays are"),
    ("buffer", "groups", npy(np.zeros(3, int)), r"array 'groups' must have .* shape \(4,\)"),
    ("buffer", "scores", npy(SCORES.astype(float)), "array 'scores' must have type float32"),
    ("buffer", "like", npy(np.zeros((2**40, 0), np.float32)), "array 'like' must have type"),
    ("histogram", "counts", npy(np.zeros((15, 2), np.int64)), r"array 'counts' must .* \(16, 2"),
    ("histogram", "counts", npy(np.zeros((9, 16, 2), np.int64)), "array 'counts' must"),
    ("histogram", "counts", npy(np.zeros((1, 2), np.int64)), "array 'counts' must"),
    ("histogram", "gain", npy(np.zeros((0, 2))), "array 'gain' must have"),
    ("histogram", "gain_size", None, "its arrays are .*; expected"),
]


@pytest.mark.parametrize(("kind", "name", "data", "message"), ARRAYS)
def test_arrays_belong_together(
    kind: str, name: str, data: bytes | None, message: str, tmp_path: Path
):
    path = tmp_path / "state"
    members = members_of(path, STATES[kind]) | {f"{name}.npy": data or b""}
    if data is None:
        del members[f"{name}.npy"]
    forge(path, members)
    refused(path, message)


def test_no_more_bits_than_the_scores_have(tmp_path: Path):
    path = tmp_path / "state"
    members = members_of(path, qk.states.ScoreHistogram.empty(np.zeros(0), bits=9))
    text = members["state.json"].replace(b"float64", b"int8")
    forge(path, members | {"state.json": text, "like.npy": npy(np.zeros(0, np.int8))})
    refused(path, "bits must be at most 8; got 9")


def test_nothing_is_unpickled(tmp_path: Path):
    """Also where the type of an array asks for it."""

    class Opened:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "opened",))

    path = tmp_path / "state"
    members = members_of(path, STATES["fixed"])
    for name in ("labels.npy", "state.json"):
        forge(path, members | {name: npy(np.array([Opened()] * 4, dtype=object))})
        refused(path, "")
    forge(path, members | {"labels.npy": npy(np.full(200, 2, np.uint8)).replace(b"|u1", b"|b1")})
    with pytest.raises(qk.states.DamagedFileError, match="bytes that are neither 0 nor 1"):
        qk.states.load_state(path)
    assert not (tmp_path / "opened").exists()


def test_members_that_are_not_as_the_zip_says(tmp_path: Path):
    """Whatever the zip says, it is refused, or the state is what was saved."""
    path, rng = tmp_path / "state", random.Random(5)
    loaded = 0
    for state in STATES.values():
        forge(path, members_of(path, state), packed=True)
        whole = path.read_bytes()
        for _ in range(200):
            changed = bytearray(whole)
            for place in rng.choices(range(4, len(whole) - 64), k=rng.choice((1, 1, 2, 8))):
                changed[place] = rng.choice((0, 1, 255, rng.randrange(256)))
            seal(path, bytes(changed))
            try:
                found = qk.states.load_state(path)
            except qk.states.DamagedFileError:
                continue
            loaded += 1
            found.merge(found).ranking()
    assert loaded < 300


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
    ("histogram", "weight", -1e300, "the state has negative counts or masses"),
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
    if name in getattr(state, "columns", ()):
        return state._replace(
            columns={**state.columns, name: _with_value(state.columns[name], value)}
        )
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
