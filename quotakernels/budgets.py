"""The cost of a quota, positives and gains per unit of cost, and the curve of budgets."""

from quotakernels.measures.public import (
    budget_curve as budget_curve,
    cost_at_quota as cost_at_quota,
    gain_per_cost as gain_per_cost,
    positives_per_cost as positives_per_cost,
    value_found as value_found,
)

__all__ = [name for name in dir() if not name.startswith("_")]
