"""Which measures `evaluate` computes, and how each is shown.

One line here adds a field of `qk.summary` to OVER_ALL, a function of a ranking to AREAS, or one of
a quota to AT_QUOTA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import quotakernels as qk
from quotakernels._text import fixed
from quotakernels.cli.quota import QuotaArgument

__all__ = ["AREAS", "AT_QUOTA", "OVER_ALL", "Measure", "areas", "at_quota", "over_all"]

_FOUR, _THREE = fixed(4), fixed(3)


@dataclass(frozen=True)
class Measure:
    """A measure by the library's name for it, which is also JSON's, and how tables show it."""

    name: str
    heading: str = ""  # broken to keep its column narrow; without one, only JSON has the measure
    greater_is_better: bool = True  # of what is no measure of the library; others know it
    compared: bool = True  # whether the best of it is marked
    resampled: bool = True  # whether resamples of the rows tell how sure it is
    form: Callable[[float], str] = _FOUR
    end_form: Callable[[float], str] = _THREE  # of the ends of an interval
    with_options: Callable[..., Any] | None = None  # the function, where it has options

    @property
    def function(self) -> Callable[..., Any]:
        """The function of a ranking."""
        found: Callable[..., Any] = self.with_options or getattr(qk, self.name)
        return found

    @property
    def less_is_better(self) -> bool:
        """Whether of two models the one with the lower value is the better one."""
        own = getattr(getattr(qk, self.name, None), "greater_is_better", None)
        return not (self.greater_is_better if own is None else own)


# With expected labels the fewest distinct scores would be the best.
_PEARSON = qk.pearson.with_options(labels="observed")

OVER_ALL = (
    Measure("roc_auc", "AUC"),
    Measure("gini", "Gini\n= PEM"),
    Measure("pem"),
    Measure("average_hit_rate", "average\nhit rate"),
    Measure("average_qrecall", "average\nQrecall"),
    Measure("s1", "S1"),
    Measure("s2", "S2", greater_is_better=False),
    Measure("s3"),
)
AREAS = (
    Measure("roc_hull_auc", "hull\nAUC", resampled=False),
    Measure("pr_auc", "AUC-PR"),
    Measure("achievable_pr_auc", "achievable\nAUC-PR", resampled=False),
    Measure("average_precision", "average\nprecision"),
)
AT_QUOTA = (
    Measure("hit_rate", "hit rate"),
    Measure("qrecall", "Qrecall"),
    Measure("lift", "lift"),
    Measure(_PEARSON.__name__, "Pearson", with_options=_PEARSON),
)


def over_all(ranking: qk.Ranking) -> list[float]:
    """Return the measures OVER_ALL of a ranking, NaN where undefined."""
    summary = qk.summary(ranking)
    return [float(getattr(summary, measure.name)) for measure in OVER_ALL]


def areas(ranking: qk.Ranking) -> list[float]:
    """Return the measures AREAS of a ranking, NaN where undefined."""
    return [float(measure.function(ranking)) for measure in AREAS]


def at_quota(ranking: qk.Ranking, quota: QuotaArgument) -> list[float]:
    """Return the measures AT_QUOTA of a ranking, NaN where undefined."""
    return [float(measure.function(ranking, **quota)) for measure in AT_QUOTA]
