"""What the measures of one ranking allocate beside the scores, as NumPy reports it."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backends import of_fast_forms

import quotakernels as qk

SIZE = 1 << 20
RNG = np.random.default_rng(3)
LABELS = RNG.random(SIZE) < 0.3
SCORES = RNG.random(SIZE)
MEASURES = (qk.roc_auc, qk.pem, qk.average_hit_rate, qk.average_qrecall)


def peak(function: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_peak_counts_what_numpy_allocates():
    assert peak(lambda: np.ones(SIZE)) >= 8 * SIZE


@of_fast_forms
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_measures_take_six_times_the_scores(dtype: str, signed: bool):
    scores = (SCORES - 0.5 * signed).astype(dtype)

    def measured() -> None:
        ranking = qk.rank(LABELS, scores)
        for measure in MEASURES:
            measure(ranking)

    assert peak(measured) <= 6 * scores.nbytes


PAGES = """
import resource, numpy as np, quotakernels as qk
for size in (30_000, 100_000, 300_000):
    labels, scores = np.arange(size) % 3 == 0, np.empty(size, dtype=np.float32)
    for start in range(0, size, 1000):  # so that no larger array was there before
        scores[start : start + 1000] = np.random.default_rng(start).random(1000)
    for measure in (qk.roc_auc, qk.summary):
        faults = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            measure(labels, scores)
            faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
        print(min(faults))
"""


@of_fast_forms
@pytest.mark.skipif(sys.platform != "linux", reason="counts pages as Linux and glibc give them")
def test_later_calls_get_no_new_pages():
    """Clearing these took half of the time of a call: several hundred were given back each time."""
    found = subprocess.check_output([sys.executable, "-c", PAGES], text=True)
    assert max(map(int, found.split())) < 20


@of_fast_forms
def test_weights_take_two_columns_more():
    scores, weights = SCORES.astype(np.float32), SCORES + 1
    assert peak(lambda: qk.rank(LABELS, scores, sample_weight=weights)) <= 13 * scores.nbytes


@of_fast_forms
@pytest.mark.parametrize("number", [1, 1000, 100_000])
def test_groups_take_two_columns_of_eight_bytes_more(number: int):
    scores, groups = SCORES.astype(np.float32), RNG.integers(1, number + 1, SIZE)
    assert peak(lambda: qk.rank(LABELS, scores, groups=groups)) <= 9 * scores.nbytes


@pytest.mark.full
@of_fast_forms
def test_the_correlation_at_a_quota_reads_no_further():
    scores = SCORES.astype(np.float32)
    ranking = qk.rank(LABELS, scores)
    assert peak(lambda: qk.pearson(ranking, quota=SIZE)) <= 3 * scores.nbytes
    assert peak(lambda: qk.pearson(ranking, quota=SIZE, labels="observed")) <= 3 * scores.nbytes
    assert peak(lambda: qk.pearson(ranking, quota=SIZE // 8)) <= 1 * scores.nbytes
