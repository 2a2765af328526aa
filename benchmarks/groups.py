"""Measures of each query, of queries of uneven length: ``python -m benchmarks.groups``.

All contenders take turns in one run, and their CPU time is compared.  rax, ranx and pytrec_eval
take part where they are installed (``pip install --no-deps rax==0.4.0``; ``pip install ranx==0.3.21
pytrec-eval-terrier==0.5.11``).  The last lines name those that are not.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import quotakernels as qk
from benchmarks.backends import missing
from benchmarks.tables import Table, aligned

QUERIES, LOOPED, TURNS, K = 100_000, 2000, 5, 10
HERE, BY_HAND, PANDAS, LOOP = "here", "NumPy by hand", "pandas", "torchmetrics"
PADDED = "rax, padded"
CONVERTED, DICTIONARIES = "ranx, once converted", "pytrec_eval, once converted"
NEEDED = {
    PANDAS: ("pandas",),
    LOOP: ("torchmetrics",),
    PADDED: ("rax", "jax"),
    CONVERTED: ("ranx", "pandas"),
    DICTIONARIES: ("pytrec_eval",),
}
"""The packages of contenders that take part where these are installed."""
MARKS = {BY_HAND: (1.5, "at most"), LOOP: (1 / 5, "at most")}
"""How many times what another one takes this library may take."""
Values = Any


class Problem(NamedTuple):
    """Rows in no order, scores in 0…1 without ties; each query has a negative."""

    labels: Values
    scores: Values
    query: Values

    def first(self, queries: int) -> Problem:
        """The rows of so many queries."""
        here = self.query < queries
        return Problem(*(x[here] for x in self))


def problem(queries: int, seed: int = 1) -> Problem:
    """Sizes are log-normal, 20 rows on average; one row in ten is positive."""
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.lognormal(np.log(12), 1, queries), 2, 2000).astype(np.int64)
    query = np.repeat(np.arange(queries), sizes)
    labels = (rng.random(query.size) < 0.1).astype(np.int64)
    labels[np.cumsum(sizes) - 1] = 0
    order = rng.permutation(query.size)
    scores = ((rng.permutation(query.size) + 1) / (query.size + 1)).astype(np.float32)
    return Problem(labels[order], scores, query[order])


# the contenders: each gives precision at 10, AUC or NDCG at 10 of every query


def here(what: str, y: Values, s: Values, query: Values) -> Values:
    """Of labels and scores, as a caller has them."""
    return OURS[what](y, s, groups=query)


OURS: dict[str, Callable[..., Any]] = {
    "precision at 10": partial(qk.hit_rate, quota=K),
    "AUC": qk.roc_auc,
    "NDCG at 10": partial(qk.retrieval.ndcg, quota=K),
}


def together(y: Values, s: Values, query: Values) -> list[Values]:
    """All three of one ranking."""
    ranking = qk.rank(y, s, groups=query)
    return [measure(ranking) for measure in OURS.values()]


class _Sorted(NamedTuple):
    labels: Values
    starts: Values
    sizes: Values
    place: Values
    order: Values


def _sorted(y: Values, s: Values, query: Values) -> _Sorted:
    order = np.lexsort((-s, query))
    ids, labels = query[order], y[order]
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    sizes = np.diff(np.append(starts, ids.size))
    return _Sorted(labels, starts, sizes, np.arange(ids.size) - np.repeat(starts, sizes), order)


def _of_sorted(what: str, rows: _Sorted) -> Values:
    labels, starts, sizes, place, _ = rows
    if what == "precision at 10":
        return np.add.reduceat(labels * (place < K), starts) / np.minimum(sizes, K)
    positives = np.add.reduceat(labels, starts)
    with np.errstate(invalid="ignore"):
        if what == "AUC":
            ranks = np.repeat(sizes, sizes) - place
            wins = np.add.reduceat(labels * ranks, starts) - positives * (positives + 1) / 2
            return wins / (positives * (sizes - positives))
        discount = np.where(place < K, 1 / np.log2(place + 2), 0)
        ideal = np.concatenate(([0], np.cumsum(1 / np.log2(np.arange(2, K + 2)))))
        return np.add.reduceat(labels * discount, starts) / ideal[np.minimum(positives, K)]


def by_hand(what: str, y: Values, s: Values, query: Values) -> Values:
    """One lexsort, and sums between the starts of the queries."""
    return _of_sorted(what, _sorted(y, s, query))


def by_hand_together(y: Values, s: Values, query: Values) -> list[Values]:
    """All three of one sort."""
    rows = _sorted(y, s, query)
    return [_of_sorted(what, rows) for what in OURS]


def pandas(what: str, y: Values, s: Values, query: Values) -> Values:
    """A groupby, without a function of Python for each group."""
    import pandas as pd

    frame = pd.DataFrame({"label": y, "score": s, "query": query})
    groups = frame.groupby("query")
    if what == "AUC":
        frame["rank"] = groups["score"].rank() * frame["label"]
        sums = frame.groupby("query").agg({"label": ["sum", "size"], "rank": "sum"})
        found, size, ranks = (sums[x].to_numpy() for x in sums.columns)
        with np.errstate(invalid="ignore"):
            return (ranks - found * (found + 1) / 2) / (found * (size - found))
    frame = frame.sort_values("score", ascending=False)
    groups = frame.groupby("query")
    if what == "precision at 10":
        return groups.head(K).groupby("query")["label"].mean().to_numpy()
    discount = 1 / np.log2(np.arange(2, K + 2))
    best = groups.head(K)
    place = best.groupby("query").cumcount().to_numpy()
    gains = (best["label"] * discount[place]).groupby(best["query"]).sum().to_numpy()
    positives = np.minimum(groups["label"].sum().to_numpy(), K)
    with np.errstate(invalid="ignore"):
        return gains / np.concatenate(([0], np.cumsum(discount)))[positives]


def torchmetrics(what: str, y: Values, s: Values, query: Values) -> Values:
    """The mean over the queries that have a positive, which is all that it gives."""
    import torch
    from torchmetrics import retrieval

    own = {"empty_target_action": "skip"}
    metric = {
        "precision at 10": lambda: retrieval.RetrievalPrecision(top_k=K, adaptive_k=True, **own),
        "AUC": lambda: retrieval.RetrievalAUROC(**own),
        "NDCG at 10": lambda: retrieval.RetrievalNormalizedDCG(top_k=K, **own),
    }[what]()
    metric.update(*(torch.from_numpy(x) for x in (s, y)), indexes=torch.from_numpy(query))
    return float(metric.compute())


def rax(what: str, y: Values, s: Values, query: Values) -> Values:
    """Every query as a row as long as the longest, in single precision."""
    import jax.numpy as jnp
    import rax

    rows = _sorted(y, s, query)
    there = np.arange(rows.sizes.max()) < rows.sizes[:, None]
    padded = np.zeros((2, *there.shape), dtype=np.float32)
    padded[0][there], padded[1][there] = s[rows.order], rows.labels
    metric = rax.precision_metric if what == "precision at 10" else rax.ndcg_metric
    found = metric(*map(jnp.asarray, padded), where=jnp.asarray(there), topn=K, reduce_fn=None)
    undefined = (what != "precision at 10") & ~padded[1].any(axis=1)
    return np.where(undefined, np.nan, found)


class Ranx:
    """Every query as two dictionaries of the library's own, which are made before the run."""

    def __init__(self, rows: Problem):
        import pandas as pd
        from ranx import Qrels, Run

        query = np.char.zfill(rows.query.astype(str), 9)  # whose order is that of the numbers
        names = {"query": query.tolist(), "row": [str(x) for x in range(query.size)]}
        frame = pd.DataFrame(names, dtype=object)
        columns = {"q_id_col": "query", "doc_id_col": "row", "score_col": "score"}
        self.right = Qrels.from_df(frame.assign(score=rows.labels), **columns)
        self.run = Run.from_df(frame.assign(score=rows.scores.astype(np.float64)), **columns)

    def __call__(self, what: str, y: Values, _: Values, query: Values) -> Values:
        from ranx import evaluate

        metric = f"precision@{K}" if what == "precision at 10" else f"ndcg@{K}"
        found = evaluate(self.right, self.run, metric, return_mean=False)
        return _where_defined(what, found, y, query)


