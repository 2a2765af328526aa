"""Which measures `evaluate` computes, and how each is shown.

One line here adds a field of `qk.summary` to OVER_ALL, a function of a ranking to AREAS, or one of
a quota to AT_QUOTA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import quotakernels as qk
from quotakernels.cli.quota import QuotaArgument

__all__ = ["AREAS", "AT_QUOTA", "OVER_ALL", "Measure", "areas", "at_quota", "over_all"]


@dataclass(frozen=True)
class Measure:
    """A measure by the library's name for it, which is also JSON's, and how tables show it."""

    name: str
    heading: str = ""  # broken to keep its column narrow; without one, only JSON has the measure
    smaller_is_better: bool = False
    compared: bool = True  # whether the best of it is marked
    resampled: bool = True  # whether resamples of the rows tell how sure it is
    form: Callable[[float], str] = "{:z.4f}".format
    end_form: Callable[[float], str] = "{:z.3f}".format  # of the ends of an interval


OVER_ALL = (
    Measure("roc_auc", "AUC"),
    Measure("gini", "Gini\n= PEM"),
    Measure("pem"),
    Measure("average_hit_rate", "average\nhit rate"),
    Measure("average_qrecall", "average\nQrecall"),
    Measure("s1", "S1"),
    Measure("s2", "S2", smaller_is_better=True),
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
    Measure("pearson", "Pearson"),
)


def over_all(ranking: qk.Ranking) -> list[float]:
    """Return the measures OVER_ALL of a ranking, NaN where undefined."""
    summary = qk.summary(ranking)
    return [float(getattr(summary, measure.name)) for measure in OVER_ALL]


def areas(ranking: qk.Ranking) -> list[float]:
    """Return the measures AREAS of a ranking, NaN where undefined."""
    return [float(getattr(qk, measure.name)(ranking)) for measure in AREAS]


def at_quota(ranking: qk.Ranking, quota: QuotaArgument) -> list[float]:
    """Return the measures AT_QUOTA of a ranking, NaN where undefined."""
    return [float(getattr(qk, measure.name)(ranking, **quota)) for measure in AT_QUOTA]
