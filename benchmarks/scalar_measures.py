"""All scalar quota measures from raw NumPy arrays, beside the bare sort of the scores.

Run with ``python benchmarks/scalar_measures.py [n ...]``.  Times are medians of repeated runs that
alternate with the sort; memory is the peak of what NumPy allocated beyond the input.
"""

from __future__ import annotations

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import quotakernels as qk

QUOTA_SHARE = 0.1


def uniform(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random(n, dtype=np.float32)


def tie_free(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(n).astype(np.float32) / np.float32(n)


def hundred_values(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 100, n).astype(np.float32) / np.float32(100)


def logits(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal(n, dtype=np.float32)


SCORES = [uniform, tie_free, hundred_values, logits]


def scalar_measures(labels: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Every scalar measure of the quota family, from one ranking."""
    ranking = qk.rank(labels, scores)
    quota = QUOTA_SHARE * len(scores)
    at_quota = (qk.hit_rate, qk.qrecall, qk.lift, qk.pearson)
    values = {m.__name__: float(m(ranking, quota=quota)) for m in at_quota}
    return values | {name: float(x) for name, x in qk.summary(ranking)._asdict().items()}


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak_bytes(function: Callable[[], object]) -> int:
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main(sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    print("scores            n         sort      measures  ratio  extra memory / scores")
    for n in sizes:
        for make in SCORES:
            scores = make(n, rng)
            labels = rng.random(n) < 0.1 + 0.3 * (scores > np.median(scores))
            repeats = 7 if n <= 10**6 else 3
            pairs = [
                (
                    seconds(lambda s=scores: np.sort(s)),
                    seconds(lambda y=labels, s=scores: scalar_measures(y, s)),
                )
                for _ in range(repeats + 1)
            ][1:]
            sort, whole = (statistics.median(x) for x in zip(*pairs, strict=True))
            extra = peak_bytes(lambda y=labels, s=scores: scalar_measures(y, s)) / scores.nbytes
            print(
                f"{make.__name__:<15}{n:>9}  {sort * 1e3:8.2f} ms {whole * 1e3:8.1f} ms"
                f"  {whole / sort:5.1f}  {extra:5.1f}"
            )


if __name__ == "__main__":
    main([int(float(x)) for x in sys.argv[1:]] or [10**6, 10**7])
