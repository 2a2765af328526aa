"""Two selections at one quota: is one of them right more often where they differ?"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from quotakernels._array import Array, cast, computing
from quotakernels._records import plainly
from quotakernels.inference._call import not_one_of
from quotakernels.inference._distributions import check_level, normal_width, scipy
from quotakernels.inference.hit_rates import moving_cut
from quotakernels.inputs.cuts import quota_masses
from quotakernels.inputs.gains import validated
from quotakernels.inputs.keywords import public
from quotakernels.inputs.models import host_floats, stacked, two_models
from quotakernels.measures.at_quota.selection import select
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, rank, table_of

SelectionTest: TypeAlias = Literal["score", "mcnemar", "fisher"]


def by_halves(first: int, second: int, mid_p: bool) -> float:
    """McNemar: each of the successes is the first's with probability ½."""
    return _two_sided("binom", (first + second, 0.5), min(first, second), mid_p)


def by_sizes(first: int, second: int, size: int, mid_p: bool) -> float:
    """Fisher: the successes are spread at random over two times so many trials."""
    if not first + second:
        return 1.0
    return _two_sided("hypergeom", (2 * size, first + second, size), min(first, second), mid_p)


def _two_sided(
    name: Literal["binom", "hypergeom"], of: tuple[float, ...], least: int, mid_p: bool
) -> float:
    """Twice the probability of `least` or less, at most 1; with `mid_p` less once that of `least`.

    The distribution is symmetric.
    """
    distribution = getattr(scipy().stats, name)
    twice = 2 * float(distribution.cdf(least, *of))
    return min(1.0, twice - float(distribution.pmf(least, *of)) if mid_p else twice)


def normal_tails(first: float, second: float, size: float | None, corrected: bool) -> float:
    """McNemar's or Fisher's p-value by the normal distribution, for numbers that are not whole.

    Corrected for continuity it is near the exact test, else near its mid-p.
    """
    apart = max(abs(first - second) - (1 if corrected else 0), 0.0)
    variance = first + second
    if size is not None:
        variance *= 1 - variance / (2 * size) if size else 0
    return math.erfc(apart / math.sqrt(2 * variance)) if apart else 1.0


def interval_by_halves(
    first: float, second: float, examples: float, confidence_level: float
) -> tuple[float, float]:
    """Of first - second, where examples were counted by one, the other or neither."""
    size = examples + 2
    centre, both = (first - second) / size, (first + second + 2) / size
    half = normal_width(confidence_level) * math.sqrt((both - centre * centre) / size)
    return examples * (centre - half), examples * (centre + half)


def interval_by_sizes(
    first: float, second: float, size: float, confidence_level: float
) -> tuple[float, float]:
    """Of first - second, each of so many trials."""
    shares = [(x + 1) / (size + 2) for x in (first, second)]
    error = math.sqrt(sum(x * (1 - x) for x in shares) / (size + 2))
    half, centre = normal_width(confidence_level) * error, shares[0] - shares[1]
    return size * (centre - half), size * (centre + half)


class Score(NamedTuple):
    """What the score test of two hit rates takes; D, B and C as in `compare_selections`.

    The difference of two hit rates is about the mean of (y - m₁)·[selected by the first]
    - (y - m₂)·[selected by the second], m being the rate of positives at either cut: a case that
    comes in moves the cut past one of that rate.
    """

    discordant: float
    selected: float
    examples: float
    cuts: tuple[float, float]

    def variance(self, first: float, second: float, more: float = 0.0) -> float:
        """Of B - C, from so many positives of the first alone and of the second alone.

        `more` is added to either kind of positives and of negatives.
        """
        alone, (a, b) = self.discordant + 2 * more, self.cuts
        found = (first + more) * (1 - a) ** 2 + (alone - first - more) * a**2
        found += (second + more) * (1 - b) ** 2 + (alone - second - more) * b**2
        found += (self.selected - self.discordant) * (a - b) ** 2
        total = first - second - self.selected * (a - b)
        return max(found - total**2 / self.examples, 0.0)

    def p_value(self, first: float, second: float) -> float:
        """Two-sided, with the variance of two that are equally good."""
        mean = (first + second) / 2
        apart, variance = abs(first - second), self.variance(mean, mean)
        return math.erfc(apart / math.sqrt(2 * variance)) if apart else 1.0

    def interval(self, first: float, second: float, confidence_level: float) -> tuple[float, float]:
        """Of B - C."""
        half = normal_width(confidence_level) * math.sqrt(self.variance(first, second, 0.5))
        return first - second - half, first - second + half


