"""Which model is the best at which quota, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quotakernels._records import plainly
from quotakernels._text import number, percent
from quotakernels.measures.roc_pr.dominance import compare_curves
from quotakernels.ranking import Ranking

_SHOWN = 3


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


def best_by_quota(rankings: Sequence[Ranking]) -> list[Segment]:
    """Return all segments, in order; none for a single model or without both classes."""
    if len(rankings) < 2:
        return []
    regions = compare_curves(rankings, axis="quota")
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


def in_words(segments: Sequence[Segment], names: Sequence[str]) -> Iterator[str]:
    """Say which model dominates, or else where each is the best."""
    if not segments:
        return
    winners = dominant(segments)
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
        yield f"  {name}: {_quotas(_segments_of(model, segments), segments[-1].stop)}"


def _segments_of(model: int, segments: Sequence[Segment]) -> list[Segment]:
    """Those in which the model is the best, alone or not; neighbours are one."""
    mine: list[Segment] = []
    for segment in segments:
        if model not in segment.models:
            continue
        if mine and mine[-1].stop == segment.start:
            mine[-1] = mine[-1]._replace(stop=segment.stop)
        else:
            mine.append(segment)
    return mine


def _quotas(mine: Sequence[Segment], end: float) -> str:
    """The share of the axis, and of its segments the longest, in order."""
    if not mine:
        return "none"
    longest = sorted(sorted(mine, key=lambda x: x.width, reverse=True)[:_SHOWN])
    shown = ", ".join(f"{number(x.start)} to {number(x.stop)}" for x in longest)
    rest = len(mine) - len(longest)
    more = f" and {rest} shorter ones" if rest > 1 else " and a shorter one" if rest else ""
    return f"{percent(sum(x.width for x in mine) / end)}, {shown}{more}"
