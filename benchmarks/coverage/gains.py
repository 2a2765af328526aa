"""What models earn: at a quota, one more than the other, and at the best cut on new rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import quotakernels as qk
from benchmarks.coverage.populations import Population
from benchmarks.coverage.seen import LEVEL, Seen, Verdict
from benchmarks.coverage.sources import Draw, Scores

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
        columns, truth = source.sample(draw.rng), source.truth
        sure = {"confidence_level": LEVEL, "compare": True, "n_resamples": RESAMPLES}
        scores = {x: columns[x] for x in source.models}
        found = qk.evaluate(
            columns["label"], scores, quota=int(source.quota), gain=columns["gain"], **sure
        )
        assert found.gains is not None
        ((quota, values),) = found.gains.at_quota.items()
        few = found.gains.few_rows(quota, "brings")[0] > 0
        yield Seen(what, "sum", *values.interval("brings", 0), truth.compared["m0"])
        yield Verdict(what, "sum, with a note", bool(few))
        test = next(x for x in found.differences if x.measure == "brings" and x.quota).found
        i, j = test.names.index("m0"), test.names.index("m1")
        apart = truth.compared["m0"] - truth.compared["m1"]
        apart = 0.0 if source.shifts == ALIKE else apart
        yield Seen(what, "difference", test.lower[i, j], test.upper[i, j], apart)
        cut = found.gains.best_cut
        model = found.models[cut.model]
        if not np.isnan(cut.expected.lower):
            elsewhere = truth.brings(model, cut.places)
            yield Seen(what, "expected of the best cut", *cut.expected[1:3], elsewhere)
        if source.shifts == ALIKE:
            said = found.answers[-1].verdict.lower().startswith("sure that")
            yield Verdict(what, "wrongly sure of gains", said)
            yield Verdict(what, "rejected", bool(test.p_value[0, 1] <= 1 - LEVEL))
        else:
            said = found.answers[-1].verdict.lower().startswith("sure that m0")
            yield Verdict(what, "rightly sure", said)
