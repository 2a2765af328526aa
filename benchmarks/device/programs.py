"""What XLA makes of a call on the CPU: lines of StableHLO, temporaries, fusions, CPU seconds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from benchmarks.device.calls import Call, Examples
from quotakernels.states import ScoreHistogram

SORT, PEER = "sort", "metrax"
FUSION = re.compile(r"= .* fusion\(")


class Program(NamedTuple):
    """What a program needs.

    Attributes
    ----------
    temporaries : float
        Bytes beside arguments and results, over those of the scores.
    lines, fusions : int
        The size of the program as it is written, and the loops that XLA makes of it.
    seconds : float
        CPU time of lowering and compiling.
    """

    temporaries: float
    lines: int
    fusions: int
    seconds: float


def examples(n: int, half: bool = False) -> Examples:
    """Shapes alone, without x64."""

    def column(dtype: Any, *shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, dtype)

    kind = jnp.bfloat16 if half else jnp.float32
    state = ScoreHistogram.empty(jnp.zeros(1, kind))
    state = jax.tree.map(lambda x: column(x.dtype, *x.shape), state)
    columns = column(jnp.int32, n), column(kind, n), column(jnp.float32, n), column(jnp.float32)
    return Examples(*columns, state)


def program(call: Call, n: int | None = None) -> Program:
    return _compiled(call.function, examples(n or call.n, call.half))


def _compiled(function: Callable[[Examples], Any], given: Examples) -> Program:
    start = time.process_time()
    lowered = jax.jit(lambda *columns: function(Examples(*columns))).lower(*given)
    made = lowered.compile()
    seconds = time.process_time() - start
    scores = given.scores.size * given.scores.dtype.itemsize
    temporaries = made.memory_analysis().temp_size_in_bytes / scores
    fusions = len(FUSION.findall(made.as_text()))
    return Program(temporaries, len(lowered.as_text().splitlines()), fusions, seconds)


def others(n: int) -> dict[str, Program]:
    """The bare sort, and metrax' AUC of 200 thresholds."""
    found = {SORT: _compiled(lambda x: jnp.sort(x.scores), examples(n))}
    try:
        from metrax import AUCROC
    except ImportError:
        return found

    def peer(given: Examples) -> Any:
        state = AUCROC.from_model_output(predictions=given.scores, labels=given.labels)
        return state.compute()

    return found | {PEER: _compiled(peer, examples(n))}
