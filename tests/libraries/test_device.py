"""What a call costs on a device does not grow; it is counted, so that no clock is asked."""

from __future__ import annotations

import importlib.metadata

import pytest
from backends import STANDARD_ONLY, available

from benchmarks.device.calls import CALLS
from benchmarks.device.marks import COMPILING, LAUNCHES, PROGRAMS

TORCH, JAX = "2.13", "0.10"
"""The versions of which the numbers below are; others run other operations for the same calls."""

AT_MOST = {
    "roc_auc": (30, 46.8),
    "four": (127, 233.8),
    "summary": (108, 222.6),
    "hit_rate": (29, 15.3),
    "f_score": (23, 10.8),
    "pr_auc": (54, 193.3),
    "lift_table": (61, 30.8),
    "roc_hull_auc": (388, 643.2),
    "roc_hull_auc, long": (500, 773.9),
    "rank, weights": (56, 149.8),
    "rank, groups": (43, 109.3),
    "roc_auc, groups": (45, 81.9),
    "hit_rate, groups": (45, 53),
    "average_hit_rate": (39, 119.1),
    "average_qrecall": (59, 53.3),
    "update, bfloat16": (15, 70.6),
    "roc_auc, bfloat16": (31, 30.1),
}
"""Launches, and bytes over those of the scores."""

IN_XLA = {
    "roc_auc": (184, 14),
    "average_hit_rate": (242, 18),
    "average_qrecall": (290, 19),
    "summary": (490, 31),
    "hit_rate, traced": (168, 13),
    "pr_auc": (255, 13),
    "lift_table": (369, 35),
}
"""Lines and fusions of programs for 1024 scores."""
ROOM = {
    "roc_auc": 5.3,
    "average_hit_rate": 7.2,
    "average_qrecall": 5.3,
    "summary": 8.2,
    "pr_auc": 5.3,
    "roc_hull_auc": 8.3,
    "lift_table": 5.3,
    "roc_auc, bfloat16": 2.8,
}
"""Temporaries over the bytes of a million scores."""


def other(library: str, version: str) -> str | None:
    """Why a library has no numbers here."""
    if STANDARD_ONLY:
        return "without the fast forms the calls run other operations"
    if not available(library):
        return f"{library} is not available"
    found = importlib.metadata.version(library)
    return None if found.startswith(f"{version}.") else f"the numbers are of {library} {version}"


def skipped(library: str, version: str) -> pytest.MarkDecorator:
    why = other(library, version)
    return pytest.mark.skipif(why is not None, reason=str(why))


@skipped("torch", TORCH)
@pytest.mark.parametrize("name", AT_MOST)
def test_launches_and_bytes(name: str):
    from benchmarks.device import launches

    found = launches.counted(CALLS[name])
    launched, moved = AT_MOST[name]
    assert found.launches <= launched
    assert found.bytes <= moved


@skipped("jax", JAX)
@pytest.mark.parametrize("name", IN_XLA)
def test_programs(name: str):
    from benchmarks.device import programs

    found = programs.program(CALLS[name], 1024)
    lines, fusions = IN_XLA[name]
    assert found.lines <= lines
    assert found.fusions <= fusions


@skipped("jax", JAX)
@pytest.mark.parametrize("name", ROOM)
def test_room_of_programs(name: str):
    from benchmarks.device import programs

    assert programs.program(CALLS[name]).temporaries <= ROOM[name]


@skipped("jax", JAX)
def test_sums_of_any_length_are_short_programs():
    """They begin with the only half that is filled up."""
    from benchmarks.device import programs

    lines, _ = IN_XLA["average_hit_rate"]
    assert programs.program(CALLS["average_hit_rate"], 1000).lines <= lines + 3


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_operations_are_counted():
    """A view costs nothing; an operation reads its arguments and writes its results."""
    import torch

    from benchmarks.device.launches import Launches

    x = torch.zeros(10, dtype=torch.float32, device="meta")
    with Launches() as seen:
        x.reshape(2, 5)[0].detach()
        assert (seen.number, seen.bytes) == (0, 0)
        x + x[:1]
        assert (seen.number, seen.bytes) == (1, 40 + 4 + 40)
        torch.zeros_like(x)
    assert (seen.number, seen.bytes) == (2, 84 + 40)
    assert seen.by_name == {"add": 1, "zeros_like": 1}


def test_marks_are_of_calls():
    assert {*LAUNCHES, *PROGRAMS, *COMPILING, *AT_MOST, *IN_XLA, *ROOM} <= CALLS.keys()
