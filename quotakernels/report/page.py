"""A page of HTML from an evaluation: the facts that it shows, put into the template."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import jinja2
import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from quotakernels import __version__
from quotakernels._text import counted, formatted, number, percent, plain
from quotakernels.evaluation.answers import answers, fewer_to_fill
from quotakernels.evaluation.certainty import notes_of_intervals
from quotakernels.evaluation.results import (
    Choice,
    End,
    Results,
    end_of,
    first_choice,
    how_filled,
    how_filled_each,
    same,
)
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.tables import (
    breakable,
    brief_tables,
    decile_tables,
    decision_tables,
    ends_of_quotas,
    gain_tables,
    group_tables,
    measure_tables,
    pair_tables,
)
from quotakernels.evaluation.words import in_words, listed, say, whole
from quotakernels.report.figures import figures, legend

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")

_UNFOLDED = 6
"""Up to so many models, longer tables are not folded."""


Select = Callable[[str, dict[str, str]], str]
"""The command that selects by a model what is asked for, such as a `quota` of 10."""


@dataclass(frozen=True)
class Origin:
    """Where a page comes from: the command, what writes the commands that select, whose the data
    are, and how the command says what the library says of arguments.

    A page that Python has asked for comes from no command.
    """

    command: str = ""
    select: Select | None = None
    attribution: tuple[str, ...] = ()
    in_options: Callable[[str], str] = str


def page_of(evaluation: Results, origin: Origin) -> str:
    """The whole page, which needs nothing from elsewhere."""
    choice = first_choice(evaluation)
    templates = _templates(origin.in_options)
    script, _, _ = templates.loader.get_source(templates, "page.js")
    content = {
        "version": __version__,
        "title": _title(evaluation),
        "data_line": data_line(evaluation),
        "answers": answers(evaluation),
        "brief": list(brief_tables(evaluation)) if evaluation.settings.quotas else [],
        "about_curves": _about_curves(evaluation),
        "other": other_quotas(evaluation, script),
        "legend": legend(evaluation, choice),
        "figures": list(figures(evaluation, choice)),
        "about_tables": list(_about_tables(evaluation)),
        "tables": [
            *gain_tables(evaluation),
            *measure_tables(evaluation),
            *decile_tables(evaluation),
            *group_tables(evaluation),
        ],
        "decisions": list(decision_tables(evaluation)),
        "pairs": list(pair_tables(evaluation)),
        "few": len(evaluation.models) <= _UNFOLDED,
        "notes": list(notes_of_intervals(evaluation)),
        "steps": list(steps(evaluation, origin.select)),
        "no_steps": _no_steps(evaluation),
        "ends": list(ends_of_quotas(evaluation)),
        "evaluation": evaluation,
        "limit": "quota" if evaluation.settings.cost is None else "budget",
        "data": list(data_facts(evaluation)),
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        **vars(origin),
    }
    return str(templates.get_template("page.html").render(page=content))


def _templates(in_options: Callable[[str], str]) -> Any:
    """The templates; whatever they are given is escaped, unless it was built as markup."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("quotakernels.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["breakable"] = breakable
    found.filters["options_as_code"] = lambda text: _options_as_code(in_options(text))
    return found


def _options_as_code(text: str) -> Markup:
    """A text in which options of the command are code, which no line breaks at a hyphen."""
    return Markup(_OPTION.sub(r"<code>\g<0></code>", str(escape(text))))


def _title(evaluation: Results) -> str:
    settings = evaluation.settings
    if not settings.quotas:
        return say("page.which_is_best", source=settings.source).rstrip()
    if settings.cost is not None:
        return say("page.which_for_budget", amount=number(settings.quotas[0].amount))
    places = evaluation.places_at_random(settings.quotas[0])
    if settings.weight is not None:
        return say("page.which_for_weight", places=number(places))
    return say("page.which_for_places", places=counted(places, "place", "places"))


def _no_steps(evaluation: Results) -> str:
    """Why there is nothing to apply."""
    if not evaluation.total:
        return say("page.nothing_to_select")
    if evaluation.settings.quotas:
        is_quota = evaluation.settings.cost is None
        return say("page.quota_selects_nobody" if is_quota else "page.budget_selects_nobody")
    return say("page.no_places" if evaluation.gains is None else "page.nobody_is_best")


def _about_curves(evaluation: Results) -> str:
    settings = evaluation.settings
    if not evaluation.positive_total:
        return say("page.no_positive")
    if evaluation.positive_total == evaluation.total:
        return say("page.all_positive")
    if settings.per is not None:
        return say("page.axis_of_groups", group=settings.per)
    if settings.cost is not None:
        return say("page.axis_and_budget")
    return say("page.axis_and_quota" if settings.quotas_over_all else "page.axis")


