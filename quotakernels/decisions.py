"""Decisions: net benefit and decision curves, cost and Brier curves, and expected profits."""

from quotakernels.measures.public import (
    brier_curve as brier_curve,
    cost_curve as cost_curve,
    decision_curve as decision_curve,
    emp_churn as emp_churn,
    emp_credit as emp_credit,
    net_benefit as net_benefit,
    net_interventions_avoided as net_interventions_avoided,
    standardized_net_benefit as standardized_net_benefit,
)

__all__ = [name for name in dir() if not name.startswith("_")]
