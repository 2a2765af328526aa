"""What is seen in one data set: an interval and the truth that it should hold, or a p-value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

LEVEL = 0.95
SLACK = 1e-9
"""The population is in cells."""


class Seen(NamedTuple):
    """An interval, or a band that should hold the truth everywhere; `how` it was made."""

    what: str
    how: str
    lower: Any
    upper: Any
    truth: Any

    def numbers(self) -> dict[str, float]:
        """Whether it is there, lies too high, or too low; its width, and the truth."""
        lower, upper, truth = (np.asarray(x, dtype=float) for x in self[2:])
        if np.isnan(lower + upper).any():
            return {"number": 0, "above": 0, "below": 0, "width": 0.0, "truth": 0.0}
        above, below = bool(np.any(lower > truth + SLACK)), bool(np.any(upper < truth - SLACK))
        return {
            "number": 1,
            "above": int(above),
            "below": int(below and not above),
            "width": float(np.mean(upper - lower)),
            "truth": float(np.mean(truth)),
        }


class Tested(NamedTuple):
    """The p-value of a test of what is true."""

    what: str
    how: str
    p_value: Any

    def numbers(self) -> dict[str, float]:
        """Whether it is there, and whether it rejects."""
        p_value = float(self.p_value)
        return {"number": int(p_value == p_value), "rejected": int(p_value <= 1 - LEVEL + SLACK)}


class Verdict(NamedTuple):
    """Whether something was said that is true, or is not."""

    what: str
    how: str
    said: bool

    def numbers(self) -> dict[str, float]:
        """Whether it was said."""
        return {"number": 1, "said": int(self.said)}


class Shown(NamedTuple):
    """A number that was shown in the place of a truth."""

    what: str
    how: str
    value: float
    truth: float

    def numbers(self) -> dict[str, float]:
        """By how much it is too high."""
        return {"number": 1, "more": self.value - self.truth}


Sights = Iterable[Seen | Tested | Verdict | Shown]


def summed(found: dict[tuple[str, str], dict[str, float]], sights: Sights) -> None:
    """Add what was seen in one data set."""
    for each in sights:
        total = found.setdefault((each.what, each.how), {})
        for name, x in each.numbers().items():
            total[name] = total.get(name, 0) + x


def rows(found: dict[tuple[str, str], dict[str, float]]) -> list[dict[str, Any]]:
    """Numbers of intervals, and the means of widths and truths."""
    listed: list[dict[str, Any]] = []
    for (what, how), total in found.items():
        means: dict[str, Any] = {
            name: float(f"{total[name] / max(total['number'], 1):.4g}")
            for name in ("width", "truth", "more")
            if name in total
        }
        listed.append({"what": what, "how": how, **total, **means})
    return listed
