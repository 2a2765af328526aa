"""Which measures an evaluation computes, and how each is shown.

One line here adds a field of `summary` to OVER_ALL, a function of a ranking to AREAS, one of a
quota to AT_QUOTA, or one of a budget to AT_BUDGET.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quotakernels._text import digits, fixed, money, number
from quotakernels.evaluation.quota import Quota
from quotakernels.measures.at_quota.budgets import positives_per_cost
from quotakernels.measures.at_quota.hit_rate import hit_rate, lift, qrecall
from quotakernels.measures.at_quota.pearson import pearson
from quotakernels.measures.roc_pr.hull import achievable_pr_auc, roc_hull_auc
from quotakernels.measures.roc_pr.precision_recall import average_precision, pr_auc
from quotakernels.measures.tables.confusion import confusion_table
from quotakernels.measures.uplift import uplift_at_quota
from quotakernels.ranking import Ranking

_FOUR, _THREE = fixed(4), fixed(3)


@dataclass(frozen=True)
class Column:
    """A measure by the library's name for it, which is also JSON's, and how tables show it."""

    name: str
    heading: str = ""  # broken to keep its column narrow; without one, only JSON has the measure
    function: Any = None  # of a ranking
    greater_is_better: bool = True  # of what is no measure of the library; others know it
    compared: bool = True  # whether the best of it is marked
    resampled: bool = True  # whether resamples of the rows tell how sure it is
    form: Callable[[float], str] = _FOUR
    end_form: Callable[[float], str] = _THREE  # of the ends of an interval

    def __repr__(self) -> str:
        return f"<column {self.name}>"

    @property
    def less_is_better(self) -> bool:
        """Whether of two models the one with the lower value is the better one."""
        return not getattr(self.function, "greater_is_better", self.greater_is_better)

    @property
    def title(self) -> str:
        """The heading in a line."""
        return self.heading.replace("\n", " ")

    def text(self, value: float) -> str:
        """A value as tables show it."""
        return undefined_or(self.form, value)

    def value(self, ranking: Ranking, **quota: Any) -> float:
        """The measure of a ranking."""
        return float(self.function(ranking, **quota))


def undefined_or(form: Callable[[float], str], value: float) -> str:
    """A value in a form, if it has one."""
    return "undefined" if math.isnan(value) else form(value)


# With expected labels the fewest distinct scores would be the best.
_PEARSON = pearson.with_options(labels="observed")

OVER_ALL = (
    Column("roc_auc", "AUC"),
    Column("gini", "Gini\n= PEM"),
    Column("pem"),
    Column("average_hit_rate", "average\nhit rate"),
    Column("average_qrecall", "average\nQrecall"),
    Column("s1", "S1"),
    Column("s2", "S2", greater_is_better=False),
    Column("s3"),
)
AREAS = (
    Column("roc_hull_auc", "hull\nAUC", roc_hull_auc, resampled=False),
    Column("pr_auc", "AUC-PR", pr_auc),
    Column("achievable_pr_auc", "achievable\nAUC-PR", achievable_pr_auc, resampled=False),
    Column("average_precision", "average\nprecision", average_precision),
)
AT_QUOTA = (
    Column("hit_rate", "hit rate", hit_rate),
    Column("qrecall", "Qrecall", qrecall),
    Column("lift", "lift", lift),
    Column(_PEARSON.__name__, "Pearson", _PEARSON),
)

BRINGS = Column("brings", "brings", form=money, end_form=money)


def places(ranking: Ranking, **cut: Any) -> Any:
    """How many examples, or how much weight, are selected."""
    selected = confusion_table(ranking, **cut)
    return selected.tp + selected.fp


AT_BUDGET = (
    Column("places", "places", places, form=number, compared=False, resampled=False),
    *AT_QUOTA[:2],
    Column(
        positives_per_cost.__name__,
        "positives\nper cost",
        positives_per_cost,
        form=digits,
        end_form=digits,
    ),
)


UPLIFT = Column("uplift_at_quota", "uplift", uplift_at_quota)


def measures_at(quota: Quota, treated: bool = False) -> tuple[Column, ...]:
    """The measures that there are at a quota or a budget, with a treatment uplift too."""
    found = AT_BUDGET if quota.is_budget else AT_QUOTA
    return (*found, UPLIFT) if treated else found
