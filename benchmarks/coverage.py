"""How often intervals hold the true value: ``python -m benchmarks.coverage`` simulates and tells.

``python -m benchmarks.coverage report`` writes the documents' page of a stored run.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

import quotakernels as qk
from benchmarks import machine
from quotakernels.inference._intervals import interval
from quotakernels.inference._resampling import _HOST

Result = dict[str, Any]
Array = np.ndarray[Any, Any]
LEVEL, FRACTION = 0.95, 0.1
WHOLE, CELLS = 10**12, 20_000
STORED, PAGE = "benchmarks/coverage.json", "docs/coverage.md"
MEASURES: dict[str, Callable[..., Any]] = {
    "AUC": qk.roc_auc,
    "PEM": qk.pem,
    "AHR": qk.average_hit_rate,
    "AQR": qk.average_qrecall,
    "hit rate": partial(qk.hit_rate, fraction=FRACTION),
}
METHODS = ("percentile", "basic", "bca", "stratified", "logit", "wald", "wilson", "exact")


class Scores(NamedTuple):
    """Where data sets come from: normal scores, those of positives higher by `apart`.

    They are rounded to multiples of `step`, if it is not 0.
    """

    title: str
    n: int
    positive: float
    apart: float
    step: float = 0.0

    def sample(self, rng: np.random.Generator) -> tuple[Array, Array]:
        labels = rng.random(self.n) < self.positive
        scores = rng.normal(size=self.n) + self.apart * labels
        return labels, np.round(scores / self.step) * self.step if self.step else scores

    def everybody(self) -> qk.Ranking:
        """The whole population, in cells so narrow that the ties in them do not matter."""
        step = self.step or 20 / CELLS
        places = np.arange(-round(9 / step), round((9 + self.apart) / step) + 1) * step
        negative, positive = (_cells(places - away, step) for away in (0.0, self.apart))
        positive = np.round(WHOLE * self.positive * positive).astype(np.int64)
        counts = positive + np.round(WHOLE * (1 - self.positive) * negative).astype(np.int64)
        return qk.Ranking.from_counts(places, counts, positive)


def _cells(places: Array, step: float) -> Array:
    """The share of the normal distribution around each place."""
    edges = [*(places - step / 2), places[-1] + step / 2]
    return np.diff([NormalDist().cdf(x) for x in edges])


SCORES = {
    "tied": Scores("Tied scores: ratings in steps of 1", 300, 0.3, 1.0, 1.0),
    "rare": Scores("Rare positives: 2 % of 1000", 1000, 0.02, 1.2),
    "strong": Scores("A strong model: AUC 0.983", 300, 0.4, 3.0),
    "moderate": Scores("A moderate model", 300, 0.3, 1.0),
}


class Plan(NamedTuple):
    """How much is simulated."""

    replications: int = 1000
    resamples: int = 400
    seed: int = 1
    only: tuple[str, ...] = tuple(SCORES)


# one data set


Ends = dict[tuple[str, str], tuple[float, float]]
"""Of each measure and method."""


def intervals(labels: Array, scores: Array, resamples: int, seed: int) -> Ends:
    given: dict[str, Any] = {
        "n_resamples": resamples,
        "random_state": seed,
        "confidence_level": LEVEL,
        "workers": 1,
    }
    drawn = qk.bootstrap(MEASURES, labels, scores, method="bca", **given)
    strata = qk.bootstrap(MEASURES, labels, scores, stratified=True, **given)
    found: Ends = {}
    for name, result in drawn.items():
        of_resamples = _HOST, result.estimate, result.resamples
        for method in ("percentile", "basic"):
            found[name, method] = _ends(method, *of_resamples)
        found[name, "bca"] = float(result.lower), float(result.upper)
        found[name, "stratified"] = float(strata[name].lower), float(strata[name].upper)
    return found | _closed_forms(labels, scores)


def _ends(method: Any, xp: Any, estimate: Any, values: Array) -> tuple[float, float]:
    low, high = interval(xp, method, np.asarray(estimate), values, None, LEVEL)
    return float(low), float(high)


def _closed_forms(labels: Array, scores: Array) -> Ends:
    found: Ends = {}
    for name, measure in (("AUC", "roc_auc"), ("PEM", "pem")):
        for method in ("logit", "wald"):
            area = qk.auc_interval(labels, scores, measure=measure, method=method)
            found[name, method] = float(area.lower), float(area.upper)
    for method in ("wilson", "exact"):
        rate = qk.hit_rate_interval(labels, scores, fraction=FRACTION, method=method)
        found["hit rate", method] = float(rate.lower), float(rate.upper)
    return found


# many


def simulate(plan: Plan, say: Callable[[str], None]) -> Result:
    start = time.process_time()
    found = {name: _simulated(plan, name, SCORES[name], say) for name in plan.only}
    about = machine.describe(False)
    return {
        "command": f"python -m benchmarks.coverage --replications {plan.replications}"
        f" --resamples {plan.resamples} --seed {plan.seed}",
        "date": about["date"],
        "versions": {name: about["versions"].get(name) for name in ("quotakernels", "numpy")},
        "cpu_seconds": round(time.process_time() - start),
        "plan": plan._asdict(),
        "results": found,
    }


def _simulated(plan: Plan, name: str, source: Scores, say: Callable[[str], None]) -> Result:
    everybody = source.everybody()
    truth = {what: float(measure(everybody)) for what, measure in MEASURES.items()}
    ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number in range(plan.replications):
        seeds = np.random.SeedSequence([plan.seed, list(SCORES).index(name), number]).spawn(2)
        labels, scores = source.sample(np.random.default_rng(seeds[0]))
        seed = int(seeds[1].generate_state(1)[0])
        for key, pair in intervals(labels, scores, plan.resamples, seed).items():
            ends.setdefault(key, []).append(pair)
        if number % 100 == 99:
            say(f"{name}: {number + 1} of {plan.replications}")
    rows = [
        {"measure": what, "method": method, **_summary(np.asarray(pairs), truth[what])}
        for (what, method), pairs in ends.items()
    ]
    return {"truth": truth, "rows": rows}


def _summary(ends: Array, truth: float) -> dict[str, float]:
    """Counts of intervals: all that are there, those too high, those too low; their mean width."""
    there = ends[~np.isnan(ends).any(axis=-1)]
    low, high = there.T
    slack = 1e-9  # the population is in cells
    return {
        "intervals": int(there.shape[0]),
        "above": int(np.count_nonzero(low > truth + slack)),
        "below": int(np.count_nonzero(high < truth - slack)),
        "width": float(f"{np.mean(high - low):.4g}"),
    }


# the page


ABOUT = """\
# Coverage

