"""What is evaluated, by the names that people read: quotas, units, settings, examples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import counted, formatted, number, plain
from quotakernels.evaluation.words import Conditions, say
from quotakernels.inference.comparing import few_resamples, resamples_needed
from quotakernels.tables import ConfusionTable

# quotas


SUM_ERROR = 1e-12
"""Relative rounding error of a sum of weights, costs or gains."""


class UnfitError(ValueError):
    """What is asked for does not fit the data."""


def _refuse(*mistakes: tuple[Any, str], **parts: object) -> None:
    """Raise the sentence about the first mistake that is made."""
    for made, name in mistakes:
        if made:
            raise UnfitError(say(name, **parts))


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
        if self.is_budget:
            return say("quota.named_budget", amount=number(self.amount))
        return say("quota.named", amount=self)

    def argument(self, total: float) -> QuotaArgument:
        """The quota of a total, for a budget the cost of all, as an argument of the library's."""
        if self.percent and not self.whole:
            return {"fraction": self.amount / 100}
        return {"budget" if self.is_budget else "quota": self.places(total)}

    def places(self, total: float) -> float:
        """Return how many of `total` the quota is; of a budget, how much of the cost of all."""
        return float(self.of_each(np.asarray(total)))

    def of_each(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return how many of each total the quota is, of each group for example."""
        wanted = self.amount * totals / 100 if self.percent else np.minimum(self.amount, totals)
        return np.floor(wanted * (1 + SUM_ERROR)) if self.whole else np.asarray(wanted, np.float64)

    @property
    def unrounded(self) -> Quota:
        """The quota with a part of a place."""
        return replace(self, whole=False)

    def check(self, total: float, what: str, *, of_rows: bool) -> None:
        """Refuse a quota of more than `total`, which `what` describes, or of less than one row."""
        said = f"{'budget' if self.is_budget else 'quota'}={self}"
        if of_rows and self.unit == "places" and 0 < self.amount < 1:
            raise UnfitError(f"{said} is less than one row; for a share write fraction={self}")
        if not self.percent and self.amount > total * (1 + SUM_ERROR):
            raise UnfitError(f"{said} is more than {what}")


# what gains are counted in


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
        gain: str | None,
        place_cost: float | None,
        impacts: tuple[float, ...] | None,
        tune: Any,
        ratio: float | None = None,
    ) -> Unit | None:
        """The unit that is asked for; None if nothing is to be counted."""
        unpaid, cost = gain is None and impacts is None, place_cost or 0.0
        odd_ratio = ratio is not None and not 0 < ratio < math.inf
        _refuse(
            (ratio is not None and impacts is None, "refused.ratio_without_impacts"),
            (odd_ratio, "refused.ratio"),
            (gain is not None and impacts is not None, "refused.two_gains"),
            (place_cost is not None and (unpaid or not math.isfinite(cost)), "refused.place_cost"),
            (unpaid and tune is not None, "refused.tune"),
            ratio=plain(ratio or 0),
        )
        if unpaid:
            return None
        if impacts is None:
            return cls(gain, cost)
        tp, fp, fn, tn = impacts
        return cls(impacts=(tp - cost, fp - cost, fn, tn), ratio=ratio)

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
        return say("unit.one" if ratio == "1" else "unit.several", ratio=ratio)

    def __str__(self) -> str:
        if self.impacts is not None:
            named = zip(ConfusionTable._fields, self.impacts, strict=True)
            cells = ", ".join(f"{cell} {plain(impact)}" for cell, impact in named)
            return say("unit.tuned", cells=cells, ratio=self.tuned_to) if self.ratio else cells
        if not self.place_cost:
            return str(self.column)
        return say("unit.less_cost", column=self.column, cost=plain(self.place_cost))


# settings


_LEVEL = 0.95
_RESAMPLES, _MOST_RESAMPLES, _AMPLE = 1000, 20_000, 8
_FEWEST, MANY_ROWS = 200, 100_000


class Lines(NamedTuple):
    """What lines of Python call the scores of each model and what is beside them, and why."""

    models: tuple[str, ...] = ()
    beside: Mapping[str, str] = MappingProxyType({})
    why: str = "The names are those of the arguments of evaluate."


@dataclass(frozen=True)
class Resampling:
    """Intervals of a level, tests of differences, and how to resample for them.

    `resamples` are those of intervals, `test_resamples` those of tests; `least` is how many many
    rows leave of them, 0 where the number was asked for.
    """

    level: float | None
    compare: bool
    resamples: int
    seed: int
    test_resamples: int
    least: int = 0

    @classmethod
    def asked(
        cls,
        level: float | None,
        compare: bool = False,
        resamples: int | None = None,
        seed: int | None = None,
        models: int = 1,
        gains: bool = False,
    ) -> Resampling | None:
        """How to resample: as often as is asked for, or else as often as so many models need.

        Those of intervals also test `gains`.  None if nothing is to be resampled.
        """
        nothing, odd = level is None and not compare, level is not None and not 0 < level < 1
        _refuse(
            (odd, "refused.level"),
            (compare and models < 2, "refused.compare"),
            (nothing and (resamples, seed) != (None, None), "refused.no_resamples"),
            level=plain(level or 0),
        )
        if nothing:
            return None
        models = models if compare else 0
        if resamples is not None:
            return cls(level, compare, resamples, seed or 0, resamples)
        tests = resamples_for(models, level)
        needed = min(resamples_needed(models, level or _LEVEL), tests)
        intervals = max(_RESAMPLES, needed) if gains else _RESAMPLES
        return cls(level, compare, intervals, seed or 0, tests, max(_FEWEST, needed))

    def for_rows(self, rows: int) -> Resampling:
        """Return the settings with fewer resamples of many rows, of which each takes longer."""
        share = min(1.0, MANY_ROWS / max(rows, 1))
        numbers = (self.resamples, self.test_resamples)
        fewer = (max(min(x, self.least), round(x * share)) for x in numbers)
        intervals, tests = fewer if self.least else numbers
        return replace(self, resamples=intervals, test_resamples=tests)

    @property
    def tested_level(self) -> float:
        """The level of the tests, with or without intervals of measures."""
        return _LEVEL if self.level is None else self.level

    @property
    def percent(self) -> str:
        """The level as it is written."""
        return f"{plain(100 * self.tested_level)}%"

    def few(self, resamples: int) -> str:
        """What is wrong with resamples that cannot tell two models apart, or nothing."""
        return few_resamples(resamples, 2, self.tested_level)

    @property
    def notes_of_gains(self) -> Iterator[str]:
        """What to mind of tests by what models bring, which take the resamples of intervals."""
        if few := self.few(self.resamples):
            yield few
        elif self.resamples != self.test_resamples:
            resamples = counted(self.resamples, "resample", "resamples")
            yield say("methods.by_percentiles", resamples=resamples)

    def in_words(self, settings: Settings) -> Iterator[str]:
        """Tell which intervals and tests are formulas, for rows drawn one by one, and of what the
        others are.
        """
        formulas = settings.one_by_one
        fixed_places = settings.cost is None and formulas
        if self.level is not None:
            closed = [say("methods.areas" if formulas else "methods.auc")]
            if settings.quotas_over_all and settings.cost is None:
                closed.append(say("methods.at_quota"))
            elif settings.quotas and fixed_places:
                closed.append(say("methods.hit_rate"))
            if settings.treatment is not None and fixed_places:
                closed.append(say("methods.uplift"))
            if settings.grouped_by is not None:
                closed.append(say("methods.means"))
            closed = closed if settings.cluster is None else []
            drawn = self._drawn(self.resamples, settings)
            how = _each_by(closed, say("methods.corrected", percentiles=drawn))
            yield say("methods.intervals", level=self.percent, how=how)
        if self.compare:
            formulas_of, all_others = self._tests(settings)
            drawn = self._drawn(self.test_resamples, settings) if all_others else ""
            alpha = plain(1 - self.tested_level)
            two = len(settings.models) == 2
            decided = say("methods.decided_for_two" if two else "methods.decided", alpha=alpha)
            how = _each_by(formulas_of, drawn)
            yield say("methods.differences", level=self.percent, how=how, decided=decided)

    def _tests(self, settings: Settings) -> tuple[list[str], bool]:
        """Which tests are formulas, and whether there are others."""
        formulas = settings.one_by_one
        tests = [say("methods.test_of_auc")] * formulas
        by_score = bool(settings.quotas_over_all) and settings.cost is None and formulas
        tests += [say("methods.test_of_groups")] * settings.draws_groups
        more = settings.treatment is not None or not formulas
        by_rates = settings.unit is not None and settings.unit.impacts is not None
        if by_score:
            rates = "methods.test_of_rates_and_brings" if by_rates else "methods.test_of_rates"
            tests.append(say(rates))
        if settings.unit is not None and settings.cost is None:
            best_cuts = "methods.test_of_best_cuts"
            tests.append(say(best_cuts if by_score and by_rates else "methods.test_of_brings"))
        more = more or (settings.unit is not None and settings.cost is not None)
        return tests, more or bool(settings.quotas) != (by_score or settings.draws_groups)

    def _drawn(self, resamples: int, settings: Settings) -> str:
        fewer, cluster = self.least and resamples < _RESAMPLES, settings.cluster
        return say(
            "methods.percentiles",
            resamples=counted(resamples, "resample", "resamples"),
            weights="" if settings.weight is None else say("methods.with_weights"),
            together="" if cluster is None else say("methods.drawn_together", cluster=cluster),
            fewer=say("methods.fewer", usual=_RESAMPLES) if fewer else "",
            seed=self.seed,
        )


def _each_by(formulas: Sequence[str], others: str) -> str:
    """What there are formulas for, and how all others are known, if there are others."""
    if not formulas:
        return f": {others}"
    rest = [say("methods.all_others", how=others)] if others else []
    return f". {'; '.join([*formulas, *rest])}"


def resamples_for(models: int, level: float | None) -> int:
    """How many resamples tests take by default: more of many models, whose pairs are more.

    With just as many as are needed a single resample decides, and so the seed.
    """
    return min(max(_RESAMPLES, _AMPLE * resamples_needed(models, level or _LEVEL)), _MOST_RESAMPLES)


@dataclass(frozen=True)
class Settings:
    """What is evaluated, and by which names.

    Attributes
    ----------
    source, label : str
        What the data and the labels are called.
    models : tuple of str
        The names of the models.
    quotas : tuple of Quota
        The quotas or budgets.
    weight, cost, per, by, treatment, cluster : str or None
        The columns or arguments of that name; None if not given.
    pos_label, treated : str or None
        The values of positive labels and of treated rows, if they were given.
    unit : record or None
        What gains are: a `column` less a `place_cost`, or `impacts` at a `ratio` of the classes.
    where, tune : tuple of conditions
        Which rows were used, and which chose the best cut.
    resampling : record or None
        With intervals or tests: their `level`, whether to `compare`, the `resamples` of intervals,
        the `test_resamples`, and the `seed`.
    called, currency : str
        What positives and amounts are called in sentences.
    deciles : bool
        Whether each tenth of the rankings is told.
    """

    source: str
    label: str
    models: tuple[str, ...]
    quotas: tuple[Quota, ...] = ()
    weight: str | None = None
    cost: str | None = None  # what budgets are spent on
    pos_label: str | None = None
    unit: Unit | None = None
    where: Conditions = ()
    tune: Conditions = ()
    resampling: Resampling | None = None
    per: str | None = None  # a quota is of each group of rows that are alike in this column
    by: str | None = None  # results of one quota over all are told for each of these groups
    treatment: str | None = None  # who was treated, for uplift
    treated: str | None = None
    cluster: str | None = None  # rows that are alike in this column are drawn together
    called: str = ""  # what positive rows are, in the user's words
    currency: str = ""
    deciles: bool = False
    brief: bool = False  # only what the answer tells needs intervals
    lines: Lines = field(default_factory=Lines)

    def __post_init__(self) -> None:
        """Refuse what does not go together; round quotas of single rows to whole places, which
        weights and groups do not have.
        """
        self._check()
        in_rows = self.weight is None and self.per is None
        quotas = tuple(replace(x, whole=in_rows and not x.is_budget) for x in self.quotas)
        object.__setattr__(self, "quotas", quotas)

    @property
    def positive(self) -> str:
        """What positive rows are: the label, with the value that was given for it."""
        return self.label if self.pos_label is None else f"{self.label} = {self.pos_label}"

    @property
    def positives(self) -> str:
        """Positive rows, in the user's word if there is one."""
        return self.called or say("unit.positives")

    def many(self, positives: float) -> str:
        """What so many positive rows are in the user's word, which is for several; or nothing."""
        return "" if number(positives) == "1" else self.called

    def counted(self, positives: float) -> str:
        """So many positive rows, what they are, and by what."""
        called = self.many(positives) or say("unit.positive")
        parts = {"positives": called, "positive": self.positive}
        return say("unit.counted", n=number(positives), **parts)

    def in_currency(self, words: str) -> str:
        """Words for amounts, with the currency that these are in."""
        if not self.currency:
            return words
        return say("unit.in_currency", words=words, currency=self.currency)

    @property
    def gain(self) -> str | None:
        """What the gains of the rows are called, unless they are impacts."""
        return None if self.unit is None else self.unit.column

    @property
    def grouped_by(self) -> str | None:
        """The column that groups the rows."""
        return self.by if self.per is None else self.per

    @property
    def one_by_one(self) -> bool:
        """Whether rows are drawn one by one and count once each, which formulas assume."""
        return self.weight is None and self.cluster is None

    @property
    def draws_groups(self) -> bool:
        """Whether groups with quotas of their own are drawn whole, and not clusters of rows."""
        return self.per is not None and self.cluster is None

    @property
    def quotas_over_all(self) -> tuple[Quota, ...]:
        """The quotas that one ranking of all rows fills."""
        return self.quotas if self.per is None else ()

    def check_quotas(self, total: float, group: str = "") -> None:
        """Refuse a quota of more rows, or weight, than there is, in all or in the largest group; of
        budgets the total is what all rows cost.
        """
        unweighted = self.weight is None
        of_group = f" of the largest group by {group!r}" if group else ""
        rows = f"the {counted(total, 'row', 'rows')}{of_group}"
        weight = f"the total weight{of_group}"
        what = rows if unweighted else f"{weight}, {plain(total)}"
        paid = f"all rows{of_group} cost" if group else "all rows cost"
        what = what if self.cost is None else f"what {paid}, {plain(total)}"
        for quota in self.quotas:
            quota.check(total, what, of_rows=unweighted)

    def _check(self) -> None:
        """Refuse what does not go together with groups of rows, budgets, or a treatment."""
        grouped, untreated = self.per is not None, self.treatment is None
        budgets = [x.is_budget for x in self.quotas]
        alone = self.quotas and not (self.per or self.by)
        _refuse(
            (grouped and self.by is not None, "refused.one_grouping"),
            (grouped and not self.quotas, "refused.groups_without_quota"),
            (grouped and self.unit is not None, "refused.groups_with_gains"),
            (any(budgets) and not all(budgets), "refused.budget_and_quota"),
            (any(budgets) and self.cost is None, "refused.budget_without_cost"),
            (self.cost is not None and not any(budgets), "refused.cost_without_budget"),
            (not untreated and not alone, "refused.treatment"),
            (self.treated is not None and untreated, "refused.treated"),
            (self.cluster is not None and self.resampling is None, "refused.clusters"),
        )


@dataclass(frozen=True, eq=False)
class Counts:
    """How many rows and positives there are, and their weights (without any, their numbers); what
    all rows cost together, NaN without costs; how many rows of one weight tell as much (Kish), NaN
    without weights and where each weight is not known; and how many clusters there are, if any.
    """

    rows: int
    positives: int
    total: float
    positive_total: float
    total_cost: float = math.nan
    effective_rows: float = math.nan
    clusters: int = 0

    @property
    def most(self) -> float:
        """The most that a quota may be; where rows cost something, that a budget may be."""
        return self.total if math.isnan(self.total_cost) else self.total_cost


class Groups(NamedTuple):
    """The group of each row, from 0 on, and what names the groups, in order."""

    codes: Any
    names: Any


class Sample(NamedTuple):
    """The rows of which all models are measured; gains and costs are what a row brings, and costs,
    if it is selected, and the treatment is 1 or 0.
    """

    labels: NDArray[np.bool_]
    scores: dict[str, NDArray[Any]]
    weights: NDArray[np.float64] | None = None
    gains: NDArray[np.float64] | None = None
    groups: Groups | None = None
    costs: NDArray[np.float64] | None = None
    treatment: NDArray[np.float64] | None = None
    clusters: Groups | None = None

    @property
    def counts(self) -> Counts:
        """The rows in numbers; sums of weights are rounded once."""
        rows, positives = len(self.labels), int(self.labels.sum())
        sums, effective = (float(rows), float(positives)), math.nan
        if self.weights is not None:
            sums = math.fsum(self.weights), math.fsum(self.weights[self.labels])
            effective = sums[0] ** 2 / math.fsum(self.weights**2) if sums[0] else 0.0
        clusters = 0 if self.clusters is None else len(self.clusters.names)
        return Counts(rows, positives, *sums, self._total_cost, effective, clusters)

    @property
    def _total_cost(self) -> float:
        if self.costs is None:
            return math.nan
        return math.fsum(self.costs if self.weights is None else self.costs * self.weights)

    def of(self, model: str) -> dict[str, Any]:
        """The labels, scores and weights of a model, by the names of measures' arguments."""
        scores = self.scores[model]
        return {"y_true": self.labels, "y_score": scores, "sample_weight": self.weights}

    @property
    def cost(self) -> dict[str, Any]:
        """What rows cost, if anything, by the name of measures' argument."""
        return {} if self.costs is None else {"cost": self.costs}

    @property
    def treated(self) -> dict[str, Any]:
        """Who was treated, if somebody was, by the name of measures' argument."""
        return {} if self.treatment is None else {"treatment": self.treatment}
