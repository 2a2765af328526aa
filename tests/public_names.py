"""Every public name of the package, wherever it is: at the top or in a family."""

from __future__ import annotations

from typing import Any

import quotakernels as qk

OF_MEASURES = (qk.tables, qk.charts, qk.groups, qk.budgets, qk.retrieval, qk.points, qk.uplift)
OF_MEASURES += (qk.decisions, qk.screening)
FAMILIES = (*OF_MEASURES, qk.inference, qk.states, qk.results)
PUBLIC: dict[str, Any] = {
    name: getattr(module, name) for module in (qk, *FAMILIES) for name in module.__all__
}
PATHS = {
    name: f"{module.__name__}.{name}" for module in (*FAMILIES[::-1], qk) for name in module.__all__
}
"""The dotted name by which the documents call it: the top first."""
MEASURES: dict[str, Any] = {
    name: x for name, x in PUBLIC.items() if hasattr(x, "greater_is_better")
}
"""What says whether more of it is better."""
