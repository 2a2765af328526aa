"""Tables of more examples than fit a float, or memory: exact counts, and measures near exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters
from large_tables import check_large, large_tables
from public_names import PUBLIC

import quotakernels as qk

make = qk.Ranking.from_counts


def large(t: Any, c: Any, p: Any) -> dict[str, Any]:
    ranking = make(t, c, p)
    names = ("roc_auc", "gini", "pem", "average_qrecall", "average_hit_rate")
    found = {name: PUBLIC[name](ranking) for name in names}
    for measure in (qk.hit_rate, qk.qrecall, qk.lift):
        found[measure.__name__] = measure(ranking, fraction=[0.25, 0.5, 1])
    curve = qk.qrecall_curve(ranking)
    return found | {"ends": curve.quota, "recalls": curve.value}


def columns_of(tables: Any) -> tuple[np.ndarray, ...]:
    counts, positives = (np.asarray(x) for x in zip(*tables, strict=True))
    return np.broadcast_to([4.0, 3, 2, 1], counts.shape), counts, positives


WIDE = [m for m in MODES if not m.float32 and m.name not in ("strictest", "jax64", "torch-compile")]


@pytest.mark.parametrize("mode", parameters(WIDE))
@pytest.mark.long_program
def test_any_number_of_examples(mode: Mode):
    check_large(mode.run(large, *columns_of(large_tables())), large_tables())


NARROW = [mode for mode in MODES if mode.float32]


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(NARROW[1:]))
def test_counts_whose_sums_leave_32_bits(mode: Mode):
    small = [table for table in large_tables() if max(table[0]) < 2**31]
    small.append(([2**31 - 1] * 4, [2**31 - 1, 5, 2**30, 0]))
    check_large(mode.run(large, *columns_of(small)), small)


@pytest.mark.parametrize("mode", parameters(NARROW[:1]))
def test_64_bit_counts_from_the_host_beside_32_bit_arrays(mode: Mode):
    thresholds, counts, positives = columns_of(large_tables())
    found = mode.run(lambda t: large(t, counts, positives), thresholds)
    check_large(found, large_tables())


def test_counts_are_exact():
    for counts, positives in large_tables():
        ranking = make([4, 3, 2, 1], counts, positives)
        assert ranking.counts.tolist() == counts
        assert ranking.positives.tolist() == positives
        assert int(ranking.counts.sum()) == sum(counts)
    limit = 2**63 - 1
    assert int(make([1, 0], [limit - 5, 5], [1, 1]).counts.sum()) == limit


def test_average_qrecall_is_undefined_where_positions_are_no_floats():
    at_most = make([2.0, 1], [2**53 - 2, 1], [1, 1])
    beyond = make([2.0, 1], [2**53 - 1, 1], [1, 1])
    for start in ("P", "P+1"):
        assert 0 < qk.average_qrecall(at_most, start=start) < 1
        assert np.isnan(qk.average_qrecall(beyond, start=start))
    assert np.isnan(qk.summary(beyond).average_qrecall)
