"""One mechanism that lets every measure take labels and scores, or a ranking made once."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Concatenate, Literal, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Across,
    Array,
    Namespace,
    device,
    from_host_view,
    host_view,
    is_array,
    tree_map,
)
from quotakernels._types import Generic, T
from quotakernels.inputs.columns import COLUMNS, as_column, short_repr
from quotakernels.inputs.cuts import (
    in_precision_of,
    known_masses,
    masses_and_positions,
    masses_or_all,
    quota_masses,
    wanted_masses,
)
from quotakernels.inputs.examples import (
    Examples,
    Validated,
    check_tie_policy,
    good_lists,
    good_rows,
    nan_unless_valid,
    validated,
)
from quotakernels.inputs.keywords import check_flag, refuse_unknown, show_value
from quotakernels.inputs.numbers import in_library_of
from quotakernels.measures._sums import OfRowSum
from quotakernels.measures._units import in_usual_units
from quotakernels.ops import namespace
from quotakernels.ops.programs import by_numpy
from quotakernels.ranking import (
    Ranking,
    TiePolicy,
    beside_ideal,
    rank,
    rank_examples,
    running_table,
    table_of,
)

R = TypeVar("R")


def repr_of_measure(measure: Any) -> str:
    """What an interpreter shows of anything that is called like a measure."""
    return f"<measure {measure.__name__}>"


class MeasureWithOptions(functools.partial[R]):
    """A ``functools.partial`` of a measure with a ``__name__``, which some libraries ask for.

    It can be used wherever a ``functools.partial`` of a measure can.
    """

    __name__: str
    __repr__ = repr_of_measure


def named(measure: Any, name: str | None, options: dict[str, Any]) -> MeasureWithOptions[Any]:
    """The measure with its options, by default named after both: ``hit_rate_quota_100``."""
    found: MeasureWithOptions[Any] = MeasureWithOptions(measure, **options)
    if name is None:
        words = (f"{option}_{_word(option, value)}" for option, value in options.items())
        name = "_".join((measure.__name__, *words))
    elif not isinstance(name, str):
        raise TypeError(f"name must be a string; got {show_value(name)}")
    found.__name__ = name
    return found


def _word(option: str, value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "_".join(_word(option, x) for x in value)
    if value is None or isinstance(value, (str, int, float)):
        return str(value)
    word = getattr(value, "__name__", None)
    if not isinstance(word, str):
        kind = type(value).__name__
        raise TypeError(f"pass name=, because {option} is of type {kind} and makes no name")
    return word


M = TypeVar("M")
Facts = ParamSpec("Facts")
Validator: TypeAlias = Callable[..., tuple[tuple[Array, ...], tuple[int, ...] | None]]
"""``validator(xp, table, *, ...)`` checks numbers, which may be arrays of any shape Q.

