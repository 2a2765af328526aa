"""Quotas as they are asked for: places, a percentage of all examples, or a budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import number, plain

# A sum of weights may fall short of the number that it stands for by as much, relatively.
_ROUNDING = 1e-12


class UnfitError(ValueError):
    """What is asked for does not fit the data."""


QuotaArgument: TypeAlias = dict[str, Any]
"""The keyword argument, `quota`, `fraction` or `budget`, that states a quota to the library."""


@dataclass(frozen=True)
class Quota:
    """A number of places, a percentage of all examples, or a budget for what these cost.

    Attributes
    ----------
    amount : float
        How much of the unit.
    unit : {"places", "percent", "budget"}
        What it is counted in.  A budget may pay for a different number of places for each model.
    whole : bool
        Whether it is rounded down to whole places.
    """

    amount: float
    unit: Literal["places", "percent", "budget"] = "places"
    whole: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return plain(self.amount) + ("%" if self.percent else "")

    @property
    def percent(self) -> bool:
        """Whether it is a percentage of all examples."""
        return self.unit == "percent"

    @property
    def is_budget(self) -> bool:
        """Whether it is counted in what examples cost."""
        return self.unit == "budget"

    @property
    def named(self) -> str:
        """What it is and how much, in words."""
        return f"budget {number(self.amount)}" if self.is_budget else f"quota {self}"

    def argument(self, total: float) -> QuotaArgument:
        """The quota of a total, for a budget the cost of all, as an argument of the library's."""
        if self.percent and not self.whole:
            return {"fraction": self.amount / 100}
        return {"budget" if self.is_budget else "quota": self.places(total)}

    def places(self, total: float) -> float:
        """Return how many of `total` the quota is; of a budget, how much of the cost of all."""
        places = self.whole_places if self.whole else self.of_each
        return float(places(np.asarray(total)))

    def of_each(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many of each total the quota is, of each group for example."""
        wanted = self.amount * totals / 100 if self.percent else np.minimum(self.amount, totals)
        return np.asarray(wanted, dtype=np.float64)

    def whole_places(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many whole places that is of each total, rounded down."""
        return np.floor(self.of_each(totals) * (1 + _ROUNDING))

    def check(self, total: float, what: str, *, of_rows: bool, command: bool) -> None:
        """Refuse a quota of more than `total`, which `what` describes, or of less than one row."""
        name = "budget" if self.is_budget else "quota"
        said = f"--{name} {self}" if command else f"{name}={self}"
        if of_rows and self.unit == "places" and 0 < self.amount < 1:
            share = f"{plain(100 * self.amount)}%" if command else f"fraction={self}"
            raise UnfitError(f"{said} is less than one row; for a share write {share}")
        if not self.percent and self.amount > total * (1 + _ROUNDING):
            raise UnfitError(f"{said} is more than {what}")
