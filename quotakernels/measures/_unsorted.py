"""The rows of a ranking that one quota needs, found without sorting the scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from quotakernels import ops
from quotakernels._array import Across, Array, Namespace, cast, compiled, computing, namespace
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.quotas import quota_masses
from quotakernels.ranking import Ranking, TiePolicy, rank_examples, ranking_of, split_ties


def ranking_at(
    examples: Examples,
    ties: TiePolicy,
    good: Array | None = None,
    *,
    quota: Any = None,
    fraction: Any = None,
) -> Ranking:
    """A ranking of checked examples that is right at this quota.

    Sums of weights, and of several quotas, need the sorted scores.
    """
    if examples.weights is None and ties != "given" and examples.scores.shape[-1]:
        found = around_quota(examples, ties, good, quota=quota, fraction=fraction)
        if found is not None:
            return found
    return rank_examples(examples, ties, good)


def around_quota(
    examples: Examples,
    ties: TiePolicy,
    good: Array | None = None,
    *,
    quota: Any = None,
    fraction: Any = None,
    across: Across | None = None,
) -> Ranking | None:
    """A row for all scores above the end of a quota, one for those at it, one for the rest.

    None if there are several quotas.  The examples are those of all shards that are summed
    `across`; then nothing is compiled here, since outside of a trace they are summed outside.
    """
    xp = namespace(examples.scores)
    with computing(xp):
        whole = _program(_in_one_group, xp, across)(examples)
        (wanted,), shape = quota_masses(xp, whole, quota=quota, fraction=fraction)
        if shape:
            return None
        around = _program(_grouped_around, xp, across, ("ties",))
        ranking: Ranking = around(examples, good, wanted, ties=ties)
        return ranking


def _program(
    function: Callable[..., Any], xp: Namespace, across: Across | None, static: tuple[str, ...] = ()
) -> Callable[..., Any]:
    return compiled(function, xp, static) if across is None else partial(function, across=across)


def _in_one_group(examples: Examples, across: Across | None = None) -> ops.Groups:
    """The table of examples as if all scores were equal."""
    xp = namespace(examples.scores)
    labels: Array = examples.labels
    everything = xp.ones_like(labels) if examples.valid is None else examples.valid
    sizes = xp.concat([ops.count(xp, x) for x in (everything, everything & labels)], axis=-1)
    sizes = sizes if across is None else across(sizes)
    return ops.Groups(examples.scores[..., :1], sizes[..., :1], sizes[..., 1:], None, None)


def _grouped_around(
    examples: Examples,
    good: Array | None,
    wanted: Array,
    *,
    ties: TiePolicy,
    across: Across | None = None,
) -> Ranking:
    xp = namespace(wanted)
    last = xp.where(wanted > 1, wanted, xp.ones_like(wanted))
    place = cast(xp, xp.ceil(last), xp.int64)
    scores, labels, _, valid, *_ = examples
    table = ops.groups_around(xp, scores, labels, valid, place, across)
    return ranking_of(split_ties(xp, table, ties), good)
