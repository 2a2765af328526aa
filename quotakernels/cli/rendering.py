"""An evaluation as tables for people."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from rich.console import Console

from quotakernels._text import counted, number, percent
from quotakernels.cli.tables import UNLIMITED, print_table
from quotakernels.cli.terminal import TextConsole
from quotakernels.evaluation.answers import Answer, what_will_it_bring, which_model
from quotakernels.evaluation.certainty import notes_of_few_groups, notes_of_hit_rates
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.results import Results, undefined_or, where_best
from quotakernels.evaluation.tables import brief_tables, group_tables, pair_tables, values_table
from quotakernels.evaluation.words import MINUS, in_words

_MARK = "* the best model by that measure"
_MARK_OF_ALL = f"{_MARK} (of S2, the area below chance, the smallest)"
_BOUNDED = "Of two numbers the exact value lies between them; what quotas find is exact."
_SURE = "score intervals of hit rates, and of impacts by those; of all else there are none."
_POINTS, _PATIENCE_S = "Without intervals and tests, which follow:", 2.0
_AREAS = (
    "S1 and S2: sums over all quotas of how far Qrecall is above and below chance;\n"
    "S3: S1 of the best order, so that PEM is (S1 - S2)/S3"
)
_PEARSON = "Pearson: correlation of the selected scores with their own labels, 0 and 1"


def table_console() -> Console:
    """Return a console for stdout, as wide as the tables need when no terminal limits it."""
    console = TextConsole(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNLIMITED
    return console


def print_evaluation(evaluation: Evaluation, console: Console, everything: bool) -> None:
    """Print what the data are, the answer, and the tables that it needs, or else all of them."""
    console.print(_data_line(evaluation))
    for answer in _answers(evaluation):
        _print_answer(answer, console)
    for table in brief_tables(evaluation):
        print_table(table, console)
    if everything:
        _print_all(evaluation, console)
        return
    of_groups = list(group_tables(evaluation))
    for table in of_groups:
        print_table(table, console)
    mark = [_MARK] if any(x.starred for x in of_groups) else []
    notes = (*notes_of_hit_rates(evaluation), *notes_of_few_groups(evaluation))
    for note in (*mark, *notes):
        console.print(f"\n{note}")
    more = ", intervals and tests" if evaluation.settings.resampling is not None else ""
    console.print(f"\n--all prints all measures{more}.", style="dim")


def print_bounded(evaluation: Evaluation, console: Console, everything: bool) -> None:
    """Print what is known after passes over the rows: the answers, and the tables with bounds."""
    paid = evaluation.gains is not None or evaluation.settings.cost is not None
    _print_brief(evaluation, console, [what_will_it_bring(evaluation)] if paid else [])
    of_all = evaluation.sections if everything else []
    tables = [values_table(evaluation, section) for section in of_all]
    tables += group_tables(evaluation)
    for table in tables:
        print_table(table, console)
    notes = [_MARK] if any(x.starred for x in tables) else []
    if (resampling := evaluation.settings.resampling) is not None:
        notes += [f"{resampling.percent} intervals: {_SURE}", *notes_of_hit_rates(evaluation)]
    console.print("\n" + "\n".join([*notes, _BOUNDED]), style="dim")


def _print_brief(evaluation: Evaluation, console: Console, more: Sequence[Answer] = ()) -> None:
    """Print what the data are, which model to take and more answers, and the first tables."""
    console.print(_data_line(evaluation))
    if evaluation.settings.quotas:
        for answer in (which_model(evaluation), *more):
            _print_answer(answer, console)
    for table in brief_tables(evaluation):
        print_table(table, console)


@contextmanager
def points_first(console: Console) -> Iterator[Callable[[Evaluation], None]]:
    """Yield what prints an evaluation without intervals, if more than two seconds go by.

    It goes through `sys.stdout`, which a progress bar replaces while it is shown.
    """
    timers = []

    def show(evaluation: Evaluation) -> None:
        with console.capture() as shown:
            console.print(f"{_POINTS}\n", style="bold")
            _print_brief(evaluation, console)
        with suppress(OSError, UnicodeError):  # which the whole output, that follows, meets too
            print(shown.get(), flush=True)

    def wait(evaluation: Evaluation) -> None:
        timer = threading.Timer(_PATIENCE_S, show, [evaluation])
        timer.daemon = True
        timer.start()
        timers.append(timer)

    try:
        yield wait
    finally:
        for timer in timers:
            timer.cancel()
            timer.join()


def _print_answer(answer: Answer, console: Console) -> None:
    console.print(f"\n{answer.question} {answer.verdict}.".replace(MINUS, "-"), style="bold")
    for sentence in answer.sentences:
        console.print(sentence.replace(MINUS, "-"))


def _answers(evaluation: Evaluation) -> list[Answer]:
    """Which model, how sure and what a treatment adds; what places cost and bring tells also how
    many and how much.
    """
    which, many, what, sure, *added = evaluation.answers
    paid = evaluation.gains is not None or evaluation.settings.cost is not None
    return [which, many, what, sure, *added] if paid else [which, sure, *added]


def _print_all(evaluation: Evaluation, console: Console) -> None:
    """Print every measure with its interval, every test, and how they were computed."""
    settings = evaluation.settings
    tables = [values_table(evaluation, section) for section in evaluation.sections]
    tables += group_tables(evaluation)
    for table in tables:
        print_table(table, console)
    notes = ([_MARK_OF_ALL] if any(x.starred for x in tables) else []) + [_AREAS]
    if settings.quotas_over_all and settings.cost is None:
        notes.append(_PEARSON)
    console.print("\n" + "\n".join(notes))
    for table in pair_tables(evaluation):
        print_table(table, console)
    if (resampling := settings.resampling) is not None:
        told = resampling.in_words(settings)
        console.print("\n" + "\n".join([*told, *evaluation.notes]))
    if words := list(where_best(evaluation.best, evaluation.models)):
        console.print("\n" + "\n".join(words))


def _data_line(evaluation: Results) -> str:
    settings = evaluation.settings
    parts = [
        counted(evaluation.rows, "row", "rows"),
        settings.counted(evaluation.positives),
    ]
    if settings.weight is not None:
        parts.append(f"total weight {number(evaluation.total)} ({settings.weight})")
    parts.append(f"prevalence {undefined_or(percent, evaluation.prevalence)}")
    chosen = f", rows with {in_words(settings.where)}" if settings.where else ""
    return f"{settings.source}{chosen}\n" + ", ".join(parts)
