"""Counts by group and score, summed elsewhere: the ranking is that of `rank` with groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk

SIZE = 80
RNG = np.random.default_rng(11)
Y = RNG.integers(0, 2, SIZE)
S = RNG.integers(-3, 4, SIZE) / 4
ID = RNG.choice([0, 1, 2, 4], SIZE)
W = RNG.integers(1, 5, SIZE) / 4
COST = RNG.integers(0, 9, SIZE) / 2
TREATED = RNG.integers(0, 2, SIZE)
GAIN, REJECTED = np.where(Y, 3.0, -2.0), np.where(Y, -1.0, 0.5)
"""Of one sign in each class: of sums alone nobody knows how large the gains were."""
make = qk.Ranking.from_counts
MOST = ("numpy", "strictest-device1", "jax32-jit", "torch", "cupy")


def summed(weights: Any = 1, dtype: Any = np.float64) -> dict[str, np.ndarray]:
    """A row for each score and group, in an order of its own, as a database gives them."""
    keys, row = np.unique(np.stack([S, ID]), axis=1, return_inverse=True)
    row = RNG.permutation(keys.shape[1])[row.ravel()]
    number = row.max() + 1
    scores, ids = np.empty(number, dtype), np.empty(number, np.int64)
    scores[row], ids[row] = S, ID

    def total(x: Any) -> np.ndarray:
        return np.bincount(row, x * np.ones(SIZE), number)

    counts = {"counts": total(1).astype(int), "positives": total(Y).astype(int)}
    amounts = {"costs": COST, "gains": GAIN, "gains_rejected": REJECTED}
    sums = {f"positive_{name}": total(weights * x * Y) for name, x in amounts.items()}
    sums |= {f"negative_{name}": total(weights * x * (1 - Y)) for name, x in amounts.items()}
    treated = {
        "treated_positives": total(weights * TREATED * Y),
        "treated_negatives": total(weights * TREATED * (1 - Y)),
    }
    masses = {"weights": total(weights), "positive_weights": total(weights * Y)}
    return {"thresholds": scores, **counts, "groups": ids, **sums, **treated, **masses}


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_ranking_is_that_of_rank(weighted: bool, ties: Any):
    table = summed(W if weighted else 1)
    if not weighted:
        del table["weights"], table["positive_weights"]
    found = make(**table, ties=ties)
    given: dict[str, Any] = {"sample_weight": W} if weighted else {}
    given |= {"cost": COST, "treatment": TREATED, "gain": GAIN, "gain_rejected": REJECTED}
    wanted = qk.rank(Y, S, groups=ID, ties=ties, **given)
    for one, other in zip(found[:5], wanted[:5], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found.groups[:3], wanted.groups[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.columns.keys() == wanted.columns.keys()
    assert wanted.columns.keys() >= {"cost", "treated", "control", "gain", "gain_rejected"}
    for name, sums in wanted.columns.items():
        np.testing.assert_array_equal(found.columns[name], sums)


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in MOST]))
def test_in_any_library(mode: Mode):
    table = {name: x for name, x in summed().items() if "weights" not in name}

    def measured(ranking: qk.Ranking) -> Any:
        return {
            "auc": qk.roc_auc(ranking),
            "quota": qk.hit_rate(ranking, quota=[2, 30]),
            "budget": qk.qrecall(ranking, budget=20, when_short="all"),
            "uplift": qk.uplift.uplift_at_quota(ranking, quota=[2, 30]),
        }

    def computed(*columns: Any) -> Any:
        return measured(make(**dict(zip(table, columns, strict=True)), num_groups=5))

    found = mode.run(computed, *table.values())
    ranking = qk.rank(Y, S, groups=ID, cost=COST, treatment=TREATED, num_groups=5)
    for name, values in measured(ranking).items():
        values = np.float32(values) if mode.float32 else values
        np.testing.assert_allclose(
            found[name], values, rtol=3e-7 if mode.float32 else 0, err_msg=name
        )


def test_ids_may_be_texts_and_zero_rows_are_no_groups_of_programs():
    names = np.array(list("abcde"))
    columns = summed()
    table = {name: columns[name] for name in ("thresholds", "counts", "positives", "groups")}
    found = make(**{**table, "groups": names[table["groups"]]})
    assert qk.group_counts(found).ids.tolist() == list("abce")
    padded = {name: np.append(x, 0) for name, x in table.items()} | {
        "groups": np.append(table["groups"], 99)
    }
    auc = qk.roc_auc(make(**padded, num_groups=5))
    np.testing.assert_array_equal(auc, qk.roc_auc(Y, S, groups=ID, num_groups=5))
    assert qk.roc_auc(make([], [], [], groups=[])).shape == (0,)


def test_counts_of_the_treated_that_are_rounded_leave_no_controls():
    """All were treated: sums of their weights in another order are no reason to see controls."""
    weights = [0.1 + 0.2 + 0.3, 0.7]
    treated = {"treated_positives": [0.3 + 0.2 + 0.1, 0], "treated_negatives": [0, 0.7]}
    found = make(
        [2.0, 1.0], [3, 1], [3, 0], weights=weights, positive_weights=[weights[0], 0], **treated
    )
    assert not np.any(found.columns["control"])
    assert np.isnan(qk.uplift.uplift_at_quota(found, fraction=1))


@pytest.mark.full
def test_a_bad_value_in_a_program_spoils_its_group_and_a_bad_id_all():
    jax = pytest.importorskip("jax")
    columns = ([1.0, 2, 2, 3], [1, 2, 3, 4], [0, 1, 1, 2], [0, 0, 1, 1])
    scores, counts, positives, ids = map(jax.numpy.asarray, columns)
    auc = jax.jit(lambda t, c, g: qk.roc_auc(make(t, c, positives, groups=g, num_groups=2)))
    np.testing.assert_array_equal(np.isnan(auc(scores, counts, ids)), [False, False])
    for bad in (scores.at[0].set(np.nan), scores.at[0].set(2)):
        np.testing.assert_array_equal(np.isnan(auc(bad, counts, ids)), [True, False])
    np.testing.assert_array_equal(np.isnan(auc(scores, counts.at[3].set(-1), ids)), [False, True])
    assert np.isnan(auc(scores, counts, ids.at[2].set(2))).all()
