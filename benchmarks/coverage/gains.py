"""What models earn: at a quota, one more than the other, and at the best cut on new rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import quotakernels as qk
from benchmarks.coverage.populations import Population
from benchmarks.coverage.seen import LEVEL, Seen, Verdict
from benchmarks.coverage.sources import Draw, Scores
from quotakernels.inference.gains import Gains, tests_of_totals

RESAMPLES = 40
"""For the mean of what the choice of a cut adds; intervals take none."""
ALIKE, UNLIKE = (1.0, 1.0), (1.0, 0.5)
SETTINGS = {
    f"{name}, {rows} {'alike' if shifts == ALIKE else 'unlike'}": Population(
        rows, shifts, rows // 10, gain=amounts, worth=8.0
    )
    for name, amounts in {
        "normal": "normal",
        "log-normal 1": "lognormal 1",
        "log-normal 2": "lognormal",
        "Pareto 2.5": "pareto 2.5",
        "Pareto 1.5": "pareto",
    }.items()
    for rows, shifts in ((400, ALIKE), (400, UNLIKE), (3000, ALIKE))
}


def gains(_: Scores, draw: Draw) -> Iterator[Seen | Verdict]:
    """Intervals as `evaluate` has them, how many are noted, and how often it is wrongly sure."""
    for what, source in SETTINGS.items():
        columns, truth, places = source.sample(draw.rng), source.truth, source.quota
        gain, scores = columns["gain"], [columns[x] for x in source.models]
        of = Gains(gain, np.zeros(1))
        totals = [of.in_places(x, places) for x in scores]
        brings = np.asarray([qk.select(x, quota=places) @ gain for x in scores])
        lower, upper = brings[0] + totals[0].ends(LEVEL)
        yield Seen(what, "sum", lower, upper, truth.compared["m0"])
        noted = [x.is_skewed(LEVEL) for x in totals]
        yield Verdict(what, "sum, with a note", noted[0])
        test = tests_of_totals(brings, totals, LEVEL).of_pair(0, 1)
        alike = source.shifts == ALIKE
        apart = 0.0 if alike else truth.compared["m0"] - truth.compared["m1"]
        yield Seen(what, "difference", test.lower, test.upper, apart)
        first = int(np.argmax(brings))
        sure = test.p_value <= 1 - LEVEL and not noted[first]
        yield Verdict(
            what,
            "wrongly sure of gains" if alike else "rightly sure",
            sure and (alike or not first),
        )
        how: dict[str, Any] = {"gain": gain, "n_resamples": RESAMPLES, "random_state": 1}
        best = qk.inference.best_cut_interval(qk.best_quota, None, scores[0], **how)
        there = of.from_threshold(scores[0], float(best.threshold.estimate))
        expected = min(best.expected.estimate, best.value.estimate)
        lower, upper = expected + there.ends(LEVEL)
        cut = float(best.quota.estimate)
        yield Seen(what, "expected of the best cut", lower, upper, truth.brings("m0", cut))
