"""An evaluation as Python has it: numbers, sentences, tables and the page."""

from __future__ import annotations

from html import escape
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args, overload

from quotakernels._frames import Library, frame_of
from quotakernels._text import counted
from quotakernels.evaluation.answers import Answer, answers
from quotakernels.evaluation.brief import brief_tables
from quotakernels.evaluation.export import as_dict, as_json, as_rows
from quotakernels.evaluation.group_tables import group_tables
from quotakernels.evaluation.notes import notes_of_intervals
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.tables import Table, gain_tables, measure_tables, pair_tables

_SHOWN = 8
PlotKind = Literal["hit_rate", "qrecall", "lift", "roc", "precision_recall", "dominance", "impact"]


class Evaluation(Results):
    """Models evaluated on the same examples: every measure, and what to do in words.

    `evaluate` makes it.  Everything is on the host.

    Attributes
    ----------
    settings : Settings
        The arguments of `evaluate`, and the names of the models.
    rows, positives : int
        How many examples there are, and how many are positive.
    total, positive_total : float
        Their total weights; without weights, their numbers.
    total_cost : float
        What all examples cost together; NaN without costs.
    effective_rows : float
        How many examples of equal weight they are worth (Kish: (Σw)²/Σw²); NaN without weights.
    rows_read : int
        How many examples were given, including those that were left out.
    rows_missing : int
        How many of them the command left out because a value was missing.
    over_all, areas : Values
        The measures over all quotas, and those of ROC and precision-recall space, with a row for
        each model.  ``over_all.of("roc_auc")`` is one measure of all models.  With a
        `confidence_level`, ``over_all.interval("roc_auc", 0)`` has both ends of the first model's
        interval.
    at_quota : mapping from Quota to Values
        The measures at each quota or budget.
    best : list of Segment
        The ranges of quotas in which each model finds the most positives.
    rankings : list of Ranking
        The ranking of each model.
    gains : GainResults or None
        What the best cuts and the quotas bring, if gains or impacts were given.
    differences : tuple of Differences
        The tests of all pairs of models, with `compare`.
    groups : GroupResults or None
        The results of every group of examples, if `per` or `by` was given.
    """

    @property
    def answers(self) -> list[Answer]:
        """The answers for the first quota: which model, how many, what that brings, how sure."""
        return answers(self)

    @property
    def recommendation(self) -> str:
        """The answers as text, a line for each question."""
        return "\n".join(
            f"{x.question} {x.verdict}. {' '.join(x.sentences)}".rstrip() for x in self.answers
        )

    @property
    def tables(self) -> list[Table]:
        """All tables: what selecting brings, the measures, groups, and the tests of pairs."""
        return [
            *gain_tables(self),
            *measure_tables(self),
            *group_tables(self),
            *pair_tables(self),
        ]

    @property
    def notes(self) -> list[str]:
        """What has no intervals, and which intervals cover less often than they say."""
        return list(notes_of_intervals(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything in one record of plain values, None where undefined or infinite."""
        return as_dict(self)

    def to_json(self) -> str:
        """The same as JSON, as the command prints it."""
        return as_json(self.to_dict())

    def to_frame(self, library: Library | None = None) -> Any:
        """Every value as a data frame: a row for each model, quota and measure, with its interval.

        With `per` or `by` there is also a row for each group, by its name.  The quota is a number
        of places, NaN for measures over all quotas and for best cuts; of budgets the column is
        "budget".  By default the frame is one
        of the library that is imported, of pandas if both are.
        """
        return frame_of(as_rows(self), library)

    def plot(self, kind: PlotKind = "hit_rate", **options: Any) -> Any:
        """Draw the curves of all models, and return the display, whose `ax_` are the axes.

        Parameters
        ----------
        kind : str
            Which curves: "hit_rate", "qrecall", "lift", "roc", "precision_recall" or "dominance";
            with gains or impacts also "impact".
        **options
            As the display takes them, such as ``ax=ax``.
        """
        from quotakernels import plots

        kinds = [x for x in get_args(PlotKind) if x != "impact" or self.gains is not None]
        if kind not in kinds:
            known = ", ".join(map(repr, kinds))
            known += "" if "impact" in kinds else "; or, with gain or impacts, 'impact'"
            raise ValueError(f"kind must be one of {known}; got {kind!r}")
        display = getattr(plots, f"{kind.title().replace('_', '')}Display")
        if kind == "impact" and self.gains is not None:
            cuts = dict(zip(self.models, self.gains.cuts, strict=True))
            return display(cuts, in_all=True).plot(**options)
        rankings = dict(zip(self.models, self.rankings, strict=True))
        return display.from_ranking(rankings, **options)

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: str | PathLike[str]) -> None: ...

    def to_html(self, path: str | PathLike[str] | None = None) -> str | None:
        """The page that ``quotakernels report`` makes, or None if it is written to a file."""
        try:
            from quotakernels.report.page import Origin, page_of
        except ImportError as error:
            needed = "to_html needs the packages of an extra: pip install 'quotakernels[report]'"
            raise ImportError(needed, name=error.name) from error

        page = page_of(self, Origin())
        if path is None:
            return page
        Path(path).write_text(page, encoding="utf-8")
        return None

    def __repr__(self) -> str:
        """The data, the verdicts, and what each model finds at the first quotas."""
        verdicts = (f"{x.question} {x.verdict}" for x in self.answers)
        first_ones = islice(brief_tables(self), 2)
        texts = ["\n".join(table.lines(_SHOWN)) for table in first_ones]
        return "\n\n".join(["\n".join([self._headline, *verdicts]), *texts])

    def _repr_html_(self) -> str:
        """The answers and all tables, for notebooks."""
        said = (
            f"<p><b>{escape(x.question)} {escape(x.verdict)}.</b> {escape(' '.join(x.sentences))}"
            for x in self.answers
        )
        tables = (x._repr_html_() for x in self.tables)
        notes = (f"<p>{escape(x)}</p>" for x in self.notes)
        return "".join([f"<h4>{escape(self._headline)}</h4>", *said, *tables, *notes])

    @property
    def _headline(self) -> str:
        models = counted(len(self.models), "model", "models")
        rows = counted(self.rows, "row", "rows")
        return f"Evaluation of {models} on {rows}, {self.settings.counted(self.positives)}"
