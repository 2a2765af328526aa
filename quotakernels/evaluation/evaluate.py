"""What callers pass to `evaluate`, and every measure of every model that is made of it."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._bits import host_array
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.intervals import Resampled, with_certainty
from quotakernels.evaluation.results import (
    APART,
    AT_BEST_CUT,
    AT_QUOTA_IN_GROUPS,
    BRINGS,
    BROUGHT,
    BY_CHANCE,
    FILLED,
    OVER_ALL_IN_GROUPS,
    Ends,
    Floats,
    GainResults,
    GroupResults,
    GroupValues,
    Orders,
    Results,
    Values,
    measured,
    places,
)
from quotakernels.evaluation.settings import (
    SUM_ERROR,
    Counts,
    Groups,
    Lines,
    Quota,
    Resampling,
    Sample,
    Settings,
    UnfitError,
    Unit,
)
from quotakernels.evaluation.words import Condition, Conditions, meant_by
from quotakernels.groups import selection_by_group
from quotakernels.inference import auc_interval, hit_rate_interval
from quotakernels.inputs.groups import groups_of
from quotakernels.inputs.keywords import level_of_caller, public, show_value
from quotakernels.inputs.models import host_columns, label_of, named_scores, validated_models
from quotakernels.inputs.numbers import numbers_like
from quotakernels.ops import GAIN_SCALE, namespace
from quotakernels.results import Curve

# what callers pass


_Arrays = dict[str, NDArray[Any]]
_UNNAMED = {"per": "group", "by": "group", "clusters": "cluster"}
"""What arrays without a name are called, where that is not the argument."""


@public
def evaluate(
    y_true: Any,
    models: Any = None,
    *,
    quota: float | Sequence[float] | None = None,
    fraction: float | Sequence[float] | None = None,
    budget: float | Sequence[float] | None = None,
    cost: Any = None,
    gain: Any = None,
    place_cost: float = 0.0,
    impacts: Sequence[float] | None = None,
    ratio: float | None = None,
    tune: Any = None,
    per: Any = None,
    by: Any = None,
    treatment: Any = None,
    clusters: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    confidence_level: float | None = None,
    compare: bool = False,
    n_resamples: int | None = None,
    random_state: int = 0,
    positives: str = "",
    currency: str = "",
    deciles: bool = False,
    progress: bool | Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Which model should fill a quota, how many to take, what it brings, and how sure that is.

    Every model is measured on the same examples, over all quotas and at the given ones.  The
    commands ``quotakernels evaluate`` and ``quotakernels report`` show the same.

    Parameters
    ----------
    y_true : array, shape (n,), or a column's name
        Labels, as in `rank`.  If `models` is a data frame, labels and all arrays below may be names
        of its columns.  Instead of labels and models you may pass a mapping from names to rankings,
        of any tie policy; all of them have gains, or none.
    models : mapping from names to arrays, data frame, or array, shape (n,) or (M, n)
        The scores of each model.  In a data frame each column of numbers is a model, unless another
        argument names it; a warning lists the other columns.  Choose columns by ``frame[["a",
        "b"]]``.  The models of an array, or of a list of arrays, are called "0", "1", ….
    quota : number or numbers, optional
        How many examples are selected (with weights: how much mass).  Without weights and groups
        of `per`, quotas and fractions are rounded down to whole places.
    fraction : number or numbers, optional
        Quotas as shares of all examples, above 0 and up to 1.  They follow those of `quota` in the
        results.  The recommendation is about the first quota.
    budget : number or numbers, optional
        What the selected examples may cost together, instead of a quota: each model selects as many
        of its best as that pays for.
    cost : array, shape (n,), optional
        What each example costs if it is selected, as in `rank`, for budgets.
    gain : array, shape (n,), optional
        What each example brings if it is selected.
    place_cost : float
        What each place costs, beside `gain` or `impacts`.
    impacts : four numbers, optional
        What a true positive, a false positive, a false negative and a true negative brings, instead
        of `gain`.
    ratio : number, optional
        The class ratio r = P′/N′ where the scores will be used.  What `impacts` bring is tuned to
        it as by `tune_ratio`, for as many examples as there are.  Quotas, measures and resamples
        keep the class ratio of the examples.
    tune : boolean array, shape (n,), optional
        The examples on which each model's best cut is chosen, with `gain` or `impacts`.
    per : array, shape (n,), optional
        The group of each example, as `groups` of `rank`.  Each group then has every quota or budget
        for itself, and a smaller group is selected whole.
    by : array, shape (n,), optional
        The group of each example.  All groups share a quota or budget; the result says what each
        group gets, and what is found there.
    treatment : array, shape (n,), optional
        1 for each example that was treated, 0 for each control: adds the uplift at each quota.
    clusters : array, shape (n,), optional
        An id for each example, such as the customer, the patient or the card, if several examples
        share one: these are not independent.  Resamples then draw whole clusters, and all
        intervals and tests come from resamples.
    sample_weight, where, pos_label
        As in `rank`, of shape (n,), the same for all models.
    confidence_level : float, optional
        The level of the intervals, such as 0.95; none without it.
    compare : bool
        Whether the differences of all pairs of models are tested.
    n_resamples : int, optional
        The number of resamples.  The default is 1000, or more if tests of many models need them.
        With more than 100,000 examples it is less, but at least 200; and for resamples scores are
        rounded to every one whose place is a thousandth further, beyond the first thousand.
    random_state : int
        The seed of the resamples.
    positives, currency : str
        What positive examples are called, such as "buyers", and the currency of gains, such as
        "EUR": words for the answers, the tables and the page.
    deciles : bool
        Whether the tables have one for each model with every tenth of its ranking: hit rate, lift,
        shares captured and KS, as `lift_table` gives them.
    progress
        As in `bootstrap`, for each step.

    Returns
    -------
    Evaluation
        On the host.

    Raises
    ------
    TypeError
        As in `rank`; names of models that are not strings; a data frame in the place of the labels.
    ValueError
        As in `rank`; quotas above the number of examples; options that do not go together.

    See Also
    --------
    compare : the tests of one measure.
    bootstrap : the intervals of any measure.

    Notes
    -----
    Intervals of what models bring are Student's t of the sum, corrected for skewness [Hall 1992],
    but at budgets; tests are Student's t of the rows, or clusters, that only one model selects.
    In simulations 95 % intervals of log-normal and Pareto gains covered what a quota brings in 81
    to 91 %, differences of unequal models in 83 or 84, and the best cut in 90 or 92; models of
    equal worth were rarely told apart.  Where a few rows bring half of all gains a note says so,
    and no model is called the best.

    References
    ----------
    [Hall 1992].

    Examples
    --------
    >>> from quotakernels import evaluate
    >>> labels = [1, 1, 0, 1, 0, 0]
    >>> models = {"a": [6, 5, 4, 3, 2, 1], "b": [1, 6, 5, 2, 4, 3]}
    >>> found = evaluate(labels, models, quota=2, impacts=(5, -1, 0, 0))
    >>> for answer in found.answers[:3]:
    ...     print(answer.question, answer.verdict)
    Which model should fill my quota? a
    How many should I take? All 2 places
    What will it bring? 10.00, at random 4.00
    """
    beside = _asked(sample_weight=sample_weight, where=where, gain=gain, tune=tune)
    beside |= _asked(per=per, by=by, cost=cost, treatment=treatment, clusters=clusters)
    words = _words(positives, currency, deciles, quota=quota, fraction=fraction, budget=budget)
    unit = _unit(place_cost, impacts, ratio)
    how = _asked(level=confidence_level, compare=compare, resamples=n_resamples, seed=random_state)
    return _found(y_true, models, beside, unit, how, words, pos_label, progress)