This page is made of a stored run by `python -m benchmarks.coverage report`; change
`benchmarks/coverage.py`, not it.

A 95 % interval should hold the true value in 95 of 100 data sets. Here data sets are drawn again
and again from populations whose true values are known, and the intervals that hold them are
counted. Scores are normal, those of positives higher by a shift; the true value is that of the
whole population. The number of positives is left to chance, as it is in life. The hit rate is that
of the best tenth.

The first four columns are bootstrap intervals: quantiles of the resamples (percentile), the same
mirrored (basic), corrected for bias and skewness (BCa), and percentiles of resamples that keep the
numbers of both classes (stratified). The last two are closed forms: the logit and Wald interval
of DeLong for AUC and PEM, Wilson's and the exact interval of the hit rate.
[How sure is it](uncertainty.md#which-interval) tells which one to take.
"""
COLUMNS = {
    "percentile": ("percentile",),
    "basic": ("basic",),
    "BCa": ("bca",),
    "stratified": ("stratified",),
    "logit or Wilson": ("logit", "wilson"),
    "Wald or exact": ("wald", "exact"),
}


def page(run: Result) -> str:
    count = run["plan"]["replications"]
    error = 100 * math.sqrt(LEVEL * (1 - LEVEL) / count)
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    lines = [
        ABOUT,
        f"Each number is of {count} data sets, with {run['plan']['resamples']} resamples each: its",
        f"Monte-Carlo error is {error:.1f}. Coverage that is off by more than two such errors is",
        "marked, − where it is less than 95 and + where it is more.",
        "",
        *(line for name, found in run["results"].items() for line in _table(name, found, error)),
        "```sh no-run",
        run["command"],
        "```",
        "",
        f"{run['date']}, {versions}, {run['cpu_seconds']} s of one core.",
    ]
    return "\n".join(lines) + "\n"


def _table(name: str, found: Result, error: float) -> list[str]:
    source = SCORES[name]
    cells = {(row["measure"], row["method"]): row for row in found["rows"]}
    lines = [
        f"## {source.title}",
        "",
        f"n = {source.n}, {100 * source.positive:g} % positive on average.",
        "",
        f"| measure | true value | {' | '.join(COLUMNS)} |",
        "|---" * (2 + len(COLUMNS)) + "|",
    ]
    for measure, truth in found["truth"].items():
        shown = [
            next((_cell(cells[measure, x], error) for x in methods if (measure, x) in cells), "")
            for methods in COLUMNS.values()
        ]
        lines.append(f"| {measure} | {truth:.4f} | {' | '.join(shown)} |")
    return [*lines, ""]


def _cell(row: Result, error: float) -> str:
    if not row["intervals"]:
        return ""
    held = 100 * (1 - (row["above"] + row["below"]) / row["intervals"])
    off = held - 100 * LEVEL
    mark = "" if abs(off) <= 2 * error else " +" if off > 0 else " −"
    return f"{held:.1f}{mark}"


# the command


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["report"]:
        return _report(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    default = Plan()
    parser.add_argument("--replications", type=int, default=default.replications, metavar="N")
    parser.add_argument("--resamples", type=int, default=default.resamples, metavar="R")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--only", nargs="+", choices=tuple(SCORES), default=default.only)
    parser.add_argument("--json", metavar="FILE", help="store the results")
    chosen = parser.parse_args(arguments)
    plan = Plan(chosen.replications, chosen.resamples, chosen.seed, tuple(chosen.only))
    found = simulate(plan, lambda line: print(line, file=sys.stderr, flush=True))
    if chosen.json:
        text = json.dumps(found, indent=1, ensure_ascii=False)
        Path(chosen.json).write_text(text + "\n", encoding="utf-8")
    print(page(found))
    return 0


def _report(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage report")
    parser.add_argument("json", nargs="?", default=STORED, help="what a run has stored")
    parser.add_argument("-o", "--output", default=PAGE, help="the page")
    chosen = parser.parse_args(arguments)
    found = json.loads(Path(chosen.json).read_text(encoding="utf-8"))
    Path(chosen.output).write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
