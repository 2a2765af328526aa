"""What a selection brings is counted in: the gains of rows, or impacts of the four cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from quotakernels._text import formatted, plain
from quotakernels.evaluation.quota import UnfitError
from quotakernels.evaluation.words import named_option
from quotakernels.measures.tables.cells import ConfusionTable


@dataclass(frozen=True)
class Unit:
    """Where the gains come from: a column and what a place costs, or impacts less that.

    Of impacts also the user's class ratio, if it is not that of the rows.
    """

    column: str | None = None
    place_cost: float = 0.0
    impacts: tuple[float, ...] | None = None
    ratio: float | None = None

    @classmethod
    def asked(
        cls,
        command: bool,
        gain: str | None,
        place_cost: float | None,
        impacts: tuple[float, ...] | None,
        tune: Any,
        ratio: float | None = None,
        prevalence: float | None = None,
    ) -> Unit | None:
        """The unit that is asked for; None if nothing is to be counted."""
        ratio = _ratio(command, impacts, ratio, prevalence)
        names = ("gain", "impact", "place-cost", "tune")
        of_gain, of_impacts, of_cost, of_tune = (named_option(x, command) for x in names)
        if gain is not None and impacts is not None:
            raise UnfitError(f"{of_gain} and {of_impacts} are two ways to say the same; give one")
        either = f"{of_gain} or {of_impacts}"
        unpaid = gain is None and impacts is None
        if place_cost is not None and (unpaid or not math.isfinite(place_cost)):
            raise UnfitError(f"{of_cost} must be a finite number, and needs {either}")
        if unpaid:
            if tune is not None:
                raise UnfitError(f"{of_tune} goes with {either}")
            return None
        if impacts is None:
            return cls(gain, place_cost or 0.0)
        tp, fp, fn, tn = impacts
        paid = place_cost or 0.0
        return cls(impacts=(tp - paid, fp - paid, fn, tn), ratio=ratio)

    def tuned(self, total: float, positive: float) -> tuple[float, ...] | None:
        """The impacts, times what the class of their cell counts more than in rows of these masses.

        What rows bring by them in all is n·ι_I of the tuned table, linear in its cells.
        """
        if self.ratio is None or self.impacts is None:
            return self.impacts
        if not 0 < positive < total:
            lacking = "positive" if positive <= 0 else "negative"
            raise UnfitError(f"a class ratio needs both classes; there is no {lacking} row")
        of_positive = self.ratio / (1 + self.ratio) * (total / positive)
        of_negative = 1 / (1 + self.ratio) * (total / (total - positive))
        tp, fp, fn, tn = self.impacts
        return of_positive * tp, of_negative * fp, of_positive * fn, of_negative * tn

    @property
    def tuned_to(self) -> str:
        """Of which class ratio the impacts are, if it is not that of the rows."""
        ratio = formatted(self.ratio or 0, ".4g")
        positives = "positive" if ratio == "1" else "positives"
        return f"{ratio} {positives} to one negative" if self.ratio else ""

    def __str__(self) -> str:
        if self.impacts is not None:
            named = zip(ConfusionTable._fields, self.impacts, strict=True)
            cells = ", ".join(f"{cell} {plain(impact)}" for cell, impact in named)
            return f"{cells}, of {self.tuned_to}" if self.ratio else cells
        cost = f" - {plain(self.place_cost)} for each place" if self.place_cost else ""
        return f"{self.column}{cost}"


def _ratio(
    command: bool, impacts: Any, ratio: float | None, prevalence: float | None
) -> float | None:
    """The user's class ratio, however it is said."""
    of_ratio, of_prevalence = (named_option(x, command) for x in ("ratio", "prevalence"))
    if ratio is None and prevalence is None:
        return None
    if impacts is None:
        name = of_prevalence if ratio is None else of_ratio
        raise UnfitError(f"{name} goes with {named_option('impact', command)}")
    if prevalence is None:
        if not 0 < (ratio or 0) < math.inf:
            raise UnfitError(f"{of_ratio} must be a finite number above 0; got {ratio}")
        return ratio
    if ratio is not None:
        raise UnfitError(f"{of_ratio} and {of_prevalence} are two ways to say the same; give one")
    if not 0 < prevalence < 1:
        raise UnfitError(f"{of_prevalence} must be above 0 and below 1; got {prevalence}")
    return prevalence / (1 - prevalence)
