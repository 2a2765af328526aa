"""States in files come back bit for bit, or not at all."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from backends import MODES, Mode, available, in_full, parameters

import quotakernels as qk
from quotakernels._bits import dtype_name, to_bits

RNG = np.random.default_rng(5)
SCORES = RNG.normal(size=(2, 9)).astype(np.float32)
SCORES[0, :3] = -0.0, np.inf, 1e-42  # a subnormal
LABELS = RNG.random((2, 9)) < 0.5
WEIGHTS = RNG.random((2, 9))


def states_of(scores: Any, labels: Any, weights: Any) -> list[Any]:
    """Of each kind, with and without weights, after two batches."""
    made = [
        qk.states.ScoreHistogram.empty(scores, bits=6),
        qk.states.ScoreHistogram.empty(scores, bits=7, weighted=True),
        qk.states.ScoreBuffer.empty(scores),
        qk.states.FixedScoreBuffer.empty(scores, capacity=40),
        qk.states.FixedScoreBuffer.empty(scores, capacity=50, weighted=True),
    ]
    first = [x.update(labels, scores) for x in made]
    weighted = [{"sample_weight": weights} if getattr(x, "weighted", True) else {} for x in made]
    return [x.update(labels, scores, **w) for x, w in zip(first, weighted, strict=True)]


def emptied(state: Any, like: Any = None) -> Any:
    """What a program has that is to go on with a state, in the library of an example of scores."""
    like = state.like if like is None else like
    if isinstance(state, qk.states.ScoreHistogram):
        return type(state).empty(like, bits=state.bits, weighted=state.weighted)
    if isinstance(state, qk.states.FixedScoreBuffer):
        return type(state).empty(like, capacity=state.capacity, weighted=state.weighted)
    return type(state).empty(like)


def arrays_of(state: Any) -> list[Any]:
    """All arrays of a state; those of a buffer as if all batches had come as one."""
    if isinstance(state, qk.states.ScoreBuffer):
        named = state.examples().named()
        state = (state.like, *(named[name] for name in sorted(named)), state.bad)
    columns = [x for x in state if isinstance(x, dict)]
    further = (x[name] for x in columns for name in sorted(x))
    return [*(x for x in state if x is not None and not isinstance(x, dict)), *further]


def check_same(found: Any, wanted: Any) -> None:
    """Every bit of every array, whatever their library."""
    assert type(found) is type(wanted)
    pairs = list(zip(arrays_of(found), arrays_of(wanted), strict=True))
    assert len(pairs) >= 3
    for x, y in pairs:
        assert dtype_name(x.dtype) == dtype_name(y.dtype)
        assert tuple(x.shape) == tuple(y.shape)
        np.testing.assert_array_equal(to_bits(x), to_bits(y))


EAGER = ("numpy", "strictest-device1", "jax64", "jax32", "torch", "cupy")


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in EAGER]))
def test_every_state_goes_into_each_library_and_back(mode: Mode, tmp_path: Path):
    path = tmp_path / "state"
    with mode.context():
        for columns in ((SCORES, LABELS, WEIGHTS), (SCORES[0], LABELS[0], WEIGHTS[0])):
            for state in states_of(*columns):
                qk.states.save_state(state, path)
                like = emptied(state, mode.array(columns[0]))
                moved = qk.states.load_state(path, like=like)
                for x in arrays_of(moved):
                    mode.to_numpy(x)  # which checks library and device
                check_same(moved, state)
                for kept, wanted in ((moved, state), (like, emptied(state))):
                    qk.states.save_state(kept, path)
                    check_same(qk.states.load_state(path), wanted)


def test_alone_they_are_arrays_of_numpy_and_go_on(tmp_path: Path):
    for state in states_of(SCORES, LABELS, WEIGHTS):
        qk.states.save_state(state, tmp_path / "state")
        loaded = qk.states.load_state(tmp_path / "state")
        check_same(loaded, state)
        check_same(loaded.update(LABELS, -SCORES), state.update(LABELS, -SCORES))
        assert all(x.flags.writeable for x in arrays_of(loaded))


def narrow(library: str, like: np.ndarray) -> Any:
    """Scores in bfloat16."""
    small = like.astype(ml_dtypes.bfloat16)
    if library == "numpy":
        return small
    if library == "jax":
        import jax.numpy as jnp

        return jnp.asarray(small)
    import torch

    return torch.from_numpy(small.view(np.int16).copy()).view(torch.bfloat16)


def test_bfloat16_goes_from_one_library_to_another(tmp_path: Path):
    path, scores = tmp_path / "state", SCORES[0].astype(ml_dtypes.bfloat16)
    likes = {
        name: qk.states.ScoreBuffer.empty(narrow(name, SCORES[0]))
        for name in filter(available, ("numpy", "jax", "torch"))
    }
    wanted = likes["numpy"].update(LABELS[0], scores)
    qk.states.save_state(wanted, path)
    for like in likes.values():
        moved = qk.states.load_state(path, like=like)
        assert moved.like.dtype == moved.examples().scores.dtype == like.like.dtype
        qk.states.save_state(moved, path)
        check_same(qk.states.load_state(path), wanted)
    assert qk.states.load_state(path).like.dtype == ml_dtypes.bfloat16
    assert qk.states.load_state(path).compute(qk.roc_auc) == wanted.compute(qk.roc_auc)


def test_a_file_opens_in_numpy(tmp_path: Path):
    state = qk.states.ScoreBuffer.empty(SCORES).update(LABELS, SCORES, gain=WEIGHTS)
    qk.states.save_state(state, tmp_path / "state", notes={"next": 3})
    with np.load(tmp_path / "state", allow_pickle=False) as file:
        assert json.loads(file["state.json"])["notes"] == {"next": 3}
        np.testing.assert_array_equal(file["scores"], SCORES)
        np.testing.assert_array_equal(file["gain"], WEIGHTS)


@pytest.mark.full
def test_every_flip_and_every_truncation_is_detected(tmp_path: Path):
    path, broken = tmp_path / "state", tmp_path / "broken"
    state = qk.states.ScoreHistogram.of([1, 0, 1], [0.9, 0.5, 0.1], bits=2)
    qk.states.save_state(state, path, notes={"batch": 3})
    whole = path.read_bytes()
    assert 300 < len(whole) < 2500
    with broken.open("w+b", buffering=0) as file:
        for bit in range(8 * len(whole)):
            changed = bytearray(whole)
            changed[bit // 8] ^= 1 << bit % 8
            file.seek(0)
            file.write(changed)
            with pytest.raises(qk.states.DamagedFileError):
                qk.states.load_state(broken)
    for end in range(len(whole)):
        broken.write_bytes(whole[:end])
        with pytest.raises(qk.states.DamagedFileError):
            qk.states.state_info(broken)
    broken.write_bytes(whole)
    check_same(qk.states.load_state(broken), state)


def test_other_files_and_other_versions_of_the_format_are_refused(tmp_path: Path):
    path = tmp_path / "state"
    qk.states.save_state(qk.states.ScoreBuffer.empty([0.0]), path)
    whole = path.read_bytes()
    np.savez(tmp_path / "foreign.npz", scores=SCORES)
    (tmp_path / "text").write_text("scores")
    changed = "is damaged or incomplete: its SHA-256 does not match its contents; or save_state did"
    refused = {
        "foreign.npz": (b"", changed),
        "text": (b"", "is not a state file, or its beginning is damaged"),
        "longer": (whole + b"\0", changed),
        "later": (later(whole), "has format version 3; this library reads version 2"),
    }
    for name, (data, message) in refused.items():
        if data:
            (tmp_path / name).write_bytes(data)
        for read in (qk.states.load_state, qk.states.state_info):
            with pytest.raises(ValueError, match=f"{name} {message}") as caught:
                read(tmp_path / name)
            assert (caught.type is qk.states.DamagedFileError) == (name != "later")


def later(whole: bytes) -> bytes:
    """A file of the next version of the format."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"format": 2', b'"format": 3'))
        new.comment = bytes(64)
    body = made.getvalue()[:-64]
    return body + sha256(body).hexdigest().encode()


