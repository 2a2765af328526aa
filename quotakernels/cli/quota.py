"""Quotas as they are written on the command line: `200` or `5%`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

import click

from quotakernels._text import plain
from quotakernels.cli.errors import InputError

__all__ = ["Quota", "QuotaArgument", "parse_quota"]

# A sum of weights may fall short of the number that it stands for by as much, relatively.
_ROUNDING = 1e-12


class QuotaArgument(TypedDict, total=False):
    """The keyword argument that states a quota to the library."""

    quota: float
    fraction: float


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

    def check(self, total: float, what: str, *, of_rows: bool = True) -> None:
        """Refuse a quota of more than `total`, which `what` describes, or of less than one row."""
        if of_rows and not self.percent and 0 < self.amount < 1:
            share = f"; for a share write {plain(100 * self.amount)}%"
            raise InputError(f"--quota {self} is less than one row{share}")
        if not self.percent and self.amount > total * (1 + _ROUNDING):
            raise InputError(f"--quota {self} is more than {what}")


def parse_quota(text: str) -> Quota:
    """Read `200` as a number of places and `5%` as a percentage."""
    text = text.strip()
    percent = text.endswith("%")
    try:
        amount = float(text.removesuffix("%"))
    except ValueError:
        amount = math.nan
    if percent and not 0 < amount <= 100:
        raise click.BadParameter(f"{text!r} is not a percentage above 0 and up to 100.")
    if not percent and not 0 <= amount < math.inf:
        raise click.BadParameter(f"{text!r} is neither a number of places nor a percentage.")
    return Quota(amount, percent)
