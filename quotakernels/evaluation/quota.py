"""Quotas as they are asked for: places, or a percentage of all examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import plain

# A sum of weights may fall short of the number that it stands for by as much, relatively.
_ROUNDING = 1e-12


class UnfitError(ValueError):
    """What is asked for does not fit the data."""


QuotaArgument: TypeAlias = dict[str, Any]
"""The keyword argument, `quota` or `fraction`, that states a quota to the library."""


@dataclass(frozen=True)
class Quota:
    """A number of places, or a percentage of all examples."""

    amount: float
    percent: bool

    def __str__(self) -> str:
        return plain(self.amount) + ("%" if self.percent else "")

    def argument(self, total: float) -> QuotaArgument:
        """The quota as a keyword argument of the library's functions."""
        return {"fraction": self.amount / 100} if self.percent else {"quota": self.places(total)}

    def places(self, total: float) -> float:
        """Return how many of `total` the quota is."""
        return self.amount * total / 100 if self.percent else min(self.amount, total)

    def of_each(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many of each total the quota is, of each group for example."""
        wanted = self.amount * totals / 100 if self.percent else np.minimum(self.amount, totals)
        return np.asarray(wanted, dtype=np.float64)

    def whole_places(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many whole places that is of each total, rounded down."""
        return np.floor(self.of_each(totals) * (1 + _ROUNDING))

    def check(self, total: float, what: str, *, of_rows: bool, command: bool) -> None:
        """Refuse a quota of more than `total`, which `what` describes, or of less than one row."""
        said = f"--quota {self}" if command else f"quota={self}"
        if of_rows and not self.percent and 0 < self.amount < 1:
            share = f"{plain(100 * self.amount)}%" if command else f"fraction={self}"
            raise UnfitError(f"{said} is less than one row; for a share write {share}")
        if not self.percent and self.amount > total * (1 + _ROUNDING):
            raise UnfitError(f"{said} is more than {what}")