def _unit(place_cost: Any, impacts: Any, ratio: Any) -> dict[str, Any]:
    """What gains are counted in."""
    unit = {"place_cost": _number("place_cost", place_cost) or None, "impacts": _cells(impacts)}
    return unit | {"ratio": _number("ratio", ratio)}


def _found(
    y_true: Any,
    models: Any,
    beside: dict[str, Any],
    unit: dict[str, Any],
    how: dict[str, Any],
    words: dict[str, Any],
    pos_label: Any,
    progress: Any,
) -> Evaluation:
    """What rankings tell, or labels and scores, with what callers ask for beside quotas."""
    level, compare = _number("confidence_level", how.pop("level", None)), how.get("compare")
    if models is None:
        refused = _asked(**unit, pos_label=pos_label, confidence_level=level, compare=compare)
        return _of_rankings(y_true, beside | refused, words)
    given = _given(models, {"y_true": y_true, **beside})
    gains = Unit.asked(given.titles.get("gain"), tune=beside.get("tune"), **unit)
    if level is None and not compare:
        how.pop("seed", None)
    drawn = Resampling.asked(level, models=len(given.scores), gains=gains is not None, **how)
    said = None if pos_label is None else str(pos_label)
    words |= {"unit": gains, "resampling": drawn, "pos_label": said}
    tuning = _sample(given, "tune", pos_label) if "tune" in given.titles else None
    sample, settings = _sample(given, "where", pos_label), _settings(given, words)
    evaluation = evaluate_sample(settings, sample, tuning, progress=progress)
    return replace(evaluation, rows_read=len(given.arrays["y_true"]))


