"""What an evaluation found: records of numbers, from which tables and sentences are made, and the
order of the models at a quota.

One line in the first chapter adds a field of `summary` to OVER_ALL, a function of a ranking to
AREAS, one of a quota to AT_QUOTA, or one of a budget to AT_BUDGET.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._records import plainly
from quotakernels._text import counted, digits, fixed, money, number, percent
from quotakernels.budgets import positives_per_cost
from quotakernels.evaluation.settings import SUM_ERROR, Counts, Quota, Settings
from quotakernels.evaluation.words import Size, say, signed
from quotakernels.results import BestBoundary, Comparison
from quotakernels.states._compute import bounds_of
from quotakernels.uplift import uplift_at_quota

# measures, and how each is shown


_FOUR, _THREE = fixed(4), fixed(3)


@dataclass(frozen=True)
class Column:
    """A measure by the library's name for it, which is also JSON's, and how tables show it."""

    name: str
    heading: str = ""  # broken to keep its column narrow; without one, only JSON has the measure
    function: Any = None  # of a ranking
    greater_is_better: bool = True  # of what is no measure of the library; others know it
    compared: bool = True  # whether the best of it is marked
    resampled: bool = True  # whether resamples of the rows tell how sure it is
    form: Callable[[float], str] = _FOUR
    end_form: Callable[[float], str] = _THREE  # of the ends of an interval

    def __repr__(self) -> str:
        return f"<column {self.name}>"

    @property
    def less_is_better(self) -> bool:
        """Whether of two models the one with the lower value is the better one."""
        return not getattr(self.function, "greater_is_better", self.greater_is_better)

    @property
    def title(self) -> str:
        """The heading in a line."""
        return self.heading.replace("\n", " ")


def undefined_or(form: Callable[[float], str], value: float) -> str:
    """A value in a form, if it has one."""
    return "undefined" if math.isnan(value) else form(value)


# With expected labels the fewest distinct scores would be the best.
_PEARSON = qk.pearson.with_options(labels="observed")

OVER_ALL = (
    Column("roc_auc", "AUC", qk.roc_auc),
    Column("gini", "Gini\n= PEM", qk.gini),
    Column("pem", "", qk.pem),
    Column("average_hit_rate", "average\nhit rate", qk.average_hit_rate),
    Column("average_qrecall", "average\nQrecall", qk.average_qrecall),
    Column("s1", "S1"),
    Column("s2", "S2", greater_is_better=False),
    Column("s3"),
)
AREAS = (
    Column("roc_hull_auc", "hull\nAUC", qk.roc_hull_auc, resampled=False),
    Column("pr_auc", "AUC-PR", qk.pr_auc),
    Column("achievable_pr_auc", "achievable\nAUC-PR", qk.achievable_pr_auc, resampled=False),
    Column("average_precision", "average\nprecision", qk.average_precision),
)
AT_QUOTA = (
    Column("hit_rate", "hit rate", qk.hit_rate),
    Column("qrecall", "Qrecall", qk.qrecall),
    Column("lift", "lift", qk.lift),
    Column(_PEARSON.__name__, "Pearson", _PEARSON),
)

BRINGS = Column("brings", "brings", form=money, end_form=money)


def places(ranking: qk.Ranking, **cut: Any) -> Any:
    """How many examples, or how much weight, are selected."""
    selected = qk.confusion_table(ranking, **cut)
    return selected.tp + selected.fp


AT_BUDGET = (
    Column("places", "places", places, form=number, compared=False, resampled=False),
    *AT_QUOTA[:2],
    Column(
        positives_per_cost.__name__,
        "positives\nper cost",
        positives_per_cost,
        form=digits,
        end_form=digits,
    ),
)

BY_CHANCE = Column("p_over_nobody"), Column("p_over_all")
"""P-values of the best cut: that it brings no more than nobody, or all of the quota."""
BROUGHT = (
    BRINGS,
    Column("per_place", "per\nplace", form=money, compared=False),
    Column("best_places"),
    Column("best_places_bring"),
    *BY_CHANCE,
)
AT_BEST_CUT = (
    Column("threshold", "score\nfrom", form=str, end_form=digits, compared=False),
    Column("quota", "quota", form=number, end_form=number, compared=False),
    Column("fraction", "of all", form=percent, compared=False),
    *BROUGHT[:2],
    *BY_CHANCE,
)
EXPECTED = Column("expected", "brings on\nnew data", form=money, end_form=money)
EXPECTED_WITHIN = Column("best_places_expected")
"""Of the best cuts of all, and of those within a quota, where resamples tell it."""

UPLIFT = Column("uplift_at_quota", "uplift", uplift_at_quota)


def measures_at(quota: Quota, treated: bool = False, by_scores: bool = True) -> tuple[Column, ...]:
    """The measures that there are at a quota or a budget, with a treatment uplift too; Pearson
    needs all scores.
    """
    found = AT_BUDGET if quota.is_budget else AT_QUOTA if by_scores else AT_QUOTA[:-1]
    return (*found, UPLIFT) if treated else found


# which model is the best at which quota


@plainly
class Segment(NamedTuple):
    """A range of quotas at which no model finds more positives than these.

    Attributes
    ----------
    start, stop : float
        The first and the last quota.
    models : tuple of int
        The positions of these models.
    """

    start: float
    stop: float
    models: tuple[int, ...]

    @property
    def width(self) -> float:
        """The number of quotas."""
        return self.stop - self.start


def best_by_quota(rankings: Sequence[qk.Ranking]) -> list[Segment]:
    """Return all segments, in order; none for a single model or without both classes."""
    if len(rankings) < 2:
        return []
    regions = qk.compare_curves(rankings, axis="quota")
    columns = (x.tolist() for x in regions)
    segments = [
        Segment(start, stop, tuple(model for model, is_best in enumerate(best) if is_best))
        for start, stop, best in zip(*columns, strict=True)
    ]
    return [segment for segment in segments if segment.models and segment.width > 0]


def dominant(segments: Sequence[Segment]) -> list[int]:
    """Return the models that are the best everywhere."""
    if not segments:
        return []
    return sorted(set.intersection(*(set(segment.models) for segment in segments)))


def best_by_model(segments: Sequence[Segment], models: int) -> list[float]:
    """At which share of all quotas each model is the best, alone or not."""
    end = segments[-1].stop if segments else 1.0
    return [sum(x.width for x in segments if model in x.models) / end for model in range(models)]


def where_best(segments: Sequence[Segment], names: Sequence[str]) -> Iterator[str]:
    """Say which model dominates, or else where each is the best."""
    if not segments:
        return
    winners = dominant(segments)
    if len(winners) == len(names):
        yield say("dominance.all_equal")
        return
    if winners:
        some = "dominance.one" if len(winners) == 1 else "dominance.several"
        yield say(some, models=" and ".join(names[model] for model in winners))
        return
    yield say("dominance.none")
    for name, share in zip(names, best_by_model(segments, len(names)), strict=True):
        yield say("dominance.share", model=name, share=percent(share))


# values


Floats = NDArray[np.float64]
_EQUAL = 1e-9


class Known(NamedTuple):
    """What is known of a value: both ends of its interval, NaN of what has none or is undefined; or
    else the bounds between which it lies, and is then NaN.
    """

    value: float
    lower: float = math.nan
    upper: float = math.nan
    bounded: bool = False

    @property
    def ends(self) -> tuple[float, ...]:
        """Both ends of the interval, if there is one."""
        ends = self[1:3]
        return () if self.bounded or any(map(math.isnan, ends)) else ends


def most(worth: Floats, nothing: Floats | float = 0.0) -> NDArray[np.bool_]:
    """Tell which models, along the first axis, have the most; none where all of them do.

    `nothing` is what may be left of 0 by rounding.
    """
    defined = ~np.isnan(worth)
    top = np.max(worth, axis=0, initial=-np.inf, where=defined)
    marked: NDArray[np.bool_] = np.isclose(worth, top, rtol=SUM_ERROR, atol=nothing)
    marked &= marked.sum(axis=0) < defined.sum(axis=0)
    return marked


class Ends(NamedTuple):
    """Both ends of each interval, and how many resamples leave the measure undefined; or bounds.

    Closed forms also have a function for the lower end of a model at another level.
    """

    lower: Floats
    upper: Floats
    undefined: Any = 0
    at_level: Callable[[int, float], float] | None = None

    @classmethod
    def of(cls, found: Any) -> Ends:
        """The ends of an interval with an axis of models, or of an interval for each of them; NaN
        where all resamples agree, which tells nothing of other rows.

        Closed forms have no resamples that are undefined.
        """
        if hasattr(found, "lower"):
            return cls(found.lower, found.upper, found.undefined).with_width()
        lower, upper = (np.asarray([getattr(x, end) for x in found]) for end in cls._fields[:2])
        ends = cls(lower, upper, np.asarray([getattr(x, "undefined", 0) for x in found]))
        return ends.with_width() if hasattr(found[0], "undefined") else ends

    def with_width(self) -> Ends:
        """The ends, NaN where both are equal."""
        lower, upper = (np.where(self.lower < self.upper, x, np.nan) for x in self[:2])
        return self._replace(lower=lower, upper=upper)


@dataclass(frozen=True)
class Values:
    """One value per model (row) and measure (column), NaN where undefined; in groups there is an
    axis of these between the two.

    Attributes
    ----------
    measures : tuple of columns
        What the measures are; each column has a `name`, that of the library's function.
    array : array, shape (models, measures) or (models, groups, measures)
        The values.
    ends : mapping from name to a named tuple of arrays, shape (models,) or (models, groups)
        The `lower` and `upper` ends of the measures that have intervals, and how many resamples
        leave them `undefined`.
    bounded : bool
        Whether these are bounds instead, as the measures are not known exactly; the values are then
        the lower ones.
    """

    measures: tuple[Column, ...]
    array: Floats
    ends: Mapping[str, Ends] = field(default_factory=dict)
    bounded: bool = False

    def of(self, name: str) -> Floats:
        """Return what each model has of a measure; of groups, in each."""
        column: Floats = self.array[..., [m.name for m in self.measures].index(name)]
        return column

    def known(self, name: str, *place: int) -> Known:
        """What is known of a measure of a model, or of one in a group."""
        value, ends = float(self.of(name)[place]), self.interval(name, *place)
        if self.bounded and ends[0] < ends[1]:
            return Known(math.nan, *ends, bounded=True)
        return Known(value) if self.bounded or math.isnan(value) else Known(value, *ends)

    def of_model(self, model: int) -> dict[str, float]:
        """Return what a model has of each measure; NaN of those of which only bounds are known."""
        return {x.name: self.known(x.name, model).value for x in self.measures}

    def interval(self, name: str, *place: int) -> tuple[float, float]:
        """Both ends of a measure of a model, or of one in a group; NaN if it has no interval."""
        if name not in self.ends:
            return math.nan, math.nan
        lower, upper = self.ends[name][:2]
        return float(lower[place]), float(upper[place])

    def best(self, rows: int) -> NDArray[np.bool_]:
        """Tell which values are the best of their column, of groups in each, unless all of it are,
        or there are bounds of some.
        """
        smaller = np.array([measure.less_is_better for measure in self.measures])
        worth = np.where(smaller, -self.array, self.array)
        # What is best when 0 is a sum over the rows, so that rounding can leave that much of it.
        marked = most(worth, nothing=np.where(smaller, SUM_ERROR * rows, 0.0))
        bounds = self.ends if self.bounded else {}
        unknown = {name for name, x in bounds.items() if np.any(x.lower < x.upper)}
        marked &= np.array([x.compared and x.name not in unknown for x in self.measures])
        return marked


NO_VALUES = Values((), np.empty((0, 0)))
Orders = tuple[qk.Ranking, qk.Ranking]
"""The worst and the best order of what is not known; twice one ranking where all is known."""


def measured(
    measures: Sequence[Column], orders: Sequence[Orders], exact: bool = True, **cut: Any
) -> tuple[tuple[Column, ...], Floats, dict[str, Ends], bool]:
    """What each model has, as `Values` take it.

    Of what is not `exact`, only measures that never fall where the order gets better: the lower
    bounds as values, and both bounds.
    """
    known = tuple(x for x in measures if exact or getattr(x.function, "monotone", False))

    def of(measure: Column, worst: qk.Ranking, best: qk.Ranking) -> Any:
        if worst is best:
            return (measure.function(worst, **cut),) * 2
        return bounds_of(measure.function, cut, worst, best)

    found = np.asarray([[of(x, *two) for x in known] for two in orders], dtype=np.float64)
    lower, upper = np.moveaxis(found, (1, 2), (-1, 0))
    bounds = {x.name: Ends(lower[..., k], upper[..., k]) for k, x in enumerate(known)}
    return known, lower, {} if exact else bounds, not exact


# groups of rows


OVER_ALL_IN_GROUPS = (OVER_ALL[0], *OVER_ALL[3:5])
FILLED = (
    Column("places", "places", form=number, compared=False),
    Column("found", "found", form=number, compared=False),
    Column("selection_rate", "selection\nrate", compared=False),
)
AT_QUOTA_IN_GROUPS = AT_QUOTA[:3]
APART = (
    Column("demographic_parity_ratio", "parity\nratio", compared=False),
    Column("equal_opportunity_difference", "equal opportunity\ndifference", compared=False),
    Column("split_cost", "split\ncost", form=number, compared=False),
)
"""How far groups are apart in what they get of one quota over all."""
_SPREAD = (0.0, 0.25, 0.5, 0.75, 1.0)


def together_at(quota: Quota) -> tuple[Column, ...]:
    """The measures of all rows that a quota, or a budget, of each group selects."""
    return AT_BUDGET if quota.is_budget else AT_QUOTA[:2]


@dataclass(frozen=True)
class GroupValues(Values):
    """One value for each model, group and measure, NaN where undefined.

    Attributes
    ----------
    measures, array, ends, bounded
        As of `Values`.
    mean_ends : mapping from name to a named tuple of arrays, shape (models,)
        The ends of the means over the groups.
    """

    mean_ends: Mapping[str, Ends] = field(default_factory=dict)

    @property
    def means(self) -> Values:
        """The means over the groups in which a measure is defined."""
        found = self._of_defined(np.mean)
        return found if self.bounded else replace(found, ends=self.mean_ends)

    @property
    def spread(self) -> Values:
        """The lowest value of those groups, the three quartiles, and the highest, in their axis."""
        return self._of_defined(lambda x: np.quantile(x, _SPREAD))

    def _of_defined(self, summed: Callable[[Floats], Any]) -> Values:
        """What is made of the values of the groups in which a measure is defined; NaN of none."""

        def of_all(values: Floats) -> Floats:
            known = values[~np.isnan(values)]
            return np.asarray(summed(known) if len(known) else np.nan * summed(np.zeros(1)))

        def made(array: Floats) -> Floats:
            found: Floats = np.apply_along_axis(of_all, 1, array)
            return found

        bounds = self.ends if self.bounded else {}
        ends = {name: Ends(made(x.lower), made(x.upper)) for name, x in bounds.items()}
        return Values(self.measures, made(self.array), ends, self.bounded)


@dataclass(frozen=True)
class GroupResults:
    """Every model in every group.

    Attributes
    ----------
    names : tuple, length S
        The groups, in order.
    rows, positives : integer arrays, shape (S,)
        How many rows each group has, and how many positive ones.
    masses, positive_masses : arrays, shape (S,)
        Their total weights; without weights the same numbers.
    costs : array, shape (S,)
        With budgets what the rows of each group cost; else NaN.
    values : mapping from Quota, or None, to GroupValues
        The measures at each quota, and under None those over all quotas.
    apart : mapping from Quota to Values
        At each quota over all: demographic parity ratio, equal opportunity difference and split
        cost, as in `SelectionByGroup`.
    """

    names: tuple[Any, ...]
    rows: NDArray[np.int64]
    positives: NDArray[np.int64]
    masses: Floats
    positive_masses: Floats
    costs: Floats
    values: Mapping[Quota | None, GroupValues]
    apart: Mapping[Quota, Values] = field(default_factory=dict)

    @property
    def whole(self) -> Floats:
        """What quotas are parts of: the weight of each group, or with budgets its cost."""
        return self.masses if np.isnan(self.costs).all() else self.costs

    @property
    def most(self) -> float:
        """The most that a quota, or a budget, of a group may be."""
        return float(self.whole.max(initial=0))

    def at_random(self, quota: Quota) -> tuple[float, float]:
        """How many places a random choice has where each group has the quota, and what it finds."""
        there, share = self.whole > 0, np.where(self.masses > 0, 1.0, 0.0)
        share[there] = quota.of_each(self.whole[there]) / self.whole[there]
        return float(share @ self.masses), float(share @ self.positive_masses)

    def together(self, quota: Quota) -> Floats:
        """The values `together_at` of all that the groups' quotas select, shape (M, K)."""
        at_quota = self.values[quota]
        places = at_quota.of("places").sum(axis=1)
        found = np.nansum(at_quota.of("places") * at_quota.of("hit_rate"), axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [found / places, found / self.positive_masses.sum()]
            if not quota.is_budget:
                return np.stack(shares, axis=-1)
            spent = quota.of_each(self.costs).sum()
            return np.stack([places, *shares, found / spent], axis=-1)

    def short(self, quota: Quota) -> int:
        """How many groups have fewer rows, or less weight, than the quota, or cost less."""
        return 0 if quota.percent else int(np.count_nonzero(self.whole < quota.amount))


# tests and results


@dataclass(frozen=True)
class Differences:
    """The tests of all pairs of models by one measure, over all quotas or at one.

    Attributes
    ----------
    measure : str
        The name of the measure.  By what models bring, "brings", the tests over all quotas are of
        the best cuts.
    quota : Quota or None
        At which quota; None over all quotas.
    found : Comparison
        The differences, their intervals and p-values.
    notes : tuple of str
        Why the tests tell little.
    too_few : bool
        Whether no resamples of this number could tell models apart.
    least_p : float
        The smallest p-value that the resamples can give; 0 without any.
    """

    measure: str
    quota: Quota | None
    found: Comparison
    notes: tuple[str, ...]
    too_few: bool = False
    least_p: float = 0.0

    def is_least(self, i: int, j: int) -> bool:
        """Whether the p-value of a pair could not be smaller, so that all it tells is a limit."""
        return bool(self.found.p_value[i, j] <= self.least_p)


@dataclass(frozen=True)
class GainResults:
    """What every model brings at its best cut and at each quota, in the user's unit.

    Attributes
    ----------
    nobody, everybody : float
        What selecting none and all brings.
    at_quota : dict from Quota to Values
        What the models bring at each quota.
    losses : bool
        Whether selecting some row brings less than nothing.
    at_best_cut : Values
        What they bring at their best cuts.
    cuts : list of BestBoundary
        All cuts of each model, and what they bring.
    tests : tuple of Differences
        The tests of the best cuts, and of each quota.
    few : mapping from (Quota or None, str) to an integer array, shape (models,)
        How many rows earn half of what a quota, or the best cut, "brings", or of what to expect of
        the best cut; 0 where these are enough for an interval.
    """

    nobody: float
    everybody: float
    at_quota: dict[Quota, Values]
    losses: bool = False
    at_best_cut: Values = NO_VALUES
    cuts: list[BestBoundary] = field(default_factory=list)
    tests: tuple[Differences, ...] = ()
    few: Mapping[tuple[Quota | None, str], NDArray[np.int64]] = field(default_factory=dict)

    @property
    def best_cut(self) -> ChosenCut:
        """The best of all cuts of all models."""
        names, few = ("quota", "brings", EXPECTED.name), self.few_rows(None, EXPECTED.name)
        return ChosenCut.of(self.at_best_cut, self.best_model, names, self.everybody, few)

    @property
    def best_model(self) -> int:
        """The model whose best cut brings the most; of those that are equal but for rounding the
        first.
        """
        brings = self.at_best_cut.of("brings")
        top = np.nanmax(brings)
        return int(np.argmax(brings >= top - _EQUAL * np.abs(top)))

    def few_rows(self, quota: Quota | None, of: str) -> NDArray[np.int64]:
        """How many rows earn half of something by each model, if so few do that this is doubtful;
        else 0.
        """
        return self.few.get((quota, of), np.zeros(len(self.at_best_cut.array), np.int64))


class Section(NamedTuple):
    """A table of values; `part` names it in `Results`, or is "gains"."""

    part: str
    quota: Quota | None
    values: Values


@dataclass(frozen=True, kw_only=True, eq=False)
class Results(Counts):
    """The data in numbers, and the measures of every model over all quotas and at each.

    `orders` are those of each model.  Unless they are `exact`, they are known only where quotas
    end: of all else there are bounds, or nothing.  `ends` are those of intervals of measures, at a
    quota or under None over all.  `rows_read` are the rows that were given, of which `rows` were
    chosen.  `repeated_ids` is a column that looks like an id of clusters, if none was given.
    Measures are computed when they are first asked for.
    """

    settings: Settings
    orders: Sequence[Orders]
    exact: bool = True
    ends: Mapping[tuple[Quota | None, str], Ends] = field(default_factory=dict)
    rows_read: int = 0
    rows_missing: int = 0
    repeated_ids: str = ""
    gains: GainResults | None = None
    differences: tuple[Differences, ...] = ()
    groups: GroupResults | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.settings.models

    @property
    def rows_in_clusters(self) -> str:
        """How many rows there are, and in how many clusters, if they are in some."""
        rows, clusters = counted(self.rows, "row", "rows"), number(self.clusters)
        return say("unit.in_clusters", rows=rows, clusters=clusters) if self.clusters else rows

    @property
    def worst(self) -> list[qk.Ranking]:
        """The ranking of each model, in the worst order of what is not known."""
        return [worst for worst, _ in self.orders]

    @property
    def rankings(self) -> list[qk.Ranking]:
        """The ranking of each model, if it is known everywhere."""
        return self.worst if self.exact else []

    @cached_property
    def over_all(self) -> Values:
        """The measures over all quotas."""
        if not self.exact:
            return self._with_ends(None, Values(*measured(OVER_ALL, self.orders, exact=False)))
        found = [qk.summary(x) for x in self.rankings]
        rows = [[float(getattr(x, m.name)) for m in OVER_ALL] for x in found]
        return self._with_ends(None, Values(OVER_ALL, np.asarray(rows)))

    @cached_property
    def areas(self) -> Values:
        """The measures of ROC and precision-recall space."""
        return self._with_ends(None, Values(*measured(AREAS, self.orders, self.exact)))

    @cached_property
    def at_quota(self) -> dict[Quota, Values]:
        """The measures at each quota; of quotas of groups, of all that they select together."""
        return {x: self._with_ends(x, self._values_at(x)) for x in self.settings.quotas}

    def _values_at(self, quota: Quota) -> Values:
        if self.settings.per is not None and self.groups is not None:
            return Values(together_at(quota), self.groups.together(quota))
        measures = measures_at(quota, self.settings.treatment is not None, self.exact)
        orders = [(x, x) for x in self.worst]
        return Values(*measured(measures, orders, **quota.argument(self.most)))

    def _with_ends(self, quota: Quota | None, values: Values) -> Values:
        ends = {x.name: self.ends.get((quota, x.name)) for x in values.measures}
        known = {name: x for name, x in ends.items() if x is not None}
        return replace(values, ends={**values.ends, **known})

    @cached_property
    def best(self) -> list[Segment]:
        """The ranges of quotas in which each model finds the most positives."""
        return best_by_quota(self.rankings)

    def amount(self, value: float) -> str:
        """Write an amount in the user's currency."""
        return signed(f"{money(value)} {self.settings.currency}".rstrip())

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.settings.weight is not None

    @property
    def prevalence(self) -> float:
        """The share of positives, by weight if there are weights; NaN without any."""
        return self.positive_total / self.total if self.total else float("nan")

    @property
    def sections(self) -> list[Section]:
        """Every table of values: over all quotas, at each, and of gains."""
        found = [Section("over_all", None, self.over_all), Section("areas", None, self.areas)]
        found += [Section("at_quota", *x) for x in self.at_quota.items()]
        if self.gains is not None:
            best_cut = self.gains.at_best_cut
            found += [Section("gains", None, best_cut)] if best_cut.measures else []
            found += [Section("gains", *x) for x in self.gains.at_quota.items()]
        return found

    @property
    def has_intervals(self) -> bool:
        """Whether a confidence was given."""
        resampling = self.settings.resampling
        return resampling is not None and resampling.level is not None

    @property
    def level(self) -> float:
        """The level of intervals and tests; NaN without any."""
        resampling = self.settings.resampling
        return math.nan if resampling is None else resampling.tested_level

    def test_at(self, quota: Quota | None, measure: str = "") -> Differences | None:
        """The test at a quota by a measure, or by that which makes a model the first."""
        tested = self.differences if measure or self.gains is None else self.gains.tests
        found = (x for x in tested if x.quota == quota and x.measure == (measure or x.measure))
        return next(found, None)

    def interval(self, ends: Sequence[float], form: Callable[[float], str], among: int = 1) -> str:
        """Both ends of an interval in words, which may be that of the best among several models, or
        nothing without intervals.
        """
        resampling, (lower, upper) = self.settings.resampling, map(form, ends)
        if resampling is None or math.isnan(ends[0]):
            return ""
        which = "quota.interval" if among < 2 else "quota.interval_of_best"
        said = {"level": resampling.percent, "lower": lower, "upper": upper}
        return say(which, models=len(self.models), **said)

    def as_best(self, values: Values, name: str, model: int) -> tuple[float, float, int]:
        """Both ends of the interval of a model that these rows chose as the best, and among how
        many: all models whose intervals reach its own.

        The lower end is that of one of so many intervals (Bonferroni): closed forms have another
        level, others another normal quantile.  The choice of the highest keeps the upper end valid.
        """
        (lower, upper), ends = values.interval(name, model), values.ends.get(name)
        among = 1 if ends is None else max(int(np.count_nonzero(ends.upper >= lower)), 1)
        if ends is None or among == 1:
            return lower, upper, 1
        stricter = 1 - (1 - self.level) / among
        if ends.at_level is not None:
            return ends.at_level(model, stricter), upper, among
        z, further = (NormalDist().inv_cdf((1 + x) / 2) for x in (self.level, stricter))
        value, least = float(values.of(name)[model]), 0.0 if name == "hit_rate" else -math.inf
        return max(value - (value - lower) * further / z, least), upper, among

    def size(self, places: float) -> Size:
        """So many places, or so much weight, in words."""
        return Size(places, self.weighted)

    def places(self, quota: Quota) -> NDArray[np.float64]:
        """Return how many examples (or how much weight) each model selects, of all groups if the
        quota is one of each.
        """
        if quota.is_budget:
            return self.at_quota[quota].of("places")
        return np.full(len(self.models), self.places_at_random(quota))

    def at_random(self, quota: Quota) -> tuple[float, float]:
        """How many places a random choice has, and what it finds; all share a budget alike."""
        if self.groups is not None and self.settings.per is not None:
            return self.groups.at_random(quota)
        places = quota.places(self.most)
        if quota.is_budget:
            places = self.total * places / self.total_cost if self.total_cost else self.total
        return places, places * self.prevalence

    def places_at_random(self, quota: Quota) -> float:
        """Return how many places a random choice has."""
        return self.at_random(quota)[0]


# the models at one quota, best first


def same(a: float, b: float) -> bool:
    """Whether two numbers are equal but for rounding."""
    return math.isclose(a, b, rel_tol=_EQUAL, abs_tol=_EQUAL)


class ChosenCut(NamedTuple):
    """A model that brings more with some places than any does with the `whole` quota, or with all
    rows; what to expect of them on new data, and how well chance explains that (`BY_CHANCE`); how
    many rows earn half of it, if these are too few to tell what others bring.
    """

    model: int
    places: float
    brings: float
    whole: float
    expected: Known
    by_chance: tuple[float, float]
    few: int

    @classmethod
    def of(
        cls, values: Values, model: int, names: Sequence[str], whole: float, few: NDArray[np.int64]
    ) -> ChosenCut:
        """That of a model, with what its places, what they bring and expect are called there."""
        found = values.of_model(model)
        expected = values.known(names[2], model) if names[2] in found else Known(math.nan)
        places, brings, p = found[names[0]], found[names[1]], [found[x.name] for x in BY_CHANCE]
        return cls(model, places, brings, whole, expected, (p[0], p[1]), int(few[model]))


@dataclass(frozen=True)
class Choice:
    """The models at a quota, those first that bring or, without gains, find the most."""

    evaluation: Results
    quota: Quota

    @cached_property
    def filled(self) -> Floats:
        """The places that each model fills."""
        return self.evaluation.places(self.quota)

    @cached_property
    def found(self) -> Floats:
        """The expected positives of each model."""
        rates = self.evaluation.at_quota[self.quota].of("hit_rate")
        rates = np.where(self.filled == 0, 0.0, rates) if self.quota.is_budget else rates
        found: Floats = self.filled * rates
        return found

    @cached_property
    def brings(self) -> Floats | None:
        """What each model brings, if gains are counted."""
        gains = self.evaluation.gains
        return None if gains is None else gains.at_quota[self.quota].of("brings")

    @property
    def compared(self) -> Floats:
        """By what the models are compared: what they bring, or else what they find."""
        return self.found if self.brings is None else self.brings

    @cached_property
    def defined(self) -> bool:
        """Whether anything can be compared, which it cannot of no places, rows or positives."""
        there = self.filled.any() and self.evaluation.total and not np.isnan(self.compared).any()
        return bool(there and (self.brings is not None or self.evaluation.positive_total > 0))

    @cached_property
    def order(self) -> list[int]:
        """The models, the best first."""
        order: list[int] = np.argsort(-self.compared, kind="stable").tolist()
        return order

    @property
    def first(self) -> int:
        """The best model."""
        return self.order[0]

    @property
    def name(self) -> str:
        """What the best model is called."""
        return self.evaluation.models[self.first]

    @property
    def places(self) -> float:
        """The places that the best model fills; only of a budget others fill another number."""
        return float(self.filled[self.first])

    @property
    def size(self) -> Size:
        """The places that the best model fills, in words."""
        return self.evaluation.size(self.places)

    @property
    def best(self) -> list[int]:
        """The best model, and those that are equal to it."""
        return [k for k in self.order if same(self.compared[k], self.compared[self.first])]

    @property
    def random_places(self) -> float:
        """The places that a random choice fills."""
        return self.evaluation.places_at_random(self.quota)

    @property
    def random_found(self) -> float:
        """The expected positives of a random choice."""
        return self.evaluation.at_random(self.quota)[1]

    @property
    def random_brings(self) -> float:
        """What a random choice brings; NaN where that is not counted."""
        evaluation, gains = self.evaluation, self.evaluation.gains
        if gains is None or not self.defined:
            return math.nan
        share = self.random_places / evaluation.total
        return share * gains.everybody + (1 - share) * gains.nobody

    @property
    def beside_chance(self) -> int:
        """1 if the best model is better than a random choice, 0 if it is as good, and else -1."""
        top = float(self.compared[self.first])
        chance = self.random_found if self.brings is None else self.random_brings
        return 0 if same(top, chance) else (top > chance) - (top < chance)

    def values(self, measure: str) -> Values:
        """The values that have what the models bring, or another measure."""
        gains = self.evaluation.gains
        brings = measure == "brings" and gains is not None
        return (gains if brings and gains else self.evaluation).at_quota[self.quota]

    def interval(self, measure: str) -> tuple[float, float]:
        """Both ends of the interval of what the first model brings, or of another measure."""
        return self.evaluation.as_best(self.values(measure), measure, self.first)[:2]

    def in_words(self, measure: str, form: Callable[[float], str]) -> str:
        """That interval in words, or nothing without one."""
        *ends, among = self.evaluation.as_best(self.values(measure), measure, self.first)
        return self.evaluation.interval(ends, form, among)

    @property
    def elsewhere(self) -> float:
        """What the first model will have on other rows of that by which models are compared.

        NaN where these were not compared, or too few rows earn half of what it brings.
        """
        test, gains = self.evaluation.test_at(self.quota), self.evaluation.gains
        if test is None or test.found.names[0] != self.name:
            return math.nan
        if gains is not None and gains.few_rows(self.quota, "brings")[self.first]:
            return math.nan
        return test.found.expected

    @property
    def fewer(self) -> ChosenCut | None:
        """The best use of fewer places than the quota's, if that is better than to fill them all.

        None if the cuts may not be chosen on these rows.
        """
        gains = self.evaluation.gains
        if self.evaluation.settings.tune or gains is None:
            return None
        values = gains.at_quota[self.quota]
        model = int(np.nanargmax(values.of("best_places_bring")))
        most, names = float(np.nanmax(values.of("brings"))), [x.name for x in BROUGHT[2:4]]
        few = gains.few_rows(self.quota, EXPECTED_WITHIN.name)
        found = ChosenCut.of(values, model, [*names, EXPECTED_WITHIN.name], most, few)
        best, total = found.brings, float(values.of("brings")[model])
        if best - most <= _EQUAL * max(abs(best), abs(most)) or best <= total:
            return None
        return found


def first_choice(evaluation: Results) -> Choice | None:
    """The models at the first quota, if there is one."""
    quotas = evaluation.settings.quotas
    return Choice(evaluation, quotas[0]) if quotas else None


class End(NamedTuple):
    """Where a quota ends: the score, and how much lies above it and at it."""

    threshold: str
    above: float
    tied: float


def end_of(evaluation: Results, model: int, quota: Quota) -> End:
    """Where a model's quota ends; its distinct scores stand for the rows that have them."""
    ranking, places = evaluation.rankings[model], float(evaluation.places(quota)[model])
    argument = {"quota": places} if quota.is_budget else quota.argument(evaluation.total)
    thresholds, weights = np.asarray(ranking.thresholds), np.asarray(ranking.weights)
    end = qk.quota_threshold(thresholds, sample_weight=weights.astype(np.float64), **argument)
    score = thresholds.dtype.type(end.threshold) if places else math.nan
    return End(str(score), float(end.above), float(end.tied))


def places_for(ranking: qk.Ranking, shares: Iterable[float]) -> Iterator[float]:
    """How many places it takes to find each share of all positives."""
    curve = qk.qrecall_curve(ranking)
    for share in shares:
        # the first cut that reaches it; the curve is a straight line to that from the cut before
        reached = int(np.argmax(curve.value >= share - _EQUAL))
        ends = slice(max(reached - 1, 0), reached + 1)
        yield float(np.interp(share, curve.value[ends], curve.quota[ends]))


def no_best_cut(gains: GainResults) -> bool:
    """Whether no model's best cut brings more than selecting nobody."""
    top, nobody = float(np.nanmax(gains.at_best_cut.of("brings"))), gains.nobody
    return top <= nobody or same(top, nobody)


def nothing_matters(gains: GainResults) -> bool:
    """Whether every cut of every model brings the same."""
    nobody = gains.nobody
    values = np.concatenate([np.asarray(x.curve.value, dtype=np.float64) for x in gains.cuts])
    return bool(
        np.allclose(values, nobody, rtol=_EQUAL, atol=_EQUAL * np.abs(values).max(initial=0))
    )


def how_filled(places: float, threshold: str, above: int, tied: int) -> str:
    """Say who is in: those above a threshold, and all or some of those at it."""
    left = places - above
    if places == 0:
        return say("filled.nobody", places=Size(places, False))
    part = "filled.of_tied" if tied > 1 else "filled.of_one"
    part = "filled.whole" if math.isclose(tied, left) else part
    numbers = {"above": number(above), "left": number(left), "tied": number(tied)}
    return say(part, places=Size(places, False), threshold=threshold, **numbers)


def how_filled_each(places: float, quota: Quota, column: str, sizes: NDArray[Any]) -> str:
    """Say how many places there are of each group, and how many groups have fewer rows."""
    short = 0 if quota.percent else int(np.count_nonzero(sizes < quota.amount))
    each = "filled.each_short" if short else "filled.each"
    if quota.is_budget:
        each = "filled.each_budget_short" if short else "filled.each_budget"
    groups, what = counted(len(sizes), "group", "groups"), {"group": column, "short": short}
    what |= {"quota": quota, "amount": number(quota.amount)}
    return say(each, places=Size(places, False), groups=groups, **what)