@plainly
class SelectionComparison(NamedTuple):
    """How two selections of equal size differ; plain numbers.

    Attributes
    ----------
    difference : float
        The first hit rate minus the second.
    lower, upper : float
        Ends of its confidence interval.
    p_value : float
        P-value of the two-sided test that both hit rates are equal.
    discordant : float
        How many examples only the first selects; the second selects as many alone.
    positives_a, positives_b : float
        How many of these examples are positive, for each of the two selections.
    """

    difference: float
    lower: float
    upper: float
    p_value: float
    discordant: float
    positives_a: float
    positives_b: float


@public
def compare_selections(
    y_true: Any,
    models: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    test: SelectionTest = "score",
    mid_p: bool = False,
    confidence_level: float = 0.95,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> SelectionComparison:
    """Whether one of two models fills a quota better, by the examples that only one selects.

    McNemar's and Fisher's tests need SciPy, the extra `inference`, unless ties leave fractions.

    Examples that both models select, or neither, do not tell which is better.  Each model alone
    selects equally many others, D.  Let B be the positives among those of the first model, and C
    among those of the second: the hit rates differ by (B - C)/j.

    The score test asks whether both hit rates are equal in the population, where each model has a
    cut of its own.  The others take the cuts as fixed.  McNemar's test takes B + C as given: if
    neither model is better, B is binomial with probability ½.  Fisher's takes D as given too: B + C
    positives are spread at random over 2D places.

    Labels and keywords are those of `rank`, the size of the selections is that of `select`.

    Parameters
    ----------
    y_true : array, shape (n,)
        One list for both models.
    models : mapping from names to arrays, shape (n,), a data frame, or an array, shape (2, n)
        Scores of two models: the first and the second.
    quota, fraction : number
        The size of the selections; one of the two.
    test : {"score", "mcnemar", "fisher"}
        What the test and the interval take as given.
    mid_p : bool
        For McNemar's and Fisher's test: count the probability of the observed numbers half.  The
        test is then wrong about as often as its level says; without it, at most as often.
    confidence_level : float
        Of the interval; above 0 and below 1.

    Returns
    -------
    SelectionComparison
        Python floats.  NaN for the quota 0, for no examples, and if a bad value could not be read.
        The p-value is 1 if no positive is selected by one model alone.

    Raises
    ------
    TypeError
        Scores without values, in a trace.

    See Also
    --------
    compare : more than two models, other measures, weights.
    select : who is selected.

    Notes
    -----
    If a quota ends in a tie group, each of its examples is selected with a probability s.  The
    first model alone selects it with max(s₁ - s₂, 0), so both select the same examples as far as
    possible.  The difference remains that of the expected hit rates.  If some of these numbers are
    not whole, the test is the χ² test with fractional numbers, (|B - C| - 1)²/V; with `mid_p`
    without the continuity correction of 1.  V = B + C for McNemar's test and (B + C)·(1 - (B +
    C)/2D) for Fisher's.

    The score test has z = (B - C)/√V with V = B(1 - m₁)² + (D - B)m₁² + C(1 - m₂)² + (D - C)m₂² +
    (j - D)(m₁ - m₂)² - (B - C - j(m₁ - m₂))²/n, where B and C in V are replaced by their mean.  m₁
    and m₂ are the rates of positives at the cuts, as in `hit_rate_interval`.  Its interval is
    B - C ± z√V, with ½ added to B and C, and to the negatives beside them.

    The other intervals add small numbers to the counts, so that they hold their level for small
    counts too: for McNemar's test 1 to B and to C, 2 to n ([Bonett 2012]); for Fisher's 1 to B, to
    D - B, to C and to D - C ([Agresti 2000]).  With few examples an interval may include 0 although
    p is small, and the other way round.  McNemar's test does not use that both models select
    equally many.  So it is conservative, and if most examples that only one model selects are
    positive, it finds hardly any difference.  Fisher's test does not have that fault, but its null
    hypothesis is that both models are equally good above their present cuts.  If the rates of
    positives at the cuts differ from the hit rates, then at 5 % it rejects in up to 11 % of samples
    with equal hit rates.

    References
    ----------
    [McNemar 1947]; [Bonett 2012]; [Agresti 2000].

    Examples
    --------
    >>> from quotakernels.inference import compare_selections
    >>> y_true = [1, 1, 1, 0, 1, 0, 0, 0, 0, 1]
    >>> models = {"a": [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], "b": [1, 2, 3, 9, 8, 7, 6, 0, 4, 5]}
    >>> found = compare_selections(y_true, models, quota=4)
    >>> print(found.difference, found.positives_a, found.positives_b, round(found.p_value, 4))
    0.5 3.0 1.0 0.1035
    """
    if test not in get_args(SelectionTest):
        raise not_one_of("test", test, get_args(SelectionTest))
    if mid_p and test == "score":
        raise TypeError('mid_p has no meaning for test="score"')
    check_level(confidence_level)
    data = {"where": where, "pos_label": pos_label, "validate": validate}
    scores = stacked(two_models(models, y_true), y_true, **data)
    at = {"quota": quota, "fraction": fraction}
    both = selections(y_true, scores, data, at, cuts=test == "score")
    if test == "score":
        return both.by_score(0, 1, confidence_level)[0]
    found = both.counts(0, 1)
    if not found.comparable:
        return _undefined()
    ends = _interval(found, test, confidence_level)
    return _comparison(found, ends, _p_value(found, test, mid_p))


class _Counts(NamedTuple):
    """Examples that only the first selects, the positives among them and among those of the second;
    all examples, all that one selects, and whether each is selected by one alone, or not at all.
    """

    discordant: float
    first: float
    second: float
    examples: float
    selected: float
    whole: float

    @property
    def comparable(self) -> bool:
        """Whether anything is selected."""
        return self.examples > 0 and self.selected > 0


class Selections(NamedTuple):
    """What each of M models selects at one quota: with which probability, shape (M, n), and the
    rates of positives at the cuts, where they are needed.
    """

    chosen: Array
    labels: Array
    valid: Array | None
    cuts: list[float]

    def counts(self, first: int, second: int) -> _Counts:
        """The numbers that tests of two models take, by their places."""
        xp = namespace(self.chosen)
        with computing(xp):
            chosen, labels = self.chosen[first, ...], self.labels[first, ...]
            more = chosen - self.chosen[second, ...]
            zero = xp.zeros_like(more)
            only = [xp.maximum(x, zero) for x in (more, -more)]
            positive = [xp.where(labels, x, zero) for x in only]
            there = xp.ones_like(labels)
            if self.valid is not None:
                there = self.valid[first, ...] & self.valid[second, ...]
            whole = xp.all((more == 0) | (xp.abs(more) == 1))
            sums = [only[0], *positive, cast(xp, there, more.dtype), chosen]
            numbers = [*(xp.sum(x) for x in sums), cast(xp, whole, more.dtype)]
            return _Counts(*(float(x) for x in host_floats(xp.stack(numbers))))

    def by_score(
        self, first: int, second: int, confidence_level: float
    ) -> tuple[SelectionComparison, float]:
        """The score test of two models, and the standard error of their difference."""
        found = self.counts(first, second)
        if not found.comparable:
            return _undefined(), math.nan
        pair, cuts = (found.first, found.second), (self.cuts[first], self.cuts[second])
        score = Score(found.discordant, found.selected, found.examples, cuts)
        ends = score.interval(*pair, confidence_level)
        error = math.sqrt(score.variance(*pair)) / found.selected
        return _comparison(found, ends, score.p_value(*pair)), error


def selections(
    y_true: Any, scores: Array, data: dict[str, Any], at: dict[str, Any], cuts: bool = True
) -> Selections:
    """What models select whose scores have the shape (M, n), at one quota or fraction."""
    examples = validated(y_true, scores, **data).examples
    taken: Any = select  # which of quota= and fraction= is given, it finds out itself
    chosen = taken(scores, where=data.get("where"), validate=data.get("validate", True), **at)
    found = _cuts(rank(y_true, scores, **data), at) if cuts else []
    return Selections(chosen, examples.labels, examples.valid, found)


def _cuts(ranking: Ranking, at: dict[str, Any]) -> list[float]:
    xp = namespace(ranking.counts)
    with computing(xp):
        table = table_of(xp, ranking)
        (wanted,), _ = quota_masses(xp, table, **at)
        found: list[float] = host_floats(moving_cut(xp, table, wanted)[0]).ravel().tolist()
    return found


def _undefined() -> SelectionComparison:
    return SelectionComparison(*[math.nan] * 7)


def _comparison(found: _Counts, ends: tuple[float, float], p_value: float) -> SelectionComparison:
    lower, upper = (min(max(x / found.selected, -1.0), 1.0) for x in ends)
    difference = (found.first - found.second) / found.selected
    return SelectionComparison(difference, lower, upper, p_value, *found[:3])


def _interval(found: _Counts, test: str, confidence_level: float) -> tuple[float, float]:
    pair = (found.first, found.second)
    if test == "mcnemar":
        return interval_by_halves(*pair, found.examples, confidence_level)
    return interval_by_sizes(*pair, found.discordant, confidence_level)


def _p_value(found: _Counts, test: str, mid_p: bool) -> float:
    size = None if test == "mcnemar" else found.discordant
    if not found.whole:
        return normal_tails(found.first, found.second, size, not mid_p)
    pair = (round(found.first), round(found.second))
    return by_halves(*pair, mid_p) if size is None else by_sizes(*pair, round(size), mid_p)