def _settings(given: _Given, asked: dict[str, Any]) -> Settings:
    """What is asked, and what everything is called."""
    title = given.titles.get
    named: dict[str, Any] = {x: title(x) for x in ("cost", "per", "by", "treatment")}
    named |= {x: _true_in(title(x)) for x in ("where", "tune")}
    named |= {"weight": title("sample_weight"), "cluster": title("clusters")}
    named |= {"lines": given.lines}
    return Settings("", given.titles["y_true"], tuple(given.scores), **named, **asked)


def _words(positives: Any, currency: Any, deciles: bool, **quotas: Any) -> dict[str, Any]:
    """The quotas, what positives and amounts are called, and whether deciles are told."""
    for name, word in (("positives", positives), ("currency", currency)):
        if not isinstance(word, str):
            raise TypeError(f"{name} must be a string; got {show_value(word)}")
    named = {"called": positives, "currency": currency}
    return {**named, "deciles": deciles, "quotas": _quotas(**quotas)}


def _true_in(name: str | None) -> Conditions:
    return () if name is None else (Condition(name, "=", "True"),)


def _asked(**given: Any) -> dict[str, Any]:
    """What is neither None nor False."""
    return {name: x for name, x in given.items() if not (x is None or x is False)}


def _of_rankings(rankings: Any, beside: dict[str, Any], words: dict[str, Any]) -> Evaluation:
    """What rankings alone tell, all of the same examples."""
    if not (isinstance(rankings, Mapping) and rankings):
        raise TypeError("evaluate takes labels and models, or a mapping from names to rankings")
    for name, ranking in rankings.items():
        if not (isinstance(ranking, qk.Ranking) and ranking.counts.ndim == 1):
            raise TypeError(f"{show_value(name)} must be a Ranking of one list of scores")
    for name in beside:
        raise TypeError(f"{name} needs labels and scores, and cannot be given for rankings")
    # copies, as the measures are computed later than callers may change theirs
    hosted = {str(x): y.map(lambda z: np.array(host_array(z))) for x, y in rankings.items()}
    # one row of each is enough to refuse rankings of other examples
    qk.compare_curves({name: x.at_thresholds([]) for name, x in hosted.items()})
    with_gains = {"gain" in ranking.columns for ranking in hosted.values()}
    if len(with_gains) > 1:
        raise TypeError("rankings must all have gains, or none of them")
    budgets = any(x.is_budget for x in words["quotas"])
    priced = budgets and all("cost" in x.columns for x in hosted.values())
    first = next(iter(hosted.values()))
    counts, weighted = _counts_of(first, priced), first.positive_weights.dtype.kind == "f"
    settings = Settings(
        "",
        "y_true",
        tuple(hosted),
        weight="sample_weight" if weighted else None,
        cost="cost" if priced else None,
        unit=Unit("gain") if with_gains == {True} else None,
        lines=Lines(tuple(f"scores[{x!r}]" for x in hosted), why="scores are what was ranked."),
        **words,
    )
    settings.check_quotas(counts.most)
    return evaluate_rankings(settings, counts, [(x, x) for x in hosted.values()])


