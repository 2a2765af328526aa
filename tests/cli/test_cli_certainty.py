"""`evaluate --confidence` and `--compare`: intervals, and which differences are real."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import CREDIT, run, table

import quotakernels as qk

EXAMPLE = ("evaluate", "--example", "credit", "--resamples", 40, "--seed", 3)


def test_json_holds_the_intervals_of_the_library() -> None:
    asked = ("--confidence", 0.9, "--quota", "5%", "--compare", "--json")
    outcome = run(*EXAMPLE, "--score", "tree", "--score", "neural_net", *asked)
    content = outcome.record
    names = ("roc_auc", "gini", "pem", "average_precision", "average_hit_rate")
    closed = dict.fromkeys(names, "logit") | {"hit_rate": "score"}
    asked_for = {"level": 0.9, "resamples": 40, "test_resamples": 40, "seed": 3}
    assert content["confidence"].pop("notes")[0].startswith("No intervals of hull AUC")
    told = {**asked_for, "effective_rows": None, "closed_forms": closed}
    assert content["confidence"] == told
    drawn: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 40, "random_state": 3}
    at_quota = partial(qk.lift, quota=17)
    for model in content["models"]:
        data = CREDIT["repaid"], CREDIT[model["score"]]
        found = qk.bootstrap(qk.pr_auc, *data, **drawn)
        ends = pytest.approx([found.lower, found.upper], rel=1e-12)
        assert model["intervals"]["pr_auc"] == ends
        for name in ("average_precision", "average_hit_rate"):
            area = qk.inference.average_precision_interval(
                *data, measure=name, confidence_level=0.9
            )
            assert model["intervals"][name] == [area.lower, area.upper]
        gini = qk.inference.auc_interval(*data, measure="gini", confidence_level=0.9)
        assert model["intervals"]["gini"] == [gini.lower, gini.upper]
        rate = qk.inference.hit_rate_interval(*data, fraction=0.05, confidence_level=0.9)
        assert model["quotas"]["5%"]["intervals"]["hit_rate"] == [rate.lower, rate.upper]
        lift = qk.bootstrap(at_quota, *data, **drawn)
        ends = pytest.approx([lift.lower, lift.upper], rel=1e-12)
        assert model["quotas"]["5%"]["intervals"]["lift"] == ends
    by_auc, by_rate = content["differences"]
    models = {name: CREDIT[name] for name in ("tree", "neural_net")}
    wanted = qk.compare(qk.roc_auc, CREDIT["repaid"], models, **drawn)
    (pair,) = by_auc["pairs"]
    assert (pair["better"], pair["worse"]) == ("neural_net", "tree") == wanted.names
    assert [pair["lower"], pair["upper"]] == [wanted.lower[0, 1], wanted.upper[0, 1]]
    assert pair["p_adjusted"] == wanted.p_adjusted[0, 1]
    assert (by_rate["measure"], by_rate["quota"]) == ("hit_rate", "5%")


@pytest.mark.parametrize("top", [0, 1], ids=["all selected are positive", "one is not"])
def test_what_a_quota_brings_by_two_hit_rates(tmp_path: Path, top: int) -> None:
    """Positives among the others are a loss: the more there are, the less is brought."""
    y, s = np.asarray([1, 1, 1 - top, 1, 1] + [0, 1, 0] * 5), np.arange(20, 0, -1)
    path = table(tmp_path, y=y, s=s)
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--quota", 5)
    asked = ("--impact", "5,-4,-1,0.5", "--confidence", 0.9, "--resamples", 5, "--json")
    (model,) = run(*arguments, *asked).record["models"]
    given: dict[str, Any] = {"method": "wilson", "confidence_level": 0.9}
    chosen = qk.inference.hit_rate_interval(y, s, quota=5, **given)
    others = qk.inference.hit_rate_interval(y, -s, quota=15, **given)
    most = 5 * 5 + 0.5 * 15
    brings = 5 * (5 - top) - 4 * top - 1 * 5 + 0.5 * 10
    at_cut = (y[:10].sum() + 0.5) / 11
    apart = 9 * (1 - top / 5 - at_cut) + 1.5 * (1 / 3 - at_cut)
    moved = 1.6448536269514722 * apart * np.sqrt(5 * (1 - 5 / 20))
    below = 45 * (chosen.estimate - chosen.lower), 22.5 * (others.upper - others.estimate)
    above = 45 * (chosen.upper - chosen.estimate), 22.5 * (others.estimate - others.lower)
    less, more = (np.sqrt(moved**2 + np.square(ends).sum()) for ends in (below, above))
    found = model["quotas"]["5"]
    assert found["brings"] == pytest.approx(brings)
    assert found["intervals"]["brings"] == pytest.approx([brings - less, min(brings + more, most)])
    assert less > 10, "also where all of the selected are positive"
