"""The ranking: one row per tie group, best score first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

Number: TypeAlias = int | float | Fraction
"""A score, a weight or a quota."""


class Group(NamedTuple):
    """One tie group: m examples of which p are positive, with the sums of their weights."""

    score: Number
    count: int  # type: ignore[assignment]  # it hides tuple.count, which nobody needs
    positives: int
    weight: Fraction
    positive_weight: Fraction


class Row(NamedTuple):
    """One example that takes part."""

    score: Number
    label: int
    weight: int | Fraction


def groups(
    y_true: Sequence[Number],
    y_score: Sequence[Number],
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
    ties: str = "expected",
) -> list[Group]:
    """Tie groups, best score first, under one tie policy.

    Rows of weight 0, and rows where ``where`` is False, are as if they were not there.
    ``"expected"`` makes one group per distinct score, ``"optimistic"`` puts a group's positives
    before its negatives, ``"pessimistic"`` after them, and ``"given"`` makes every example a group
    of its own, in input order among equal scores.
    """
    ranked = sorted(
        examples(y_true, y_score, sample_weight, where), key=lambda row: row.score, reverse=True
    )
    return [_merged(part) for part in tied_parts(ranked, ties)]


def tied_parts(rows: Sequence[Any], ties: str) -> list[list[Any]]:
    """The examples of each tie group, which are in the order of their scores, under a policy."""
    if ties == "given":
        return [[row] for row in rows]
    tied = [list(group) for _, group in groupby(rows, key=lambda row: row.score)]
    if ties == "expected":
        return tied
    order = (1, 0) if ties == "optimistic" else (0, 1)
    parts = [[row for row in group if row.label == label] for group in tied for label in order]
    return [part for part in parts if part]


def groups_from_counts(
    scores: Sequence[Number],
    counts: Sequence[int],
    positives: Sequence[int],
    weights: Sequence[Number] | None = None,
    positive_weights: Sequence[Number] | None = None,
    ties: str = "expected",
) -> list[Group]:
    """Tie groups of a table that is already counted, best score first; empty rows are dropped."""
    masses = counts if weights is None else weights
    hits = positives if positive_weights is None else positive_weights
    rows = zip(scores, counts, positives, masses, hits, strict=True)
    table = [Group(x, m, p, Fraction(w), Fraction(h)) for x, m, p, w, h in rows if m > 0]
    if ties == "given":
        raise ValueError("a counted table has no input order")
    return _under_policy(table, ties)


def examples(
    y_true: Sequence[Number],
    y_score: Sequence[Number],
    sample_weight: Sequence[Number] | None,
    where: Sequence[bool] | None,
) -> list[Row]:
    """The rows that take part, in input order."""
    weights = [1] * len(y_score) if sample_weight is None else sample_weight
    present = [True] * len(y_score) if where is None else where
    rows = []
    for label, score, weight, valid in zip(y_true, y_score, weights, present, strict=True):
        if not valid or weight == 0:
            continue
        if label not in (0, 1) or score != score or not weight > 0:
            raise ValueError(f"bad row: label {label}, score {score}, weight {weight}")
        # Integers are left alone: a million fractions take too long to add.
        mass = weight if isinstance(weight, int) else Fraction(weight)
        rows.append(Row(score, int(label), mass))
    return rows


def total_count(ranking: Iterable[Group]) -> int:
    """n, the number of examples (items)."""
    return sum(group.count for group in ranking)


def total_weight(ranking: Iterable[Group]) -> Fraction:
    """W, the mass of all examples; n without weights."""
    return sum((group.weight for group in ranking), Fraction(0))


def total_positive_weight(ranking: Iterable[Group]) -> Fraction:
    """W⁺, the mass of the positive examples; P without weights."""
    return sum((group.positive_weight for group in ranking), Fraction(0))


def is_weighted(ranking: Iterable[Group]) -> bool:
    """Whether some mass differs from its count."""
    return any(g.weight != g.count or g.positive_weight != g.positives for g in ranking)


def _merged(rows: Sequence[Row]) -> Group:
    """The group of rows that share one score."""
    positive = [row.weight for row in rows if row.label == 1]
    mass, positive_mass = _fraction(sum(row.weight for row in rows)), _fraction(sum(positive))
    return Group(rows[0].score, len(rows), len(positive), mass, positive_mass)


@lru_cache(maxsize=1024)
def _fraction(mass: int | Fraction) -> Fraction:
    """The mass as a fraction; without weights a million groups share a few objects."""
    return Fraction(mass)


def _under_policy(tied: list[Group], ties: str) -> list[Group]:
    """Each group as it is, or as its pure parts in the policy's order; empty parts are dropped."""
    if ties == "expected":
        return tied
    order = {"optimistic": (1, 0), "pessimistic": (0, 1)}[ties]
    parts = [_part(group, label) for group in tied for label in order]
    return [part for part in parts if part.count > 0]


def _part(group: Group, label: int) -> Group:
    """The positives (label 1) or the negatives (label 0) of a group."""
    score, m, p, weight, positive_weight = group
    if label == 1:
        return Group(score, p, p, positive_weight, positive_weight)
    return Group(score, m - p, 0, weight - positive_weight, Fraction(0))
