"""The documents' page of a run."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from benchmarks.coverage import words
from benchmarks.coverage.seen import LEVEL
from benchmarks.coverage.sources import SOURCES

STORED, PAGE = "benchmarks/coverage.json", "docs/coverage.md"
UNMARKED = ("rightly sure", "by Holm")
"""Of which more is better."""
Row = dict[str, Any]
Part = dict[str, Any]


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
            "expanded": "expanded",
            "BCa": "BCa",
            "percentile": "percentile",
            "basic": "basic",
            "stratified": "stratified",
        },
    ),
    "closed forms": Section(
        "Closed forms",
        words.CLOSED_FORMS,
        {"logit": "logit", "wald": "Wald", "score": "score", "wilson": "Wilson", "exact": "exact"},
    ),
    "groups": Section(
        "Customers with several rows",
        words.GROUPS,
        {"expanded": "expanded", "percentile": "percentile"},
    ),
    "finite list": Section(
        "The hit rate of a finite list",
        words.FINITE_LIST,
        {"score": "score", "wilson": "Wilson", "exact": "exact"},
    ),
    "differences": Section(
        "Differences of two models",
        words.DIFFERENCES,
        {name: name for name in ("bootstrap", "DeLong", "DeLong, unpaired", "score")},
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
                "score",
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
    "poisson": Section(
        "Poisson draws",
        words.POISSON,
        {"expanded": "expanded", "percentile": "percentile"},
    ),
    "averages": Section(
        "Average precision and average hit rate",
        words.AVERAGES,
        {"closed form": "closed form", "expanded": "bootstrap", "percentile": "percentile"},
    ),
    "lift": Section(
        "Lift",
        words.LIFT,
        {"divided": "divided", "expanded": "expanded", "percentile": "percentile"},
    ),
    "weights": Section(
        "Weights",
        words.WEIGHTS,
        {"expanded": "expanded", "percentile": "percentile"},
    ),
    "few positives": Section(
        "Few positives",
        words.FEW_POSITIVES,
        {
            "bootstrap": "test: bootstrap",
            "permutation": "permutation",
            "DeLong": "DeLong",
            "logit": "interval: logit",
            "wald": "Wald",
            "expanded": "bootstrap",
            "percentile": "percentile",
        },
    ),
    "few clusters": Section(
        "Few clusters",
        words.FEW_CLUSTERS,
        {
            "bootstrap": "test: bootstrap",
            "expanded": "interval: expanded",
            "percentile": "percentile",
        },
    ),
    "few groups": Section(
        "Few groups",
        words.FEW_GROUPS,
        {"expanded": "expanded", "percentile": "percentile"},
    ),
    "hulls": Section(
        "Areas of hulls",
        words.HULLS,
        {"expanded": "expanded", "percentile": "percentile"},
    ),
    "verdicts": Section(
        "Who is the first",
        words.VERDICTS,
        {
            "wrongly sure": "wrongly sure",
            "rightly sure": "rightly sure",
            "by Holm": "by Holm",
            "shown": "shown, less the truth",
            "expected": "expected, less the truth",
        },
    ),
}


def page(run: dict[str, Any]) -> str:
    how = _how([part for found in run.values() for part in found.values()])
    lines = [
        words.ABOUT,
        *_populations(),
        *(line for kind, found in run.items() for line in _section(kind, found, len(how) > 1)),
        words.LEFT_OUT,
    ]
    return "\n".join([*lines, *how[:1]] if len(how) == 1 else lines).rstrip() + "\n"


def _how(parts: list[Part]) -> list[str]:
    """Each way in which they were simulated."""
    return list(dict.fromkeys(map(_made, parts)))


def _made(part: Part) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in part["versions"].items())
    command = f"`{part['command']}`" if part["command"] else words.EARLIER
    return f"Simulated {part['date']} by {command}, {versions}."


def _populations() -> list[str]:
    lines = ["| data | n | positive on average | AUC |", "|---|---|---|---|"]
    for source in SOURCES.values():
        share, auc = f"{100 * source.positive:g} %", f"{source.truth('AUC'):.3f}"
        lines.append(f"| {source.title} | {source.n} | {share} | {auc} |")
    return [*lines, ""]


def _section(kind: str, found: dict[str, Part], sign: bool) -> list[str]:
    section = SECTIONS[kind]
    run = {row["how"] for part in found.values() for row in part["rows"]}
    columns = {how: title for how, title in section.columns.items() if how in run}
    lines = [
        f"## {section.title}",
        "",
        section.about,
        f"{_numbers(found)}",
        "",
        f"| data | of what | {' | '.join(columns.values())} |",
        "|---" * (2 + len(columns)) + "|",
    ]
    for name, part in found.items():
        rows, drawn = part["rows"], part["replications"]
        for what in dict.fromkeys(row["what"] for row in rows):
            cells = {row["how"]: _cell(row, drawn) for row in rows if row["what"] == what}
            shown = (cells.get(how, "") for how in columns)
            lines.append(f"| {SOURCES[name].title} | {what} | {' | '.join(shown)} |")
    how = _how(list(found.values())) if sign else []
    return [*lines, "", *(line for each in how for line in (each, ""))]


def _numbers(found: dict[str, Part]) -> str:
    """How much was simulated."""
    fewest, resamples = (
        min(part[name] for part in found.values()) for name in ("replications", "resamples")
    )
    error = f"{_error(fewest):.1f}"
    return f"{fewest} data sets, {resamples} resamples of each; the Monte-Carlo error is {error}."


def _error(replications: int) -> float:
    return 100 * math.sqrt(LEVEL * (1 - LEVEL) / replications)


def _cell(row: Row, drawn: int) -> str:
    """In how many of 100 data sets the interval held the truth, or the test rejected it.

    Where fewer than 90 % of them have one, in how many there was one.
    """
    defined = row["number"]
    if not defined:
        return "undefined"
    if "more" in row:
        return f"{100 * row['more']:+.1f}".replace("-", "−")
    if row.get("how") in UNMARKED:
        return f"{100 * row['said'] / defined:.1f}"
    wrong = row.get("rejected", row.get("said"))
    missed = 100 * (row["above"] + row["below"] if wrong is None else wrong) / defined
    off = 100 * (1 - LEVEL) - missed
    mark = "" if abs(off) <= 2 * _error(defined) else " +" if off > 0 else " −"
    some = f" of {defined}" if defined < 0.9 * drawn else ""
    return f"{100 - missed if wrong is None else missed:.1f}{some}{mark}"
