"""The exact relations between the measures, as properties of random data with ties."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from backends import MODES, STANDARD_ONLY, parameters
from hypothesis import strategies as st
from public_names import MEASURES

import quotakernels as qk


@st.composite
def ranked_data(draw: Any, both_classes: bool = True) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(2, 60))
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    levels = draw(st.integers(1, 2 * n))
    scores = np.array(draw(st.lists(st.integers(0, levels), min_size=n, max_size=n)), dtype=float)
    if both_classes:
        labels[0], labels[1] = 0, 1
    return labels, scores


ALONE = [x for x in MEASURES.values() if x.alone]
CUTS = ({"quota": [1, 2, 6.5, 7, 11]}, {"fraction": [0.1, 0.9]})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("measure", ALONE, ids=lambda x: x.__name__)
@pytest.mark.parametrize("levels", [1, 4, 1000])
@pytest.mark.parametrize("prevalence", [0, 0.5, 1])
def test_the_direct_way_gives_what_the_general_way_gives(measure, levels, prevalence):
    """Many measures take the direct way with labels and scores and nothing else."""
    rng = np.random.default_rng(levels)
    labels, scores = rng.random(60) < prevalence, rng.integers(0, levels, 60) / 4
    ranking = qk.rank(labels, scores)
    wanted = measure(ranking=ranking), measure(labels, scores, ties="expected")
    with mock.patch.object(type(qk.roc_auc), "ranking", wraps=measure.ranking) as generally:
        found = measure(ranking), measure(labels, scores)
    counted = measure.by_positives and measure.by_sums and not STANDARD_ONLY
    assert generally.call_count == (1 if counted else 2)
    assert [type(x) for x in found] == [type(x) for x in wanted]
    for each in zip(found, wanted, strict=True):
        parts = (x if isinstance(x, tuple) else (x,) for x in each)
        for own, general in zip(*parts, strict=True):
            np.testing.assert_array_equal(own, general)


@pytest.mark.parametrize("name", [x for x in MEASURES if MEASURES[x].by_positives])
def test_neighbours_without_positives_may_be_one_row(name: str):
    """Of a measure that is `by_positives`."""
    labels, scores = [0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0], [9, 8, 7, 6, 5, 4, 3, 3, 2, 2, 1, 0]
    merged = [9, 9, 7, 6, 5, 4, 4, 4, 2, 2, 1, 1]
    rates = {x: 0.3 for x in ("fpr", "recall") if x in MEASURES[name].own_keywords}
    for own in CUTS if "quota" in MEASURES[name].own_keywords else (rates,):
        found, wanted = (MEASURES[name](labels, s, **own) for s in (merged, scores))
        np.testing.assert_allclose(found, wanted, rtol=4e-16, err_msg=f"{name} {own}")


@pytest.mark.parametrize(
    "mode", parameters([m for m in MODES if m.name in ("strictest", "jax64-jit", "torch-vmap")])
)
@pytest.mark.parametrize("more", [(), ("sample_weight",), ("where",)], ids=str)
@pytest.mark.long_program
def test_sums_by_position_are_those_by_row(mode, more):
    """Without its layout a table is only known by its rows."""
    rng = np.random.default_rng(5)
    scores = np.stack([rng.integers(0, levels, 60) for levels in (1, 9, 60, 600)]) / 7
    columns = {"sample_weight": rng.random(scores.shape), "where": rng.random(scores.shape) < 0.7}

    def run(labels: Any, scores: Any, *given: Any) -> Any:
        ranking = qk.rank(labels, scores, **dict(zip(more, given, strict=True)))
        return qk.summary(ranking), qk.summary(ranking._replace(layout=()))

    found = mode.run(run, rng.integers(0, 2, scores.shape), scores, *(columns[x] for x in more))
    for position, row in zip(*found, strict=True):
        np.testing.assert_allclose(position, row, rtol=1e-13, atol=1e-13)


def test_minmax_marks_compare_models():
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, 40), rng.random((5, 40))
    for mark in qk.normalized_marks(labels, scores, method="minmax"):
        assert (mark.min(), mark.max()) == (0, 1)
        assert mark.shape == (5,)


def test_worked_tables_of_the_paper():
    """AR Tables 2, 3 and 5."""
    scores = np.arange(10, 0, -1)
    ranking = qk.rank([1, 0, 1, 1, 0, 0, 1, 0, 0, 0], scores)
    assert qk.average_qrecall(ranking) == 25 / 28
    assert qk.average_hit_rate(ranking) == pytest.approx(251 / 336, rel=4e-16)
    assert qk.pem_areas(ranking) == (1.75, 0, 3)
    assert qk.pem(ranking) == 7 / 12
    assert qk.roc_auc(ranking) == 19 / 24
    advantage = qk.qrecall(ranking, quota=scores[::-1]) - scores[::-1] / 10
    table_5 = [0.15, 0.05, 0.2, 0.35, 0.25, 0.15, 0.3, 0.2, 0.1, 0]
    np.testing.assert_allclose(advantage, table_5, atol=1e-15)
    optimum = qk.summary([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], scores)
    assert (optimum.average_qrecall, optimum.average_hit_rate, optimum.pem) == (1, 1, 1)
