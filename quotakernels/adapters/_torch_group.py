"""Processes of ``torch.distributed`` that find each other, and agree, before they reduce.

They meet in the store of their group, which works for every backend: each process writes a text
under its number and waits for those of the others until a deadline.  Who did not come until the
first deadline is absent, for all.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import torch.distributed as dist

_LONGEST_PAUSE = 0.05
_GRACE = 5.0
"""Seconds in which the others read what this process has read, unless they have ended."""


def group_or_world(group: Any) -> Any:
    """The group, or that of all processes; raise where this process is in none."""
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError(
            "torch.distributed has no process group; call init_process_group first, or take the "
            "state as it is"
        )
    group = dist.group.WORLD if group is None else group
    if dist.get_rank(group) < 0:
        raise ValueError(f"rank {dist.get_rank()} is not in the group whose states are reduced")
    return group


def agreed(
    facts: dict[str, Any], own: dict[str, Any], group: Any, timeout: float
) -> list[dict[str, Any]]:
    """What each process says of its own, in the order of ranks, when all have the same facts.

    Raises
    ------
    TimeoutError
        Processes that did not come in time, by number.
    ValueError
        Facts that differ, with the ranks; on every rank.
    """
    text = json.dumps([facts, own], default=str)
    told = [json.loads(x) for x in exchanged(text, group, timeout)]
    for name in {name: None for known, _ in told for name in known}:
        check_same(name, {rank: known.get(name) for rank, (known, _) in enumerate(told)}, group)
    return [stated for _, stated in told]


def check_same(name: str, values: dict[int, Any], group: Any) -> None:
    """Raise unless all ranks have the same value, with the ranks of each."""
    holders: dict[str, list[int]] = {}
    for rank, value in values.items():
        holders.setdefault(json.dumps(value), []).append(rank)
    if len(holders) > 1:
        found = ", ".join(f"{x} on {_named(ranks, group)}" for x, ranks in holders.items())
        raise ValueError(f"the states of the ranks differ in {name}: {found}")


def exchanged(text: str, group: Any, timeout: float) -> list[str]:
    """The texts of all processes of a group, in the order of ranks, once all have come."""
    try:
        return _Meeting(group).texts(text, timeout)
    except dist.DistNetworkError as error:
        raise ConnectionError(
            "the store of the process group cannot be reached: the process that holds it, which is "
            "rank 0 unless a launcher does, has ended"
        ) from error


class _Meeting:
    """The next meeting of a process with the others of its group."""

    def __init__(self, group: Any):
        self.group, self.store = group, _store(group)
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.number = self.store.add(f"quotakernels/meetings of {self.rank}", 1)

    def key(self, what: str, rank: int | str, earlier: int = 0) -> str:
        return f"quotakernels/meeting {self.number - earlier}/{what}/{rank}"

    def texts(self, text: str, timeout: float) -> list[str]:
        """Those of all; what was written two meetings ago is removed, since all have read it."""
        self.store.set(self.key("text", self.rank), text)
        if self.number > 2:
            for what in ("text", "read"):
                self.store.delete_key(self.key(what, self.rank, earlier=2))
        keys = [self.key("text", rank) for rank in range(self.size)]
        verdict = self.key("absent", "all")
        come = self._written(keys, time.monotonic() + timeout, verdict)
        if not come or self.store.check([verdict]):
            absent = [rank for rank, key in enumerate(keys) if not self.store.check([key])]
            if absent or self.store.check([verdict]):  # else the last one came just now
                self._end(absent, timeout)
        texts = [self.store.get(key).decode() for key in keys]
        self._part(range(self.size))
        return texts

    def _written(self, keys: list[str], deadline: float, otherwise: str | None = None) -> bool:
        """Whether all keys are written in time, and before another one is."""
        pause = 0.0005
        while not self.store.check(keys):
            if time.monotonic() > deadline or (otherwise and self.store.check([otherwise])):
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return True

    def _end(self, absent: list[int], timeout: float) -> None:
        """Raise for what the first one found whose time was over, the same on each rank."""
        own = json.dumps([absent, timeout])
        absent, timeout = json.loads(self.store.compare_set(self.key("absent", "all"), "", own))
        self._part(rank for rank in range(self.size) if rank not in absent)
        raise TimeoutError(
            f"{_named(absent, self.group)} of {self.size} did not come to reduce the state within "
            f"{timeout:g} s: ended, stuck, or without the same call"
        )

    def _part(self, ranks: Iterable[int]) -> None:
        """Go on when these have read all: who holds the store may end with the next error.

        When it has ended, the others know that everyone has read.
        """
        with contextlib.suppress(dist.DistNetworkError):
            self.store.set(self.key("read", self.rank), "")
            self._written([self.key("read", rank) for rank in ranks], time.monotonic() + _GRACE)


def finished(work: Any, group: Any, timeout: float) -> None:
    """Wait for a collective operation; where it fails, raise for the processes that are gone.

    The others may notice as late as after `timeout`, so they are waited for twice as long.
    """
    try:
        work.wait(timedelta(seconds=timeout))
    except RuntimeError:
        agreed({"state": "none, since its reduction failed"}, {}, group, 2 * timeout)
        raise


def _store(group: Any) -> Any:
    if hasattr(group, "get_group_store"):
        return group.get_group_store()
    return dist.distributed_c10d._get_process_group_store(group)  # before it was public


def _named(ranks: list[int], group: Any) -> str:
    """Numbers among all processes, whatever group they are in."""
    everywhere = [str(dist.get_global_rank(group, rank)) for rank in ranks]
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(everywhere)}"
