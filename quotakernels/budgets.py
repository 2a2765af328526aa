"""What a quota costs, and what a unit of cost finds or brings; the curve of budgets."""

from quotakernels.measures.at_quota.budgets import (
    budget_curve,
    cost_at_quota,
    gain_per_cost,
    positives_per_cost,
)

__all__ = ["budget_curve", "cost_at_quota", "gain_per_cost", "positives_per_cost"]
