"""Results against exact values; each function here makes the check of one kind of result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import reference
from benchmarks.backends import Backend
from benchmarks.data import Data
from benchmarks.harness import Check

Judge = Callable[[Any], Check]
ULPS = 4.0 if np.finfo(np.longdouble).nmant > 52 else 64.0
"""How far a result may be off; more where there is no longer float than the result's own."""


def _hosted(backend: Backend, result: Any) -> list[Any]:
    parts = result if isinstance(result, (tuple, list)) else (result,)
    hosts = [backend.host(x) if hasattr(x, "shape") else np.asarray(x) for x in parts]
    return [x for host in hosts for x in np.ravel(host)]


def _compared(
    what: str, found: Sequence[Any], exact: Sequence[Any], allowed: float | None
) -> Check:
    pairs = list(zip(found, exact, strict=True))
    ulps = max(reference.distance(value, truth) for value, truth in pairs)
    error = max(abs(float(value) - float(truth)) for value, truth in pairs)
    return Check(what, ulps, error, allowed)


def values(what: str, backend: Backend, exact: Callable[[], Sequence[Any]]) -> Judge:
    """Numbers, at most a few units in the last place off."""
    return lambda result: _compared(what, _hosted(backend, result), exact(), ULPS)


def seen(what: str, backend: Backend, exact: Callable[[], Sequence[Any]]) -> Judge:
    """A peer's numbers: how far they are off is reported and not judged."""
    return lambda result: _compared(what, _hosted(backend, result), exact(), None)


def exactly(what: str, backend: Backend, exact: Callable[[], Sequence[Any]]) -> Judge:
    """Numbers that must be equal."""
    return lambda result: _compared(what, _hosted(backend, result), exact(), 0.0)


def parts(
    what: str,
    backend: Backend,
    exact: Callable[[], Sequence[Any]],
    found: Callable[[Backend, Any], Sequence[Any]],
) -> Judge:
    """Something in a result, which must be equal."""

    def judge(result: Any) -> Check:
        same = np.array_equal(found(backend, result), exact())
        return Check(what, 0.0 if same else np.inf, 0.0 if same else np.inf, 0.0)

    return judge


def shares(backend: Backend, exact: Callable[[], Any]) -> Judge:
    """One share per example."""

    def judge(result: Any) -> Check:
        found, wanted = backend.host(result), exact()
        off = np.abs(found - wanted)
        ulps = off / np.spacing(wanted.astype(found.dtype))
        return Check("share of each example", float(ulps.max()), float(off.max()), ULPS)

    return judge


def hull_vertices(backend: Backend, exact: Callable[[], list[tuple[int, int]]]) -> Judge:
    """The points of the hull, without the repetitions that pad it."""

    def judge(result: Any) -> Check:
        columns = (backend.host(x).tolist() for x in (result.fp, result.tp))
        different = set(zip(*columns, strict=True)) ^ set(exact())
        return Check("vertices of the hull", float(len(different)), float(len(different)), 0.0)

    return judge


def auc_per_class(problems: Data) -> list[Any]:
    """The exact AUC of each class against the rest."""
    labels, scores, _ = problems
    return [
        reference.roc_auc(reference.table_of(Data(labels == c, scores[:, c])))
        for c in range(scores.shape[1])
    ]