class PytrecEval:
    """Every query as two dictionaries from names to numbers, which are made before the run."""

    def __init__(self, rows: Problem):
        queries = range(int(rows.query.max()) + 1)
        self.right: dict[str, dict[str, int]] = {str(x): {} for x in queries}
        self.run: dict[str, dict[str, float]] = {str(x): {} for x in queries}
        columns = (x.tolist() for x in rows)
        for place, (label, score, query) in enumerate(zip(*columns, strict=True)):
            self.right[str(query)][str(place)] = label
            self.run[str(query)][str(place)] = score

    def __call__(self, what: str, y: Values, _: Values, query: Values) -> Values:
        import pytrec_eval

        metric = f"P_{K}" if what == "precision at 10" else f"ndcg_cut_{K}"
        of_each = pytrec_eval.RelevanceEvaluator(self.right, {metric}).evaluate(self.run)
        return _where_defined(what, np.array([x[metric] for x in of_each.values()]), y, query)


def _where_defined(what: str, found: Values, y: Values, query: Values) -> Values:
    """Precision of all rows of a query that has fewer than 10, and no NDCG without positives."""
    if what == "precision at 10":
        return found * K / np.minimum(np.bincount(query), K)
    return np.where(np.bincount(query, weights=y) > 0, found, np.nan)


