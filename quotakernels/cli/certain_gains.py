"""How sure it is what selecting brings: the rows are drawn again and again, in the user's unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quotakernels.cli.certainty import Certainty, Ends, Resampled
from quotakernels.cli.gains import Gains, digits, money
from quotakernels.cli.measures import Measure
from quotakernels.cli.quota import Quota, QuotaArgument

__all__ = ["BroughtEnds", "brought_ends"]

Floats = NDArray[np.float64]
_CHOSEN = (
    Measure("threshold", "score\nfrom", end_form=digits),
    Measure("quota", "quota", end_form=digits),
    Measure("expected", "brings on\nother rows", end_form=money),
)
_FIXED = (Measure("brings", "brings", end_form=money),)
_ROUNDING = 1e-12


@dataclass(frozen=True)
class BroughtEnds:
    """Intervals of the best cuts and of what they and the quotas bring.

    `expected` is what each model's best cut will bring on other rows; None if it was not chosen on
    these. `drawn` has what each quota brings by the models (columns) on the resamples (rows), which
    are the same for all models.
    """

    at_best_cut: Ends
    at_quota: dict[Quota, Ends]
    expected: Floats | None
    drawn: dict[Quota, Floats]

    def difference(self, quota: Quota, model: int, other: int, level: float) -> tuple[float, float]:
        """The interval of how much more a model brings than another."""
        values = self.drawn[quota][:, model] - self.drawn[quota][:, other]
        ends = _ends(_FIXED, level, values[None, :, None])
        return float(ends.lower[0, 0]), float(ends.upper[0, 0])


class _Model:
    """A model's rows, best first, and what its cuts bring by the mass of each row."""

    def __init__(self, scores: NDArray[np.generic], gains: Gains):
        self.order = np.argsort(scores, kind="stable")[::-1]
        falling = scores[self.order]
        self.ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
        self.thresholds = np.append(np.nan, falling[self.ends].astype(np.float64))
        self.gains = gains
        self.more = (gains.selected - gains.rejected)[self.order]

    def cuts(self, mass: Floats) -> tuple[Floats, Floats]:
        """The quota of each cut, from the empty one on, and what all rows bring then."""
        falling = mass[self.order]
        quota, more = np.cumsum(falling)[self.ends], np.cumsum(falling * self.more)[self.ends]
        nobody = float(np.sum(self.gains.rejected * mass))
        return np.append(0.0, quota), nobody + np.append(0.0, more)

    def place(self, threshold: float) -> int:
        """The cut that selects the scores from a threshold on, none from NaN."""
        return int(np.count_nonzero(self.thresholds >= threshold))


def brought_ends(
    data: Resampled, certainty: Certainty, gains: Gains, thresholds: list[float] | None
) -> BroughtEnds:
    """The intervals of all models; of cuts that were chosen elsewhere, if thresholds are given."""
    models = [_Model(data.examples(name)["y_score"], gains) for name in data.scores]
    ones = np.ones(len(gains.selected)) if gains.weights is None else gains.weights
    whole = [model.cuts(ones)[1] for model in models]
    fixed = [None] * len(models) if thresholds is None else map(_Model.place, models, thresholds)
    places = list(fixed)
    cuts: list[list[Floats]] = []
    at_quota: dict[Quota, list[list[float]]] = {quota: [] for quota in data.quotas}
    rng = np.random.default_rng(certainty.seed)
    data.on_step("resampling what they bring")
    for number in range(certainty.resamples):
        drawn = rng.integers(0, ones.size, ones.size)
        mass = ones * np.bincount(drawn, minlength=ones.size)
        found = [model.cuts(mass) for model in models]
        cuts.append(list(map(_cut, models, found, whole, places)))
        for quota, argument in data.quotas.items():
            at_quota[quota].append([_at(argument, *each) for each in found])
        data.tell(number + 1, certainty.resamples)
    level = certainty.tested_level
    ends = {quota: _ends(_FIXED, level, np.asarray([x])) for quota, x in at_quota.items()}
    kept = {quota: np.asarray(x) for quota, x in at_quota.items()}
    drawn_cuts = np.moveaxis(np.asarray(cuts), -1, 0)
    if thresholds is not None:
        return BroughtEnds(_ends(_FIXED, level, drawn_cuts), ends, None, kept)
    chosen = _ends(_CHOSEN, level, drawn_cuts)
    return BroughtEnds(chosen, ends, drawn_cuts[2].mean(axis=0), kept)


def _cut(model: _Model, found: tuple[Floats, Floats], whole: Floats, place: int | None) -> Floats:
    """What a fixed cut brings; or the best one, and what to expect of the one of all rows.

    That is less than it brings by as much as the resample's best brings more on the resample.
    """
    quotas, totals = found
    if place is not None:
        return totals[[place]]
    best = int(np.argmax(totals))
    expected = np.max(whole) - (totals[best] - whole[best])
    return np.asarray([model.thresholds[best], quotas[best], expected])


def _at(argument: QuotaArgument, quotas: Floats, totals: Floats) -> float:
    """What a quota brings, part of a tie group in proportion; NaN of more than there is."""
    whole = float(quotas[-1])
    places = argument["quota"] if "quota" in argument else argument["fraction"] * whole
    if places > whole * (1 + _ROUNDING):
        return np.nan
    return float(np.interp(places, quotas, totals))


def _ends(measures: tuple[Measure, ...], level: float, values: Floats) -> Ends:
    """Percentiles of values of shape (measures, resamples, models), of those that are defined."""
    tail = (1 - level) / 2
    ends = np.full((2, values.shape[2], values.shape[0]), np.nan)
    for k, m in np.ndindex(values.shape[0], values.shape[2]):
        there = values[k, :, m][~np.isnan(values[k, :, m])]
        if there.size:
            ends[:, m, k] = np.quantile(there, [tail, 1 - tail])
    return Ends(measures, ends[0], ends[1], np.isnan(values).sum(axis=1).T)
