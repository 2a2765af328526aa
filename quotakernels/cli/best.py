"""Which model is the best at which quota, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import quotakernels as qk
from quotakernels._text import number, percent

__all__ = ["Stretch", "best_by_model", "best_by_quota", "dominant", "in_words"]

_SHOWN = 3


class Stretch(NamedTuple):
    """Quotas from one to another at which no model finds more positives than these."""

    start: float
    stop: float
    models: tuple[int, ...]

    @property
    def width(self) -> float:
        """The number of quotas."""
        return self.stop - self.start


def best_by_quota(rankings: Sequence[qk.Ranking]) -> list[Stretch]:
    """Return all stretches, in order; none for a single model or without both classes."""
    if len(rankings) < 2:
        return []
    regions = qk.compare_curves(rankings, axis="quota")
    columns = (x.tolist() for x in regions)
    stretches = [
        Stretch(start, stop, tuple(model for model, is_best in enumerate(best) if is_best))
        for start, stop, best in zip(*columns, strict=True)
    ]
    return [stretch for stretch in stretches if stretch.models and stretch.width > 0]


def dominant(stretches: Sequence[Stretch]) -> list[int]:
    """Return the models that are the best everywhere."""
    if not stretches:
        return []
    return sorted(set.intersection(*(set(stretch.models) for stretch in stretches)))


def best_by_model(stretches: Sequence[Stretch], models: int) -> list[float]:
    """At which share of all quotas each model is the best, alone or not."""
    end = stretches[-1].stop if stretches else 1.0
    return [sum(x.width for x in stretches if model in x.models) / end for model in range(models)]


def in_words(stretches: Sequence[Stretch], names: Sequence[str]) -> Iterator[str]:
    """Say which model dominates, or else where each is the best."""
    if not stretches:
        return
    winners = dominant(stretches)
    if len(winners) == len(names):
        yield "No model is better than another at any quota, FPR or recall."
        return
    if winners:
        who = " and ".join(names[model] for model in winners)
        verb = "dominates" if len(winners) == 1 else "dominate"
        yield f"{who} {verb}: at no quota, FPR or recall is another model better."
        return
    yield "No model dominates. Quotas at which each finds the most, alone or with another:"
    for model, name in enumerate(names):
        yield f"  {name}: {_quotas(_stretches_of(model, stretches), stretches[-1].stop)}"


def _stretches_of(model: int, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Those in which the model is the best, alone or not; neighbours are one."""
    mine: list[Stretch] = []
    for stretch in stretches:
        if model not in stretch.models:
            continue
        if mine and mine[-1].stop == stretch.start:
            mine[-1] = mine[-1]._replace(stop=stretch.stop)
        else:
            mine.append(stretch)
    return mine


def _quotas(mine: Sequence[Stretch], end: float) -> str:
    """The share of the axis, and of its stretches the longest, in order."""
    if not mine:
        return "none"
    longest = sorted(sorted(mine, key=lambda x: x.width, reverse=True)[:_SHOWN])
    shown = ", ".join(f"{number(x.start)} to {number(x.stop)}" for x in longest)
    rest = len(mine) - len(longest)
    more = f" and {rest} shorter ones" if rest > 1 else " and a shorter one" if rest else ""
    return f"{percent(sum(x.width for x in mine) / end)}, {shown}{more}"
