"""Tables as texts: every value, with its interval, and which is the best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from quotakernels._text import number, percent
from quotakernels.evaluation.choice import Choice, choice_at, end_of
from quotakernels.evaluation.intervals import Differences, Limits
from quotakernels.evaluation.notes import compared_by, heading_of, in_sentences, pair_rows
from quotakernels.evaluation.results import GainResults, Results, Section
from quotakernels.evaluation.settings import Settings
from quotakernels.evaluation.words import MINUS, amount, listed


@dataclass(frozen=True)
class Cell:
    """A value, the interval under it, and whether it is the best of its column."""

    text: str
    interval: str = ""
    best: bool = False
    words: bool = False  # rather than a number


@dataclass(frozen=True)
class Table:
    """A table with a caption; each row begins with its heading."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Each column's heading, and whether it holds words."""
        return [
            (name, any(row[k].words for row in self.rows if k < len(row)))
            for k, name in enumerate(self.head)
        ]


def measure_tables(evaluation: Results) -> Iterator[Table]:
    """All measures of every model: at each quota, over all quotas, and of ROC and PR space."""
    over_all, areas, *others = evaluation.sections
    for section in others:
        if section.part == "at_quota" and section.quota is not None:
            yield _values_table(heading_of(evaluation, section.quota), evaluation, section)
    yield _values_table("Over all quotas", evaluation, over_all)
    yield _values_table("ROC and precision–recall space", evaluation, areas)


def gain_tables(evaluation: Results) -> Iterator[Table]:
    """What the best cut and each quota bring, in the user's unit."""
    gains = evaluation.gains
    if gains is None:
        return
    best_cut, *at_quotas = (x for x in evaluation.sections if x.part == "gains")
    for section in at_quotas:
        yield _values_table(f"What quota {section.quota} brings", evaluation, section)
    heading = f"What the best cut of each model brings{chosen_on(evaluation.settings)}"
    nobody, everybody = amount(gains.nobody), amount(gains.everybody)
    beside = f"Selecting nobody brings {nobody}, selecting all {everybody}."
    notes = (beside, *_expected(gains, evaluation))
    yield _values_table(heading, evaluation, best_cut, notes)


def chosen_on(settings: Settings) -> str:
    """On which rows best cuts were chosen, if on others."""
    tune = settings.tune
    return "" if tune is None else f", chosen on the rows with {tune[0]} = {tune[1]}"


def _expected(gains: GainResults, evaluation: Results) -> Iterator[str]:
    """What the best cuts will bring on other rows, which is less than on those they fit."""
    ends = gains.ends
    if ends is None or ends.expected is None:
        return
    for row, name in enumerate(evaluation.models):
        lower, upper = map(amount, ends.at_best_cut.of("expected", row))
        expected = amount(float(ends.expected[row]))
        yield f"On as many other rows expect {expected} of {name} ({lower} to {upper})."


def _values_table(
    caption: str, evaluation: Results, section: Section, notes: tuple[str, ...] = ()
) -> Table:
    values = section.values
    marked = values.best(evaluation.rows)
    shown = [(k, measure) for k, measure in enumerate(values.measures) if measure.heading]
    rows = tuple(
        (
            Cell(name, words=True),
            *(
                Cell(
                    measure.text(values.array[row, k]).replace("-", MINUS, 1),
                    _interval(measure.name, section.limits, row),
                    bool(marked[row, k]),
                )
                for k, measure in shown
            ),
        )
        for row, name in enumerate(evaluation.models)
    )
    head = ("model", *(m.title for _, m in shown))
    return Table(caption, head, rows, notes)


def _interval(name: str, limits: Limits | None, row: int) -> str:
    """The interval of a model's measure, empty where it is undefined."""
    for measure in () if limits is None else limits.measures:
        if limits is not None and measure.name == name:
            ends = limits.of(name, row)
            both = (measure.end_form(x).replace("-", MINUS, 1) for x in ends)
            return "" if any(map(math.isnan, ends)) else " to ".join(both)
    return ""


# pairs of models


def pair_tables(evaluation: Results) -> Iterator[Table]:
    """The tests of all pairs of models, and what they say in sentences."""
    for differences in evaluation.differences:
        yield Table(
            compared_by(evaluation, differences),
            ("better", "than", "by", "interval", "p (Holm)"),
            tuple(_pairs(differences)),
            (in_sentences(differences, evaluation.rows), *differences.notes),
        )


def _pairs(differences: Differences) -> Iterator[tuple[Cell, ...]]:
    for better, worse, by, lower, upper, p in pair_rows(differences):
        numbers = (x.replace("-", MINUS) for x in (by, f"{lower} to {upper}", p))
        yield (Cell(better, words=True), Cell(worse, words=True), *map(Cell, numbers))


# where quotas end


def ends_of_quotas(evaluation: Results) -> Iterator[Table]:
    """For each quota the score at which each model's places end."""
    for quota in evaluation.settings.quotas:
        places = evaluation.places(quota)
        if not places or not evaluation.total:
            continue
        rows = []
        for name, ranking in zip(evaluation.models, evaluation.rankings, strict=True):
            end = end_of(ranking, evaluation, quota)
            left = number(places - end.above)
            cells = map(Cell, (end.threshold, number(end.above), number(end.tied), left))
            rows.append((Cell(name, words=True), *cells))
        head = ("model", "threshold", "above it", "tied at it", "places for these")
        yield Table(f"Where quota {quota} ends", head, tuple(rows))


# several quotas


def overview(evaluation: Results) -> Table | None:
    """Which model to take at each quota, if there are several."""
    choices = [choice_at(evaluation, quota) for quota in evaluation.settings.quotas]
    if len(choices) < 2:
        return None
    gains = ("it brings", "at random") if evaluation.gains is not None else ()
    head = ("quota", "places", "best model", "it finds", "at random", "hit rate", *gains)
    return Table("At each quota", head, tuple(_chosen(evaluation, x) for x in choices))


def _chosen(evaluation: Results, choice: Choice) -> tuple[Cell, ...]:
    head = (Cell(str(choice.quota), words=True), Cell(number(choice.places)))
    if not choice.defined:
        return (*head, Cell("none", words=True))
    first = choice.order[0]
    winners = [evaluation.models[k] for k in choice.best]
    found = [number(choice.found[first]), number(choice.random_found)]
    cells = [*found, percent(choice.found[first] / choice.places)]
    if choice.brings is not None:
        cells += [amount(choice.brings[first]), amount(choice.random_brings)]
    return (*head, Cell(listed(winners, "or"), words=True), *map(Cell, cells))
