"""An evaluation as Python has it: numbers, sentences, tables, records and the page."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from itertools import combinations, islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args, overload

import numpy as np

from quotakernels._frames import Library, frame_of
from quotakernels._text import counted
from quotakernels.evaluation.answers import Answer, answers
from quotakernels.evaluation.certainty import (
    notes_of_clusters,
    notes_of_intervals,
    rivals_of,
)
from quotakernels.evaluation.intervals import closed_forms
from quotakernels.evaluation.results import Differences, Results, Values, dominant
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.tables import (
    Table,
    brief_tables,
    decile_tables,
    decision_tables,
    gain_tables,
    group_tables,
    measure_tables,
    pair_tables,
)
from quotakernels.evaluation.words import say

# records for programs


_CONTROL = re.compile(r"[\x7f-\x9f]")
_INNER = re.compile(r"\n {6,}|\n {4}(?=[]}])")


def _plain(x: Any) -> Any:
    """Lists, texts and numbers of Python, with None for what is undefined or infinite."""
    if isinstance(x, dict):
        return {name: _plain(each) for name, each in x.items()}
    if isinstance(x, (list, tuple, np.ndarray)):
        return [*map(_plain, x)]
    if isinstance(x, (float, np.floating)):
        return float(x) if math.isfinite(x) else None
    if isinstance(x, Quota):
        return str(x)
    return x.item() if isinstance(x, np.generic) else x


def _record_of_best(results: Results) -> dict[str, Any]:
    """Who is the best at which quotas, which rankings tell; without these it is not known."""
    if not results.rankings:
        return {"dominant": None, "best_by_quota": None}
    names = results.models
    segments = [
        {**x._asdict(), "models": [names[model] for model in x.models]} for x in results.best
    ]
    return {"dominant": [names[x] for x in dominant(results.best)], "best_by_quota": segments}


def _record_of_groups(results: Results) -> dict[str, Any]:
    """By what rows are grouped, whose quotas are meant, and what the groups are."""
    groups, settings = results.groups, results.settings
    if groups is None:
        return {}
    found = {
        "column": settings.grouped_by,
        "quotas": "over all" if settings.per is None else "of each group",
        "names": groups.names,
        "rows": groups.rows,
        "positives": groups.positives,
        "total_weight": groups.masses,
        "positive_weight": groups.positive_masses,
    }
    return {"groups": found}


def _record_of_confidence(results: Evaluation) -> dict[str, Any]:
    """How resamples were drawn, and the tests of differences."""
    resampling = results.settings.resampling
    if resampling is None:
        return {}
    names = ("resamples", "test_resamples", "seed")
    drawn = {"level": resampling.tested_level, **{x: getattr(resampling, x) for x in names}}
    drawn |= {x: getattr(results, x) for x in ("effective_rows", "clusters", "notes")}
    drawn["closed_forms"] = closed_forms(results.settings) if results.has_intervals else {}
    tests = [_record_of_tests(x, results.level) for x in results.differences]
    return {"confidence": drawn, "differences": tests}


_OF_PAIRS = ("difference", "lower", "upper", "p_value", "p_adjusted", "p_as_best")


def _record_of_tests(differences: Differences, level: float) -> dict[str, Any]:
    found, quota = differences.found, differences.quota
    pairs = [
        {"better": found.names[i], "worse": found.names[j]}
        | {name: getattr(found, name)[i, j] for name in _OF_PAIRS}
        for i, j in combinations(range(len(found.names)), 2)
    ]
    return {
        "measure": differences.measure,
        "budget" if quota is not None and quota.is_budget else "quota": quota and str(quota),
        "test": found.test,
        "expected": found.expected,
        "pairs": pairs,
        "notes": differences.notes,
        "may_be_as_good": rivals_of(found, found.names[0], level),
    }


_Row: TypeAlias = tuple[str, Quota | None, Any, str, float, float, float]


def as_rows(results: Results) -> dict[str, list[Any]]:
    """Every value by columns, as data frames have it: quotas are numbers of places."""
    rows = ((name, _places(results, quota), *more) for name, quota, *more in _values(results))
    columns = zip(_names(results), map(list, zip(*rows, strict=True)), strict=True)
    return {name: x for name, x in columns if name != "group" or results.groups is not None}


def _names(results: Results) -> tuple[str, ...]:
    at = "quota" if results.settings.cost is None else "budget"
    return "model", at, "group", "measure", "value", "lower", "upper"


def _places(results: Results, quota: Quota | None) -> float:
    if quota is None:
        return math.nan
    return quota.amount if quota.is_budget else results.places_at_random(quota)


def _values(results: Results) -> Iterator[_Row]:
    """Every value: its model, quota, group and measure, and both ends of its interval.

    Of a measure that is not known exactly, the value is NaN and the ends are its bounds.
    """
    for _, quota, values in results.sections:
        for row, name in enumerate(results.models):
            yield from _of_model(name, row, quota, values)
    if (groups := results.groups) is None:
        return
    for row, name in enumerate(results.models):
        for quota, apart in groups.apart.items():
            yield from _of_model(name, row, quota, apart)
        for at, of_groups in groups.values.items():
            means = of_groups.means
            for x in (x.name for x in of_groups.measures):
                yield (name, at, None, f"mean_{x}", *means.known(x, row)[:3])
                for m, group in enumerate(groups.names):
                    yield (name, at, str(group), x, *of_groups.known(x, row, m)[:3])


def _of_model(name: str, row: int, quota: Quota | None, values: Values) -> Iterator[_Row]:
    for measure in (x.name for x in values.measures):
        yield (name, quota, None, measure, *values.known(measure, row)[:3])


# the evaluation


_ROWS_SHOWN = 8
PlotKind = Literal["hit_rate", "qrecall", "lift", "roc", "precision_recall", "dominance", "impact"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation(Results):
    """Models evaluated on the same examples: every measure, and what to do in words.

    `evaluate` makes it.  Everything is on the host.  Measures are computed when they are first
    asked for, so those that nobody looks at take no time.

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
    clusters : int
        How many clusters the examples are in; 0 unless `clusters` was given.
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
        """The answers for the first quota, and which model is the best at each further one."""
        return answers(self)

    @property
    def recommendation(self) -> str:
        """The answers as text, a line for each question."""
        return "\n".join(
            f"{x.question} {x.verdict}. {' '.join(x.sentences)}".rstrip() for x in self.answers
        )

    @property
    def tables(self) -> list[Table]:
        """All tables: what selecting brings, the measures, decisions, deciles, groups and tests."""
        parts = (gain_tables, measure_tables, decision_tables, decile_tables, group_tables)
        return [table for part in (*parts, pair_tables) for table in part(self)]

    @property
    def notes(self) -> list[str]:
        """What has no intervals, and which intervals cover less often than they say."""
        return [*notes_of_clusters(self), *(notes_of_intervals(self) if self.exact else ())]

    def to_dict(self) -> dict[str, Any]:
        """Everything in one record of plain values, None where undefined or infinite.

        Its ``"values"`` are the rows of `to_frame`, with each quota as it was given.
        """
        settings, gains = self.settings, self.gains
        named = ("source", "label", "pos_label", "weight", "cost", "treatment", "treated")
        summed = ("rows", "positives", "total", "positive_total", "total_cost", "prevalence")
        record: dict[str, Any] = {name: getattr(settings, name) for name in (*named, "cluster")}
        record |= {name: [x.short for x in getattr(settings, name)] for name in ("where", "tune")}
        record["unit"] = None if settings.unit is None else asdict(settings.unit)
        called = {"total": "total_weight", "positive_total": "positive_weight"}
        record |= {called.get(name, name): getattr(self, name) for name in summed}
        record |= _record_of_groups(self) | _record_of_confidence(self)
        if gains is not None:
            record |= {"brought_by_nobody": gains.nobody, "brought_by_all": gains.everybody}
        record["models"] = self.models
        record["places"] = {str(x): self.places_at_random(x) for x in settings.quotas}
        names = _names(self)
        record["values"] = [dict(zip(names, x, strict=True)) for x in _values(self)]
        found: dict[str, Any] = _plain(record | _record_of_best(self))
        return found

    def to_json(self) -> str:
        """The record of `to_dict` as JSON, as the command prints it.

        Each value is in a line, and no text controls a terminal.
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        text = _INNER.sub(" ", text)
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    def to_frame(self, library: Library | None = None) -> Any:
        """Every value as a data frame: a row for each model, quota and measure, with its interval.

        With `per` or `by` there are also means over groups, such as "mean_roc_auc", and a row for
        each group, by its name.  The quota is a number of places, NaN for measures over all quotas
        and for best cuts; of budgets the column is "budget".  By default the frame is one
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
        texts = ["\n".join(table.lines(_ROWS_SHOWN)) for table in first_ones]
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
        positives = self.settings.counted(self.positives)
        return say(
            "tables.evaluation", models=models, rows=self.rows_in_clusters, positives=positives
        )
