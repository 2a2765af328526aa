"""What states have seen in batches, merged, pickled and kept, is what `rank` sees at once."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, in_full, parameters, tree_leaves
from expected import arrays_of

import quotakernels as qk

SIZE, GROUPS = 60, 5
RNG = np.random.default_rng(5)
DATA: dict[str, np.ndarray] = {
    "y_true": RNG.integers(0, 2, (2, SIZE)),
    "y_score": RNG.integers(-9, 9, (2, SIZE)).astype(np.int8),
    "sample_weight": RNG.integers(0, 5, (2, SIZE)) / 4,
    "where": RNG.random((2, SIZE)) < 0.9,
    "groups": np.tile(RNG.choice([0, 1, 2, 4], SIZE), (2, 1)),
    "gain": RNG.integers(-4, 9, (2, SIZE)) / 2,
    "gain_rejected": RNG.integers(-4, 5, (2, SIZE)) / 2,
    "cost": RNG.integers(0, 9, (2, SIZE)) / 2,
    "treatment": RNG.integers(0, 2, (2, SIZE)),
}
"""Scores of one byte, so that a histogram is exact; group 3 has no examples."""
COLUMNS = ("gain", "gain_rejected", "cost", "treatment")
BESIDE: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "weights and a mask": ("sample_weight", "where"),
    "every column": COLUMNS,
    "all but groups": ("sample_weight", "where", *COLUMNS),
    "groups": ("where", "groups"),
    "all": ("sample_weight", "where", "groups", *COLUMNS),
}
MEASURES: dict[str, dict[str, Any]] = {
    "y_true": {
        "auc": qk.roc_auc,
        "hits": qk.hit_rate.with_options(quota=[2, 9.5], when_short="all"),
        "function": lambda ranking: qk.pem(ranking) / 2,
    },
    "groups": {"mean": qk.group_mean(qk.roc_auc, weights="examples")},
    "gain": {"impact": qk.impact_at_quota.with_options(quota=3)},
    "cost": {
        "found": qk.qrecall.with_options(budget=[3.0, 20.0], when_short="all"),
        "spent": qk.budgets.cost_at_quota.with_options(quota=3),
    },
    "treatment": {"uplift": qk.uplift.uplift_at_quota.with_options(quota=3)},
}
"""By what they need."""
KINDS = ("histogram", "buffer", "fixed")
LIBRARIES = ("numpy", "strictest-device1", "jax32-vmap", "torch", "torch-vmap", "cupy")


def given(beside: str) -> dict[str, np.ndarray]:
    return {name: DATA[name] for name in ("y_true", "y_score", *BESIDE[beside])}


def empty(kind: str, columns: dict[str, Any]) -> Any:
    like, number = columns["y_score"], GROUPS if "groups" in columns else None
    if kind == "buffer":
        return qk.states.ScoreBuffer.empty(like, num_groups=number)
    options = {
        "num_groups": number,
        "weighted": "sample_weight" in columns,
        "columns": [name for name in COLUMNS if name in columns],
    }
    if kind == "fixed":
        return qk.states.FixedScoreBuffer.empty(like, capacity=SIZE + 3, **options)
    return qk.states.ScoreHistogram.empty(like, **options)


def streamed(kind: str, columns: dict[str, Any]) -> Any:
    """The states of three batches together, and one more batch, in the order of the examples."""
    start = empty(kind, columns)
    first, second, third, last = (
        {name: x[..., begin:end] for name, x in columns.items()}
        for begin, end in pairwise((0, 20, 21, 45, SIZE))
    )
    one = start.update(**first)
    return one.merge(start.update(**second), start.update(**third)).update(**last)


def measures(beside: str) -> dict[str, Any]:
    names = ("y_true", *BESIDE[beside])
    return {key: x for name in names for key, x in MEASURES.get(name, {}).items()}


def ranked(columns: dict[str, Any], **options: Any) -> qk.Ranking:
    return qk.rank(**columns, **({"num_groups": GROUPS} if "groups" in columns else {}), **options)


def check(found: Any, beside: str, near: float) -> None:
    """Against the measures of all examples at once."""
    ranking = ranked(given(beside))
    for name, measure in measures(beside).items():
        pairs = zip(tree_leaves(found[name]), tree_leaves(measure(ranking)), strict=True)
        for x, wanted in pairs:
            np.testing.assert_allclose(x, wanted, rtol=near, atol=0, err_msg=name)


@pytest.mark.long_program
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in LIBRARIES]))
def test_a_stream_is_measured_as_a_whole(mode: Mode, beside: str, kind: str):
    def computed(*arrays: Any) -> Any:
        columns = dict(zip(given(beside), arrays, strict=True))
        return streamed(kind, columns).compute(measures(beside))

    found = mode.run(computed, *given(beside).values())
    check(found, beside, 4e-7 if mode.float32 else 1e-15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("ties", ["expected", *map(in_full, ("optimistic", "pessimistic"))])
def test_the_ranking_is_that_of_rank(ties: str, beside: str, kind: str):
    """Of one list."""
    columns = {name: x[0] for name, x in given(beside).items()}
    state, wanted = streamed(kind, columns), ranked(columns, ties=ties)
    found = state.ranking(ties)
    assert found.columns.keys() == wanted.columns.keys()
    full = [np.asarray(x.counts) > 0 for x in (found, wanted)]
    for x, y in zip(arrays_of(found), arrays_of(wanted), strict=True):
        np.testing.assert_array_equal(x[full[0]], y[full[1]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beside", BESIDE)
def test_they_are_pickled_and_kept_in_files(beside: str, kind: str, tmp_path: Path):
    state = streamed(kind, given(beside))
    qk.states.save_state(state, tmp_path / "state")
    like = empty(kind, given(beside))
    kept = (qk.states.load_state(tmp_path / "state", like=x) for x in (None, like))
    for same in (pickle.loads(pickle.dumps(state)), *kept):
        check(same.compute(measures(beside)), beside, 1e-15)
