"""What a stream costs: the update of a state by one batch, its measures, and its memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

import quotakernels as qk
from benchmarks import checks, data, reference
from benchmarks.backends import Backend
from benchmarks.harness import Entry
from benchmarks.peers import peers_of

BINCOUNT = "bincount"
TWO_BYTES, FLOATS, BUFFER = "histogram, 16 bits", "histogram, float32", "buffer, float32"
LIST, TWO_HUNDRED = "torchmetrics, exact", "torchmetrics, 200 thresholds"
METRAX = "metrax, 200 thresholds"
HISTOGRAM_AUC, BUFFER_AUC = "AUC of the histogram", "AUC of the buffer"
PEERS = {LIST: BUFFER, TWO_HUNDRED: FLOATS, METRAX: FLOATS}
"""The states of other libraries, and ours of the same kind."""
BATCHES = 16
"""So many batches are in the buffer of which AUC is computed, and fit a fixed one."""
BUFFERS_UP_TO = 10**6
"""Larger batches are not kept."""


@lru_cache(maxsize=2)
def problem(kind: str, n: int) -> data.Data:
    return data.problem(n, getattr(data, kind))


@lru_cache(maxsize=2)
def bins(kind: str, n: int) -> list[int]:
    """Negatives and positives of each bin that holds any, best first, of scores of 16 bits.

    The scores are not negative, so that their bits are in their order.
    """
    labels, scores, _ = problem(kind, n)
    patterns = scores.view(f"u{scores.itemsize}") >> (8 * scores.itemsize - 16)
    both = [np.bincount(patterns[labels == x], minlength=2**16)[::-1] for x in (False, True)]
    counts = np.stack(both, axis=-1)
    return [int(x) for x in counts[counts.any(axis=-1)].ravel()]


@lru_cache(maxsize=2)
def auc(kind: str, n: int) -> list[Any]:
    return [reference.roc_auc(reference.table_of(problem(kind, n)))]


class Stream:
    """A state that takes batch after batch; each call replaces it, as a program would.

    A fixed buffer begins anew with each batch, lest it be full: it gets `filled`.
    """

    def __init__(
        self,
        backend: Backend,
        state: Any,
        filled: Any = None,
        step: Callable[..., Any] | None = None,
    ) -> None:
        self.state, self.filled = state, filled
        self.step = step or backend.donating(_updated)

    def __call__(self, labels: Any, scores: Any) -> Any:
        self.state = self.step(self.state, labels, scores, self.filled)
        return self.state


def _updated(state: Any, labels: Any, scores: Any, filled: Any = None) -> Any:
    """The state with one batch more."""
    state = state if filled is None else state._replace(filled=filled)
    return state.update(labels, scores)


def streaming(backend: Backend, n: int) -> dict[str, Entry]:
    """Updates by a batch of n scores, beside a bare count of their bits."""
    narrow = backend.two_bytes
    bits = problem(narrow, n).scores.view(np.uint16)
    entries = {
        TWO_BYTES: _histogram(backend, narrow, n),
        FLOATS: _histogram(backend, "uniform", n),
        BINCOUNT: Entry(backend.bincount, (backend.bit_patterns(bits),)),
        HISTOGRAM_AUC: _histogram_auc(backend, narrow, n),
    }
    if n <= BUFFERS_UP_TO:
        entries[BUFFER] = _buffer(backend, n)
        entries[BUFFER_AUC] = _buffer_auc(backend, n)
        entries |= _peers(backend, n)
    return entries


def _peers(backend: Backend, n: int) -> dict[str, Entry]:
    """The states of AUC that other libraries have, and one batch more."""
    arguments = _columns(backend, "uniform", n)
    known = {"torchmetrics": _torchmetrics, "metrax": _metrax}
    return {
        name: Entry(update, arguments, traced=False, peer=True)
        for peer in peers_of(backend.name)
        if peer.why_not is None and peer.name in known
        for name, update in known[peer.name](backend).items()
    }


def _torchmetrics(_: Backend) -> dict[str, Callable[..., Any]]:
    from torchmetrics.classification import BinaryAUROC

    exact, binned = BinaryAUROC(), BinaryAUROC(thresholds=200)

    def keep(labels: Any, scores: Any) -> None:
        for batches in (exact.preds, exact.target):
            batches.clear()  # lest the batches of all turns be kept
        exact.update(scores, labels)

    return {LIST: keep, TWO_HUNDRED: lambda labels, scores: binned.update(scores, labels)}


def _metrax(backend: Backend) -> dict[str, Callable[..., Any]]:
    from metrax import AUCROC

    def merged(state: Any, labels: Any, scores: Any, _: Any) -> Any:
        return state.merge(AUCROC.from_model_output(predictions=scores, labels=labels))

    return {METRAX: Stream(backend, AUCROC.empty(), step=backend.compiled(merged))}


def _columns(backend: Backend, kind: str, n: int) -> tuple[Any, Any]:
    labels, scores = (backend.array(x) for x in problem(kind, n)[:2])
    return labels, scores


def _histogram(backend: Backend, kind: str, n: int) -> Entry:
    labels, scores = _columns(backend, kind, n)
    state = qk.states.ScoreHistogram.empty(scores, bits=16)
    seen = checks.parts("counts of the bins", backend, partial(bins, kind, n), _filled_bins)
    holds = nbytes(state)
    return Entry(Stream(backend, state), (labels, scores), seen, traced=False, holds=holds)


def _filled_bins(backend: Backend, state: Any) -> Any:
    counts = backend.host(state.counts)
    return counts[counts.any(axis=-1)].ravel()


def _histogram_auc(backend: Backend, kind: str, n: int) -> Entry:
    labels, scores = _columns(backend, kind, n)
    state = backend.compiled(_updated)(qk.states.ScoreHistogram.empty(scores), labels, scores)
    return Entry(_auc, (state,), checks.values("AUC", backend, partial(auc, kind, n)))


def _auc(state: Any) -> Any:
    return state.compute(qk.roc_auc)


def _empty_buffer(backend: Backend, scores: Any, n: int) -> Any:
    """Of the kind that the library can compile, or of the kind that grows."""
    if backend.fixed_shapes:
        return qk.states.FixedScoreBuffer.empty(scores, capacity=BATCHES * n)
    return qk.states.ScoreBuffer.empty(scores)


def _buffer(backend: Backend, n: int) -> Entry:
    labels, scores = _columns(backend, "uniform", n)
    state = _empty_buffer(backend, scores, n)
    wanted = partial(_kept_scores, n)
    seen = checks.parts("scores kept", backend, wanted, partial(_first_scores, n))
    updated: Callable[..., Any] = partial(_updated, state)
    if backend.fixed_shapes:
        updated = Stream(backend, state, _empty_buffer(backend, scores, n).filled)
    return Entry(updated, (labels, scores), seen, traced=False)


def _kept_scores(n: int) -> Any:
    return problem("uniform", n).scores


def _first_scores(n: int, backend: Backend, state: Any) -> Any:
    kept = (
        state.scores if isinstance(state, qk.states.FixedScoreBuffer) else state.examples().scores
    )
    return backend.host(kept)[:n]


def _buffer_auc(backend: Backend, n: int) -> Entry:
    """Of a buffer that several batches have filled."""
    labels, scores = _columns(backend, "uniform", BATCHES * n)
    state = _empty_buffer(backend, scores, n)
    step = backend.compiled(lambda state, y, s: state.update(y, s))
    for start in range(0, BATCHES * n, n):
        state = step(state, labels[start : start + n], scores[start : start + n])
    check = checks.values("AUC", backend, partial(auc, "uniform", BATCHES * n))
    return Entry(_auc, (state,), check, holds=nbytes(state))


def nbytes(state: Any) -> int:
    """Bytes of all arrays of a state."""
    if state is None:
        return 0
    if isinstance(state, dict):
        state = tuple(state.values())  # of columns
    if isinstance(state, tuple):
        return sum(nbytes(x) for x in state)
    return int(state.nbytes)
