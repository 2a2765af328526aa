"""What examples bring, by group: each group has the totals of its own examples alone."""

from __future__ import annotations

from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import DISTINCT, Mode, any_quota, in_full, mode_fixture
from everything import MAIN
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk

SIZE, GROUPS = 40, 6
QUOTAS, FRACTIONS = (0, 1, 2.5, 9), (0.25, 1)
RNG = np.random.default_rng(8)
mode = mode_fixture([m for m in DISTINCT if m.name in (*MAIN, "strictest", "jax32-vmap")])
NAMES = {"w": "sample_weight", "where": "where"}


def data() -> dict[str, np.ndarray]:
    """Two models of the same examples; group 4 has none, and group 1 has large amounts."""
    groups = RNG.choice([0, 1, 2, 3, 5], SIZE)
    gain = RNG.integers(-9, 10, SIZE) * np.where(groups == 1, 2**20, 1)
    return {
        "y": RNG.integers(0, 2, SIZE),
        "s": RNG.choice([-1.0, 0.25, 0.5, 3.0], (2, SIZE)),
        "groups": groups,
        "gain": gain.astype(float),
        "other": RNG.integers(-4, 5, SIZE).astype(float),
        "cost": RNG.integers(1, 4, SIZE).astype(float),
        "w": RNG.choice([0.0, 0.5, 1.0, 2.0], SIZE),
        "where": RNG.random(SIZE) < 0.8,
    }


DATA = data()


def totals(ranking: Any, quotas: Any) -> dict[str, Any]:
    """What quotas, shares and a budget bring."""
    cuts: dict[str, dict[str, Any]] = {
        "quota": {"quota": quotas, "when_short": "all"},
        "fraction": {"fraction": list(FRACTIONS)},
        "budget": {"budget": 2.5, "when_short": "all"},
    }
    found: dict[str, Any] = {}
    for name, cut in cuts.items():
        impact = qk.impact_at_quota(ranking, **cut)
        found |= {f"{field} by {name}": x for field, x in impact._asdict().items()}
        found[f"per cost by {name}"] = qk.budgets.gain_per_cost(ranking, **cut)
    return found


def alone(names: tuple[str, ...], ties: str, scores: np.ndarray, group: int) -> dict[str, Any]:
    here = DATA["groups"] == group
    beside = {NAMES[name]: DATA[name][here] for name in names}
    amounts = {"gain": DATA["gain"], "gain_rejected": DATA["other"], "cost": DATA["cost"]}
    given = beside | {name: x[here] for name, x in amounts.items()}
    ranking = qk.rank(DATA["y"][here], scores[here], ties=ties, **given)  # type: ignore[arg-type]
    return totals(ranking, np.asarray(QUOTAS))


@pytest.mark.long_program
@pytest.mark.parametrize(
    ("names", "ties"),
    [((), "expected"), (("w", "where"), "expected"), in_full(("where",), "pessimistic")],
)
def test_each_group_is_as_if_it_were_alone(mode: Mode, names: tuple[str, ...], ties: Any):
    quotas = mode.array(np.asarray(QUOTAS, dtype=float))
    columns = ("y", "s", "groups", "gain", "other", "cost", *names)
    arrays = [DATA[name] for name in columns]

    def computed(y: Any, s: Any, groups: Any, gain: Any, other: Any, cost: Any, *own: Any) -> Any:
        beside = {NAMES[name]: x for name, x in zip(names, own, strict=True)}
        amounts = {"gain": gain, "gain_rejected": other, "cost": cost}
        known = {"groups": groups, "num_groups": GROUPS, "ties": ties}
        return totals(qk.rank(y, s, **known, **amounts, **beside), quotas)

    models = DATA["s"]
    if mode.name.endswith("-vmap"):
        arrays = [x[0] if x.ndim == 2 else x for x in arrays]
        models = models[:1]
    found = mode.run(computed, *arrays)
    near = 1e-6 if mode.float32 else 1e-14
    for model, scores in enumerate(models):
        for group in range(GROUPS):
            wanted = alone(names, ties, scores, group)
            for name, value in found.items():
                one = value[group] if len(models) == 1 else value[model, group]
                np.testing.assert_allclose(one, wanted[name], near, near, err_msg=name)


@any_quota
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 8))
def test_totals_are_means_over_the_orders_of_ties(seed: int, size: int, number: int):
    """In fractions, by what `select` takes of each example."""
    rng = np.random.default_rng(seed)
    s, groups = rng.integers(0, 4, size) / 4, rng.integers(0, number, size)
    gain, other = rng.integers(-9, 10, (2, size))
    found = qk.impact_at_quota(
        None, s, gain=gain, gain_rejected=other, groups=groups, quota=2.5, when_short="all"
    )
    for place, group in enumerate(np.unique(groups)):
        here = groups == group
        shares = ex.select(s[here].tolist(), min(2.5, int(here.sum())))
        chosen = sum(p * int(x) for p, x in zip(shares, gain[here], strict=True))
        left = sum((1 - p) * int(x) for p, x in zip(shares, other[here], strict=True))
        assert found.selected[place] == pytest.approx(float(chosen), rel=1e-15, abs=1e-15)
        assert found.rejected[place] == pytest.approx(float(left), rel=1e-15, abs=1e-15)


def test_small_amounts_are_not_lost_behind_another_group():
    """Sums begin anew in each group, from both ends."""
    groups, gain = np.asarray([0, 0, 1, 1, 2, 2]), np.asarray([1e20, 1e20, 1e-20, 3e-20, 1e20, 7.0])
    found = qk.impact_at_quota(None, -gain, gain=gain, gain_rejected=gain, groups=groups, quota=1)
    assert found.selected.tolist() == [1e20, 1e-20, 7.0]
    assert found.rejected.tolist() == [1e20, 3e-20, 1e20]


def test_their_mean_and_its_interval():
    given = {name: DATA[name] for name in ("groups", "gain", "cost")}
    each = qk.budgets.gain_per_cost(DATA["y"], DATA["s"][0], quota=2, when_short="all", **given)
    mean = qk.group_mean(qk.budgets.gain_per_cost, quota=2, when_short="all")
    assert mean(DATA["y"], DATA["s"][0], **given).value == np.mean(each)
    with pytest.warns(UserWarning, match="^only 5 groups"):
        drawn = qk.bootstrap(
            mean, DATA["y"], DATA["s"][0], n_resamples=200, random_state=1, **given
        )
    assert drawn.value.lower < np.mean(each) < drawn.value.upper