def test_what_differs_is_named(tmp_path: Path):
    path = tmp_path / "state"
    histogram = qk.states.ScoreHistogram.of([1, 0], np.float32([0.9, 0.1]), bits=8)
    make, one = qk.states.ScoreHistogram.empty, np.float32([0])
    refused = [
        (make(one, bits=9), "bits: the file has 8, and like has 9"),
        (make([0.0], bits=8), "type of scores: the file has float32, and like has float64"),
        (make(one, bits=8, weighted=True), "weighted: the file has False, and"),
        (make(one[None], bits=8), r"batch axes: the file has \(\), and like has \(1,\)"),
        (qk.states.ScoreBuffer.empty(one), "kind: the file has ScoreHistogram, and like has"),
    ]
    qk.states.save_state(histogram, path, measures={"auc": qk.roc_auc, "rate": qk.hit_rate})
    for like, message in refused:
        with pytest.raises(ValueError, match=f"^the states differ in {message}"):
            qk.states.load_state(path, like=like)
    check_same(qk.states.load_state(path, measures=["rate", "auc"]), histogram)
    for names in ("auc", [], {"auc": 1, "pem": 2}):
        with pytest.raises(ValueError, match=r"measures: the file has \('auc', 'rate'\), and a"):
            qk.states.load_state(path, measures=names)
    weighted = qk.states.ScoreHistogram.of([1], np.float32([0.9]), bits=8, sample_weight=[2])
    qk.states.save_state(weighted, path)
    narrower = {name: x.astype(np.float32) for name, x in weighted.columns.items()}
    with pytest.raises(ValueError, match="the type of weight: the file has float64, and like has"):
        qk.states.load_state(path, like=weighted._replace(columns=narrower))
    fixed = qk.states.FixedScoreBuffer.empty([0.0], capacity=5)
    qk.states.save_state(fixed, path)
    with pytest.raises(ValueError, match="capacity: the file has 5, and like has 6"):
        qk.states.load_state(path, like=fixed.empty([0.0], capacity=6))
    with pytest.raises(ValueError, match="measures: the file has None, and asked for are"):
        qk.states.load_state(path, measures=["auc"])


