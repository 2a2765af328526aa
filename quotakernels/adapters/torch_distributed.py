"""Merge the states of all processes of ``torch.distributed`` into one."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable
from datetime import timedelta
from numbers import Real
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

import quotakernels
from quotakernels._array import wide_float
from quotakernels.adapters import requiring
from quotakernels.inputs.examples import COLUMNS, Examples
from quotakernels.inputs.keywords import public, show_value
from quotakernels.ops import namespace
from quotakernels.states import ScoreBuffer, ScoreHistogram
from quotakernels.states.buffer import OF_ALL_BATCHES, joined_ids
from quotakernels.states.histogram import sum_and_loss

with requiring("PyTorch", "torch"):
    import torch
    import torch.distributed as dist


__all__ = ["added_sums", "reduced"]

Tensor: TypeAlias = Any
StateT = TypeVar("StateT", ScoreHistogram, ScoreBuffer)

_USUAL_TIMEOUT, _LONGEST = 60.0, 2.0**31
_OPTIONAL = ("weights", "valid", *COLUMNS)
_PIECE = 2**20
"""How many sums are gathered from all ranks at once."""


@public
def reduced(state: StateT, group: Any = None, *, timeout: float = _USUAL_TIMEOUT) -> StateT:
    """The merged state of all ranks, the same on each of them.

    Every rank of the group must call it.  First the ranks compare their states in the store of the
    group, so nothing is added that does not fit.  A histogram then takes one all-reduce of
    integers.  Its sums of weights are gathered and added in the order of ranks, so they are the
    same on every rank and in every run.  The examples of a buffer are gathered in the order of
    ranks.  Ranks may have different numbers of examples, or none.

    Parameters
    ----------
    state : ScoreHistogram or ScoreBuffer
        Its tensors are on a device that the backend of the group serves.  It does not change.
    group : ProcessGroup, optional
        All processes by default.
    timeout : float
        How many seconds to wait for the other ranks, before the reduction and in each step of it.

    Returns
    -------
    State of the same type

    Raises
    ------
    TypeError
        Anything but such a state; the other ranks get a ValueError.
    ValueError
        States that differ in kind, type of scores, bits, batch axes, `num_groups`, weights, or the
        version of this library.  It is raised on every rank, and names the ranks and what they
        have.  A `timeout` that is not a number of seconds above 0.
    TimeoutError
        Ranks ended or did not arrive; every other rank raises this, with their numbers.
    RuntimeError
        No process group, or an operation that failed although every rank is present.
    ConnectionError
        The store of the group is gone, with the process that held it.

    See Also
    --------
    ScoreHistogram.merge : merges states in one process.

    Examples
    --------
    >>> import tempfile, torch
    >>> from quotakernels import roc_auc
    >>> from quotakernels.states import ScoreHistogram
    >>> from quotakernels.adapters.torch_distributed import reduced
    >>> labels, scores = torch.tensor([1, 0, 1]), torch.tensor([0.9, 0.4, 0.3]).bfloat16()
    >>> state = ScoreHistogram.of(labels, scores)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     torch.distributed.init_process_group(
    ...         "gloo", init_method=f"file://{folder}/store", rank=0, world_size=1
    ...     )
    ...     print(reduced(state).compute(roc_auc))
    ...     torch.distributed.destroy_process_group()
    tensor(0.5000, dtype=torch.float64)
    """
    if (fault := _fault(state, timeout)) is not None:
        _refuse(*fault, group, timeout if _are_seconds(timeout) else _USUAL_TIMEOUT)
    group = group_or_world(group)
    call = _Call(group, dist.get_world_size(group), timeout)
    if isinstance(state, ScoreHistogram):
        facts: dict[str, Any] = {"bits": state.bits, "weighted": state.weighted}
        facts["columns"] = list(state.column_names)
        agreed(_facts(state) | facts, {}, group, timeout)
        return state if call.size == 1 else _added(state, call)
    there = {name for piece in state.pieces for name in piece.named()}
    own: dict[str, Any] = {name: name in there for name in _OPTIONAL}
    own |= {"examples": sum(piece.scores.shape[-1] for piece in state.pieces)}
    own |= {"groups": len(state.groups) > 0}
    stated = agreed(_facts(state), own, group, timeout)
    return state if call.size == 1 else _joined(state, stated, call)


class _Call(NamedTuple):
    group: Any
    size: int
    timeout: float

    def sum(self, x: Tensor) -> Tensor:
        """In place."""
        wait_for(dist.all_reduce(x, group=self.group, async_op=True), self.group, self.timeout)
        return x

    def gather(self, x: Tensor) -> list[Tensor]:
        found = [torch.empty_like(x) for _ in range(self.size)]
        work = dist.all_gather(found, x, group=self.group, async_op=True)
        wait_for(work, self.group, self.timeout)
        return found


def _fault(state: Any, timeout: Any) -> tuple[str, Exception] | None:
    """What the other ranks are told of arguments that cannot be reduced, and the error here."""
    if not isinstance(state, (ScoreHistogram, ScoreBuffer)):
        kind = type(state).__name__
        return kind, TypeError(f"state must be a ScoreHistogram or a ScoreBuffer; got {kind}")
    if not isinstance(state.like, torch.Tensor):
        kind = type(state.like).__name__
        return f"{type(state).__name__} of {kind}", TypeError(
            f"state must hold tensors; got {kind}"
        )
    if not _are_seconds(timeout):
        error = ValueError(
            f"timeout must be a number of seconds above 0; got {show_value(timeout)}"
        )
        return "none, for its timeout", error
    return None


def _are_seconds(timeout: Any) -> bool:
    is_number = isinstance(timeout, Real) and not isinstance(timeout, bool)
    return is_number and 0 < timeout < _LONGEST


def _refuse(told: str, error: Exception, group: Any, timeout: float) -> NoReturn:
    """Raise an error of this rank, once the others know that its state cannot be reduced."""
    with contextlib.suppress(ValueError, TimeoutError, ConnectionError, RuntimeError):
        agreed({"state": told}, {}, group_or_world(group), timeout)
    raise error


def _facts(state: ScoreHistogram | ScoreBuffer) -> dict[str, Any]:
    """What must be the same on all ranks."""
    return {
        "state": type(state).__name__,
        "type of scores": str(state.like.dtype),
        "batch axes": list(state.like.shape[:-1]),
        "num_groups": state.num_groups,
        "version of quotakernels": quotakernels.__version__,
    }


# histograms


def _added(state: ScoreHistogram, call: _Call) -> ScoreHistogram:
    too_many = state.counts > (2**63 - 1) // call.size  # the sum might leave the integers
    bad = state.bad + too_many.flatten(-2).any(-1)
    whole = call.sum(torch.cat([state.counts.flatten(), bad.flatten()]))
    counts = whole[: state.counts.numel()].reshape(state.counts.shape)
    bad = whole[state.counts.numel() :].reshape(state.bad.shape)
    state = state._replace(counts=counts, bad=bad)
    columns = {
        name: torch.stack(_added_masses(x[..., 0], x[..., 1], call), dim=-1)
        for name, x in sorted(state.columns.items())
    }
    return state._replace(columns=columns)


def _added_masses(masses: Tensor, corrections: Tensor, call: _Call) -> tuple[Tensor, Tensor]:
    own = torch.stack([masses.flatten(), corrections.flatten()])
    found = [added_sums(call.gather(x.contiguous())) for x in own.split(_PIECE, dim=-1)]
    masses, corrections = torch.cat(found, dim=-1).reshape(2, *masses.shape)
    return masses, corrections


@public
def added_sums(parts: list[Tensor] | Tensor) -> Tensor:
    """Masses and corrections of several histograms, shape (2, ...), added in their order."""
    masses, corrections = parts[0]
    for more, its_corrections in parts[1:]:
        masses, lost = sum_and_loss(masses, more)
        corrections = (corrections + its_corrections) + lost
    return torch.stack([masses, corrections])


# buffers


def _joined(state: ScoreBuffer, stated: list[dict[str, Any]], call: _Call) -> ScoreBuffer:
    """With one piece for each rank that has examples."""
    bad = call.sum(state.bad.clone())
    optional = {name for name in (*_OPTIONAL, "groups") if any(own[name] for own in stated)}
    for name in optional.intersection((*OF_ALL_BATCHES, "groups")):
        if not all(own[name] for own in stated if own["examples"]):
            raise ValueError(f"some ranks have {name}= and some have none; give it with all")
    counts = [own["examples"] for own in stated]
    types = _types(state.like, optional)
    own = _packed(state, types) if state.pieces else state.like.new_empty(0, dtype=torch.uint8)
    lists = state.like.shape[:-1].numel()
    size = sum(x.itemsize for x in types.values())
    padded = own.new_zeros(lists * size * max(counts))
    padded[: own.numel()] = own
    found = call.gather(padded) if padded.numel() else []
    ranks = [
        _unpacked(x[: lists * size * count], state.like, count, types)
        for x, count in zip(found, counts, strict=False)
        if count
    ]
    groups = tuple(x["groups"] for x in ranks if "groups" in x)
    pieces = tuple(Examples.of(x) for x in ranks)
    return state._replace(pieces=pieces, bad=bad, groups=groups)


def _types(like: Tensor, optional: set[str]) -> dict[str, Any]:
    """The type of each column that some rank has; ids of groups may be of any on each."""
    types = dict.fromkeys(_OPTIONAL, wide_float(namespace(like), like.device))
    types |= {"valid": torch.bool, "groups": torch.int64}
    there = {name: x for name, x in types.items() if name in optional}
    return {"scores": like.dtype, "labels": torch.bool, **there}


def _packed(state: ScoreBuffer, types: dict[str, Any]) -> Tensor:
    """All examples as bytes, column by column in each row of the batch."""
    examples = state.examples()
    named = examples.named()
    if (ids := joined_ids(torch, state.groups, len(state.pieces))) is not None:
        named["groups"] = ids
    columns = [
        named[name].to(dtype) if name in named else _filled(name, examples.scores)
        for name, dtype in types.items()
    ]
    return torch.cat([x.contiguous().view(torch.uint8) for x in columns], dim=-1).flatten()


def _filled(name: str, scores: Tensor) -> Tensor:
    """A column that other ranks have: examples count, once, and bring nothing if rejected."""
    dtype = _types(scores, {name})[name]
    return torch.full_like(scores, name != "gain_rejected", dtype=dtype)


def _unpacked(packed: Tensor, like: Tensor, count: int, types: dict[str, Any]) -> dict[str, Tensor]:
    packed = packed.reshape(*like.shape[:-1], -1)
    columns = packed.split([count * x.itemsize for x in types.values()], dim=-1)
    return {
        name: x.clone(memory_format=torch.contiguous_format).view(dtype)
        for (name, dtype), x in zip(types.items(), columns, strict=True)
    }


_LONGEST_PAUSE = 0.05
_GRACE = 5.0
"""Seconds in which the others read what this process has read, unless they have ended."""


# how processes find each other in the store of their group, and agree


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
        found = ", ".join(f"{x} on {_ranks(ranks, group)}" for x, ranks in holders.items())
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
            f"{_ranks(absent, self.group)} of {self.size} did not come to reduce the state within "
            f"{timeout:g} s: ended, stuck, or without the same call"
        )

    def _part(self, ranks: Iterable[int]) -> None:
        """Go on when these have read all: who holds the store may end with the next error.

        When it has ended, the others know that everyone has read.
        """
        with contextlib.suppress(dist.DistNetworkError):
            self.store.set(self.key("read", self.rank), "")
            self._written([self.key("read", rank) for rank in ranks], time.monotonic() + _GRACE)


def wait_for(work: Any, group: Any, timeout: float) -> None:
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


def _ranks(ranks: list[int], group: Any) -> str:
    """Numbers among all processes, whatever group they are in."""
    everywhere = [str(dist.get_global_rank(group, rank)) for rank in ranks]
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(everywhere)}"
