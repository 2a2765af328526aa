"""An evaluation as Python has it: numbers, sentences, tables and the page."""

from __future__ import annotations

from typing import Any

from quotakernels.evaluation.export import as_dict, as_json
from quotakernels.evaluation.results import Results

__all__ = ["Evaluation"]


class Evaluation(Results):
    """Models evaluated on the same rows: every measure, and what to do in words."""

    def to_dict(self) -> dict[str, Any]:
        """Everything in one record of plain values, None where undefined."""
        return as_dict(self)

    def to_json(self) -> str:
        """The same as JSON."""
        return as_json(self.to_dict())
