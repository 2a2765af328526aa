"""What a treatment adds, for the question that a page answers last."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from quotakernels._text import fixed
from quotakernels.evaluation.choice import Choice
from quotakernels.evaluation.order import is_first
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.words import MINUS, Said, listed
from quotakernels.measures.uplift import uplift_at_quota

_OTHERS = 3
_BESIDE = (
    "The answers above do not ask what the treatment causes; to choose whom to treat, go by this "
    "one."
)


def what_is_added(evaluation: Results, choice: Choice) -> Said:
    """What the treatment adds to the positives of those whom the models select."""
    values, names = evaluation.at_quota[choice.quota], evaluation.models
    added = values.of("uplift_at_quota")
    if np.isnan(added).all():
        return "That cannot be said", ("No model selects both treated rows and controls.",)
    first, *others = np.argsort(-added, kind="stable").tolist()
    settings = evaluation.settings
    most = f"{_of_100(added[first])} {settings.positives} per 100 selected by {names[first]}"
    (lower, upper), resampling = values.interval("uplift_at_quota", first), settings.resampling
    sure = doubt = ""
    if resampling is not None and not math.isnan(lower):
        sure = f" ({resampling.percent} interval {_of_100(lower)} to {_of_100(upper)})"
        doubt = " It may add nothing." if lower <= 0 <= upper else ""
    are = settings.called or "positive"
    said = [f"So many more of 100 treated than of 100 controls among them are {are}{sure}.{doubt}"]
    rest = [f"{_of_100(added[k])} by {names[k]}" for k in others[:_OTHERS]]
    said += [f"Others: {listed(rest)}.", *_adds_most(evaluation, choice)] if rest else []
    return most, (*said, _BESIDE)


def _adds_most(evaluation: Results, choice: Choice) -> Iterator[str]:
    """How sure the model is that adds the most, and what to expect of it on other rows."""
    tests = [
        x.found
        for x in evaluation.differences
        if x.measure == uplift_at_quota.__name__ and x.quota == choice.quota
    ]
    best = f"is the best of {len(evaluation.models)} here"
    resampling = evaluation.settings.resampling
    if not tests or resampling is None or math.isnan(tests[0].expected):
        yield f"The first {best}, so probably less on other rows."
        return
    found, first = tests[0], tests[0].names[0]
    expected = min(found.expected, float(found.estimate[0]))
    yield f"{first} {best}; expect {_of_100(expected)} on other rows."
    sure = "Sure" if is_first(found, first, resampling.tested_level) else "Not sure"
    yield f"{sure} that {first} adds the most."


def _of_100(share: float) -> str:
    return "undefined" if math.isnan(share) else fixed(1)(100 * share).replace("-", MINUS)
