"""Merge the states of all processes of ``torch.distributed`` into one."""

from __future__ import annotations

import contextlib
import json
from typing import Any, TypeAlias, TypeVar

import quotakernels
from quotakernels.adapters import requiring
from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import public
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

_OPTIONAL = ("weights", "valid", *COLUMNS)


@public
def reduced(state: StateT, group: Any = None) -> StateT:
    """The merged state of all ranks, the same on each of them.

    Every rank of the group must call it.  First the ranks compare their states, so nothing is added
    that does not fit.  A histogram then takes one all-reduce of
    integers.  Its sums of weights are gathered and added in the order of ranks, so they are the
    same on every rank and in every run.  The examples of a buffer are gathered in the order of
    ranks.  Ranks may have different numbers of examples, or none.

    Parameters
    ----------
    state : ScoreHistogram or ScoreBuffer
        Its tensors are on a device that the backend of the group serves.  It does not change.
    group : ProcessGroup, optional
        All processes by default.

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
        have.
    RuntimeError
        No process group; ranks that ended or did not arrive within the group's own timeout.

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
    check_state(state, group)
    group = group_or_world(group)
    if isinstance(state, ScoreHistogram):
        facts: dict[str, Any] = {"bits": state.bits, "weighted": state.weighted}
        facts["columns"] = list(state.column_names)
        agreed(_facts(state) | facts, {}, group)
        return state if dist.get_world_size(group) == 1 else _added(state, group)
    there = {name for piece in state.pieces for name in piece.named()}
    own: dict[str, Any] = {name: name in there for name in _OPTIONAL}
    own |= {"examples": sum(piece.scores.shape[-1] for piece in state.pieces)}
    own |= {"groups": len(state.groups) > 0}
    stated = agreed(_facts(state), own, group)
    return state if len(stated) == 1 else _joined(state, stated, group)


def check_state(state: Any, group: Any) -> None:
    """Raise for a state that cannot be reduced, once all ranks know, so that none waits."""
    kind, expected = type(state).__name__, "be a ScoreHistogram or a ScoreBuffer"
    if isinstance(state, (ScoreHistogram, ScoreBuffer)):
        if isinstance(state.like, torch.Tensor):
            return
        found, expected = type(state.like).__name__, "hold tensors"
        kind = f"{kind} of {found}"
    with contextlib.suppress(ValueError, RuntimeError):
        agreed({"state": kind}, {}, group_or_world(group))
    raise TypeError(f"state must {expected}; got {kind.rpartition(' ')[2]}")


def _facts(state: ScoreHistogram | ScoreBuffer) -> dict[str, Any]:
    """Facts that must be the same on all ranks."""
    return {
        "state": type(state).__name__,
        "type of scores": str(state.like.dtype),
        "batch axes": list(state.like.shape[:-1]),
        "num_groups": state.num_groups,
        "version of quotakernels": quotakernels.__version__,
    }


def _gathered(x: Tensor, group: Any) -> list[Tensor]:
    """A tensor of each rank, of one shape on all of them."""
    found = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
    dist.all_gather(found, x.contiguous(), group=group)
    return found


# histograms


def _added(state: ScoreHistogram, group: Any) -> ScoreHistogram:
    too_many = state.counts > (2**63 - 1) // dist.get_world_size(group)  # the sum might overflow
    bad = state.bad + too_many.flatten(-2).any(-1)
    counts = state.counts.clone()
    for x in (counts, bad):
        dist.all_reduce(x, group=group)
    columns = {
        name: added_sums(_gathered(x.movedim(-1, 0), group)).movedim(0, -1)
        for name, x in sorted(state.columns.items())
    }
    return state._replace(counts=counts, bad=bad, columns=columns)


@public
def added_sums(parts: list[Tensor] | Tensor) -> Tensor:
    """Masses and corrections of several histograms, shape (2, ...), added in their order."""
    masses, corrections = parts[0]
    for more, its_corrections in parts[1:]:
        masses, lost = sum_and_loss(masses, more)
        corrections = (corrections + its_corrections) + lost
    return torch.stack([masses, corrections])


# buffers


def _joined(state: ScoreBuffer, stated: list[dict[str, Any]], group: Any) -> ScoreBuffer:
    """The buffer of all ranks, with one piece for each that has examples."""
    bad = state.bad.clone()
    dist.all_reduce(bad, group=group)
    optional = [name for name in (*_OPTIONAL, "groups") if any(own[name] for own in stated)]
    for name in (*OF_ALL_BATCHES, "groups"):
        if name in optional and not all(own[name] for own in stated if own["examples"]):
            raise ValueError(f"some ranks have {name}= and some have none; give it with all")
    counts = [own["examples"] for own in stated]
    if not any(counts):
        return state._replace(bad=bad)
    named: dict[str, Tensor] = {"scores": state.like, "labels": state.like.bool()}
    if state.pieces:
        named = state.examples().named()
        if (ids := joined_ids(torch, state.groups, len(state.pieces))) is not None:
            named["groups"] = ids.long()
    for name in optional:
        named.setdefault(name, _filled(name, named["scores"]))
    columns = {
        name: _end_to_end(named[name], counts, group) for name in ("scores", "labels", *optional)
    }
    ranks = [{name: x[rank] for name, x in columns.items()} for rank, n in enumerate(counts) if n]
    groups = tuple(x["groups"] for x in ranks if "groups" in x)
    return state._replace(pieces=tuple(Examples.of(x) for x in ranks), bad=bad, groups=groups)


def _filled(name: str, scores: Tensor) -> Tensor:
    """A column that only other ranks have: weights of 1, flags True, gains of rejected ones 0."""
    types = {"valid": torch.bool, "groups": torch.int64}
    dtype = types.get(name, namespace(scores).wide_float(scores.device))
    return torch.full_like(scores, name != "gain_rejected", dtype=dtype)


def _end_to_end(x: Tensor, counts: list[int], group: Any) -> list[Tensor]:
    """The columns of all ranks, sent as bytes since not every backend has every type."""
    longest = x.new_zeros((*x.shape[:-1], max(counts)))
    longest[..., : x.shape[-1]] = x
    found = _gathered(longest.view(torch.uint8), group)
    return [y.view(x.dtype)[..., :n].clone() for y, n in zip(found, counts, strict=True)]


# how processes agree


def group_or_world(group: Any) -> Any:
    """The group, by default of all processes; raise if this process is not in it."""
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError(
            "torch.distributed has no process group; call init_process_group first, or take the "
            "state as it is"
        )
    group = dist.group.WORLD if group is None else group
    if dist.get_rank(group) < 0:
        raise ValueError(f"rank {dist.get_rank()} is not in the group whose states are reduced")
    return group


def agreed(facts: dict[str, Any], own: dict[str, Any], group: Any) -> list[dict[str, Any]]:
    """What each process says of its own, in the order of ranks, when all have the same facts.

    Raises
    ------
    ValueError
        Facts that differ, with the ranks; on every rank.
    """
    told: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(told, (facts, own), group=group)
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


def _ranks(ranks: list[int], group: Any) -> str:
    """The ranks of a group as ranks among all processes."""
    everywhere = [str(dist.get_global_rank(group, rank)) for rank in ranks]
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(everywhere)}"