def _about_tables(evaluation: Results) -> Iterator[str]:
    if len(evaluation.models) > 1:
        yield say("page.best_is_marked")
    resampling = evaluation.settings.resampling
    if resampling is not None:
        yield from resampling.in_words(evaluation.settings)


# what the data are


def data_line(evaluation: Results) -> str:
    """The data in a line."""
    settings, missing = evaluation.settings, evaluation.rows_missing
    return say(
        "page.data",
        source=say("page.source", source=settings.source) if settings.source else "",
        rows=evaluation.rows_in_clusters,
        chosen=say("page.chosen", where=in_words(settings.where)) if settings.where else "",
        positives=settings.counted(evaluation.positives),
        models=counted(len(settings.models), "model", "models"),
        left_out=say("page.left_out", missing=number(missing)) if missing else "",
    )


def data_facts(evaluation: Results) -> Iterator[tuple[str, str]]:
    """Rows, positives, weights and ties."""
    settings, rows = evaluation.settings, evaluation.rows
    if settings.source:
        yield say("page.file"), settings.source
    read = say("page.rows_in_file" if settings.source else "page.rows_given")
    yield read, number(evaluation.rows_read)
    yield say("page.rows_left_out"), ", ".join(_left_out(evaluation)) or say("page.none_left_out")
    yield say("page.rows_evaluated"), number(rows)
    positive, count = f"{settings.label} = {settings.pos_label or 1}", number(evaluation.positives)
    yield say("page.positive_rows"), say("page.count_of", number=count, positive=positive)
    if settings.weight is not None:
        both = {"total": number(evaluation.total), "positive": number(evaluation.positive_total)}
        yield say("page.weight", column=settings.weight), say("page.weights", **both)
    if settings.cluster is not None:
        yield say("page.clusters", column=settings.cluster), number(evaluation.clusters)
    yield say("page.prevalence"), percent(evaluation.prevalence)
    if settings.cost is not None:
        yield say("page.cost", column=settings.cost), number(evaluation.total_cost)
    if settings.unit is not None:
        yield say("page.unit"), str(settings.unit)
    if evaluation.groups is not None:
        column = settings.grouped_by
        yield say("page.groups", column=column), number(len(evaluation.groups.names))
    yield from _ties(evaluation)


def _left_out(evaluation: Results) -> Iterator[str]:
    missing, where = evaluation.rows_missing, evaluation.settings.where
    if missing:
        yield say("page.missing", number=number(missing))
    if where:
        others = evaluation.rows_read - missing - evaluation.rows
        yield say("page.not_chosen", number=number(others), where=in_words(where))


def _ties(evaluation: Results) -> Iterator[tuple[str, str]]:
    for name, ranking in zip(evaluation.models, evaluation.rankings, strict=True):
        counts = np.asarray(ranking.counts)
        scores = counted(np.count_nonzero(counts), "different score", "different scores")
        tied = {"tied": number(counts[counts > 1].sum()), "most": number(counts.max(initial=0))}
        said = "page.tied" if counts.max(initial=0) > 1 else "page.no_ties"
        yield say("page.ties", model=name), say(said, scores=scores, **tied)


_OF_SELECT = {"sample_weight": "sample_weight", "where": "where", "per": "groups", "cost": "cost"}
"""What `select` takes, too, and how it calls that."""


# how to apply a model


class Step(NamedTuple):
    """What to do, the command that does it, and what it does."""

    what: str
    command: str
    remark: str


def steps(evaluation: Results, select: Select | None) -> Iterator[Step]:
    """How each quota is filled, and how the best cut is made."""
    for quota in evaluation.settings.quotas:
        choice = Choice(evaluation, quota)
        if choice.places and evaluation.total:
            yield _fill(evaluation, select, choice.first, quota)
    if evaluation.gains is not None and evaluation.total:
        yield from _fewer(evaluation, select)
        yield from _best_cut(evaluation, select)


def _fill(evaluation: Results, select: Select | None, model: int, quota: Quota) -> Step:
    groups, per = evaluation.groups, evaluation.settings.per
    each = "" if per is None else say("quota.of_each", group=per)
    does, name = "page.spend" if quota.is_budget else "page.fill", evaluation.models[model]
    what = say(does, quota=quota.named, each=each, model=name)
    command = _of_quota(evaluation, select, model, quota)
    places = float(evaluation.places(quota)[model])
    if groups is not None and per is not None:
        remark = f"{how_filled_each(places, quota, per, groups.whole)}."
        if evaluation.weighted:
            remark = say("page.counts_rows") if select else ""
        return Step(what, command, remark)
    end = end_of(evaluation, model, quota)
    if not evaluation.weighted:
        remark = how_filled(places, end.threshold, round(end.above), round(end.tied)) + "."
        if quota.is_budget and not whole(places):
            remark += say("page.command_takes_whole" if select else "page.whole_takes_whole")
        return Step(what, command, remark)
    above, tied = number(end.above), number(end.tied)
    remark = say("page.weight_above", above=above, tied=tied, threshold=end.threshold)
    if select:
        remark += _by_weight(end, places, quota)
        command = _of_threshold(evaluation, select, model, end.threshold)
    return Step(what, command, remark)


