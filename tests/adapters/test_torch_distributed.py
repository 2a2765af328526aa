"""Reductions over processes of PyTorch, all in one start of three of them; see ranks.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from backends import available, missing

if lacking := missing("torch"):
    pytest.skip(lacking, allow_module_level=True)

import torch

from adapters import ranks
from quotakernels.adapters import torch_distributed

RANKS = Path(__file__).with_name("ranks.py")
WITH_METRICS = available("torchmetrics")
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


def all_ranks(folder: Path) -> list[dict[str, Any]]:
    """What each rank wrote."""
    env = {**os.environ, "GLOO_SOCKET_IFNAME": LOOPBACK, "TORCH_CPP_LOG_LEVEL": "ERROR"}
    env["PYTHONPATH"] = os.pathsep.join([str(RANKS.parents[2]), env.get("PYTHONPATH", "")])
    common = [str(folder)] + WITH_METRICS * ["torchmetrics"]
    started = [
        subprocess.Popen(
            [sys.executable, str(RANKS), str(rank), *common],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(ranks.SIZE)
    ]
    try:
        for process in started:
            print(process.communicate(timeout=4 * ranks.PATIENCE)[0])
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks.SIZE)]


def test_three_ranks(tmp_path: Path):
    found = all_ranks(tmp_path)
    cases = ranks.CASES + (ranks.METRIC_CASES if WITH_METRICS else [])
    for case in cases:
        for rank, results in enumerate(found):
            assert results[case.__name__] == "ok", f"rank {rank}: {results[case.__name__]}"
    check_absent(found)
    check_killed(found)


def check_absent(found: list[dict[str, Any]]) -> None:
    """Named on every other rank, when the time of the first one is over; and told so at last."""
    for name in ("absent", "absent of a metric")[: 1 + WITH_METRICS]:
        for results in found[:2]:
            kind, message, seconds = results[name]
            assert kind == "TimeoutError", message
            assert message.startswith("rank 2 of 3 did not come"), message
            assert seconds < ranks.PATIENCE
        assert max(results[name][2] for results in found[:2]) >= ranks.TIMEOUT
    assert "absent" not in found[2]
    kind, message, _ = found[2]["late"]
    assert (kind, message) == tuple(found[0]["absent"][:2])


def check_killed(found: list[dict[str, Any]]) -> None:
    """In the middle of a reduction; then the rank with the store, which is all that can be said."""
    assert "killed" not in found[1]
    for results in (found[0], found[2]):
        kind, message, _ = results["killed"]
        assert kind == "TimeoutError", message
        assert message.startswith("rank 1 of 3 did not come"), message
    kind, message, _ = found[2]["store"]
    assert kind == "ConnectionError", message
    assert "rank 0 unless a launcher does" in message


@pytest.mark.parametrize("state", [None, [1, 0]])
def test_other_objects_are_refused(state: Any):
    from quotakernels.adapters.torch_distributed import reduced

    with pytest.raises(TypeError, match=r"^state must be a ScoreHistogram or a ScoreBuffer"):
        reduced(state)


def test_states_of_other_libraries_are_refused():
    from quotakernels.adapters.torch_distributed import reduced
    from quotakernels.states import ScoreBuffer

    with pytest.raises(TypeError, match=r"^state must hold tensors; got ndarray"):
        reduced(ScoreBuffer.empty([0.5]))


def test_a_process_group_is_needed():
    from quotakernels.adapters.torch_distributed import reduced
    from quotakernels.states import ScoreBuffer

    with pytest.raises(RuntimeError, match=r"^torch.distributed has no process group"):
        reduced(ScoreBuffer.empty(torch.zeros(1)))


class LateAtTheEnd:
    """The store of a process that reads late, and whose store is gone when all have read."""

    def __init__(self, store: Any):
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def get(self, key: str) -> Any:
        time.sleep(0.1)
        return self.store.get(key)

    def compare_set(self, *words: str) -> Any:
        time.sleep(0.1)
        return self.store.compare_set(*words)

    def check(self, keys: list[str]) -> Any:
        if any("/read/" in key for key in keys):
            raise torch.distributed.DistNetworkError("failed to recv, got 0 bytes")
        return self.store.check(keys)


@pytest.mark.parametrize("absent", [False, True])
def test_who_holds_the_store_stays_until_the_others_have_read(
    absent: bool, monkeypatch: pytest.MonkeyPatch
):
    """Else they would be told of the store that is gone, and not of what is wrong."""
    monkeypatch.setattr(torch_distributed, "_ranks", lambda ranks, group: f"ranks {ranks}")
    store, found = torch.distributed.HashStore(), {}

    def meet(rank: int, own: Any) -> None:
        meeting = object.__new__(torch_distributed._Meeting)
        meeting.group, meeting.store, meeting.number = None, own, 1
        meeting.rank, meeting.size = rank, 2 + absent
        try:
            found[rank] = meeting.texts(f"of {rank}", 0.5 if absent else 20)
        except TimeoutError as error:
            found[rank] = str(error)

    late = threading.Thread(target=meet, args=(1, LateAtTheEnd(store)))
    late.start()
    meet(0, store)
    assert store.check(["quotakernels/meeting 1/read/1"])
    late.join()
    assert found[0] == found[1]
    assert ("ranks [2] of 3 did not come" in found[0]) if absent else found[0] == ["of 0", "of 1"]
