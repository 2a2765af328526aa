"""The ROC hull and the exact AUC-PR on top of a NumPy ranking, beside the bare sort of the scores.

Run with ``python benchmarks/roc_space.py [n ...]``.  Times are medians of repeated runs that
alternate with the sort.
"""

from __future__ import annotations

import statistics
import sys

import numpy as np
from scalar_measures import seconds

import quotakernels as qk

MEASURES = (qk.roc_hull, qk.roc_hull_auc, qk.achievable_pr_auc, qk.pr_auc, qk.average_precision)


def labels(scores: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Of classifiers from good to none."""
    luck = rng.random(scores.shape[0])
    return {"useful": luck < scores, "rare": luck < 0.02 * scores, "random": luck < 0.5}


def main(sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    print(f"{'labels':<8}{'n':>9}", *(f"{m.__name__:>18}" for m in MEASURES))
    for n in sizes:
        scores = rng.random(n, dtype=np.float32)
        for name, y_true in labels(scores, rng).items():
            ranking = qk.rank(y_true, scores)
            ratios = []
            for measure in MEASURES:
                pairs = [
                    (
                        seconds(lambda s=scores: np.sort(s)),
                        seconds(lambda m=measure, r=ranking: m(r)),
                    )
                    for _ in range(8)
                ][1:]
                sort, taken = (statistics.median(x) for x in zip(*pairs, strict=True))
                ratios.append(taken / sort)
            print(f"{name:<8}{n:>9}", *(f"{ratio:>18.2f}" for ratio in ratios))


if __name__ == "__main__":
    main([int(float(x)) for x in sys.argv[1:]] or [10**6])