def _by_weight(end: End, places: float, quota: Quota) -> str:
    """What is selected by the score at which a weight ends."""
    taken = end.above + end.tied
    if taken <= places or same(taken, places):
        return say("page.takes_score")
    more = "page.takes_more_than_budget" if quota.is_budget else "page.takes_more_than_quota"
    return say(more, taken=number(taken))


def _fewer(evaluation: Results, select: Select | None) -> Iterator[Step]:
    """Fewer places than the first quota has, where these are the answer; a budget has no number."""
    settings, choice = evaluation.settings, first_choice(evaluation)
    if choice is None or not choice.places or settings.cost is not None or evaluation.weighted:
        return
    if fewer := fewer_to_fill(choice):
        quota, model = Quota(fewer.places), evaluation.models[fewer.model]
        places = say("many.part_of", number=quota, the=choice.size.the)
        what = say("page.fill_fewer", places=places, model=model)
        yield _fill(evaluation, select, fewer.model, quota)._replace(what=what)


def _best_cut(evaluation: Results, select: Select | None) -> Iterator[Step]:
    """The cut that brings the most, unless that is nobody."""
    assert evaluation.gains is not None
    model = evaluation.gains.best_model
    found, name = evaluation.gains.at_best_cut.of_model(model), evaluation.models[model]
    if size := found["quota"]:
        that_is = "page.that_is_weight" if evaluation.weighted else "page.that_is"
        remark = say(that_is, weight=number(size), rows=counted(size, "row", "rows"))
        command = _of_threshold(evaluation, select, model, str(found["threshold"]))
        yield Step(say("page.select_best", model=name), command, remark)


def _of_quota(evaluation: Results, select: Select | None, model: int, quota: Quota) -> str:
    settings = evaluation.settings
    if select:
        # a share of the rows with every value is a smaller one of the rows with a score
        fewer = evaluation.rows_missing > 0 and quota.percent and settings.per is None
        amount = plain(evaluation.places_at_random(quota)) if fewer else str(quota)
        asked = {"quota" if settings.cost is None else "budget": amount}
        asked |= {} if settings.cost is None else {"cost": settings.cost}
        asked |= {} if settings.per is None else {"per": settings.per}
        return select(evaluation.models[model], asked)
    share = quota.percent and not quota.whole
    name = "budget" if quota.is_budget else "fraction" if share else "quota"
    places = evaluation.places_at_random(quota) if quota.whole else quota.amount
    argument = f"{name}={plain(places / 100 if share else places)}"
    known = settings.lines.beside.items()
    beside = [f"{_OF_SELECT[x]}={said}" for x, said in known if x in _OF_SELECT]
    return f"quotakernels.select({', '.join([settings.lines.models[model], argument, *beside])})"


def _of_threshold(evaluation: Results, select: Select | None, model: int, threshold: str) -> str:
    lines = evaluation.settings.lines
    if select:
        return select(evaluation.models[model], {"threshold": threshold})
    above = f"{lines.models[model]} >= {threshold}"
    return f"({above}) & {lines.beside['where']}" if "where" in lines.beside else above


# what every quota finds and brings


_MOST_NUMBERS = 10_000
"""Numbers that the lines of all models may take."""

_NO_ERROR = 1e-9

_PLACES = 200
"""Steps of a slider along what is not counted in rows."""

_Columns = dict[str, NDArray[np.float64]]
_START = 0.1
"""The share of all at which to begin where nobody has asked for a quota."""


@dataclass(frozen=True)
class AnyQuota:
    """The cuts of each model between which all is a straight line.

    Each model has its selected, `places`, the positives `found` and, where there are any, what they
    `cost` and `brings`, at each of its cuts.  `axis` is what is chosen, "places" or "cost", up to
    `end` and first at `start`.  `errors` say how far off values between the cuts may be.
    """

    axis: str
    end: float
    start: float
    models: dict[str, _Columns]
    errors: dict[str, float]

    def to_json(self) -> str:
        """JSON with the first value of each column and the differences between further ones."""
        models = [
            {"name": name, **{key: _steps(column) for key, column in columns.items()}}
            for name, columns in self.models.items()
        ]
        record = {"axis": self.axis, "end": self.end, "start": self.start, "models": models}
        return json.dumps(record, separators=(",", ":"))


