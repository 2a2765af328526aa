"""The rows of a ranking that one quota needs, found without sorting the scores."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import Array, cast, compiled, computing, namespace
from quotakernels.measures._quota import wanted_masses
from quotakernels.ranking import Ranking, TiePolicy, rank_examples, ranking_of, split_ties
from quotakernels.validation import Examples

__all__ = ["ranking_at"]


def ranking_at(
    examples: Examples, ties: TiePolicy, *, quota: Any = None, fraction: Any = None
) -> Ranking:
    """A ranking of checked examples that is right at this quota.

    For one quota it has a row for all scores above its end, one for those at it, and one for the
    rest.  Sums of weights, and of several quotas, need the sorted scores.
    """
    scores, _, weights, _ = examples
    if weights is not None or ties == "given" or scores.shape[-1] == 0:
        return rank_examples(examples, ties)
    xp = namespace(scores)
    with computing(xp):
        whole = compiled(_in_one_group, xp)(examples)
        (wanted,), shape = wanted_masses(xp, whole, quota=quota, fraction=fraction)
        if shape:
            return rank_examples(examples, ties)
        around = compiled(_grouped_around, xp, ("ties",))
        return ranking_of(around(examples, wanted, ties=ties))


def _in_one_group(examples: Examples) -> ops.Groups:
    """The table of examples as if all scores were equal."""
    xp = namespace(examples.scores)
    labels: Array = examples.labels
    everything = xp.ones_like(labels) if examples.valid is None else examples.valid
    counts, positives = (ops.count(xp, x) for x in (everything, everything & labels))
    return ops.Groups(examples.scores[..., :1], counts, positives, None, None)


def _grouped_around(examples: Examples, wanted: Array, *, ties: TiePolicy) -> ops.Groups:
    xp = namespace(wanted)
    last = xp.where(wanted > 1, wanted, xp.ones_like(wanted))
    place = cast(xp, xp.ceil(last), xp.int64)
    scores, labels, _, valid = examples
    return split_ties(xp, ops.groups_around(xp, scores, labels, valid, place), ties)
