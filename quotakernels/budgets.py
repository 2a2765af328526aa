"""The cost of a quota, positives and gains per unit of cost, and the curve of budgets."""

from quotakernels.measures.public import (
    budget_curve,
    cost_at_quota,
    gain_per_cost,
    positives_per_cost,
)

__all__ = ["budget_curve", "cost_at_quota", "gain_per_cost", "positives_per_cost"]