It returns them as arrays of shape (..., K), where K is the size of Q, with NaN for a bad number
that cannot be read; and Q, the shape that axis K of the results gets in the end.  In place of Q it
returns None if the results have no axis K."""


_FROM_DATA = inspect.signature(rank).parameters
GROUPS = ("groups", "num_groups")
"""Keywords of `rank` that divide the examples into groups."""
CUTS = ("quota", "fraction", "budget")
"""Keywords that say how many examples are selected."""
FEW_CUTS = 8
"""Finding up to this many cuts of a list takes less time than sorting it."""
_NEEDED = {
    "gain": ("gain", "what each example brings: pass gain="),
    "cost": ("cost", "what each example costs: pass cost="),
    "treatment": ("treated", "which examples were treated: pass treatment="),
}
"""For each column that a measure may need: its name in the table, and the advice of the error."""


def no_numbers(*_: Any) -> tuple[tuple[()], None]:
    """The validator of measures that have no numbers of their own."""
    return (), None


def one_value(*_: Any) -> tuple[tuple[()], tuple[()]]:
    """The validator of measures without numbers whose results have an axis K of one entry.

    The shape () removes that axis from the results.
    """
    return (), ()


@dataclass(eq=False, repr=False, kw_only=True)
class Measure:
    """A measure, callable on ``(y_true, y_score, ...)`` or on a ``Ranking``.

    The wrapped function computes it from the table of a ranking and from the arrays that the
    validator makes of the measure's own numbers.  The function's keyword-only parameters are
    options: plain values, for each of which it may be compiled anew.  The parameters below are
    facts about the measure; its signature, its types and all lists of measures follow from them.

    Parameters
    ----------
    greater_is_better : bool or None
        Whether more of it is better, or less; None if neither is, and for curves.
    numbers : callable, optional
        The validator of its own numbers, such as `wanted_masses` for quotas.  Each kind of measure
        has a default.
    needs : tuple of str
        Columns without which it has no value: "gain", "cost" or "treatment".  A measure of gains
        that also tells the classes apart needs "y_true" too.
    takes : tuple of str
        Columns that it uses if they are given.  A measure with a budget takes costs anyway.
    ideal : bool
        Whether it compares the order of the scores with the ideal one, in which the gains fall.
    advice : str
        What the error adds where the measure needs a direction and has none.
    monotone : {"", "always", "by default"}
        Whether it never falls when the ROC curve rises: with any options, or with the defaults
        alone.  Its values with ties in the best and in the worst order are then bounds for every
        other order.
    most, signed, drifting
        Of a monotone measure: its largest value, or None; whether its smallest value is minus
        `most` instead of 0, because it is a difference, which rounding moves by last places of
        `most`; and whether with weights its rounding error grows with the number of examples.
    best_of_cuts : bool
        Whether it takes the best of many cuts.  On a resample the best of them looks better than
        it is, so bootstrap intervals lie too high.
    by_positives : bool
        Whether its value, without weights, stays the same if neighbouring rows without positives
        are merged.  That holds for every measure that depends only on the places of the positives.
    in_masses : bool
        Whether its result depends on the unit of the masses.
    by_group : bool
        Whether it gives one value for each group of examples.  If it is `by_sums`, it does anyway.
    over_groups : bool
        Whether one bad value makes its results for all groups NaN.
    by_sums : bool
        Whether all that it reads of the table are sums down to each tie group.  With `sums` they
        are.
    by_counts : bool
        Whether all that it reads of a table with groups are numbers of examples, and of positive
        ones, down to each tie group.
    sums : OfRowSum, optional
        The sum over rows that makes up the measure, with default options.  Several such measures
        share one pass over the rows.
    headline : str
        The field of its record by which models are compared, or an empty string.
    """

    _function: Callable[..., Any] = field(kw_only=False)
    greater_is_better: bool | None
    numbers: Validator = no_numbers
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    ideal: bool = False
    advice: str = ""
    monotone: Literal["", "always", "by default"] = ""
    most: float | None = 1.0
    signed: bool = False
    drifting: bool = False
    best_of_cuts: bool = False
    by_positives: bool = False
    in_masses: bool = False
    by_group: bool = False
    over_groups: bool = False
    by_sums: bool = False
    by_counts: bool = False
    sums: OfRowSum | None = None
    headline: str = ""
    __name__: ClassVar[str]
    at_quota_only: ClassVar[bool] = False
    """Whether it needs no other scores than those around a quota."""
    of_numbers: ClassVar[bool] = False
    """Whether its options are numbers, which may be arrays."""

    def __post_init__(self) -> None:
        """Set what follows from the facts, and from the signatures of function and validator."""
        numbers, function = self.numbers, self._function
        functools.update_wrapper(self, function)
        self.by_sums = self.by_sums or self.sums is not None
        self.by_group = self.by_group or self.by_sums
        self.cut_optional = numbers in (masses_or_all, masses_and_positions)
        plain = numbers in (no_numbers, one_value, wanted_masses, masses_or_all)
        scale_free = plain and not self.in_masses
        self._of_masses = in_usual_units(function) if scale_free else function
        own = _keywords(numbers), _keywords(function)
        self._numbers, self.options = (tuple(p.name for p in x) for x in own)
        self.own_keywords = (*self._numbers, *self.options)
        self._required = [p.name for x in own for p in x if p.default is p.empty]
        paid = ("cost",) if "budget" in self._numbers else ()
        self.takes = (*self.needs, *self.takes, *paid)
        # labels and scores alone determine its value
        self.alone = numbers is no_numbers and not (self._required or self.takes or self.ideal)
        data = taken_of_rank(self.takes, self.by_group)
        self.__signature__ = inspect.Signature([*data.values(), *own[0], *own[1]])

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if (found := self._direct(arguments, keywords)) is not None:
            return found
        numbers, options = self.take_own(keywords)
        if keywords:
            refuse_unknown(self.__name__, keywords, ("ranking",), self.__signature__.parameters)
        beside = flat(numbers | options if self.of_numbers else numbers)
        ranking = in_library_of(self.ranking(arguments, keywords, numbers), *beside)
        self.check_required(numbers | options)
        if not self.of_numbers:
            options = {name: _plain(name, x) for name, x in options.items()}
        if "threshold" in numbers:
            numbers["threshold"] = in_precision_of(ranking[0], numbers["threshold"])
        if (on_host := host_view(ranking, *beside)) is not None:
            own = ops.shared(ranking, "on_host", lambda: type(ranking)._make(on_host))
            found = self._computed(own, numbers, options)
            return from_host_view(found, ranking[0])
        return self._computed(ranking, numbers, options)

    def take_own(self, keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Take its numbers and its options out of the keywords; raise if a flag is not a bool."""
        known = self.__signature__.parameters
        for name, value in keywords.items():
            if name in known and isinstance(known[name].default, bool):
                check_flag(name, value)
        numbers = {name: keywords.pop(name) for name in self._numbers if name in keywords}
        return numbers, {name: keywords.pop(name) for name in self.options if name in keywords}

    def check_required(self, own: Mapping[str, Any]) -> None:
        """Raise if a keyword that has no default is missing."""
        for name in self._required:
            if name not in own:
                raise TypeError(f"{self.__name__} needs {name}")

    @property
    def is_array(self) -> bool:
        """Whether it gives one array, not a record of several."""
        return self._function.__annotations__.get("return") == "Array"

    def lacking(self, options: Mapping[str, Any]) -> list[str]:
        """Keywords one of which it needs beside these; empty if it needs none."""
        absent = [name for name in self._required if name not in options]
        if absent or self.cut_optional:
            return absent[:1]
        cuts = [x for x in (*CUTS, "threshold", "between") if x in self._numbers]
        return [] if any(options.get(x) is not None for x in cuts) else cuts

    # from the arguments to the ranking, or to less where less is enough

    def ranking(
        self,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        numbers: dict[str, Any],
        caller: str = "",
    ) -> Any:
        """The ranking that was passed, or one made of the labels and scores."""
        caller = caller or self.__name__
        given = self._named(caller, arguments, keywords)
        name = "ranking" if "ranking" in given else "y_true"
        if isinstance(given.get(name), (Ranking, RankingAtQuota)):
            ranking = given.pop(name)
            for extra in given:
                raise TypeError(f"{extra} cannot be combined with a Ranking; pass it to rank")
            whole = isinstance(ranking, Ranking)
            return ranking if whole else self._known_cut(ranking, numbers, caller)
        if "ranking" in given:
            raise TypeError(f"ranking must be a Ranking; got {type(given[name]).__name__}")
        self._check_complete(caller, given)
        ties = given.pop("ties", "expected")
        check_tie_policy(ties)
        return self._serving(self._validated(given, ties), ties, numbers)

    def _named(
        self, caller: str, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> dict[str, Any]:
        """All arguments by name."""
        names = list(_FROM_DATA)[:2]
        if len(arguments) > len(names):
            raise TypeError(
                f"{caller} takes y_true and y_score, or a Ranking, by position, and all else by "
                f"keyword{f', such as {self.own_keywords[0]}=' if self.own_keywords else ''}; for "
                f"scoring= of scikit-learn: quotakernels.adapters.sklearn.scorer({self.__name__})"
            )
        given = dict(zip(names, arguments, strict=False))
        for name in keywords.keys() & given.keys():
            raise TypeError(f"{caller} got {name} twice")
        return given | keywords

    def _known_cut(
        self, at_quota: RankingAtQuota, numbers: dict[str, Any], caller: str
    ) -> ops.QuotaCut:
        """The tie group in which the one known quota ends, for measures that need no more."""
        if not self.at_quota_only or caller != self.__name__:  # other callers compare all cuts
            raise TypeError(f"{caller} needs the whole ranking; rank_at_quota knows one quota only")
        for name in (name for name, x in numbers.items() if x is not None):
            raise TypeError(f"{name} cannot be combined with a RankingAtQuota, which has its quota")
        return at_quota.around

    def _check_complete(self, caller: str, given: dict[str, Any]) -> None:
        """Raise unless there are labels and scores, or gains in place of labels."""
        if not ("y_true" in given and "y_score" in given):
            raise TypeError(f"{caller} needs y_true and y_score, or a Ranking")
        gains = "gain" in given if "gain" in self.needs else given.get("gain") is not None
        if "gain" in self.takes and (gains or given["y_true"] is None):
            as_column("gain", given.get("gain"))
        if "y_true" in self.needs and given["y_true"] is None:
            raise TypeError(f"{caller} needs y_true, which tells the cells apart")

    def _validated(self, given: dict[str, Any], ties: TiePolicy) -> Validated:
        """The checked examples; an error about labels points to gain= if it takes grades."""
        try:
            return validated(given, by_counts=self.by_counts and ties == "expected")
        except ValueError as error:
            what, other, _ = str(error).partition("; for other labels")
            graded = "gain" in self.takes and "gain" not in self.needs and given.get("gain") is None
            if not (graded and other):
                raise
            raise ValueError(f"{what}; pass grades as gain=, with None as y_true") from None

    def _serving(self, found: Validated, ties: TiePolicy, numbers: dict[str, Any]) -> Any:
        """The ranking of checked examples; or running counts, or one cut, if these are enough."""
        if self.ideal and "gain" in found.examples.columns:
            return beside_ideal(found, ties)
        counts = found.counts
        if self.by_sums and found.groups is None is counts:
            counts = running_table(found, ties, self.by_positives)
        return self._cut(found, ties, numbers) if counts is None else counts

    def _cut(self, found: Validated, ties: TiePolicy, numbers: dict[str, Any]) -> Any:
        """The ranking of checked examples; or the tie group of one cut, if that is enough."""
        if not self.at_quota_only or all(numbers.get(name) is None for name in CUTS):
            return rank_examples(found.masked, ties, found.good, found.groups)
        return ranking_at(found, ties, numbers)

    # from the ranking to the value

    def _computed(self, ranking: Any, numbers: dict[str, Any], options: dict[str, Any]) -> Any:
        xp = namespace(ranking[0])
        dtype = xp.result_float(device(ranking[0]))
        with xp.computing():
            table = self._table(xp, ranking)
            self._check_columns(table)
            arrays, shape = self.numbers(xp, table, **numbers)
            weighted = isinstance(ranking, Ranking) and table.weighted
            function = self._of_masses if weighted else self._function
            result: Any = xp.compiled(function, self.options)(table, *arrays, **options)
            if shape is not None:  # axis K of the results gets the shape of the numbers
                result = tree_map(lambda x: xp.reshape(x, (*x.shape[:-1], *shape)), result)
            result = xp.finished(result, dtype)
            several = isinstance(result, tuple)  # its fields may be sums, which are 0 in a bad row
            if isinstance(ranking, Ranking) and (several or ranking.groups):
                good = good_rows(ranking)
                if self.over_groups and good is not None:
                    good = xp.all(good, axis=-2)
                result = nan_unless_valid(xp, result, good)
            return nan_unless_valid(xp, result, getattr(ranking, "good", None))

    def _table(self, xp: Namespace, ranking: Any) -> Any:
        """The table of a ranking, of groups too if the measure knows them."""
        if not self.by_group and isinstance(ranking, Ranking) and ranking.groups:
            raise TypeError(
                f"{self.__name__} takes no groups; call it with one group's examples, or with "
                "where=groups == id"
            )
        table = table_of(xp, ranking, self.by_group)
        by_positives = isinstance(ranking, Ranking) and self.by_sums and self.by_positives
        return (by_positives and xp.merged_groups(table)) or table

    def _check_columns(self, table: Any) -> None:
        """Raise unless the table has the columns that the measure needs."""
        for column, what in (_NEEDED[name] for name in self.needs if name in _NEEDED):
            if column not in table.columns:
                raise TypeError(f"{self.__name__} needs {what}, or a Ranking that was made with it")

    # The direct way, for most calls: labels and scores in NumPy arrays or CPU tensors, and at most
    # a few plain quotas beside them.
    #
    # It skips what the general way has to find out about libraries, devices, weights, masks, groups
    # and invalid rows.  It returns None for every other call, and for bad input, so that the
    # general way raises the error.

    def _direct(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The value, if the call can go the direct way; None if not."""
        if keywords:
            plain = self.at_quota_only and self.numbers is wanted_masses and len(arguments) == 2
            return self._at_known_cuts(*arguments, **keywords) if plain else None
        counted = self.alone and self.by_sums and self.by_positives
        if not counted or len(arguments) != 2 or (table := _counts_of_lists(*arguments)) is None:
            return None
        return from_host_view(by_numpy(self._function, table), arguments[1])

    def _at_known_cuts(self, labels: Any, scores: Any, **cut: Any) -> Any:
        """The values of one list at a few plain quotas, found without a sort; else None."""
        if len(cut) != 1 or not (cut.keys() <= {"quota", "fraction"}):
            return None
        if (good := good_lists(labels, scores)) is None or good[1].ndim > 1:
            return None
        flags, values = good
        masses = known_masses(values.shape[0], **cut)
        if masses is None or len(masses) > FEW_CUTS:
            return None
        single = type(next(iter(cut.values()))) in (int, float)
        if single and "quota" in cut and 0 < masses[0] < 1:  # the general way warns of it
            return None
        around = namespace(values).cut_of_scores(values, flags, masses)
        if around is None:
            return None
        value = by_numpy(self._function, around, around.wanted)
        return from_host_view(value[0] if single else value, scores)

    def with_options(self, *, name: str | None = None, **options: Any) -> MeasureWithOptions[Any]:
        """The measure with some of its keyword arguments fixed, like ``functools.partial``.

        Parameters
        ----------
        name : str, optional
            The ``__name__`` of the result.  The default is made of the measure's name and its
            options.
        **options
            Keyword arguments of the measure, which later calls may override.

        Returns
        -------
        MeasureWithOptions
            A ``functools.partial`` with a ``__name__``.  It can be pickled and it stands wherever
            a measure may: in `bootstrap`, `compare`, states, scorers and adapters.

        Raises
        ------
        TypeError
            An option that the measure lacks, a name that is not a string, or no name beside an
            option for which none is made, such as an array.

        Examples
        --------
        >>> from quotakernels import hit_rate
        >>> best = hit_rate.with_options(quota=2)
        >>> best.__name__, float(best([1, 0, 1], [0.9, 0.8, 0.7]))
        ('hit_rate_quota_2', 0.5)
        """
        data = list(_FROM_DATA)[:2]
        known = [name for name in self.__signature__.parameters if name not in data]
        refuse_unknown(f"{self.__name__}.with_options", options, ["name"], known)
        return named(self, name, options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def __reduce__(self) -> str:
        return self.__name__

    __repr__ = repr_of_measure


@dataclass(eq=False, repr=False, kw_only=True)
class QuotaMeasure(Measure):
    """A measure at K quotas.

    Its function gets the table and the wanted masses, shape (..., K): how many examples each quota
    selects, or with weights how much of their sum.
    """

    numbers: Validator = wanted_masses
    at_quota_only = True


def _keywords(function: Callable[..., Any]) -> list[inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.kind is p.KEYWORD_ONLY]


def flat(numbers: dict[str, Any]) -> list[Any]:
    """All numbers in one list, those that come in lists too."""
    several = (x if isinstance(x, (list, tuple)) else (x,) for x in numbers.values())
    return [x for each in several for x in each]


def _plain(name: str, value: Any) -> Any:
    """The value of an option, which must be hashable to tell compiled functions apart."""
    value = tuple(value) if isinstance(value, list) else value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    each = value if isinstance(value, tuple) else (value,)
    if all(isinstance(x, (str, int, float)) for x in each):  # before 2.13 torch.compile has no hash
        return value
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"{name} must be a plain value; got {show_value(value)}") from None
    return value


def measure(
    kind: Callable[Concatenate[Callable[..., Any], Facts], M],
    *arguments: Facts.args,
    **facts: Facts.kwargs,
) -> Callable[[Callable[..., Any]], M]:
    """Turn the decorated function into a measure of that kind, with these facts about it."""
    return lambda function: kind(function, *arguments, **facts)


def taken_of_rank(takes: tuple[str, ...], by_group: bool) -> dict[str, inspect.Parameter]:
    """The parameters of `rank` that are also those of a measure which takes these columns."""
    left_out = {x for x in COLUMNS if x.removesuffix("_rejected") not in takes}
    left_out |= set() if by_group else set(GROUPS)
    return {name: p for name, p in _FROM_DATA.items() if name not in left_out}


def _counts_of_lists(labels: Any, scores: Any) -> ops.TieTable | None:
    """The running counts of good lists, neighbouring rows without positives merged; else None."""
    if (found := good_lists(labels, scores)) is None:
        return None
    labels, scores = found
    labels = labels if labels.ndim == scores.ndim else np.broadcast_to(labels, scores.shape)
    return namespace(scores).running_counts(scores, labels, None, by_positives=True)


# One quota, found without sorting the scores


class RankingAtQuota(NamedTuple, Generic[T]):
    """What measures at one quota need to know of the examples: the tie group in which it ends.

    `rank_at_quota` makes it.  `hit_rate`, `qrecall`, `lift`, `confusion_table` and the measures of
    a table take it in place of a `Ranking`, without a quota, because it has one.  All other
    measures need the whole ranking, and refuse it.

    Attributes
    ----------
    threshold : array, shape (...)
        The score at which the quota ends, as that of `quota_threshold`.
    around : named tuple of arrays, shape (..., 1)
        How many examples the quota takes; and how many examples, and how many positive ones, are
        above that score, are tied at it, and are there in all.
    """

    threshold: T
    around: ops.QuotaCut

    def __repr__(self) -> str:
        """The library and, for one list, the number of examples."""
        if not is_array(self.threshold):  # a tree of something else
            return f"RankingAtQuota{tuple.__repr__(self)}"
        whole, positives = self.around.whole, self.around.positives
        return short_repr("RankingAtQuota", whole, whole.shape, [whole], [positives])


def ranking_at(
    found: Validated, ties: TiePolicy, given: Mapping[str, Any]
) -> Ranking | ops.QuotaCut:
    """The tie group in which one quota ends; or the whole ranking, where the cut takes a sort.

    It does with weights, groups, budgets, several quotas and ties in the given order.
    """
    quota, fraction, budget = (given.get(name) for name in CUTS)
    examples = in_library_of(found.masked, quota, fraction, budget)
    cut = quota if fraction is None else fraction
    single = type(cut) in (int, float) or getattr(cut, "ndim", None) == 0
    single = single and budget is None and (quota is None) != (fraction is None)
    plain = examples.weights is None and ties != "given" and found.groups is None
    if single and plain and examples.scores.shape[-1]:
        xp = namespace(examples.scores)
        with xp.computing():
            wanted, place = _wanted(xp, examples, quota, fraction, given.get("when_short"))
            return _cut_found(examples, found.good, wanted, place, ties)
    return rank_examples(examples, ties, found.good, found.groups)


def _cut_found(
    examples: Examples, good: Array | None, wanted: Array, place: Any, ties: TiePolicy
) -> ops.QuotaCut:
    """The result of `quota_cut_of`; of one list in a CPU tensor by NumPy, which counts faster."""
    find = namespace(examples.scores).compiled(quota_cut_of, ("ties",))
    data = (examples[:4], good, wanted)
    on_host = host_view(data) if examples.scores.ndim == 1 else None
    columns, good, wanted = on_host or data
    around: ops.QuotaCut = find(Examples(*columns), good, wanted, place, ties=ties)
    if on_host is not None:
        around = from_host_view(around, examples.scores)
    return around


def _wanted(
    xp: Namespace, examples: Examples, quota: Any, fraction: Any, when_short: Any
) -> tuple[Array, int | None]:
    """The mass for which one quota stands, and the place of the last example that it takes.

    The place is None if that cannot be read.
    """
    scores, valid = examples.scores, examples.valid
    size, dev = scores.shape[-1], device(scores)
    masses = known_masses(size, quota, fraction) if valid is None else None
    if masses is not None:
        return xp.constant(masses, xp.wide_float(dev), dev), max(math.ceil(masses[0]), 1)
    if valid is None:
        counts = xp.full((*scores.shape[:-1], 1), size, dtype=xp.int64, device=dev)
    else:
        counts = xp.count(valid)
    whole = ops.TieTable(scores[..., :1], counts, counts, None, None)
    (wanted,), _ = quota_masses(xp, whole, quota=quota, fraction=fraction, when_short=when_short)
    return wanted, None


def last_place(xp: Namespace, wanted: Array) -> Array:
    """The place, counted from 1, of the last example of which a quota takes at least a part."""
    return xp.cast(xp.ceil(xp.where(wanted > 1, wanted, xp.ones_like(wanted))), xp.int64)


def quota_cut_of(
    examples: Examples,
    good: Array | None,
    wanted: Array,
    place: Any,
    *,
    ties: TiePolicy,
    across: Across | None = None,
) -> ops.QuotaCut:
    """The tie group in which the wanted mass ends, among the examples of all shards together."""
    xp = namespace(wanted)
    scores, labels, _, valid, *_ = examples
    shape = (*scores.shape[:-1], 1)
    wanted = wanted if wanted.shape == shape else xp.broadcast_to(wanted, shape)
    if not isinstance(place, int):
        place = last_place(xp, wanted)
    thresholds, counts = xp.counts_around(scores, labels, valid, place, across)
    counts = xp.cast(counts, wanted.dtype)
    before, here = counts[..., :2], counts[..., 2:4] - counts[..., :2]
    before, positive_before = before[..., :1], before[..., 1:]
    mass, positive = here[..., :1], here[..., 1:]
    row = ops.CutRow(before, positive_before, mass, positive)
    positives, whole = counts[..., 4:5], counts[..., 5:]
    if valid is None:
        whole = xp.full_like(positives, scores.shape[-1])
    if good is not None:
        wanted = xp.nan_unless(good, wanted)
    found = ops.QuotaCut(wanted, thresholds, row, whole, positives)
    return found if ties == "expected" else _one_class_first(xp, found, ties == "optimistic")


def _one_class_first(xp: Namespace, around: ops.QuotaCut, is_positive: bool) -> ops.QuotaCut:
    """The cut under a tie policy that puts all examples of one class of a tie group first.

    The quota then ends among the examples of one class, which become a row by themselves.
    """
    row = around.row
    first = row.positive if is_positive else row.mass - row.positive
    nothing = xp.zeros_like(first)
    found = first if is_positive else nothing
    within = around.wanted <= row.mass_before + first
    before = row.mass_before + xp.where(within, nothing, first)
    mass = xp.clip(xp.where(within, first, row.mass - first), min=1.0)  # it may be empty at quota 0
    positive_before = row.positive_before + xp.where(within, nothing, found)
    positive = xp.where(within, found, row.positive - found)
    return around._replace(row=ops.CutRow(before, positive_before, mass, positive))
