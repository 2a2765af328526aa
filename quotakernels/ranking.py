"""The ranking: one row per tie group, best score first, from which every measure is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, is_array
from quotakernels._bits import pickled
from quotakernels._types import A, ArrayOf, Generic, Number, NumberOf, T
from quotakernels._types import TiePolicy as TiePolicy
from quotakernels.inputs.columns import short_repr
from quotakernels.inputs.counts import FROM_COUNTS, table_of_points, validated_counts
from quotakernels.inputs.cuts import cut_at
from quotakernels.inputs.examples import (
    Examples,
    Validated,
    check_grouped_ties,
    check_tie_policy,
    good_rows,
    validated,
    with_marks,
    without_negative_gains,
)
from quotakernels.inputs.groups import GroupCodes
from quotakernels.inputs.keywords import public
from quotakernels.ops import namespace


class Ranking(NamedTuple, Generic[T]):
    """Scores and labels, sorted and grouped: all that the measures need.

    Each row stands for one tie group, best score first; leading axes are a batch of rankings.
    A ranking is a named tuple of arrays only, some of them by name, so it passes through
    ``jax.jit``, ``jax.vmap``, ``torch.func.vmap`` and pickling as it is.

    `rank` makes it from labels and scores, `from_counts` from grouped rows in any order.  Both
    check what they get; the class itself checks nothing.  What several measures need is kept with
    it, so do not write into its arrays; `_replace` gives another ranking.

    Attributes
    ----------
    thresholds : array, shape (..., G)
        Score of the tie group, in the dtype of the scores.
    counts : integer array, shape (..., G)
        Number of examples in the group.  A row with 0 examples is padding.
    positives : integer array, shape (..., G)
        Number of positive examples in the group.
    positive_weights, negative_weights : array, shape (..., G)
        Mass of the positive and of the negative examples of the group: the sums of their sample
        weights, in float64 also under JAX without x64.  Without weights they are the numbers of
        these examples, and their integer dtype says so.
    columns : mapping from names to named tuples of arrays, shape (..., G)
        Sums over the `positive` and over the `negative` examples of the group: with `gain` of
        `rank`, what they bring if they are selected, ``"gain"``, and if not, ``"gain_rejected"``,
        and the sums of the absolute values of both, ``"gain_size"``, in units of 2**32; with `cost`
        what they cost, ``"cost"``; with `treatment` the masses of ``"treated"`` and ``"control"``.
    layout : empty tuple
        Its type says whether each group stands in the row of its last example.
    groups : named tuple of arrays
        With `groups` of `rank`: `ids`, shape (..., S); `starts`, the row at which each group
        begins, shape (..., S + 1); `of_row`, the group of each row, shape (..., G); and `good`,
        shape (..., S, 1), which groups have no bad value, if values were not read.  Else an empty
        tuple.
    ideal : array
        Only inside `ndcg` of gains: these, best first.  Else an empty tuple.

    A row of the batch with a bad value that could not be read is invalid.  It has no examples, its
    masses are NaN, or -1 if they are integers, and all results of it are NaN.
    """

    thresholds: T | Any
    counts: Any
    positives: Any
    positive_weights: Any
    negative_weights: Any
    columns: ops.Columns = ops.NO_COLUMNS
    layout: ops.Layout = ()
    groups: ops.GroupIndexOrNone = ()
    ideal: Any = ()

    @property
    def weights(self) -> T | Any:
        """Mass of the group; without weights, `counts`."""
        xp = namespace(self.counts)
        with xp.computing():
            positive: Any = self.positive_weights
            return positive + self.negative_weights

    def map(self, function: Callable[[Array], Array]) -> Ranking:
        """The ranking with the function applied to each of its arrays."""
        refuse_groups(self)
        own = (function(x) for x in self[:5])
        return Ranking._make((*own, ops.map_columns(function, self.columns), (), (), ()))

    def __repr__(self) -> str:
        """Shape and library; of one list also how many examples there are, if that is known; and
        what there is beside them.
        """
        if not is_array(self.counts):  # a tree of something else
            return f"Ranking{tuple.__repr__(self)}"
        beside = [f"{self.groups.ids.shape[-1]} groups"] if self.groups else []
        beside += [name for key, name in _PARTS.items() if key in self.columns]
        shape, examples = self.counts.shape, ([self.counts], [self.positives])
        return short_repr("Ranking", self.counts, shape, *examples, *beside)

    def __reduce__(self) -> Any:
        return pickled(self)

    @classmethod
    @public
    def from_counts(
        cls,
        thresholds: ArrayOf[A],
        counts: ArrayOf[A],
        positives: ArrayOf[A],
        *,
        weights: ArrayOf[A] | None = None,
        positive_weights: ArrayOf[A] | None = None,
        positive_gains: ArrayOf[A] | None = None,
        negative_gains: ArrayOf[A] | None = None,
        positive_gains_rejected: ArrayOf[A] | None = None,
        negative_gains_rejected: ArrayOf[A] | None = None,
        positive_costs: ArrayOf[A] | None = None,
        negative_costs: ArrayOf[A] | None = None,
        treated_positives: ArrayOf[A] | None = None,
        treated_negatives: ArrayOf[A] | None = None,
        groups: ArrayOf[Any] | None = None,
        num_groups: int | None = None,
        ties: TiePolicy = "expected",
    ) -> Ranking[A]:
        """Make a ranking of scores that were grouped elsewhere, by a ``GROUP BY`` for example.

        Parameters
        ----------
        thresholds : array, shape (..., G)
            The distinct scores, in any order.
        counts, positives : integer arrays, shape (..., G)
            How many examples have that score, and how many of them are positive.
        weights, positive_weights : arrays, shape (..., G), optional
            Mass of the examples and of the positive examples with that score; both or neither.
            Where all examples are positive they are equal, up to rounding.
        positive_gains, negative_gains : arrays, shape (..., G), optional
            Total gain of the positives and of the negatives with that score if they are selected:
            sums of `gain` of `rank`, or of weight times gain; both or neither.  For
            `impact_at_quota` and `best_quota` the classes do not matter: without labels, count all
            examples as positive.
        positive_gains_rejected, negative_gains_rejected : arrays, shape (..., G), optional
            What they bring if they are not selected; nothing by default.
        positive_costs, negative_costs : arrays, shape (..., G), optional
            Total cost of the positives and of the negatives with that score if they are selected;
            with weights, sums of weight times cost; both or neither.
        treated_positives, treated_negatives : arrays, shape (..., G), optional
            How many of the positives and of the negatives with that score were treated, with
            weights their mass; both or neither.  The others are controls.
        groups : array, shape (..., G), optional
            The group of examples of each row, from a ``GROUP BY`` of two columns.  A score may
            then occur once in each group.
        num_groups : int, optional
            How many groups there are; their ids are then 0 to ``num_groups - 1``.
        ties : {"expected", "optimistic", "pessimistic"}
            Whether equal scores count by the mean over their orders, or with the positives first or
            last; the order of the examples is not known here.

        Returns
        -------
        Ranking

        Raises
        ------
        TypeError
            Counts that are not integers; arrays of two libraries or devices.
        ValueError
            Different shapes; NaN or repeated thresholds; negative counts, masses or costs; more
            positives or treated than examples; 2**63 examples or more; gains or costs that are not
            finite, or of a class without examples; ids of no group.  Where values cannot be read,
            all results of the row of the batch, or of the group, with such a value are NaN.

        Notes
        -----
        The gains of single examples, and how much they cancel, are not known here.  So `best_quota`
        takes totals as equal if they differ by at most 2**-49 of the given absolute sums.

        Examples
        --------
        >>> from quotakernels import Ranking, hit_rate, impact_at_quota
        >>> counts = [0.9, 0.5, 0.1], [2, 3, 5], [2, 1, 0]
        >>> print(hit_rate(Ranking.from_counts(*counts), quota=4))
        0.6666666666666666
        >>> loans = Ranking.from_counts(
        ...     *counts, positive_gains=[50, 20, 0], negative_gains=[0, -80, -200]
        ... )
        >>> print(impact_at_quota(loans, quota=2).whole)
        50.0
        >>> print(hit_rate(Ranking.from_counts(*counts, groups=["a", "a", "b"]), quota=2))
        [1. 0.]
        """
        check_grouped_ties(ties)
        masses = (weights, positive_weights, positive_gains, negative_gains)
        others = (positive_gains_rejected, negative_gains_rejected, positive_costs, negative_costs)
        treated = (treated_positives, treated_negatives)
        columns = (thresholds, counts, positives, *masses, *others, *treated, groups)
        found = validated_counts(dict(zip(FROM_COUNTS, columns, strict=True)), num_groups)
        xp = namespace(found.table.counts)
        with xp.computing():
            return ranking_of(found.parted(xp.split_ties(found.table, ties)), found.good)

    @classmethod
    @public
    def from_points(
        cls, fp: ArrayOf[A], tp: ArrayOf[A], *, thresholds: ArrayOf[A] | None = None
    ) -> Ranking[A]:
        """Make a ranking whose cuts are given points of a ROC curve.

        Its ROC and precision-recall curves go through these points, whole numbers or not, and
        every area and decision in those spaces can be computed from it.

        Parameters
        ----------
        fp, tp : arrays, shape (..., G)
            False and true positives selected at each point, rising; the last ones are N and P.  The
            origin may be left out.  Floats count as masses, so cast the counts of a curve from a
            compiled program to integers.
        thresholds : array, shape (..., G), optional
            The scores that belong to the points, falling.  By default G, G - 1, …, 1.

        Returns
        -------
        Ranking
            Without weights if both are integer arrays.  Else with masses; measures that use
            positions count each step from point to point as one example.

        Raises
        ------
        TypeError
            Values that are not numbers; arrays of two libraries or devices.
        ValueError
            Different shapes, points that fall, thresholds that do not.  Where values cannot be
            read, all results of the row of the batch that has such a value are NaN.

        References
        ----------
        [DG] Figures 6 and 7.

        Examples
        --------
        >>> from quotakernels import Ranking, pr_auc, roc_auc
        >>> figure_7 = Ranking.from_points(fp=[500, 2000], tp=[20, 20])
        >>> print(roc_auc(figure_7), pr_auc(figure_7).round(4))
        0.875 0.0385
        """
        table, good = table_of_points(fp, tp, thresholds)
        with namespace(table.counts).computing():
            return ranking_of(table, good)

    def at_thresholds(self, thresholds: Number) -> Ranking[T]:
        """The ranking of these examples with cuts at the given thresholds only.

        Use it to apply thresholds that were chosen on one set to another:
        ``rank(test).at_thresholds(roc_hull(tuning).threshold)``.

        Parameters
        ----------
        thresholds : array, shape (K,) or (..., K)
            Scores, in any order; a cut selects ``score >= threshold``.  NaN stands for the empty
            cut and is ignored.  Numbers of Python in a list are rounded to the type of the scores,
            as in `confusion_table`.

        Returns
        -------
        Ranking
            A group for each cut that selects more than the one before it, and one for the rest.
            The threshold of a group is the lowest score in it.

        Raises
        ------
        TypeError
            Values that are not numbers; arrays of two libraries or devices.
        ValueError
            A shape that does not match.

        References
        ----------
        [DG] section 3.

        Examples
        --------
        >>> from quotakernels import rank, roc_curve, roc_hull
        >>> chosen = roc_hull([1, 0, 1, 0], [0.9, 0.7, 0.6, 0.2]).threshold
        >>> test = rank([1, 0, 1, 0, 1], [0.95, 0.8, 0.7, 0.65, 0.5])
        >>> print(chosen, roc_curve(test.at_thresholds(chosen)).threshold)
        [nan 0.9 0.6 0.2] [ nan 0.95 0.65 0.5 ]
        """
        xp = namespace(self.counts)
        with xp.computing():
            table = cut_at(xp, table_of(xp, self), thresholds)
            return ranking_of(table, good_rows(self))


_PARTS = {"gain": "gains", "cost": "costs", "treated": "arms"}
"""What `repr` calls the columns that a ranking may have."""


@public
def rank(
    y_true: ArrayOf[A],
    y_score: ArrayOf[A],
    *,
    sample_weight: ArrayOf[A] | None = None,
    where: ArrayOf[A] | None = None,
    pos_label: Any = None,
    ties: TiePolicy = "expected",
    validate: bool = True,
    gain: ArrayOf[A] | None = None,
    gain_rejected: NumberOf[A] = 0,
    groups: ArrayOf[Any] | None = None,
    num_groups: int | None = None,
    cost: ArrayOf[A] | None = None,
    treatment: ArrayOf[A] | None = None,
) -> Ranking[A]:
    """Sort the scores once; every measure can then be computed from the result.

    Parameters
    ----------
    y_true : array, shape (n,) or that of `y_score`
        Labels 0 and 1, of any dtype, or any two labels with `pos_label`.
    y_score : array, shape (..., n)
        Scores; the last axis holds the examples, and higher means more likely positive.  They are
        only compared, so any real, integer or boolean dtype ranks by its exact value; -0.0 ties
        with 0.0.
    sample_weight : array, shape (n,) or that of `y_score`, optional
        Weights, not negative.  An example of weight 0 counts as absent.
    where : boolean array, shape (n,) or that of `y_score`, optional
        False for examples to leave out (padding).  Their scores and labels may be anything.
    pos_label : optional
        The label of the positive class, if labels are not 0 and 1.
    ties : {"expected", "optimistic", "pessimistic", "given"}
        How equal scores are ordered.  "expected" takes the expectation over all orders ([AR] eq.
        5), "optimistic" puts positives first, "pessimistic" last, and "given" keeps the order of
        the input.
    validate : bool
        With False no value is read on the host; bad values then give NaN instead of an error.
    gain : array, shape (n,) or that of `y_score`, optional
        What each example brings if it is selected, net of its cost (pass ``gain - cost``); of any
        sign.  An example of weight w brings w times its gain.
    gain_rejected : number, or array of shape (n,) or that of `y_score`, optional
        What each example brings if it is not selected; nothing by default.
    groups : array, shape (n,) or that of `y_score`, optional
        The group of each example, such as its flight, branch, query or user: integers, or strings
        or dates in NumPy arrays and lists, in any order.  A measure then gives one value for each
        group, shape (..., S), in ascending order of the ids.
    num_groups : int, optional
        How many groups there are; their ids are then 0 to ``num_groups - 1``, and results of a
        group without examples are NaN.  Needed where values cannot be read, as in a compiled
        program.  By default the groups are the ids that occur.
    cost : array, shape (n,) or that of `y_score`, optional
        What each example costs if it is selected, finite and not negative, for `budget` of
        `hit_rate`.  An example of weight w costs w times as much.
    treatment : array, shape (n,) or that of `y_score`, optional
        1 for each example that was treated, 0 for each control, for the measures of `uplift`.

    Returns
    -------
    Ranking
        In the library and on the device of the input.  One list of scores in host memory (NumPy,
        CPU tensors) gives a row per tie group.  Otherwise there are n rows (2n for the optimistic
        and pessimistic policies), and rows without a tie group are empty; more than 65,536 scores
        of 16-bit floats have a row for each value of their type there.

    Raises
    ------
    TypeError
        Unusable dtypes; arrays of two libraries or on two devices.
    ValueError
        Shapes that do not match, and column vectors.  With the first position: NaN scores; labels
        or treatments that are not 0 and 1; negative, NaN or infinite weights and costs; gains that
        are not finite; weights, gains and costs whose sum may be infinite; costs too small for all
        their digits, about 2e-308; ids of no group.  Where values cannot be read (inside a trace,
        on an accelerator) a bad value makes all measures of that row of the batch NaN.  With groups
        it does so to those of its group, unless the id itself is bad.

    Notes
    -----
    Every measure of scores takes what `rank` takes, or a `Ranking` alone, which was made with these
    keywords.  Only measures of gains take gains, only those with a value for each group take
    groups, only those with a budget take costs, and only those of uplift take treatments.  A
    measure refuses what `rank` refuses.  It gives arrays in the library and on the device of the
    input, in the widest real float there: float64, or float32 under JAX without x64, on TPU and on
    MPS.

    One list in host memory is counted instead of sorted, with the same result in a fraction of the
    time, if it is at least as long as there are possible scores from its lowest to its highest, up
    to 131,072.  That holds for many scores of half precision (in wider floats too) and for integers
    that are near to each other.  Weights, gains, costs and groups need the sort.

    With `groups` there is still one sort, and nothing is padded.  Curves, charts and hulls take no
    groups, nor do the functions of `points`, except `kolmogorov_smirnov`.

    References
    ----------
    [AR] eq. 5.

    Examples
    --------
    >>> from quotakernels import average_qrecall, rank, roc_auc
    >>> ranking = rank([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(ranking.counts, ranking.positives)
    [1 2 1 1] [1 1 1 0]
    >>> print(roc_auc(ranking), average_qrecall(ranking))
    0.75 0.8888888888888888
    >>> print(roc_auc([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], groups=[7, 7, 7, 5, 5]))
    [1.   0.75]
    """
    columns: dict[str, Any] = {"y_true": y_true, "sample_weight": sample_weight, "where": where}
    columns |= {"gain": gain, "gain_rejected": gain_rejected, "cost": cost, "groups": groups}
    if columns["y_true"] is None and gain is not None:
        raise TypeError("rank needs y_true; impact_at_quota and best_quota take gains alone")
    columns |= {"treatment": treatment, "num_groups": num_groups, "pos_label": pos_label}
    return ranked(y_score=y_score, **columns, ties=ties, validate=validate)


def ranked(
    y_true: Any, y_score: Any, *, ties: TiePolicy = "expected", ideal: bool = False, **data: Any
) -> Ranking:
    """What `rank` gives, of gains without labels too; all examples then count as positive.

    With `ideal` the ranking also has the gains in the ideal order.
    """
    check_tie_policy(ties)
    found = validated({"y_true": y_true, "y_score": y_score, **data})
    if ideal and "gain" in found.examples.columns:
        return beside_ideal(found, ties)
    return rank_examples(found.masked, ties, found.good, found.groups)


def beside_ideal(found: Validated, ties: TiePolicy) -> Ranking:
    """A ranking with the gains of all examples, best first in their list or group."""
    examples, good, _, groups, _ = found = without_negative_gains(found)
    best = Examples(examples.columns["gain"], examples.labels, None, examples.valid)
    ideal = rank_examples(best, "given", None, groups).thresholds
    return rank_examples(examples, ties, good, groups)._replace(ideal=ideal)


def running_table(found: Validated, ties: TiePolicy, by_positives: bool) -> ops.TieTable | None:
    """Running counts, which measures of sums alone can use; None where they serve nothing."""
    scores, labels, weights, valid, columns = found.masked
    if ties != "expected" or weights is not None or columns:
        return None
    xp = namespace(scores)
    counts = xp.running_counts(scores, labels, valid, by_positives)
    return counts if counts is None or found.good is None else _marked(xp, counts, found.good)


def _marked(xp: Namespace, counted: Any, good: Array) -> Any:
    """The running counts with the mark 1, or NaN for a list that is not good."""
    with xp.computing():
        flag = xp.wide(good[..., 0])
        return counted._replace(layout=counted.layout._replace(mark=flag / flag))


def rank_examples(
    examples: Examples, ties: TiePolicy, good: Array | None = None, groups: GroupCodes | None = None
) -> Ranking:
    """Rank checked examples, with the rows of the batch, or the groups, that it calls good."""
    xp = namespace(examples.scores)
    with xp.computing():
        return xp.compiled(_ranked, ("ties",))(examples, good, groups, ties=ties)


def ranked_by_group(found: Validated, ties: TiePolicy, ideal: bool = False) -> Ranking:
    """Rank the good examples, by group if there are groups, for resamples and folds."""
    if ideal and "gain" in found.examples.columns:
        return beside_ideal(found, ties)
    good = None if found.groups is None else found.good
    return rank_examples(found.examples, ties, good, found.groups)


def _ranked(
    examples: Examples, good: Array | None, groups: GroupCodes | None, *, ties: TiePolicy
) -> Ranking:
    if groups is not None:
        return _ranked_by_group(examples, good, groups, ties)
    return ranking_of(grouped(examples, ties=ties), good, with_bad=True)


def _ranked_by_group(
    examples: Examples, good: Array | None, groups: GroupCodes, ties: TiePolicy
) -> Ranking:
    xp = namespace(examples.scores)
    codes, table = xp.broadcast_to(groups.codes, examples.scores.shape), None
    if ties == "expected" and not examples.columns:
        table = xp.tie_groups_by_group(examples[:4], codes, groups.ids)
    if table is None:
        both = xp.combined(examples.scores, codes, examples.valid)
        table = grouped(examples._replace(scores=both.scores), ties=ties)
        table = xp.parted(table, both, groups.ids)
    return ranking_of(table, good, with_bad=True)


def _emptied(table: ops.TieTable, good: Array) -> ops.TieTable:
    """The table without the examples of rows that are not good."""
    there = namespace(good).cast(good, table.counts.dtype)
    return table._replace(counts=table.counts * there, positives=table.positives * there)


def grouped(examples: Examples, *, ties: TiePolicy) -> ops.TieTable:
    """The table of checked examples, under a tie policy."""
    xp = namespace(examples.scores)
    given = ties == "given"
    plain = examples.weights is None and not examples.columns and not given
    if plain and xp.few_patterns(examples.scores):
        table = xp.pattern_groups(examples.scores, examples.labels, examples.valid)
    else:
        table = xp.tie_groups(examples, given)
    return xp.split_ties(table, ties)


def ranking_of(table: ops.TieTable, good: Array | None = None, with_bad: bool = False) -> Ranking:
    """The public form of a table: masses are never None, and mark rows that are not `good`.

    `good` has the shape (..., 1), or (..., S, 1) of groups; None where all are.  A table
    `with_bad` values has examples in these rows too, which are left out; groups keep them, so that
    the others stand where they stood.
    """
    groups = table.groups
    if groups and good is not None:
        groups = groups._replace(good=good)
        good = namespace(good).repeat_per_row(table, good[..., 0])
    if with_bad and good is not None and not groups:
        table = _emptied(table, good)
    masses = with_marks((table.positive, table.negative), good)
    return Ranking._make((*table[:3], *masses, table.columns, table.layout, groups, ()))


def refuse_groups(ranking: Ranking, name: str = "the ranking") -> None:
    """Raise for a ranking of groups, which only measures can use."""
    if ranking.groups:
        raise TypeError(f"{name} has groups, which this function does not take; rank one group")


def table_of(xp: Namespace, ranking: Any, by_group: bool = False) -> Any:
    """The table of a ranking: masses are None where they are the counts, else wide floats.

    Anything else, such as the one cut of unsorted examples, is returned unchanged.
    """
    if not isinstance(ranking, Ranking):
        return ranking
    if not by_group:
        refuse_groups(ranking)
    masses: tuple[Array | None, ...] = (None, None)
    if not xp.of_kind(ranking.positive_weights.dtype, "integral"):
        masses = tuple(xp.wide(x) for x in ranking[3:5])
    columns = ops.map_columns(xp.wide, ranking.columns)
    return ops.TieTable._make((*ranking[:3], *masses, columns, *ranking[6:]))
