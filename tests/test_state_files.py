"""States in files come back bit for bit, or not at all."""

from __future__ import annotations

import io
import json
import os
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
    changed = "is damaged or incomplete: its SHA-256 does not match its contents; or it is not a"
    refused = {
        "foreign.npz": (b"", changed),
        "text": (b"", changed),
        "longer": (whole + b"\0", changed),
        "later": (later(whole), "has format version 2; this library reads version 1"),
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
            new.writestr(name, old.read(name).replace(b'"format": 1', b'"format": 2'))
        new.comment = bytes(64)
    body = made.getvalue()[:-64]
    return body + sha256(body).hexdigest().encode()


def test_what_differs_is_named(tmp_path: Path):
    path = tmp_path / "state"
    histogram = qk.states.ScoreHistogram.of([1, 0], np.float32([0.9, 0.1]), bits=8)
    make = qk.states.ScoreHistogram.empty
    refused = [
        (make(np.float32([0]), bits=9), "bits: the file has 8, and like has 9"),
        (
            make(np.float64([0]), bits=8),
            "type of scores: the file has float32, and like has float64",
        ),
        (make(np.float32([0]), bits=8, weighted=True), "weighted: the file has False, and"),
        (make(np.float32([[0]]), bits=8), r"batch axes: the file has \(\), and like has \(1,\)"),
        (
            qk.states.ScoreBuffer.empty(np.float32([0])),
            "kind: the file has ScoreHistogram, and like has",
        ),
    ]
    qk.states.save_state(histogram, path, measures={"auc": qk.roc_auc, "rate": qk.hit_rate})
    for like, message in refused:
        with pytest.raises(ValueError, match=f"^the states differ in {message}"):
            qk.states.load_state(path, like=like)
    check_same(qk.states.load_state(path, measures=["rate", "auc"]), histogram)
    for names in ("auc", [], {"auc": 1, "pem": 2}):
        with pytest.raises(
            ValueError, match=r"measures: the file has \('auc', 'rate'\), and asked"
        ):
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
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=root, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    kills, reached, same = done.stdout.split()
    assert (kills, same) == ("25", "True")
    assert int(reached) > 10
    left = [x for x in os.listdir(tmp_path) if not re.fullmatch(r"\.[0-9a-f]{8}\.part", x)]
    assert left == ["state"]
