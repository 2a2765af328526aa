"""What the lines of `at_any_quota` say of every quota and budget, beside the measures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from quotakernels.report.page import at_any_quota

ROWS = 60


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, ROWS)
    scores = {"tied": rng.integers(0, 8, ROWS) + y, "free": rng.normal(size=ROWS) + y}
    return {"y": y, "scores": scores, "cost": rng.integers(0, 5, ROWS) * 1.0}


def told(text: str, x: float) -> list[dict[str, float]]:
    """What the page's script makes of the lines at x."""
    record = json.loads(text)
    found = []
    for model in record["models"]:
        sums = {key: np.cumsum(column) for key, column in model.items() if key != "name"}
        along = sums[record["axis"]]
        low = int(np.searchsorted(along, x, side="right")) - 1
        high = min(low + 1, len(along) - 1)
        part = (x - along[low]) / (along[high] - along[low]) if high > low else 0.0
        found.append({key: s[low] + part * (s[high] - s[low]) for key, s in sums.items()})
    return found


def test_every_quota_is_exact_where_all_fits(data: dict[str, Any]) -> None:
    gain = np.where(data["y"], 3.0, -1.25)
    found = qk.evaluate(data["y"], data["scores"], quota=7, gain=gain)
    lines = at_any_quota(found, 50_000)
    assert lines is not None
    assert not any(lines.errors.values())
    for quota in (0, 1, 7, 22.25, 41, ROWS):
        for said, scores in zip(told(lines.to_json(), quota), data["scores"].values(), strict=True):
            rate = qk.hit_rate(data["y"], scores, quota=quota) if quota else 0.0
            brings = qk.impact_at_quota(None, scores, gain=gain, quota=quota).whole
            assert said["found"] == pytest.approx(quota * rate, abs=1e-9)
            assert said["brings"] == pytest.approx(brings, abs=1e-9)


def test_every_budget_is_exact_where_all_fits(data: dict[str, Any]) -> None:
    cost = data["cost"]
    found = qk.evaluate(data["y"], data["scores"], cost=cost, budget=11)
    lines = at_any_quota(found, 50_000)
    assert lines is not None
    for budget in (0.75, 11, 37.5, float(cost.sum())):
        for said, scores in zip(
            told(lines.to_json(), budget), data["scores"].values(), strict=True
        ):
            qrecall = qk.qrecall(data["y"], scores, cost=cost, budget=budget)
            assert said["found"] == pytest.approx(qrecall * data["y"].sum(), abs=1e-9)


def test_lines_that_do_not_fit_are_as_far_off_as_they_say(data: dict[str, Any]) -> None:
    found = qk.evaluate(data["y"], data["scores"], quota=7)
    lines, exact = at_any_quota(found, 40), at_any_quota(found, 50_000)
    assert lines is not None
    assert exact is not None
    columns = [x for of_model in lines.models.values() for x in of_model.values()]
    assert sum(map(len, columns)) <= 40 + 3 * len(columns), "with both ends and beside the start"
    worst = 0.0
    for quota in np.arange(0, ROWS + 0.25, 0.25):
        both = (told(x.to_json(), quota) for x in (lines, exact))
        worst = max(*(abs(a["found"] - b["found"]) for a, b in zip(*both, strict=True)), worst)
    assert 0 < worst == pytest.approx(lines.errors["found"])
    near, true = told(lines.to_json(), 7), told(exact.to_json(), 7)
    assert [x["found"] for x in near] == pytest.approx([x["found"] for x in true])


def test_quotas_of_groups_have_no_lines(data: dict[str, Any]) -> None:
    groups = np.arange(ROWS) % 3
    found = qk.evaluate(data["y"], data["scores"], quota=7, per=groups)
    assert at_any_quota(found, 50_000) is None
    nothing = qk.evaluate(0 * data["y"], data["scores"], quota=7)
    assert at_any_quota(nothing, 50_000) is None
