"""What each measure on a page means: its formula, and how to read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from quotakernels.evaluation.results import Results

__all__ = ["NOTATION", "Definition", "definitions"]


class Definition(NamedTuple):
    """A measure by the name in the tables, its formula, and how to read it."""

    name: str
    formula: str
    reading: str


NOTATION = (
    "n rows, P of them positive and N not. A quota j selects the j rows with the highest scores. "
    "T(j) is the number of positives among them; where rows are tied at the end of the quota, T(j) "
    "is what a random order of these rows gives on average. Q(j) = T(j)/P. With weights, all of "
    "these are sums of weights."
)

_AT_QUOTA = (
    Definition(
        "hit rate",
        "T(j)/j",
        "The share of positives among the selected. A random choice has the prevalence, P/n.",
    ),
    Definition(
        "Qrecall",
        "Q(j) = T(j)/P",
        "The share of all positives that the quota finds. A random choice has j/n.",
    ),
    Definition(
        "lift",
        "(T(j)/j) / (P/n)",
        "How many times as many positives as in a random choice. 1 is chance.",
    ),
    Definition(
        "Pearson",
        "correlation of the j highest scores with their own labels, 0 and 1, also where they tie",
        "Whether scores order the selected among themselves, from −1 to 1. It is low where nearly "
        "all of the selected are positive, and says nothing about who is selected.",
    ),
)
_OVER_ALL = (
    Definition(
        "AUC",
        "P(score of a positive > score of a negative), ties count half",
        "How well all rows are ordered, from 0 to 1; ½ is chance. It weighs all quotas alike, "
        "also those that nobody can fill.",
    ),
    Definition(
        "Gini = PEM",
        "2·AUC − 1 = (S1 − S2)/S3",
        "The same from −1 to 1: the area that the model gains over chance, as a share of what the "
        "best possible order gains.",
    ),
    Definition(
        "S1, S2",
        "sums over j of the positive and of the negative Q(j) − j/n",
        "Where a model is better and where it is worse than chance. S2 above 0 means that at some "
        "quotas a random choice finds more.",
    ),
    Definition(
        "average hit rate",
        "Σ t(j)·T(j)/j / P, where t(j) is the label at place j",
        "The mean hit rate at the places where the positives stand, so that early ones count more.",
    ),
    Definition(
        "average Qrecall",
        "mean of Q(j) over j = P … n",
        "The mean share of positives found by quotas that could hold all of them.",
    ),
)
_AREAS = (
    Definition(
        "hull AUC",
        "area under the upper convex hull of the ROC curve",
        "What the best mixture of cuts reaches. It is always at least the AUC, also by chance.",
    ),
    Definition(
        "AUC-PR",
        "∫ precision d recall, exact between cuts",
        "The mean precision over all recalls; chance is about the prevalence.",
    ),
    Definition(
        "achievable AUC-PR",
        "the same of the hull",
        "What the cuts on the hull reach in precision and recall.",
    ),
    Definition(
        "average precision",
        "Σ precision · (gain of recall), over the cuts",
        "Nearly the same, as many programs compute it.",
    ),
)
_GAINS = (
    Definition(
        "brings",
        "Σ over the selected of what each brings + Σ over the others of what each brings then",
        "The total in your unit. Rows that are tied at the end of the quota count by their chance.",
    ),
    Definition(
        "per place",
        "(brings − what selecting nobody brings) / places",
        "What one place adds on average.",
    ),
    Definition(
        "best cut",
        "the cut that brings the most",
        "All rows from that score on are selected. Chosen on the rows that judge it, it looks "
        "better than it is.",
    ),
)
_COMPARED = Definition(
    "by, p (Holm)",
    "difference of two models, measured on the same resamples of the rows",
    "A small p means that chance alone rarely makes such a difference. Holm's method raises it for "
    "the number of pairs, so that one false difference among them stays rare.",
)
_INTERVALS = Definition(
    "interval",
    "of AUC, Gini and the hit rate by formulas, of others quantiles over resamples of the rows",
    "How far the value may be off because these rows and no others were drawn. That next year's "
    "cases differ from these rows it does not see.",
)
_DOMINANCE = Definition(
    "finds the most",
    "the largest T(j) at that quota",
    "A model that finds the most at every quota dominates: also its ROC and its precision–recall "
    "curve are nowhere lower than another's.",
)


def definitions(evaluation: Results) -> Iterator[Definition]:
    """Those of what the page of an evaluation shows."""
    if evaluation.at_quota:
        yield from _AT_QUOTA
    yield from _OVER_ALL
    yield from _AREAS
    if evaluation.gains is not None:
        yield from _GAINS
    if len(evaluation.models) > 1:
        yield _DOMINANCE
    if evaluation.intervals is not None:
        yield _INTERVALS
    if evaluation.differences:
        yield _COMPARED
