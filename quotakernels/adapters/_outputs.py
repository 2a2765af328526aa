"""The arguments of `update` among the named outputs of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["OutputNames"]


class OutputNames(NamedTuple):
    """What the outputs that a state needs are called; the last two may be absent, or None."""

    labels: str
    scores: str
    sample_weight: str
    where: str

    def updated(self, state: Any, outputs: Mapping[str, Any]) -> Any:
        """The state after one more batch, out of all that a model and its step have put out."""
        for name in (self.labels, self.scores):
            if name not in outputs:
                raise TypeError(
                    f"expected a keyword argument {name!r}; got {', '.join(outputs) or 'none'}"
                )
        return state.update(
            outputs[self.labels],
            outputs[self.scores],
            sample_weight=outputs.get(self.sample_weight),
            where=outputs.get(self.where),
        )
