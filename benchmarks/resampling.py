"""What a resample of the bootstrap costs, beside a loop that repeats the rows and sorts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

import quotakernels as qk
from benchmarks import checks, data, reference
from benchmarks.backends import Backend, missing
from benchmarks.harness import Check, Entry

BOOTSTRAP, ROWS = "bootstrap", "resample + roc_auc_score"
POSITIVE = {"bootstrap, 2 %": data.two_percent, "bootstrap, 30 %": data.thirty_percent}
RESAMPLES = {"numpy": 1000, "cpu": 64, "gpu": 1000}
FEW_RESAMPLES, FEW_EXAMPLES = 20, 1000
"""With fewer examples there are so many resamples only: nobody times that."""
TURNS = 5


@lru_cache(maxsize=2)
def problem(kind: str, n: int) -> data.Data:
    return data.problem(n, data.uniform, POSITIVE[kind])


def quota_of(n: int) -> int:
    return max(1, n // 100)


@lru_cache(maxsize=2)
def exact(kind: str, n: int) -> list[Any]:
    rows = reference.table_of(problem(kind, n))
    overall: Sequence[Callable[[reference.Table], Any]] = (
        reference.roc_auc,
        reference.pem,
        reference.average_hit_rate,
        reference.average_qrecall,
    )
    return [*(measure(rows) for measure in overall), reference.hit_rate(rows, quota_of(n))]


def five_measures(quota: int) -> dict[str, Callable[..., Any]]:
    return {
        "roc_auc": qk.roc_auc,
        "pem": qk.pem,
        "average_hit_rate": qk.average_hit_rate,
        "average_qrecall": qk.average_qrecall,
        "hit_rate": partial(qk.hit_rate, quota=quota),
    }


def bootstrap(kind: str, backend: Backend, n: int) -> dict[str, Entry]:
    """Intervals of five measures in one call; times are of one resample."""
    labels, scores = (backend.array(x) for x in problem(kind, n)[:2])
    where = "gpu" if backend.on_gpu else "numpy" if backend.name == "numpy" else "cpu"
    number = RESAMPLES[where] if n >= FEW_EXAMPLES else FEW_RESAMPLES
    call = partial(qk.bootstrap, five_measures(quota_of(n)), n_resamples=number, random_state=1)
    judge = partial(_judged, backend, partial(exact, kind, n))
    entries = {BOOTSTRAP: Entry(call, (labels, scores), judge, traced=False, per=number)}
    if backend.name == "numpy" and missing("sklearn") is None:
        entries[ROWS] = Entry(
            _loop, (labels, scores), partial(_near, kind, n), traced=False, peer=True, per=TURNS
        )
    return entries


def _judged(backend: Backend, wanted: Callable[[], list[Any]], result: Any) -> Check:
    """The estimates are exact, and the means of the resamples no further off than they spread."""
    estimates = tuple(found.estimate for found in result.values())
    what = "AUC, PEM, AHR, AQR, hit rate"
    check = checks.values(what, backend, wanted)(estimates)
    for found in result.values():
        values = backend.host(found.resamples).astype(np.float64)
        values = values[values == values]
        away = values - float(backend.host(found.estimate))
        if values.size and abs(away.mean()) > 2 * values.std():
            return check._replace(what=f"mean of the resamples beside {what}", ulps=float("inf"))
    return check


def _loop(labels: Any, scores: Any) -> list[float]:
    """As it is written by hand."""
    from sklearn.metrics import roc_auc_score
    from sklearn.utils import resample

    return [
        float(roc_auc_score(*resample(labels, scores, random_state=number)))
        for number in range(TURNS)
    ]


def _near(kind: str, n: int, found: list[float]) -> Check:
    error = abs(float(np.mean(found)) - float(exact(kind, n)[0]))
    return Check("mean of a few resamples of AUC", 0.0 if error < 0.25 else np.inf, error, 0.0)