def _counts_of(ranking: qk.Ranking, priced: bool) -> Counts:
    """How many examples were ranked, and with budgets what they cost."""
    masses = ranking.weights, ranking.positive_weights
    total, positive_total = (float(x.sum()) for x in masses)
    cost = math.fsum(np.concatenate(ranking.columns["cost"])) if priced else math.nan
    rows, positives = int(ranking.counts.sum()), int(ranking.positives.sum())
    return Counts(rows, positives, total, positive_total, cost)


class _Given(NamedTuple):
    """The scores of each model and the arrays beside them; what these are called, and by whom."""

    scores: _Arrays
    arrays: _Arrays
    titles: dict[str, str]
    lines: Lines


def _given(models: Any, beside: dict[str, Any]) -> _Given:
    """What callers pass, as arrays on the host."""
    if isinstance(models, str):
        raise TypeError(f"labels come first: evaluate({models!r}, frame)")
    is_frame = hasattr(models, "columns") or hasattr(models, "column_names")
    by_name = is_frame or isinstance(models, Mapping)
    one = not (by_name or _has_rows(models))
    columns = (
        {_title(models, "model"): models} if one else named_scores(models, beside["y_true"], 1)
    )
    titles, chosen, lines = {}, {}, {}
    for key, x in beside.items():
        is_name = isinstance(x, str)
        if is_name and not (by_name and x in columns):
            meant = meant_by([x], columns) if by_name else ""
            hint = f"; {meant}" if meant else ""
            raise ValueError(f"{key} is not the name of a column: {show_value(x)}{hint}")
        titles[key], lines[key] = (
            (x, f"models[{x!r}]") if is_name else (_title(x, _UNNAMED.get(key, key)), key)
        )
        chosen[key] = columns[x] if is_name else x
    taken = [x for x in beside.values() if isinstance(x, str)]
    named = {name: x for name, x in columns.items() if name not in taken}
    named = _numeric(named) if is_frame else named
    if not named:
        raise ValueError("models must hold at least one model beside the columns that are named")
    labels = tuple("models" if one else label_of(models, name) for name in named)
    arrays = host_columns({**chosen, **dict(zip(labels, named.values(), strict=True))})
    scores = {name: arrays.pop(label) for name, label in zip(named, labels, strict=True)}
    return _Given(scores, arrays, titles, Lines(labels, lines))


def _has_rows(models: Any) -> bool:
    """Whether these are arrays with a leading axis of models, or a list of lists of scores."""
    if isinstance(models, (list, tuple)):
        return bool(models) and np.ndim(models[0]) > 0
    return getattr(models, "ndim", 1) > 1


