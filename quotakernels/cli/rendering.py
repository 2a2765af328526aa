"""What a terminal shows: an evaluation as answers and tables, and the progress of long ones."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from quotakernels._text import counted, number, percent
from quotakernels.cli.errors import in_options, printable
from quotakernels.evaluation.answers import Answer
from quotakernels.evaluation.certainty import (
    notes_of_clusters,
    notes_of_drift,
    notes_of_few_groups,
    notes_of_quotas,
)
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.results import Results, where_best
from quotakernels.evaluation.tables import (
    Cell,
    Table,
    brief_tables,
    decile_tables,
    decision_tables,
    group_tables,
    pair_tables,
    values_table,
)
from quotakernels.evaluation.words import MINUS, in_words, say


class TextConsole(Console):
    """A console that no text can control."""

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        """Render, and write control characters of texts as escapes."""
        for segment in super().render(*arguments, **options):
            plain = segment.control is None
            yield segment._replace(text=printable(segment.text)) if plain else segment


# tables


UNLIMITED = 100_000
_FOLDED_NAME = 20


def print_table(table: Table, console: Console) -> None:
    """Print a table, the intervals below the values, and its notes."""
    console.print(f"\n{table.caption}", style="bold")
    first, *others = _fitting(table, console)
    console.print(Group(first, *(x for part in others for x in ("", part))))
    if table.notes:
        console.print("\n" + in_options("\n".join(table.notes)).replace(MINUS, "-"))


def _turned(table: Table) -> Table:
    """The columns as rows."""
    names = (row[0].text for row in table.rows)
    columns = zip(table.head, *table.rows, strict=True)
    rows = ((Cell(" ".join(head.split()), words=True), *cells) for head, *cells in columns)
    return replace(table, head=("measure", *names), rows=tuple(rows)[1:])


def _fitting(table: Table, console: Console) -> list[RichTable]:
    """The table as it is, with rows for columns, or else in parts with folded names."""
    words = [k for k in range(len(table.head)) if table.holds_words(k)]
    layouts = [_rich(table), *([_rich(_turned(table))] if len(words) == 1 else [])]
    for layout in layouts:
        if _fits(layout, console):
            return [layout]
    parts = [words]
    for column in range(len(words), len(table.head)):
        wider = _rich(table, [*parts[-1], column], _FOLDED_NAME)
        if parts[-1] != words and not _fits(wider, console):
            parts.append(words)
        parts[-1] = [*parts[-1], column]
    return [_rich(table, part, _FOLDED_NAME) for part in parts]


def _rich(
    table: Table, columns: Sequence[int] | None = None, name_width: int | None = None
) -> RichTable:
    """Some columns of a table, without lines but the one under the headings."""
    rich = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    columns = range(len(table.head)) if columns is None else columns
    for k in columns:
        if table.holds_words(k):
            look: dict[str, Any] = {"overflow": "fold", "max_width": name_width}
        else:
            look = {"justify": "right", "no_wrap": True}
        rich.add_column(Text(table.head[k]), vertical="bottom", **look)
    for row in table.rows:
        tall = any(cell.text and cell.interval for cell in row)
        rich.add_row(*(_text(row[k], table.starred, tall) for k in columns))
    return rich


def _text(cell: Cell, starred: bool, tall: bool) -> Text:
    """The value, in tall rows above its interval, with room for the star that others have."""
    ends = f"[{', '.join(cell.interval)}]" if cell.interval else ""
    shown, *below = [cell.text, ends] if tall else [cell.text or ends]
    if cell.words:
        return Text("\n".join([shown, *below]))
    room = " " * starred
    lines = [f"{shown}{'*' if cell.best else room}", *(x + room for x in below)]
    style = "bold" if cell.best else "dim" if shown == "undefined" else ""
    return Text("\n".join(lines).replace(MINUS, "-"), style)


def _fits(table: RichTable, console: Console) -> bool:
    options = console.options.update(max_width=UNLIMITED)
    return table.__rich_measure__(console, options).maximum <= console.width


# an evaluation


def table_console() -> Console:
    """Return a console for stdout, as wide as the tables need when no terminal limits it."""
    console = TextConsole(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNLIMITED
    return console


def print_evaluation(evaluation: Evaluation, console: Console, everything: bool) -> None:
    """Print what the data are, the answers, and the tables that these need, or else all of them."""
    bounded = not evaluation.exact
    console.print(_data_line(evaluation))
    for answer in _answers(evaluation):
        _print_answer(answer, console)
    brief = () if everything and not evaluation.settings.quotas else brief_tables(evaluation)
    of_all = evaluation.sections if everything else []
    tables = [*brief, *(values_table(evaluation, x) for x in of_all)]
    tables += decision_tables(evaluation) if everything else []
    tables += [*decile_tables(evaluation), *group_tables(evaluation)]
    for table in tables:
        print_table(table, console)
    starred = any(x.starred for x in tables)
    if bounded:
        notes = [say("command.best")] if starred else []
        if (resampling := evaluation.settings.resampling) is not None:
            notes.append(say("command.intervals_of_stream", level=resampling.percent))
        cells = (x for table in tables for row in table.rows for x in row)
        notes += [say("command.bounded")] * any(x.bounded for x in cells)
        if notes:
            console.print("\n" + "\n".join(notes), style="dim")
    elif everything:
        _print_tests(evaluation, console, starred)
    else:
        _print_notes(evaluation, console, starred)


def _answers(evaluation: Evaluation) -> list[Answer]:
    """Which model, how sure and what a treatment adds; what places cost and bring tells also how
    many and how much.
    """
    paid = evaluation.gains is not None or evaluation.settings.cost is not None
    found = evaluation.answers
    which, others = found[:1], found[3 if evaluation.exact else 2 :]
    return found if paid else [*which, *others]


def _print_answer(answer: Answer, console: Console) -> None:
    console.print(f"\n{answer.question} {answer.verdict}.".replace(MINUS, "-"), style="bold")
    for sentence in answer.sentences:
        console.print(in_options(sentence).replace(MINUS, "-"))


def _print_notes(evaluation: Evaluation, console: Console, starred: bool) -> None:
    """Print what to mind of the answer, and how to get all the rest."""
    mark = [say("command.best")] if starred else []
    notes = notes_of_clusters, notes_of_few_groups, notes_of_quotas, notes_of_drift
    for note in (*mark, *(in_options(note) for of in notes for note in of(evaluation))):
        console.print(f"\n{note}")
    sure = evaluation.settings.resampling is not None
    console.print(f"\n{say('command.all_sure' if sure else 'command.all')}", style="dim")


def _print_tests(evaluation: Evaluation, console: Console, starred: bool) -> None:
    """Print what to mind of all measures, every test, and how they were computed."""
    settings = evaluation.settings
    notes = [*[say("command.best_and_s2")] * starred, say("command.areas")]
    if settings.quotas_over_all and settings.cost is None:
        notes.append(say("command.pearson"))
    console.print("\n" + "\n".join(notes))
    for table in pair_tables(evaluation):
        print_table(table, console)
    if (resampling := settings.resampling) is not None:
        told = resampling.in_words(settings)
        console.print("\n" + "\n".join([*told, *map(in_options, evaluation.notes)]))
    if words := list(where_best(evaluation.best, evaluation.models)):
        console.print("\n" + "\n".join(words))


def _data_line(evaluation: Results) -> str:
    settings = evaluation.settings
    parts = [counted(evaluation.rows, "row", "rows"), settings.counted(evaluation.positives)]
    if settings.weight is not None:
        total = number(evaluation.total)
        parts.append(say("command.total_weight", total=total, column=settings.weight))
    if settings.cluster is not None:
        clusters = number(evaluation.clusters)
        parts.append(say("command.clusters", clusters=clusters, column=settings.cluster))
    parts.append(say("command.prevalence", share=percent(evaluation.prevalence)))
    chosen = say("command.chosen", where=in_words(settings.where)) if settings.where else ""
    return f"{settings.source}{chosen}\n" + ", ".join(parts)


# progress


_BAR_AFTER_S = 1.0


class Steps:
    """The steps of something that takes long: called with the name of each as it begins."""

    def __init__(self, bar: Progress | None) -> None:
        self.bar = bar

    def __call__(self, name: str) -> None:
        """Begin the next step."""
        if self.bar is not None:
            for task in self.bar.task_ids:
                self.bar.remove_task(task)
            self.bar.add_task(name, total=None)

    def tell(self, done: int, whole: int) -> None:
        """Hear how much of the step is done."""
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=done, total=whole)


@contextmanager
def progress_bar() -> Iterator[Steps]:
    """Yield what hears of the steps and shows the last one.

    The bar goes to stderr, to a terminal only, appears after a second and leaves no trace.
    """
    console = TextConsole(stderr=True)
    if not console.is_interactive:
        yield Steps(None)
        return
    columns = BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    bar = Progress(*columns, console=console, transient=True)
    timer = threading.Timer(_BAR_AFTER_S, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield Steps(bar)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