def at_any_quota(evaluation: Results, numbers: int) -> AnyQuota | None:
    """The lines of all models in about so many numbers: exactly, or as near as these tell.

    None where one quota is not all there is to choose, and where there is nothing to find.
    """
    if evaluation.settings.per is not None or not evaluation.positive_total:
        return None
    of_cost = evaluation.settings.cost is not None
    axis, end = ("cost", evaluation.total_cost) if of_cost else ("places", evaluation.total)
    choice, start = first_choice(evaluation), float(np.ceil(_START * end))
    if choice is not None:
        quota = choice.quota
        start = quota.places(evaluation.total_cost) if quota.is_budget else choice.places
    whole = [_columns(evaluation, model) for model in range(len(evaluation.models))]
    points = numbers // (len(whole[0]) * len(whole))
    thinned = [_thinned(columns, axis, start, points) for columns in whole]
    lines = dict(zip(evaluation.models, (x for x, _ in thinned), strict=True))
    errors = {name: max(off[name] for _, off in thinned) for name in whole[0]}
    return AnyQuota(axis, float(end), float(start), lines, errors)


def _columns(evaluation: Results, model: int) -> _Columns:
    """What a model has selected, found, spent and brought at every cut."""
    ranking = evaluation.rankings[model]
    steps = {"places": ranking.weights, "found": ranking.positive_weights}
    if evaluation.settings.cost is not None:
        steps["cost"] = np.asarray(ranking.columns["cost"].whole)
    columns = {
        key: np.concatenate([[0.0], np.cumsum(np.asarray(step, dtype=np.float64))])
        for key, step in steps.items()
    }
    if evaluation.gains is not None:
        columns["brings"] = np.asarray(evaluation.gains.cuts[model].curve.value, dtype=np.float64)
    return columns


def _thinned(
    columns: _Columns, axis: str, start: float, points: int
) -> tuple[_Columns, dict[str, float]]:
    """So many of the cuts, and both beside the start; and how far off lines between them are."""
    along, last = columns[axis], len(columns[axis]) - 1
    after = int(np.searchsorted(along, start, side="right"))
    among = np.linspace(0, last, min(points, len(along))).round().astype(int)
    kept = np.unique([0, max(after - 1, 0), min(after, last), last, *among])
    lines = {name: x[kept] for name, x in columns.items()}
    if len(kept) == len(along):
        return lines, dict.fromkeys(columns, 0.0)
    between = {name: np.interp(along, lines[axis], x) for name, x in lines.items()}
    return lines, {name: float(np.abs(between[name] - x).max()) for name, x in columns.items()}


def _steps(column: NDArray[np.float64]) -> list[Any]:
    """The first value and the differences, whole numbers as such."""
    steps = np.diff(column, prepend=0.0).tolist()
    return [int(x) if x.is_integer() else float(formatted(x, ".10g")) for x in steps]


def other_quotas(evaluation: Results, script: str) -> dict[str, Any] | None:
    """What the slider of a page needs, if every quota can be told; the page's policy allows its
    script by the hash, and no other.
    """
    found = at_any_quota(evaluation, _MOST_NUMBERS)
    if found is None:
        return None
    paid = found.axis == "cost"
    brings = [evaluation.settings.in_currency("brings")] if evaluation.gains is not None else []
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {
        "what": "budget" if paid else "quota",
        "end": found.end,
        "step": found.end / _PLACES if paid or evaluation.weighted else 1,
        "head": [*["places"] * paid, "finds", "hit rate", *brings, "lift"],
        "rows": [*evaluation.models, "random choice"],
        "note": _exactness(found, evaluation),
        "data": _in_script(found.to_json()),
        "script": Markup(script),
        "hash": f"sha256-{digest}",
    }


def _in_script(text: str) -> Markup:
    """JSON that cannot end the element in which it stands."""
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _exactness(found: AnyQuota, evaluation: Results) -> str:
    """How far off the values are, and what the slider does not tell."""
    forms = {"found": number, "places": number, "brings": evaluation.amount}
    named = {"found": "page.found", "places": "page.places", "brings": "page.brings"}
    errors = [
        say(named[name], error=form(error))
        for name, form in forms.items()
        if (error := found.errors.get(name, 0.0)) > _NO_ERROR
    ]
    said = say("page.near", errors=listed(errors)) if errors else say("page.exact")
    return said + (say("page.untested") if len(evaluation.models) > 1 else "")
