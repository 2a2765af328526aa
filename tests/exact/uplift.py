"""Uplift: treated examples and controls among the best, over all orders of ties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, chain, pairwise, permutations, product
from typing import NamedTuple

from .table import Number, tied_parts


class Person(NamedTuple):
    """One example that takes part; a weight of w stands for w such examples."""

    score: Number
    label: int
    treated: int
    weight: Fraction


class Arms(NamedTuple):
    """Masses of the treated and of the controls, and of the positives among them."""

    treated: Fraction
    treated_positive: Fraction
    control: Fraction
    control_positive: Fraction

    def times(self, part: Fraction) -> Arms:
        """A part of them."""
        return Arms(*(part * x for x in self))

    @property
    def mass(self) -> Fraction:
        """That of both arms."""
        return self.treated + self.control


NOBODY = Arms(*[Fraction(0)] * 4)
Height = Callable[[Arms], Fraction]


def people(
    y_true: Sequence[Number],
    y_score: Sequence[Number],
    treatment: Sequence[Number],
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
) -> list[Person]:
    """The examples that take part, best first, in input order among equal scores."""
    weights = [1] * len(y_score) if sample_weight is None else sample_weight
    present = [True] * len(y_score) if where is None else where
    columns = zip(y_score, y_true, treatment, weights, present, strict=True)
    rows = [Person(s, int(y), int(t), Fraction(w)) for s, y, t, w, there in columns if there and w]
    return sorted(rows, key=lambda row: row.score, reverse=True)


def together(rows: Iterable[Person]) -> Arms:
    """The arms that examples make."""
    found = NOBODY
    for row in rows:
        own = [row.weight * x for x in (row.treated, row.treated * row.label)]
        own += [row.weight * x for x in (1 - row.treated, (1 - row.treated) * row.label)]
        found = Arms(*(x + y for x, y in zip(found, own, strict=True)))
    return found


def arm_groups(rows: Sequence[Person], ties: str = "expected") -> list[Arms]:
    """The tie groups of examples, best first, under one tie policy."""
    return [together(part) for part in tied_parts(rows, ties)]


def _sum(first: Arms, second: Arms) -> Arms:
    return Arms(*(x + y for x, y in zip(first, second, strict=True)))


def arms_within(groups: Sequence[Arms], quota: Number) -> Arms:
    """The arms of the best of mass ``quota``; a divided group has its part."""
    rest, found = Fraction(quota), NOBODY
    for group in groups:
        share = min(rest / group.mass, Fraction(1))
        rest, found = rest - share * group.mass, _sum(found, group.times(share))
    return found


def mean_over_orders(rows: Sequence[Person], quota: int) -> Arms:
    """The same as a mean over all orders of tied examples."""
    tied = tied_parts(rows, "expected")
    orders = [together(list(chain(*each))[:quota]) for each in product(*map(permutations, tied))]
    total = NOBODY
    for arms in orders:
        total = _sum(total, arms)
    return total.times(Fraction(1, len(orders)))


def uplift(groups: Sequence[Arms], quota: Number) -> Fraction | None:
    """The difference of the response rates among the best; undefined without one of the arms."""
    found = arms_within(groups, quota)
    if not (found.treated and found.control):
        return None
    return found.treated_positive / found.treated - found.control_positive / found.control


def _rate(positive: Fraction, mass: Fraction) -> Fraction:
    return positive / mass if mass else Fraction(0)


def gain(arms: Arms) -> Fraction:
    """The height of the uplift curve; an arm without examples has a rate of 0."""
    rates = _rate(arms.treated_positive, arms.treated), _rate(arms.control_positive, arms.control)
    return arms.mass * (rates[0] - rates[1])


def qini(arms: Arms) -> Fraction:
    """The height of the Qini curve."""
    rate = _rate(arms.control_positive, arms.control)
    return arms.treated_positive - arms.treated * rate


HEIGHTS: dict[str, Height] = {"uplift": gain, "qini": qini}


def _complete(groups: Sequence[Arms]) -> bool:
    whole = arms_within(groups, sum(group.mass for group in groups))
    return bool(whole.treated and whole.control)


def curve(groups: Sequence[Arms], height: Height) -> list[Fraction | None]:
    """Its heights at every cut, the empty one first."""
    cuts = accumulate(groups, _sum, initial=NOBODY)
    return [height(cut) if _complete(groups) else None for cut in cuts]


def _effect(arms: Arms, whole: Arms) -> Fraction:
    """The mean of n/Nₜ over treated positives and -n/N_c over those not treated, of all n."""
    return arms.treated_positive / whole.treated - arms.control_positive / whole.control


def toc(arms: Arms, whole: Arms) -> Fraction | None:
    """The effect among the best less that on all (Yadlowsky et al. 2021)."""
    if not (whole.treated and whole.control and arms.mass):
        return None
    return _effect(arms, whole) * whole.mass / arms.mass - _effect(whole, whole)


def toc_curve(groups: Sequence[Arms]) -> list[Fraction | None]:
    """At every cut."""
    cuts = list(accumulate(groups, _sum, initial=NOBODY))
    return [toc(cut, cuts[-1]) for cut in cuts]


def autoc(rows: Sequence[Person], ties: str = "expected") -> Fraction | None:
    """Its mean over all examples, those of a tie group with equal parts of what it has."""
    before, whole, found = NOBODY, together(rows), Fraction(0)
    for part in tied_parts(rows, ties):
        each = together(part).times(Fraction(1, len(part)))
        for _ in part:
            before = _sum(before, each)
            value = toc(before, whole)
            if value is None:
                return None
            found += each.mass / whole.mass * value
    return found if whole.treated and whole.control else None


def area(groups: Sequence[Arms], height: Height) -> Fraction:
    """The area under the straight lines between the cuts."""
    cuts = list(accumulate(groups, _sum, initial=NOBODY))
    steps = ((low, high, height(low) + height(high)) for low, high in pairwise(cuts))
    return sum(((high.mass - low.mass) * both / 2 for low, high, both in steps), Fraction(0))


def best_order(rows: Sequence[Person], kind: str) -> list[Arms]:
    """The tie groups of the order that scikit-uplift takes for the best, from its own scores."""
    refused = sum(row.weight for row in rows if row.treated and not row.label)
    responding = sum(row.weight for row in rows if row.label and not row.treated)

    def score(row: Person) -> int:
        if kind == "qini":
            return row.label * (2 * row.treated - 1)
        return 2 * (row.label == row.treated) + (row.label if responding > refused else row.treated)

    again = [row._replace(score=score(row)) for row in rows]
    return arm_groups(sorted(again, key=lambda row: -row.score))


def auuc(
    rows: Sequence[Person], groups: Sequence[Arms], kind: str, unit: str | None
) -> Fraction | None:
    """The area in one of its units."""
    if not _complete(groups):
        return None
    whole = together(rows)
    size, value, found = whole.mass, HEIGHTS[kind](whole), area(groups, HEIGHTS[kind])
    if unit is None:
        return found / size**2
    if unit == "total":
        return found / (size * abs(value)) if value else None
    chance = size * value / 2
    most = area(best_order(rows, kind), HEIGHTS[kind]) - chance
    return (found - chance) / most if most else None


def qini_without_negative_effects(
    rows: Sequence[Person], groups: Sequence[Arms]
) -> Fraction | None:
    """The Qini coefficient whose best curve rises by one with each example, and then stays."""
    if not _complete(groups):
        return None
    whole = together(rows)
    size, value = whole.mass, qini(whole)
    if value <= 0 or value == size:
        return None
    chance = size * value / 2
    most = value**2 / 2 + (size - value) * value - chance
    return (area(groups, qini) - chance) / most
