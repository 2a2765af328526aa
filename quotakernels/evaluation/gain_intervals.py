"""How sure it is what selecting brings: the rows are drawn again and again, in the user's unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import digits, money, number
from quotakernels.evaluation.gains import RowGains
from quotakernels.evaluation.intervals import Limits, Resampled
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import Quota, QuotaArgument
from quotakernels.evaluation.settings import Resampling

__all__ = ["TOTAL_AT_QUOTA", "GainDifference", "GainIntervals", "gain_intervals"]

Floats = NDArray[np.float64]
_CHOSEN = (
    Column("threshold", "score\nfrom", end_form=digits),
    Column("quota", "quota", end_form=number),
    Column("expected", "brings on\nother rows", end_form=money),
)
TOTAL_AT_QUOTA = (Column("brings", "brings", end_form=money),)
_ROUNDING = 1e-12


class GainDifference(NamedTuple):
    """How much more a model brings than another: both ends, and p of the test of no difference."""

    lower: float
    upper: float
    p_value: float


@dataclass(frozen=True)
class GainIntervals:
    """Intervals of the best cuts and of what they and the quotas bring.

    `expected` is what each model's best cut will bring on other rows, and `expected_within` that
    of each quota's best use of its places or of fewer; None if they were not chosen on these rows.
    `drawn` has what each quota brings by the models (columns) on the resamples (rows), which are
    the same for all models, and under None what the best cuts do.
    """

    at_best_cut: Limits
    at_quota: dict[Quota, Limits]
    expected: Floats | None
    expected_within: dict[Quota, Floats] | None
    drawn: dict[Quota | None, Floats]

    def difference(
        self, quota: Quota | None, model: int, other: int, level: float
    ) -> GainDifference:
        """The interval of how much more a model brings than another, and how sure that is."""
        both = self.drawn[quota][:, [model, other]]
        both = both[~np.isnan(both).any(axis=1)]
        values = both[:, 0] - both[:, 1]
        values[np.abs(values) <= _ROUNDING * np.abs(both).max(axis=1, initial=0.0)] = 0.0
        ends = _ends(TOTAL_AT_QUOTA, level, values[None, :, None])
        against = min(np.count_nonzero(values <= 0), np.count_nonzero(values >= 0))
        p_value = min(1.0, 2 * (1 + against) / (1 + values.size))
        return GainDifference(float(ends.lower[0, 0]), float(ends.upper[0, 0]), p_value)


class _Model:
    """A model's rows, best first, and what its cuts bring by the mass of each row."""

    def __init__(self, scores: NDArray[np.generic], gains: RowGains):
        self.order = np.argsort(scores, kind="stable")[::-1]
        falling = scores[self.order]
        self.ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
        self.thresholds = np.append(np.nan, falling[self.ends].astype(np.float64))
        self.gains = gains
        self.more = (gains.selected - gains.rejected)[self.order]
        self.same = {0: _all_equal(gains.rejected), len(self.ends): _all_equal(gains.selected)}

    def cuts(self, mass: Floats) -> tuple[Floats, Floats]:
        """The quota of each cut, from the empty one on, and what all rows bring then."""
        falling = mass[self.order]
        quota, more = np.cumsum(falling)[self.ends], np.cumsum(falling * self.more)[self.ends]
        nobody = float(np.sum(self.gains.rejected * mass))
        return np.append(0.0, quota), nobody + np.append(0.0, more)

    def place(self, threshold: float) -> int:
        """The cut that selects the scores from a threshold on, none from NaN."""
        return int(np.count_nonzero(self.thresholds >= threshold))

    def expected(self, best: int, totals: Floats, whole: Floats, there: int) -> float:
        """What to expect of the best cut of all rows, of the first so many that bring `whole`.

        That is less than it brings by as much as the resample's best brings more on the resample.
        To select nobody, or all, may bring the same on any rows.
        """
        fits = whole[:there]
        rounding = _ROUNDING * np.abs(whole).max()
        if self.same.get(int(np.argmax(fits >= fits.max() - rounding)), False):
            return float(fits.max())
        return float(fits.max() - (totals[best] - whole[best]))


def _all_equal(amounts: Floats) -> bool:
    return bool(np.all(amounts == amounts[0])) if amounts.size else True