def test_what_cannot_be_saved_is_named_and_leaves_nothing(tmp_path: Path):
    path, state = tmp_path / "state", qk.states.ScoreBuffer.empty([0.0])
    qk.states.save_state(state, path, notes=[1])
    bad: list[tuple[Any, dict[str, Any], str]] = [
        (qk.rank([1, 0], [2, 1]), {}, "state must be a ScoreHistogram or .*; got Ranking"),
        (state, {"notes": object()}, "not JSON serializable"),
        (state, {"measures": [qk.pem]}, "measures must be names"),
    ]
    for what, options, message in bad:
        with pytest.raises(TypeError, match=message):
            qk.states.save_state(what, path, **options)
    with pytest.raises(TypeError, match="like must be a ScoreHistogram or"):
        qk.states.load_state(path, like=[0.0])
    with pytest.raises(FileNotFoundError):
        qk.states.save_state(state, tmp_path / "nowhere" / "state")
    assert qk.states.state_info(path).notes == [1]
    assert os.listdir(tmp_path) == ["state"]


def test_states_without_values_are_refused(tmp_path: Path):
    jax = pytest.importorskip("jax")

    def save(scores: Any) -> Any:
        qk.states.save_state(qk.states.ScoreBuffer.empty(scores), tmp_path / "state")

    with pytest.raises(TypeError, match="^the state is traced, or has shapes only"):
        jax.jit(save)(SCORES)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_an_error_leaves_the_old_file_and_no_other(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    qk.states.save_state(qk.states.ScoreBuffer.empty([0.0]), tmp_path / "state", notes="old")

    def fails(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, failing, fails)
    with pytest.raises(OSError, match="no space left"):
        qk.states.save_state(qk.states.ScoreBuffer.empty([0.0]), tmp_path / "state", notes="new")
    monkeypatch.undo()
    assert qk.states.state_info(tmp_path / "state").notes == "old"
    assert os.listdir(tmp_path) == ["state"]


def test_info_tells_what_was_saved(tmp_path: Path):
    for state in states_of(SCORES, LABELS, WEIGHTS):
        qk.states.save_state(state, tmp_path / "state", measures=("b", "a"), notes={"batch": 7})
        info = qk.states.state_info(tmp_path / "state")
        assert (info.kind, info.scores, info.batch) == (type(state).__name__, "float32", (2,))
        assert (info.measures, info.notes) == (("a", "b"), {"batch": 7})
        assert info.library == qk.__version__
        for name in ("bits", "capacity", "weighted"):
            assert getattr(info, name) == getattr(state, name, None)


KILLED = """
import os, random, signal, sys, time
import numpy as np
import quotakernels as qk

path, kind = sys.argv[1:]
EMPTY = {
    "histogram": qk.states.ScoreHistogram.empty(np.float32([0]), bits=10, weighted=True),
    "buffer": qk.states.ScoreBuffer.empty(np.float32([0])),
}[kind]

def updated(state, number):
    rng = np.random.default_rng(number)
    scores, weights = rng.normal(size=50).astype(np.float32), rng.random(50) ** 9
    return state.update(rng.random(50) < 0.3, scores, sample_weight=weights)

def stream(end, begun):
    state, first = EMPTY, 0
    if os.path.exists(path):
        state, first = qk.states.load_state(path, like=EMPTY), qk.states.state_info(path).notes
    for number in range(first, end):
        state = updated(state, number)
        os.write(begun, b".")
        qk.states.save_state(state, path, notes=number + 1)

def killed():
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        stream(10**9, writing)
    for _ in range(random.randrange(1, 4)):
        os.read(reading, 1)
    time.sleep(random.random() * 0.004)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    os.close(reading), os.close(writing)

random.seed(1)
kills = 25
for _ in range(kills):
    killed()
reached = qk.states.state_info(path).notes + 1
stream(reached, os.open(os.devnull, os.O_WRONLY))
wanted = EMPTY
for number in range(reached):
    wanted = updated(wanted, number)
found = qk.states.load_state(path, like=EMPTY)
if kind == "buffer":
    found, wanted = found.examples().named().values(), wanted.examples().named().values()
else:
    found, wanted = ([*s[:3], *map(s.columns.get, sorted(s.columns))] for s in (found, wanted))
same = [x.tobytes() == y.tobytes() for x, y in zip(found, wanted, strict=True)]
print(kills, reached, all(same))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.parametrize("kind", [in_full("histogram"), "buffer"])
def test_killed_programs_go_on_to_the_same_bits(kind: str, tmp_path: Path):
    """Each kill comes around the time of a save, before, within or after it."""
    command = [sys.executable, "-c", KILLED, str(tmp_path / "state"), kind]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=root, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    kills, reached, same = done.stdout.split()
    assert (kills, same) == ("25", "True")
    assert int(reached) > 10
    left = [x for x in os.listdir(tmp_path) if not re.fullmatch(r"\.[0-9a-f]{8}\.part", x)]
    assert left == ["state"]


# state files with a right checksum that this library did not write are refused


Y, S = np.array([1, 0, 1, 0]), np.float32([0.9, 0.8, 0.3, 0.1])
STATES = {
    "histogram": qk.states.ScoreHistogram.empty(S, bits=4, weighted=True, columns=["gain"]).update(
        Y, S, gain=Y
    ),
    "buffer": qk.states.ScoreBuffer.empty(S).update(Y, S, groups=Y),
    "fixed": qk.states.FixedScoreBuffer.empty(S, capacity=200).update(Y, S),
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
    ("fixed", "bad", npy(np.int64([[0]])), r"array 'bad' must .* got int64 and \(1, 1\)"),
    ("fixed", "filled", npy(np.int64([0])), r"array 'filled' must .* shape \(\)"),
    ("buffer", "groups", npy(np.zeros(4)), "its arrays are"),
    ("buffer", "groups", npy(np.zeros(3, int)), r"array 'groups' must have .* shape \(4,\)"),
    ("buffer", "scores", npy(S.astype(float)), "array 'scores' must have type float32"),
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


W, IDS = np.array([1.0, 2, 0.5, 1]), np.array([0, 1, 0, 1])
GOOD: dict[str, Any] = {
    "histogram": qk.states.ScoreHistogram.of(Y, S, bits=4, sample_weight=W),
    "buffer": qk.states.ScoreBuffer.empty(S, num_groups=2).update(
        Y, S, sample_weight=W, gain=W, cost=W, groups=IDS
    ),
    "fixed": qk.states.FixedScoreBuffer.empty(S, capacity=6, weighted=True, num_groups=2).update(
        Y, S, sample_weight=W, groups=IDS
    ),
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
        state = qk.states.ScoreBuffer.empty(S)
        for _ in range(6):
            state = state.update(Y, S, **{name: most if name != "gain" else most / 2})
        with pytest.raises(ValueError, match=f"^{shown} is .* small enough for a finite sum"):
            state.ranking()