CONVERTERS: dict[str, Any] = {CONVERTED: Ranx, DICTIONARIES: PytrecEval}


# the run


def cpu_seconds(calls: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """The median CPU time of each call; they take turns, so that all see the same machine."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    return {name: median(found) for name, found in times.items()}


def check(what: str, found: dict[str, Any], labels_of: Values) -> None:
    """Raise if two contenders do not agree."""
    ours = found[HERE]
    for name, values in found.items():
        if name == LOOP:  # single precision, and a mean
            np.testing.assert_allclose(values, np.mean(ours[labels_of]), rtol=1e-5, err_msg=what)
        else:
            near = 1e-5 if name == PADDED else 1e-12
            np.testing.assert_allclose(values, ours, rtol=near, err_msg=f"{what}, {name}")


def contest(what: str, rows: Problem, names: dict[str, Any], turns: int) -> dict[str, float]:
    """What each contender takes for these rows, after it was found to be right."""
    calls = {name: partial(call, what, *rows) for name, call in names.items()}
    there = np.bincount(rows.query, weights=rows.labels) > 0
    check(what, {name: call() for name, call in calls.items()}, there)
    return cpu_seconds(calls, turns)


def report(what: str, rows: Problem, seconds: dict[str, float]) -> list[tuple[str, ...]]:
    """A row for each contender: its time, by row of the data, and how many times ours it is."""
    ours, number = seconds[HERE], rows.query.size
    return [
        (what, name, f"{number:,}", f"{x:.3f}", f"{x / number * 1e9:.0f}", f"{x / ours:.2f}")
        for name, x in seconds.items()
    ]


def missed(what: str, seconds: dict[str, float]) -> list[str]:
    """The marks that this library does not keep."""
    shares = {name: seconds[HERE] / seconds[name] for name in MARKS if name in seconds}
    return [
        f"{what}: {share:.2f} times the time of {name}, {MARKS[name][1]} {MARKS[name][0]}"
        for name, share in shares.items()
        if share > MARKS[name][0]
    ]


def main(arguments: list[str]) -> int:
    """Run, print the table, and return 1 if a mark is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.groups", description=__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--looped", type=int, default=LOOPED, help="queries of those that loop")
    parser.add_argument("--turns", type=int, default=TURNS)
    chosen = parser.parse_args(arguments)
    rows = problem(chosen.queries)
    few = rows.first(chosen.looped)
    absent = {name: why for name, needed in NEEDED.items() if (why := missing(*needed))}
    sorting: dict[str, Any] = {HERE: here, BY_HAND: by_hand, PANDAS: pandas}
    looping: dict[str, Any] = {HERE: here, LOOP: torchmetrics}
    listed: dict[str, Any] = {PADDED: rax}
    listed |= {x: make(few) for x, make in CONVERTERS.items() if x not in absent}
    table: list[tuple[str, ...]] = []
    bad = []
    for what in OURS:
        lists = listed if what != "AUC" else {}
        for data, names in ((rows, sorting), (few, looping | lists)):
            present = {name: call for name, call in names.items() if name not in absent}
            seconds = contest(what, data, present, chosen.turns)
            table += report(what, data, seconds)
            bad += missed(what, seconds)
    both = {HERE: partial(together, *rows), BY_HAND: partial(by_hand_together, *rows)}
    seconds = cpu_seconds(both, chosen.turns)
    table += report("all three", rows, seconds)
    bad += missed("all three", seconds)
    heading = ("what", "by", "rows", "CPU s", "ns a row", "times ours")
    print(aligned(Table("CPU time, median of turns", heading, table)))
    print(*bad or ["all marks are kept"], *(f"{x}: {y}" for x, y in absent.items()), sep="\n")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