def _numeric(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns that may be scores; a warning names the others."""
    others = [name for name, x in columns.items() if _kind(x) not in "biuf"]
    if others:
        warnings.warn(
            f"models: columns without numbers are left out: {', '.join(others)}",
            stacklevel=level_of_caller(),
        )
    return {name: x for name, x in columns.items() if name not in others}


def _kind(x: Any) -> str:
    """What a column holds, by NumPy's letters."""
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return str(kind or np.asarray(x[:1]).dtype.kind)


def _title(x: Any, otherwise: str) -> str:
    """The name that a column of a data frame has."""
    name = getattr(x, "name", None)
    return name if isinstance(name, str) and name else otherwise


def _sample(given: _Given, mask: str, pos_label: Any) -> Sample:
    """The checked examples that a mask selects, all without one: those that are judged, or those on
    which best cuts are chosen.
    """
    arrays, chosen = given.arrays, given.arrays.get(mask)
    data = ("y_true", "sample_weight", "gain", "cost", "treatment")
    beside = {k: x for k, x in arrays.items() if k in data} | {"pos_label": pos_label}
    if chosen is not None:
        if chosen.dtype != bool or chosen.shape != arrays["y_true"].shape:
            raise ValueError(f"{mask} must hold a boolean for each label")
        beside["where"] = chosen
    titled = dict(zip(given.lines.models, given.scores.values(), strict=True))
    _, validated = validated_models(titled, beside)
    examples = validated[0].examples
    assert examples.labels is not None
    if not examples.labels.size or not (chosen is None or chosen.any()):
        raise ValueError(f"{mask} leaves no examples" if examples.labels.size else "no examples")

    rows = slice(None) if chosen is None else chosen
    scores = {name: x[rows] for name, x in given.scores.items()}
    columns: Any = {**examples.columns, "weight": examples.weights}
    of_rows = {name: x[rows] for name, x in columns.items() if x is not None}
    weights, gains, costs, treatment = map(of_rows.get, ("weight", "gain", "cost", "treatment"))
    groups, clusters = _groups(arrays, rows, "per", "by"), _groups(arrays, rows, "clusters")
    return Sample(examples.labels[rows], scores, weights, gains, groups, costs, treatment, clusters)


def _groups(arrays: _Arrays, rows: Any, *names: str) -> Groups | None:
    """The group of each of some rows, by the first array that is given."""
    for name in names:
        if (column := arrays.get(name)) is not None:
            if column.shape != arrays["y_true"].shape:
                each = f"one id for each of the {len(arrays['y_true'])} labels"
                raise ValueError(f"{name} must have {each}; got shape {column.shape}")
            return Groups(*groups_of(name, column[rows]))
    return None


def _quotas(**asked: Any) -> tuple[Quota, ...]:
    """The quotas, the fractions and the budgets that are asked for, each once."""
    found = (x for name, given in asked.items() for x in _quotas_of(name, given))
    return tuple(dict.fromkeys(found))


def _quotas_of(name: str, given: Any) -> list[Quota]:
    if given is None:
        return []
    found, numbers = [], numbers_like(np.empty(0), name, given)
    if numbers.ndim > 1:
        raise ValueError(f"{name} must be a number or a list of them; got shape {numbers.shape}")
    for x in numbers.ravel().tolist():
        if name != "fraction" and not 0 <= x < math.inf:
            raise ValueError(f"{name} must be 0 or more; got {x}")
        if name == "fraction" and not 0 < x <= 1:
            raise ValueError(f"fraction must be above 0 and up to 1; got {x}")
        if name == "fraction":  # whose percentage is 7 of 0.07, not 7.000000000000001
            found.append(Quota(float(100 * Decimal(repr(x))), "percent"))
        else:
            found.append(Quota(x, "budget" if name == "budget" else "places"))
    return found


def _cells(impacts: Sequence[float] | None) -> tuple[float, ...] | None:
    """The impacts of the four cells of a confusion table."""
    if impacts is None:
        return None
    try:
        cells = tuple(map(float, impacts))
    except (TypeError, ValueError):
        cells = ()
    if len(cells) != 4 or not all(map(math.isfinite, cells)):
        raise ValueError(f"impacts must be four finite numbers; got {show_value(impacts)}")
    return cells


def _number(name: str, value: Any) -> float | None:
    """A single number that may be left out; its name is that of the argument."""
    try:
        return None if value is None else float(operator.pos(value))  # which no text has
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number; got {show_value(value)}") from None


# what selecting brings: the best cut of every model, and each quota


def gain_results(
    results: Results, thresholds: list[float] | None, squares: Sequence[Floats] | None = None
) -> GainResults:
    """What each model brings at quotas, and at its best cut or at a threshold chosen elsewhere.

    Best cuts are known where whole rankings are, not only where quotas end.  `squares` are sums of
    squares of what examples bring, for the rows of each ranking.
    """
    rankings, total = results.worst, results.total
    nobody, everybody, losses = _whole_gains(rankings[0].columns)
    cuts = [qk.best_quota(x) for x in rankings] if results.exact and total else []
    squares = squares or [_squares_alike(x) for x in rankings]

    def by_chance(model: int, cut: int, end: float, most: float) -> list[float]:
        if thresholds is not None:
            return [math.nan] * len(BY_CHANCE)
        curve = cuts[model].curve
        more = curve.value[cut] - np.asarray([nobody, most])
        return _p_of_best(curve.quota, squares[model], cut, end, more, len(cuts))

    def at_quota(quota: Quota) -> Values:
        argument, filled = quota.argument(results.most), results.places(quota)
        brings = [float(qk.impact_at_quota(x, **argument).whole) for x in rankings]
        rows = [[x, _per_place(x - nobody, y)] for x, y in zip(brings, filled, strict=True)]
        for model, (best, end) in enumerate(zip(cuts, filled, strict=False)):
            cut, found = _best_of_fewer(best.curve, end)
            rows[model] += [*found, *by_chance(model, cut, end, max(brings))]
        return Values(BROUGHT if cuts else BROUGHT[:2], np.asarray(rows))

    by_quota = {quota: at_quota(quota) for quota in results.settings.quotas_over_all}
    if not cuts:
        return GainResults(nobody, everybody, by_quota, losses)
    chosen = [float(x.threshold) for x in cuts] if thresholds is None else thresholds
    rows = []
    for model, threshold in enumerate(chosen):
        cut, found = _at_cut(cuts[model].curve, threshold, nobody, total)
        rows.append([*found, *by_chance(model, cut, cuts[model].curve.quota[-1], everybody)])
    best_cut = Values(AT_BEST_CUT, np.asarray(rows))
    return GainResults(nobody, everybody, by_quota, losses, best_cut, cuts)


def _at_cut(
    curve: Curve, threshold: float, nobody: float, total: float
) -> tuple[int, tuple[float, ...]]:
    """The number of the cut at a threshold, and its values as `AT_BEST_CUT` has them."""
    cut = int(np.max(np.flatnonzero(curve.threshold >= threshold), initial=0))  # of NaN none
    quota = total if curve.quota[cut] == curve.quota[-1] else float(curve.quota[cut])
    brings = float(curve.value[cut])
    return cut, (threshold, quota, quota / total, brings, _per_place(brings - nobody, quota))


def _best_of_fewer(curve: Curve, places: float) -> tuple[int, tuple[float, ...]]:
    """The number of the best cut that selects no more, how much it selects, and what it brings."""
    fewer = int(np.argmax(np.where(curve.quota <= places, curve.value, -np.inf)))
    return fewer, (float(curve.quota[fewer]), float(curve.value[fewer]))


def _per_place(more: float, places: float) -> float:
    return more / places if places else math.nan


def _p_of_best(
    masses: Floats, squares: Floats, cut: int, end: float, more: Floats, models: int
) -> list[float]:
    """P-values of what the best of all cuts of some models brings `more` than nobody, and than the
    `end` of the list.

    The total gain along a list that tells nothing of gains is a random walk.  From its ends to its
    maximum it rises by Rayleigh's distribution, in standard deviations of the way [Denisov 1984].
    The variance of the way is that of its own gains, but not less than its share of all: below the
    last of few large gains all look alike.
    """
    sums = np.append(0.0, np.cumsum(squares))
    places = np.asarray([0.0, masses[cut], end])
    of_all = sums[-1] * np.diff(places) / masses[-1]
    variance = np.maximum(np.diff(np.interp(places, masses, sums)), of_all)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(more > 0, models * np.exp(-(more**2) / (2 * variance)), 1.0)
    return np.minimum(p, 1.0).tolist()


def _squares_alike(ranking: qk.Ranking) -> Floats:
    """Sums of squares of what examples bring, as if those with one score and label did alike."""
    gains, given_up = (ranking.columns.get(x, (0.0, 0.0)) for x in ("gain", "gain_rejected"))
    found: Any = np.zeros(ranking.counts.shape)
    numbers = ranking.positives, ranking.counts - ranking.positives
    for gain, rejected, number in zip(gains, given_up, numbers, strict=True):
        found += (gain - rejected) ** 2 / np.maximum(number, 1)
    return found


def _squares_of(sample: Sample, brings: dict[str, Any], model: str, ranking: qk.Ranking) -> Floats:
    """Sums of squares of what examples bring; those of a cluster vary together."""
    net = brings["gain"] - brings["gain_rejected"]
    net = net if sample.weights is None else net * sample.weights
    found: Any = _squares_alike(ranking)
    if np.any(ranking.counts > 1):
        rising = np.asarray(ranking.thresholds)[::-1]
        row = len(rising) - np.searchsorted(rising, sample.scores[model], side="right")
        found = np.bincount(np.clip(row, 0, len(rising) - 1), net**2, len(rising))
    if sample.clusters is not None and (whole := found.sum()):
        found = found * max(1.0, np.sum(np.bincount(sample.clusters.codes, net) ** 2) / whole)
    return found


def _whole_gains(columns: Mapping[str, Any]) -> tuple[float, float, bool]:
    """What selecting nobody and all brings, and whether some row brings less than nothing."""
    everybody, nobody, size = (
        math.fsum(x for sums in columns.get(name, ()) for x in sums)
        for name in ("gain", "gain_rejected", "gain_size")
    )
    amounts = size / GAIN_SCALE
    return nobody, everybody, amounts > everybody + SUM_ERROR * abs(everybody)


def gains_of(unit: Unit, sample: Sample) -> dict[str, Any]:
    """The gains that a unit stands for, and the weights, by the names that `rank` gives them."""
    selected, rejected, counts = sample.gains, np.zeros(1), sample.counts
    if impacts := unit.tuned(counts.total, counts.positive_total):
        tp, fp, fn, tn = impacts
        selected, rejected = np.where(sample.labels, tp, fp), np.where(sample.labels, fn, tn)
    else:
        assert selected is not None
        selected = selected - unit.place_cost
    with np.errstate(over="ignore"):
        mass = 1 if sample.weights is None else sample.weights
        size = np.sum((np.abs(selected) + np.abs(rejected)) * mass)
    if not np.isfinite(size):
        raise UnfitError("the sum of what the rows bring is too large for a number")
    beside = {"gain_rejected": rejected if rejected.any() else 0, "sample_weight": sample.weights}
    return {"gain": selected, **beside}


# groups of rows: a quota of their own each, or their parts of one over all


def group_results(
    settings: Settings, both: Sequence[Orders], names: NDArray[Any], exact: bool = True
) -> GroupResults:
    """Measure each model in each group, by its ranking of groups, and call these by their names."""
    rankings = [worst for worst, _ in both]
    _, rows, positives = qk.group_counts(rankings[0])
    masses, found, costs = _masses_of_groups(rankings[0])
    whole = costs if settings.cost is not None else masses
    if settings.per is not None:
        settings.check_quotas(float(whole.max(initial=0)), settings.per)
    resampling = settings.resampling if settings.one_by_one else None
    level = None if resampling is None else resampling.level
    over_all = GroupValues(*measured(OVER_ALL_IN_GROUPS, both, exact))
    if level is not None and exact:
        areas = [auc_interval(x, confidence_level=level) for x in rankings]
        over_all = replace(over_all, ends={"roc_auc": Ends.of(areas)})
    values: dict[Quota | None, GroupValues] = {None: over_all}
    apart: dict[Quota, Values] = {}
    for quota in settings.quotas:
        if settings.per is not None:
            filled = [_places_of_groups(ranking, quota, masses) for ranking in rankings]
        else:
            argument = quota.argument(float(whole.sum()))
            shared = [selection_by_group(ranking, **argument) for ranking in rankings]
            filled = [np.asarray(x.selected) for x in shared]
            far = [[getattr(x, m.name) for m in APART] for x in shared]
            apart[quota] = Values(APART, np.asarray(far, dtype=np.float64))
        fixed = None if quota.is_budget else level  # the places of a budget are not fixed
        values[quota] = _groups_at_quota(rankings, filled, masses, fixed)
    return GroupResults(tuple(names.tolist()), rows, positives, masses, found, costs, values, apart)


def _places_of_groups(ranking: qk.Ranking, quota: Quota, masses: Floats) -> Floats:
    """How many places each group fills."""
    if not quota.is_budget:
        return quota.of_each(masses)
    paid: Floats = np.asarray(places(ranking, budget=quota.amount), dtype=np.float64)
    return np.where(masses > 0, paid, 0.0)


def _masses_of_groups(ranking: qk.Ranking) -> tuple[Floats, Floats, Floats]:
    """The mass of each group, that of its positives, and what it costs; NaN without costs."""
    table: Any = ranking  # of whose rows each group has some

    def total(rows: NDArray[Any]) -> Floats:
        return np.asarray(namespace(rows).group_total(table, rows), np.float64)

    positive = total(ranking.positive_weights)
    costs = ranking.columns.get("cost")
    cost = np.full(positive.shape, np.nan) if costs is None else total(costs.whole)
    return positive + total(ranking.negative_weights), positive, cost


def _groups_at_quota(
    rankings: Sequence[qk.Ranking], filled: Sequence[Floats], masses: Floats, level: float | None
) -> GroupValues:
    """The measures of groups in which each model fills so many places, by its own order there."""
    measures, values, rates = (*FILLED, *AT_QUOTA_IN_GROUPS), [], []
    paid = [BRINGS] if rankings and "gain" in rankings[0].columns else []
    for ranking, taken in zip(rankings, filled, strict=True):
        at = taken[:, None]
        of_each = [x.function(ranking, quota=at)[:, 0] for x in AT_QUOTA_IN_GROUPS]
        of_each += [qk.impact_at_quota(ranking, quota=at).whole[:, 0] for _ in paid]
        with np.errstate(invalid="ignore"):
            rate = of_each[[x.name for x in AT_QUOTA_IN_GROUPS].index("hit_rate")]
            found = np.where(taken == 0, taken, taken * rate)
            values.append(np.stack([taken, found, taken / masses, *of_each], axis=-1))
        if level is not None:
            rates.append(hit_rate_interval(ranking, quota=at, confidence_level=level))
    ends = {}
    if rates:
        lower, upper = Ends.of(rates)[:2]
        ends = {"hit_rate": Ends(lower[..., 0], upper[..., 0])}
    return GroupValues((*measures, *paid), np.stack(values), ends)


# an evaluation


OnStep = Callable[[str], object]


def evaluate_sample(
    settings: Settings,
    sample: Sample,
    tuning: Sample | None = None,
    on_step: OnStep = lambda _: None,
    progress: Any = False,
) -> Evaluation:
    """Evaluate the scores of each model; best cuts are chosen on the rows for tuning, if any.

    `on_step` hears about each model before its turn; `progress` is that of `bootstrap`.
    """
    counts = sample.counts
    if (resampling := settings.resampling) is not None:
        settings = replace(settings, resampling=resampling.for_rows(counts.rows))
    if settings.per is None:
        settings.check_quotas(counts.most)
    brings = {} if settings.unit is None else gains_of(settings.unit, sample)
    groups = None
    if sample.groups is not None:
        codes, names = sample.groups
        beside = {**sample.cost, **brings, "groups": codes}
        by_group = [qk.rank(**sample.of(model) | beside) for model in settings.models]
        groups = group_results(settings, [(x, x) for x in by_group], names)
    thresholds = None if tuning is None else _best_thresholds(settings, tuning)
    orders, squares = [], []
    for model in settings.models:
        on_step(f"evaluating {model}")
        ranking = qk.rank(**sample.of(model) | sample.cost | brings | sample.treated)
        orders.append((ranking, ranking))
        squares += [_squares_of(sample, brings, model, ranking)] if brings else []
    evaluation = evaluate_rankings(settings, counts, orders, thresholds, squares, groups=groups)
    if settings.resampling is None:
        return evaluation
    data = Resampled(evaluation, sample, brings, thresholds, on_step, progress)
    return with_certainty(evaluation, data)


def _best_thresholds(settings: Settings, tuning: Sample) -> list[float]:
    """The threshold of every model's best cut; of none, where nobody should be selected, NaN."""
    assert settings.unit is not None
    brings = gains_of(settings.unit, tuning)
    models = (tuning.scores[name] for name in settings.models)
    return [float(qk.best_quota(None, scores, **brings).threshold) for scores in models]


def evaluate_rankings(
    settings: Settings,
    counts: Counts,
    orders: Sequence[Orders],
    thresholds: list[float] | None = None,
    squares: Sequence[Floats] | None = None,
    **known: Any,
) -> Evaluation:
    """Evaluate each model by its ranking, with what else is `known` of the results.

    If gains are counted in a unit, rankings have them; best cuts are at thresholds, if any.
    """
    known |= {**vars(counts), "settings": settings, "orders": orders, "rows_read": counts.rows}
    evaluation = Evaluation(**known)
    if settings.unit is None:
        return evaluation
    return replace(evaluation, gains=gain_results(evaluation, thresholds, squares))
