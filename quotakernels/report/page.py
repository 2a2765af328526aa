"""A page of HTML from an evaluation: the facts that it shows, put into the template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jinja2

from quotakernels import __version__
from quotakernels._text import number
from quotakernels.cli.certain import BETTER_INTERVALS, notes_of_intervals
from quotakernels.cli.evaluation import Evaluation
from quotakernels.report.answers import answers
from quotakernels.report.apply import steps
from quotakernels.report.choice import choice_at
from quotakernels.report.data_facts import data_facts, data_line
from quotakernels.report.definitions import NOTATION, definitions
from quotakernels.report.figures import figures
from quotakernels.report.tables import (
    ends_of_quotas,
    gain_tables,
    measure_tables,
    overview,
    pair_tables,
)
from quotakernels.report.words import counted, whole

__all__ = ["Origin", "page_of"]


@dataclass(frozen=True)
class Origin:
    """Where a page comes from: the words for the data, the command, the day, whose the data are."""

    file: tuple[str, ...]
    command: str
    made: str
    attribution: tuple[str, ...] = ()


def page_of(evaluation: Evaluation, origin: Origin) -> str:
    """The whole page, which needs nothing from elsewhere."""
    quotas = evaluation.task.quotas
    choice = choice_at(evaluation, quotas[0]) if quotas else None
    content = {
        "version": __version__,
        "title": _title(evaluation),
        "data_line": data_line(evaluation),
        "answers": answers(evaluation, choice),
        "overview": overview(evaluation),
        "about_curves": _about_curves(evaluation),
        "figures": list(figures(evaluation, choice)),
        "about_tables": list(_about_tables(evaluation)),
        "tables": [*gain_tables(evaluation), *measure_tables(evaluation)],
        "pairs": list(pair_tables(evaluation)),
        "notes": [x.replace(BETTER_INTERVALS, "") for x in notes_of_intervals(evaluation)],
        "steps": list(steps(evaluation, origin.file)),
        "no_steps": _no_steps(evaluation),
        "ends": list(ends_of_quotas(evaluation)),
        "notation": NOTATION,
        "definitions": list(definitions(evaluation)),
        "data": list(data_facts(evaluation)),
        **vars(origin),
    }
    return str(_template().render(page=content))


def _template() -> Any:
    """The template; whatever it is given is escaped, unless it was built as markup."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("quotakernels.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _title(evaluation: Evaluation) -> str:
    task = evaluation.task
    if not task.quotas:
        return f"Which model is best? {task.source}"
    places = evaluation.places(task.quotas[0])
    if task.weight is not None:
        return f"Which model for a weight of {number(places)}?"
    if not whole(places):
        return f"Which model for {task.quotas[0]} of {number(evaluation.rows)} rows?"
    return f"Which model for {counted(places, 'place', 'places')}?"


def _no_steps(evaluation: Evaluation) -> str:
    """Why there is nothing to apply."""
    if not evaluation.total:
        return "There is nothing to select."
    if evaluation.task.quotas:
        return "The quota selects nobody."
    if evaluation.brought is not None:
        return "Selecting nobody brings the most; to fill places all the same, give --quota."
    return "No places are to be filled: give --quota."


def _about_curves(evaluation: Evaluation) -> str:
    if not evaluation.positive_total:
        return "No row is positive, so that curves of positives are undefined."
    if evaluation.positive_total == evaluation.total:
        return "All rows are positive, so that there is nothing to tell apart."
    said = "Along the lower edge is how many are selected, the best scores first."
    marked = " The dashed vertical line is the quota." if evaluation.task.quotas else ""
    return f"{said}{marked}"


def _about_tables(evaluation: Evaluation) -> Iterator[str]:
    yield "Bold and * mark the best model by a measure (of S2 the smallest)."
    certainty = evaluation.task.certainty
    if certainty is not None:
        for said in certainty.in_words(*evaluation.weights_and_quotas):
            yield said.replace("[lower, upper]:", "Below a value:").replace(
                "[lower, upper] of a", "Of a"
            )