def gain_intervals(
    data: Resampled, resampling: Resampling, gains: RowGains, thresholds: list[float] | None
) -> GainIntervals:
    """The intervals of all models; of cuts that were chosen elsewhere, if thresholds are given."""
    models = [_Model(data.examples(name)["y_score"], gains) for name in data.scores]
    ones = np.ones(len(gains.selected)) if gains.weights is None else gains.weights
    whole = [model.cuts(ones) for model in models]
    fixed = [None] * len(models) if thresholds is None else map(_Model.place, models, thresholds)
    places = list(fixed)
    cuts: list[list[Floats]] = []
    at_quota: dict[Quota, list[list[Floats]]] = {quota: [] for quota in data.quotas}
    rng = np.random.default_rng(resampling.seed)
    data.on_step("resampling what they bring")
    for done in range(resampling.resamples):
        drawn = rng.integers(0, ones.size, ones.size)
        mass = ones * np.bincount(drawn, minlength=ones.size)
        found = [model.cuts(mass) for model in models]
        cuts.append(list(map(_cut, models, found, whole, places)))
        for quota, argument in data.quotas.items():
            at_quota[quota].append(
                [_at(argument, *each) for each in zip(models, found, whole, strict=True)]
            )
        data.tell(done + 1, resampling.resamples)
    kept = {quota: np.moveaxis(np.asarray(x), -1, 0) for quota, x in at_quota.items()}
    return _summed_up(np.moveaxis(np.asarray(cuts), -1, 0), kept, whole, resampling, thresholds)


def _summed_up(
    cuts: Floats,
    at_quota: dict[Quota, Floats],
    whole: list[tuple[Floats, Floats]],
    resampling: Resampling,
    thresholds: list[float] | None,
) -> GainIntervals:
    """The intervals and expectations of what was drawn."""
    level = resampling.tested_level
    ends = {quota: _ends(TOTAL_AT_QUOTA, level, x[:1]) for quota, x in at_quota.items()}
    drawn: dict[Quota | None, Floats] = {quota: x[0] for quota, x in at_quota.items()}
    drawn[None] = cuts[0]
    if thresholds is not None:
        return GainIntervals(_ends(TOTAL_AT_QUOTA, level, cuts), ends, None, None, drawn)
    most = np.asarray([totals.max() for _, totals in whole])
    return GainIntervals(
        _ends(_CHOSEN, level, cuts[1:]),
        ends,
        # chance in the resamples is no reason to expect more than there was
        np.minimum(cuts[3].mean(axis=0), most),
        {quota: _mean(x[1]) for quota, x in at_quota.items()},
        drawn,
    )


def _mean(values: Floats) -> Floats:
    """The means of columns, of what is defined in them."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0.0).sum(axis=0) / there.sum(axis=0))


def _cut(
    model: _Model, found: tuple[Floats, Floats], whole: tuple[Floats, Floats], place: int | None
) -> Floats:
    """What a fixed cut brings; or the best one, and what to expect of the one of all rows."""
    quotas, totals = found
    if place is not None:
        return totals[[place]]
    best = int(np.argmax(totals))
    expected = model.expected(best, totals, whole[1], len(totals))
    return np.asarray([totals[best], model.thresholds[best], quotas[best], expected])


def _at(
    argument: QuotaArgument,
    model: _Model,
    found: tuple[Floats, Floats],
    whole: tuple[Floats, Floats],
) -> Floats:
    """What a quota brings, part of a tie group in proportion; NaN of more than there is.

    And what to expect of the best cut of all rows that does not exceed the quota.
    """
    quotas, totals = found
    places = _places(argument, quotas)
    if places > quotas[-1] * (1 + _ROUNDING):
        return np.asarray([np.nan, np.nan])
    there = int(np.searchsorted(whole[0], _places(argument, whole[0]), side="right"))
    fits = int(np.searchsorted(quotas, places, side="right"))
    best = int(np.argmax(totals[:fits]))
    expected = model.expected(best, totals, whole[1], there)
    return np.asarray([np.interp(places, quotas, totals), expected])


def _places(argument: QuotaArgument, quotas: Floats) -> float:
    """How much a quota selects of the rows that have these cuts."""
    if "quota" in argument:
        return float(argument["quota"])
    return float(argument["fraction"] * quotas[-1])


def _ends(measures: tuple[Column, ...], level: float, values: Floats) -> Limits:
    """Percentiles of values of shape (measures, resamples, models), of those that are defined."""
    tail = (1 - level) / 2
    ends = np.full((2, values.shape[2], values.shape[0]), np.nan)
    for k, m in np.ndindex(values.shape[0], values.shape[2]):
        there = values[k, :, m][~np.isnan(values[k, :, m])]
        if there.size:
            ends[:, m, k] = np.quantile(there, [tail, 1 - tail])
    return Limits(measures, ends[0], ends[1], np.isnan(values).sum(axis=1).T)
