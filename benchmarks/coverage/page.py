"""The documents' page of a run."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from benchmarks.coverage import words
from benchmarks.coverage.seen import LEVEL
from benchmarks.coverage.sources import SOURCES

STORED, PAGE = "benchmarks/coverage.json", "docs/coverage.md"
Row = dict[str, Any]


class Section(NamedTuple):
    """What the page says of one kind, and under which headings it shows how intervals were made."""

    title: str
    about: str
    columns: dict[str, str]


SECTIONS = {
    "bootstrap": Section(
        "Bootstrap",
        words.BOOTSTRAP,
        {
            "percentile": "percentile",
            "basic": "basic",
            "BCa": "BCa",
            "stratified": "stratified",
        },
    ),
    "closed forms": Section(
        "Closed forms",
        words.CLOSED_FORMS,
        {"logit": "logit", "wald": "Wald", "wilson": "Wilson", "exact": "exact"},
    ),
    "groups": Section(
        "Customers with several rows",
        words.GROUPS,
        {"groups": "percentile"},
    ),
    "finite list": Section(
        "The hit rate of a finite list",
        words.FINITE_LIST,
        {"wilson": "Wilson", "exact": "exact"},
    ),
    "differences": Section(
        "Differences of two models",
        words.DIFFERENCES,
        {name: name for name in ("bootstrap", "DeLong", "DeLong, unpaired", "McNemar", "Fisher")},
    ),
    "levels": Section(
        "Tests of two models",
        words.LEVELS,
        {
            name: name
            for name in (
                "bootstrap",
                "permutation",
                "DeLong",
                "DeLong, unpaired",
                "McNemar",
                "McNemar, mid-p",
                "Fisher",
                "Fisher, mid-p",
            )
        },
    ),
    "bands": Section(
        "Bands",
        words.BANDS,
        {
            "pointwise at 0.1": "pointwise at 0.1",
            "pointwise at 0.5": "pointwise at 0.5",
            "pointwise, at all": "pointwise, at all six",
            "simultaneous, at all": "simultaneous, at all six",
        },
    ),
    "optimum": Section(
        "The best cut",
        words.OPTIMUM,
        {
            "percentile": "percentile",
            "basic": "basic",
            "BCa": "BCa",
            "expected": "`expected`",
        },
    ),
    "folds": Section(
        "Cross-validation",
        words.FOLDS,
        {"5 folds": "5 folds", "5 × 5 folds": "5 × 5 folds"},
    ),
    "levels over folds": Section(
        "Tests over folds",
        words.FOLD_LEVELS,
        {"5 folds": "5 folds", "5 × 5 folds": "5 × 5 folds"},
    ),
    "poisson": Section("Poisson draws", words.POISSON, {"Poisson": "percentile"}),
}


def page(run: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    every = [found for kind in run["results"].values() for found in kind.values()]
    lines = [
        words.ABOUT,
        *_populations(),
        *(line for kind, found in run["results"].items() for line in _section(kind, found)),
        "```sh no-run",
        run["command"],
        "```",
        "",
        f"{run['date']}, {versions}, {sum(x['cpu_seconds'] for x in every):.0f} s of one core.",
    ]
    return "\n".join(lines) + "\n"


def _populations() -> list[str]:
    lines = ["| data | n | positive on average | AUC |", "|---|---|---|---|"]
    for source in SOURCES.values():
        share, auc = f"{100 * source.positive:g} %", f"{source.truth('AUC'):.3f}"
        lines.append(f"| {source.title} | {source.n} | {share} | {auc} |")
    return [*lines, ""]


def _section(kind: str, found: dict[str, Any]) -> list[str]:
    section = SECTIONS[kind]
    lines = [
        f"## {section.title}",
        "",
        section.about,
        f"{_numbers(found)}",
        "",
        f"| data | of what | {' | '.join(section.columns.values())} |",
        "|---" * (2 + len(section.columns)) + "|",
    ]
    for name, part in found.items():
        rows, error = part["rows"], _error(part["replications"])
        for what in dict.fromkeys(row["what"] for row in rows):
            cells = {row["how"]: _cell(row, error) for row in rows if row["what"] == what}
            shown = (cells.get(how, "") for how in section.columns)
            lines.append(f"| {SOURCES[name].title} | {what} | {' | '.join(shown)} |")
    return [*lines, ""]


def _numbers(found: dict[str, Any]) -> str:
    """How much was simulated."""
    fewest, resamples = (
        min(part[name] for part in found.values()) for name in ("replications", "resamples")
    )
    error = f"{_error(fewest):.1f}"
    return f"{fewest} data sets, {resamples} resamples of each; the Monte-Carlo error is {error}."


def _error(replications: int) -> float:
    return 100 * math.sqrt(LEVEL * (1 - LEVEL) / replications)


def _cell(row: Row, error: float) -> str:
    """In how many of 100 data sets the interval held the truth, or the test rejected it."""
    if not row["number"]:
        return "undefined"
    missed = row["rejected"] if "rejected" in row else row["above"] + row["below"]
    missed = 100 * missed / row["number"]
    off = 100 * (1 - LEVEL) - missed
    mark = "" if abs(off) <= 2 * error else " +" if off > 0 else " −"
    return f"{missed if 'rejected' in row else 100 - missed:.1f}{mark}"
