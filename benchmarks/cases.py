"""What is measured: each case says of what data, against what, at which sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

import quotakernels as qk
from benchmarks import checks, data, reference
from benchmarks.backends import Backend
from benchmarks.harness import Entry
from benchmarks.peers import peers_of
from benchmarks.resampling import BOOTSTRAP, POSITIVE, bootstrap
from benchmarks.streaming import TWO_BYTES, streaming

Sizes = Mapping[str, tuple[int, ...]]
"""Of NumPy ("numpy"), of the other libraries on the CPU ("cpu"), and on a GPU ("gpu")."""

SORT, MEASURES = "sort", "measures"
TIE_FREE_SORT = "tie-free sort"
QUOTA_SHARE = 10
ONE_CALL, LOOP = "one call", "loop of scikit-learn"
RANK, OF_RANKING = "rank", "roc_auc of a ranking"


class Case(NamedTuple):
    """A question.

    Attributes
    ----------
    name, title : str
        As on the command line, and in words.
    build : callable
        Gives the contenders by name, of a backend and a size; the floor is named "sort".
    main : str
        The contender whose memory is measured.
    sizes, quick : mapping
        Sizes by kind of backend, of a full and of a quick run.
    scalable : bool
        Whether other sizes may be asked for.
    """

    name: str
    title: str
    build: Callable[[Backend, int], dict[str, Entry]]
    main: str
    sizes: Sizes
    quick: Sizes
    scalable: bool = True


class Kind(NamedTuple):
    """How a problem is made."""

    scores: Callable[..., Any]
    labels: Callable[..., Any] = data.moderate
    weights: Callable[..., Any] | None = None


KINDS = {
    "uniform": Kind(data.uniform),
    "tie-free": Kind(data.tie_free),
    "100 values": Kind(data.hundred_values),
    "small groups": Kind(data.small_groups),
    "logits": Kind(data.logits),
    "float64": Kind(data.float64),
    "int32": Kind(data.int32),
    "float16": Kind(data.float16),
    "bfloat16": Kind(data.bfloat16),
    "rare": Kind(data.uniform, data.rare),
    "weighted": Kind(data.uniform, data.moderate, data.quarters),
    "useful": Kind(data.uniform, data.useful),
    "random": Kind(data.uniform, data.random),
}
WITH_PEERS = {
    "uniform": ("scikit-learn", "torchmetrics", "torcheval", "metrax"),
    "tie-free": ("scikit-learn",),
}
"""Which peers meet which scores; the slow ones meet one kind."""


@lru_cache(maxsize=2)
def problem(kind: str, n: int) -> data.Data:
    return data.problem(n, *KINDS[kind])


@lru_cache(maxsize=1)
def table(kind: str, n: int) -> reference.Table:
    return reference.table_of(problem(kind, n))


# all scalar measures from raw labels and scores


def four_measures(labels: Any, scores: Any, weights: Any = None) -> tuple[Any, ...]:
    """Four values of `summary`; what only the others need is left out where it is compiled."""
    values = qk.summary(labels, scores, sample_weight=weights)
    return values.roc_auc, values.pem, values.average_hit_rate, values.average_qrecall


def scalar_measures(kind: str, backend: Backend, n: int) -> dict[str, Entry]:
    arrays = tuple(backend.array(x) for x in problem(kind, n) if x is not None)
    labels, scores = arrays[:2]
    exact = partial(four_exact, kind, n)
    entries = {
        MEASURES: Entry(four_measures, arrays, checks.values("AUC, PEM, AHR, AQR", backend, exact)),
        SORT: Entry(backend.sort, (scores,)),
    }
    if kind == "100 values":
        distinct = backend.array(data.problem(n, data.tie_free).scores)
        entries[TIE_FREE_SORT] = Entry(backend.sort, (distinct,))
    for peer in peers_of(backend.name):
        if peer.why_not is None and peer.name in WITH_PEERS.get(kind, ()):
            seen = checks.seen("AUC", backend, lambda: [reference.roc_auc(table(kind, n))])
            entries[peer.name] = Entry(peer.make(), (labels, scores), seen, peer=True)
    return entries


@lru_cache(maxsize=1)
def four_exact(kind: str, n: int) -> tuple[Any, ...]:
    rows = table(kind, n)
    measures = (
        reference.roc_auc,
        reference.pem,
        reference.average_hit_rate,
        reference.average_qrecall,
    )
    return tuple(measure(rows) for measure in measures)


# on top of a ranking


ON_TOP = {
    "pr_auc": (qk.pr_auc, reference.pr_auc),
    "roc_hull_auc": (qk.roc_hull_auc, reference.roc_hull_auc),
    "average_precision": (qk.average_precision, reference.average_precision),
}


def on_top(kind: str, backend: Backend, n: int) -> dict[str, Entry]:
    """The hull and areas, of a ranking that is there; beside the sort of its scores."""
    labels, scores = (backend.array(x) for x in problem(kind, n)[:2])
    ranking = backend.compiled(qk.rank)(labels, scores)
    vertices = checks.hull_vertices(backend, lambda: hull(kind, n))
    entries = {
        "roc_hull": Entry(qk.roc_hull, (ranking,), vertices),
        SORT: Entry(backend.sort, (scores,)),
    }
    for name, (measure, exact) in ON_TOP.items():
        value = partial(_of_table, exact, kind, n)
        entries[name] = Entry(measure, (ranking,), checks.values(name, backend, value))
    if backend.name == "jax-cpu":  # where compiling and running each hull takes long
        del entries["roc_hull_auc"]
    return entries


def _of_table(exact: Callable[[reference.Table], Any], kind: str, n: int) -> list[Any]:
    return [exact(table(kind, n))]


@lru_cache(maxsize=1)
def hull(kind: str, n: int) -> list[tuple[int, int]]:
    return reference.roc_hull(table(kind, n))


# one known quota


def one_quota(backend: Backend, n: int) -> dict[str, Entry]:
    kind, quota = "uniform", n // QUOTA_SHARE
    labels, scores = (backend.array(x) for x in problem(kind, n)[:2])
    host = problem(kind, n).scores

    def exact_rate() -> list[Any]:
        return [reference.hit_rate(table(kind, n), quota)]

    return {
        "hit_rate": Entry(
            partial(qk.hit_rate, quota=quota),
            (labels, scores),
            checks.values("hit rate", backend, exact_rate),
        ),
        "select": Entry(
            partial(qk.select, quota=quota),
            (scores,),
            checks.shares(backend, lambda: reference.shares(host, quota)),
        ),
        "quota_threshold": Entry(
            partial(qk.quota_threshold, quota=quota),
            (scores,),
            checks.exactly(
                "threshold, above, tied", backend, lambda: reference.quota_end(host, quota)
            ),
        ),
        SORT: Entry(backend.sort, (scores,)),
    }


# many problems in one call


@lru_cache(maxsize=1)
def classes(k: int) -> data.Data:
    return data.one_vs_rest(k)


def _auc_per_class(labels: Any, scores: Any) -> Any:
    return qk.one_vs_rest(qk.roc_auc, labels, scores, average=None).per_class


def batch(backend: Backend, k: int) -> dict[str, Entry]:
    """AUC of k classes in k examples, each against the rest."""
    problems = classes(k)
    labels, scores = (backend.array(x) for x in problems[:2])
    exact = partial(checks.auc_per_class, problems)
    entries = {
        ONE_CALL: Entry(
            _auc_per_class, (labels, scores), checks.values("AUC of each class", backend, exact)
        ),
        SORT: Entry(backend.sort, (backend.array(problems.scores.T.copy()),)),
    }
    for peer in peers_of(backend.name):
        if peer.name == "scikit-learn" and peer.why_not is None:
            seen = checks.seen("AUC of each class", backend, exact)
            entries[LOOP] = Entry(partial(_loop, peer.make()), (labels, scores), seen, peer=True)
    return entries


def _loop(auc: Callable[[Any, Any], Any], labels: Any, scores: Any) -> list[Any]:
    return [auc(labels == c, scores[:, c]) for c in range(scores.shape[1])]


# the price of a call


def calls(backend: Backend, n: int) -> dict[str, Entry]:
    """Single measures of few examples, called as they are, without `jax.jit` around them."""
    kind = "uniform"
    labels, scores = (backend.array(x) for x in problem(kind, n)[:2])
    quota = n // QUOTA_SHARE
    exact: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "roc_auc": (qk.roc_auc, reference.roc_auc),
        "pem": (qk.pem, reference.pem),
        "average_hit_rate": (qk.average_hit_rate, reference.average_hit_rate),
        "average_qrecall": (qk.average_qrecall, reference.average_qrecall),
        "hit_rate": (
            partial(qk.hit_rate, quota=quota),
            partial(reference.hit_rate, quota=quota),
        ),
        "pr_auc": ON_TOP["pr_auc"],
    }
    entries = {}
    for name, (measure, value) in exact.items():
        check = checks.values(name, backend, partial(_of_table, value, kind, n))
        entries[name] = Entry(measure, (labels, scores), check, traced=False)
    auc = partial(_of_table, reference.roc_auc, kind, n)
    right = checks.values("roc_auc", backend, auc)
    entries[RANK] = Entry(
        qk.rank, (labels, scores), lambda ranking: right(qk.roc_auc(ranking)), traced=False
    )
    entries[OF_RANKING] = Entry(qk.roc_auc, (qk.rank(labels, scores),), right, traced=False)
    entries[SORT] = Entry(backend.sort, (scores,), traced=False)
    for peer in peers_of(backend.name):
        if peer.why_not is None:
            entries[peer.name] = Entry(peer.make(), (labels, scores), traced=False, peer=True)
    return entries


def sizes(numpy: int, cpu: int, gpu: int, first: int = 6) -> Sizes:
    """Powers of ten up to the given exponents."""
    last = {"numpy": numpy, "cpu": cpu, "gpu": gpu}
    return {kind: tuple(10**e for e in range(first, end + 1)) for kind, end in last.items()}


NONE = 0
SCALAR = {
    "uniform": ("uniform float32", sizes(8, 7, 8, first=3), sizes(6, 6, 7, first=5)),
    "tie-free": ("no ties, shuffled", sizes(8, 6, 8, first=3), sizes(6, NONE, 7, first=5)),
    "100 values": ("100 distinct values", sizes(7, 6, 8), sizes(6, NONE, NONE)),
    "small groups": ("n/10 distinct values", sizes(7, 6, 8), sizes(6, NONE, NONE)),
    "logits": ("normal, of both signs", sizes(7, 6, 8), sizes(6, NONE, NONE)),
    "float64": ("uniform float64", sizes(7, NONE, NONE), sizes(6, NONE, NONE)),
    "int32": ("whole numbers, int32", sizes(7, 6, 8), sizes(6, NONE, NONE)),
    "float16": ("uniform float16", sizes(7, 6, 8), sizes(6, NONE, NONE)),
    "bfloat16": ("uniform bfloat16", sizes(7, 6, 8), sizes(6, NONE, NONE)),
    "rare": ("uniform, 1 % positive", sizes(7, 6, 8), sizes(6, NONE, NONE)),
    "weighted": ("uniform, with weights", sizes(7, 6, 8), sizes(6, NONE, NONE)),
}
QUICK_HULL: Sizes = {"numpy": (10**6,), "cpu": (10**5,), "gpu": (10**6,)}
HULLS = {
    "useful": (
        "a useful classifier",
        sizes(7, 6, 8),
        {"numpy": (10**6,), "cpu": (10**5,), "gpu": (10**6,)},
    ),
    "rare": ("1 % positive", sizes(7, NONE, 8), sizes(NONE, NONE, NONE)),
    "random": ("random labels", sizes(7, NONE, 8), sizes(6, NONE, NONE)),
}
FEW: Sizes = dict.fromkeys(("numpy", "cpu", "gpu"), (10, 100, 1000))
BATCH_SIZES = (256, 4096, 65536)
THOUSAND: Sizes = dict.fromkeys(("numpy", "cpu", "gpu"), (1000,))
CASES = {
    case.name: case
    for case in (
        *(
            Case(name, title, partial(scalar_measures, name), MEASURES, full, quick)
            for name, (title, full, quick) in SCALAR.items()
        ),
        *(
            Case(f"on top, {name}", title, partial(on_top, name), "roc_hull", full, quick)
            for name, (title, full, quick) in HULLS.items()
        ),
        Case(
            "one quota",
            "a quota of 10 % from raw scores",
            one_quota,
            "hit_rate",
            sizes(7, 6, 8),
            sizes(6, NONE, NONE),
        ),
        Case(
            "batch",
            "1000 classes of 1000 examples, one against the rest",
            batch,
            ONE_CALL,
            THOUSAND,
            {"numpy": (1000,)},
            scalable=False,
        ),
        Case(
            "call",
            "single measures of few examples",
            calls,
            "roc_auc",
            FEW,
            {"numpy": FEW["numpy"], "cpu": (1000,)},
            scalable=False,
        ),
        *(
            Case(
                name,
                f"1000 resamples, {name.partition(', ')[2]} positive",
                partial(bootstrap, name),
                BOOTSTRAP,
                dict.fromkeys(("numpy", "cpu", "gpu"), (10**3, 10**5)),
                {"numpy": (10**5,), "gpu": (10**5,)},
            )
            for name in POSITIVE
        ),
        Case(
            "streaming",
            "a state and one batch more",
            streaming,
            TWO_BYTES,
            dict.fromkeys(("numpy", "cpu", "gpu"), (*BATCH_SIZES, 10**7)),
            {"numpy": (4096, 10**7), "cpu": (4096,), "gpu": (4096, 10**7)},
        ),
    )
}


def kind_of(backend: Backend) -> str:
    return "gpu" if backend.on_gpu else "numpy" if backend.name == "numpy" else "cpu"
