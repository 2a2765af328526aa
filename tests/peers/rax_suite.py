"""Tests of rax itself, run against quotakernels by thin shims.

``python tests/peers/rax_suite.py`` runs the tests that rax 0.4 installs (``pip install --no-deps
rax==0.4.0``).  It counts what holds, and what is not offered.  It fails if anything differs.
``--sample`` and ``--write`` are those of `totals`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import sys
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

import quotakernels as qk
from quotakernels import retrieval

LEFT_OUT = "RetrievedItemsTest"
"""Tests of a function inside rax."""
SHARE = 16
"""Of the tests, one in so many is in a sample."""


class NotOfferedError(Exception):
    """What rax has and quotakernels has not."""


def by_list(values: Any) -> Any:
    """A function of rax: of lists of items, or of segments of them, and of the lists a mean."""

    def metric(
        scores: Any,
        labels: Any,
        *,
        where: Any = None,
        segments: Any = None,
        topn: Any = None,
        weights: Any = None,
        reduce_fn: Any = jnp.mean,
    ) -> Any:
        size = scores.shape[-1]
        lists = jnp.arange(scores.size // size)
        rows = jnp.repeat(lists, size).reshape(scores.shape)
        given: dict[str, Any] = {"groups": rows.ravel(), "num_groups": lists.size}
        if segments is not None:
            given = {"groups": (rows * 1000 + segments).ravel()}
        there = jnp.ones(scores.shape, bool) if where is None else where.astype(bool)
        ranked = qk.rank((scores > -jnp.inf).ravel(), scores.ravel(), where=there.ravel(), **given)
        _, items, retrieved = qk.group_counts(ranked)
        quota = retrieved if topn is None else jnp.minimum(retrieved, topn)
        gain = (2.0**labels - 1) * (1 if weights is None else weights)
        columns = {"scores": scores, "labels": labels, "gain": gain}
        flat = {name: x.ravel() for name, x in columns.items()}
        found = values(**flat, quota=quota[:, None], where=there.ravel(), **given)[:, 0]
        found = jnp.nan_to_num(found)  # 0 is what rax has for undefined
        if reduce_fn is None:
            return found.reshape(scores.shape[:-1])
        return jnp.nan_to_num(reduce_fn(found, where=items > 0))

    return metric


def of_labels(measure: Any) -> Any:
    """A measure of relevant items and others."""

    def values(*, scores: Any, labels: Any, gain: Any, **given: Any) -> Any:
        return measure(labels >= 1, scores, **given)

    return by_list(values)


def of_gains(measure: Any) -> Any:
    def values(*, scores: Any, labels: Any, gain: Any, **given: Any) -> Any:
        return measure(None, scores, gain=gain, **given)

    return by_list(values)


def not_offered(*_: Any, **__: Any) -> Any:
    raise NotOfferedError("accuracy of ordered pairs of graded labels")


SHIMS = {
    "mrr_metric": of_labels(retrieval.reciprocal_rank),
    "recall_metric": of_labels(qk.qrecall),
    "precision_metric": of_labels(qk.hit_rate),
    "ap_metric": of_labels(qk.expected_average_precision),
    "dcg_metric": of_gains(retrieval.dcg),
    "ndcg_metric": of_gains(retrieval.ndcg),
    "opa_metric": not_offered,
}


class Count:
    """How the tests went."""

    def __init__(self, total: Any, share: int) -> None:
        self.total, self.share = total, share

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        from peers.totals import sample

        items[:] = [item for item in items if LEFT_OUT not in item.nodeid]
        sample(items, self.share)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report = (yield).get_result()
        if report.when != "call" and not report.failed:
            return
        error = call.excinfo.value if call.excinfo else None
        if report.passed:
            self.total.reasons["hold"] += 1
        elif isinstance(error, NotOfferedError):
            self.total.reasons[f"not offered: {error}"] += 1
        else:
            self.total.unexpected.append(f"differs: {item.nodeid}: {error}")


def main(arguments: list[str]) -> int:
    """Run the tests, and return 1 if one differs."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from rax._src import metrics

    from peers import totals

    for name, shim in SHIMS.items():
        functools.update_wrapper(shim, getattr(metrics, name))
        setattr(metrics, name, shim)
    total, (sampled, _, _) = totals.Total(), totals.options_of(arguments)
    tests = str(Path(metrics.__file__).with_name("metrics_test.py"))
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-W", "ignore"]
    count = Count(total, SHARE if sampled else 1)
    pytest.main([*options, "--tb=no", "--no-summary", "-c", os.devnull, tests], plugins=[count])
    return totals.told("rax", importlib.metadata.version("rax"), total, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
