"""A page of HTML from an evaluation: the facts that it shows, put into the template."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jinja2
from markupsafe import Markup, escape

from quotakernels import __version__
from quotakernels._text import counted, number
from quotakernels.evaluation.answers import answers
from quotakernels.evaluation.certainty import notes_of_intervals
from quotakernels.evaluation.choice import first_choice
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.tables import (
    breakable,
    brief_tables,
    ends_of_quotas,
    gain_tables,
    group_tables,
    measure_tables,
    overview,
    pair_tables,
)
from quotakernels.report.apply import steps
from quotakernels.report.data_facts import data_facts, data_line
from quotakernels.report.figures import figures, legend
from quotakernels.report.other_quotas import other_quotas

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
_FEW = 6
"""Models of which the longer tables are not folded."""


@dataclass(frozen=True)
class Origin:
    """Where a page comes from: the words for the data, the command, and whose the data are.

    A page that Python has asked for comes from no command.
    """

    file: tuple[str, ...] = ()
    command: str = ""
    attribution: tuple[str, ...] = ()


def page_of(evaluation: Results, origin: Origin) -> str:
    """The whole page, which needs nothing from elsewhere."""
    choice = first_choice(evaluation)
    templates = _templates()
    script, _, _ = templates.loader.get_source(templates, "page.js")
    content = {
        "version": __version__,
        "title": _title(evaluation),
        "data_line": data_line(evaluation),
        "answers": answers(evaluation),
        "overview": overview(evaluation),
        "brief": next(brief_tables(evaluation)) if evaluation.settings.quotas else None,
        "about_curves": _about_curves(evaluation),
        "other": other_quotas(evaluation, script),
        "legend": legend(evaluation, choice),
        "figures": list(figures(evaluation, choice)),
        "about_tables": list(_about_tables(evaluation)),
        "tables": [
            *gain_tables(evaluation),
            *measure_tables(evaluation),
            *group_tables(evaluation),
        ],
        "pairs": list(pair_tables(evaluation)),
        "few": len(evaluation.models) <= _FEW,
        "notes": list(notes_of_intervals(evaluation)),
        "steps": list(steps(evaluation, origin.file)),
        "no_steps": _no_steps(evaluation),
        "ends": list(ends_of_quotas(evaluation)),
        "evaluation": evaluation,
        "limit": "quota" if evaluation.settings.cost is None else "budget",
        "data": list(data_facts(evaluation)),
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        **vars(origin),
    }
    return str(templates.get_template("page.html").render(page=content))


def _templates() -> Any:
    """The templates; whatever they are given is escaped, unless it was built as markup."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("quotakernels.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["breakable"] = breakable
    found.filters["options_as_code"] = _options_as_code
    return found


def _options_as_code(text: str) -> Markup:
    """A text in which options of the command are code, which no line breaks at a hyphen."""
    return Markup(_OPTION.sub(r"<code>\g<0></code>", str(escape(text))))


def _title(evaluation: Results) -> str:
    settings = evaluation.settings
    if not settings.quotas:
        return f"Which model is best? {settings.source}".rstrip()
    if settings.cost is not None:
        return f"Which model for a budget of {number(settings.quotas[0].amount)}?"
    places = evaluation.places_at_random(settings.quotas[0])
    if settings.weight is not None:
        return f"Which model for a weight of {number(places)}?"
    return f"Which model for {counted(places, 'place', 'places')}?"


def _no_steps(evaluation: Results) -> str:
    """Why there is nothing to apply."""
    quota = evaluation.settings.option("quota")
    if not evaluation.total:
        return "There is nothing to select."
    if evaluation.settings.quotas:
        return f"The {'quota' if evaluation.settings.cost is None else 'budget'} selects nobody."
    if evaluation.gains is not None:
        return f"Selecting nobody brings the most; to fill places all the same, give {quota}."
    return f"No places are to be filled: give {quota}."


def _about_curves(evaluation: Results) -> str:
    if not evaluation.positive_total:
        return "No row is positive, so that curves of positives are undefined."
    if evaluation.positive_total == evaluation.total:
        return "All rows are positive, so that there is nothing to tell apart."
    said = "Along the lower edge is how many are selected, the best scores first."
    settings = evaluation.settings
    marked = " The dashed vertical line is the quota." if settings.quotas_over_all else ""
    if settings.cost is not None:
        marked = " Each model's dashed vertical line is where the budget ends for it."
    if settings.per is not None:
        marked = f" These curves are of all rows together, not of each {settings.per}."
    return f"{said}{marked}"


def _about_tables(evaluation: Results) -> Iterator[str]:
    if len(evaluation.models) > 1:
        yield "Bold and * mark the best model by a measure (of S2 the smallest)."
    resampling = evaluation.settings.resampling
    if resampling is not None:
        yield from resampling.in_words(evaluation.settings)
