"""Write lists and types of the public functions: ``python docs/tools/stubs.py``.

Every measure and every ``@public`` function of a chapter of ``quotakernels/measures`` is public.
``measures/public.py`` exports it, and so does the family of its chapter.  Those that most users
need stand at the top: ``quotakernels/__init__.py`` names them.  ``docs/measures.md`` names those of
which less is better.

A measure knows what it takes: which cuts it has, whether it needs gains, costs or treatments, what
else stands in its signature.  Its calls follow from these facts: one for each cut, of a ranking and
of labels and scores.  They go into stubs beside the two modules that name the public functions,
where type checkers and editors read them.  Each measure is of a class with its own name, which
editors show; it derives from that of an earlier measure if both have the same calls.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

import quotakernels  # noqa: E402
from quotakernels import _types, inference, measures  # noqa: E402
from quotakernels.measures import public  # noqa: E402
from quotakernels.measures._measure import Measure  # noqa: E402
from quotakernels.measures.tables.confusion import TableMeasure  # noqa: E402
from quotakernels.ranking import rank  # noqa: E402

OF_PR = ("normalized_pr_auc", "pr_gain_auc", "pr_gain_curve")
FAMILIES = {
    "budgets": (),
    "charts": ("charts", "iso_performance_slope"),
    "decisions": ("decisions",),
    "groups": ("by_group",),
    "points": ("operating",),
    "retrieval": ("retrieval", "expected_average_precision", *OF_PR),
    "screening": ("screening", "normalized_enrichment_factor"),
    "tables": ("tables", "cell_impacts"),
    "uplift": ("uplift",),
}
"""The chapters of each family, and single functions of other chapters."""
NOT_AT_THE_TOP = {
    "budgets": ("gains",),
    "points": ("dominance", "hull", "roc_pr"),
    "retrieval": ("at_quota", "over_quotas", "selection"),
    "tables": ("multiclass",),
}
"""Families of chapters that most users need, whose functions stand at the top: each exports the
others.  A new measure at a quota would go to `retrieval`, with those at a cutoff of a list."""
NOT_HANDED_ON = ("measure", "method", "confidence_level")
"""Options of measures for which functions that take a measure have a use of their own."""
CUTS = ("quota", "fraction", "budget", "threshold", "between")
BESIDE = {
    "when_short": ("quota", "budget"),
    "inclusive": ("threshold",),
    "prior": ("quota", "fraction"),
    "method": ("between",),
}
"""What a measure with several cuts takes beside some of them only."""
COLUMN = "ArrayOf[A] | None"
DATA = {
    "sample_weight": COLUMN,
    "where": COLUMN,
    "pos_label": "Any",
    "ties": "TiePolicy",
    "validate": "bool",
    "gain": COLUMN,
    "gain_rejected": "NumberOf[A]",
    "groups": "ArrayOf[Any] | None",
    "num_groups": "int | None",
    "cost": COLUMN,
    "treatment": COLUMN,
}
"""The keywords of `rank`."""
OTHERS = {
    "between": "tuple[{n}, {n}]",
    "impacts": "Iterable[Any]",
    "inclusive": "bool",
    "when_short": "WhenShort | None",
}
"""What else a validator takes that is no number."""
MEASURED = "measure: {}, y_true: Any, y_score: {}, *, {{all}}) -> {}"
IN_FOLDS = "measure: {}, y_true: Any, {}: Any, folds: Any, *, {{all}}) -> {}"
ANYTHING = "Callable[..., Any] | Mapping[Any, Any]"
FUNCTIONS = {
    "auc_covariance": ("y_true: Any, y_score: Any, *, {all}) -> AucCovariance",),
    "best_cut": (
        "measure: OfTables, ranking: Ranking[T], *, {own}) -> BestCut[T]",
        "measure: OfTables, y_true: ArrayOf[A], y_score: ArrayOf[A], *, {all}) -> BestCut[A]",
    ),
    "bootstrap": (
        MEASURED.format("ValueMeasure", "Mapping[str, Any]", "dict[str, BootstrapResult]"),
        MEASURED.format("ValueMeasure", "Any", "BootstrapResult"),
        MEASURED.format("RecordMeasure[R]", "Any", "R"),
        MEASURED.format(ANYTHING, "Any", "Any"),
    ),
    "compare": ("measure: Any, y_true: Any, models: Any, *, {all}) -> Comparison",),
    "compare_selections": (
        "y_true: Any, models: Any, *, quota: Number, {all}) -> SelectionComparison",
        "y_true: Any, models: Any, *, fraction: Number, {all}) -> SelectionComparison",
    ),
    "confusion_table_from_predictions": (
        "y_true: ArrayOf[A], y_pred: ArrayOf[A], *, num_classes: None = None, {all})"
        " -> ConfusionTable[A]",
        "y_true: ArrayOf[A], y_pred: ArrayOf[A], *, num_classes: int, {all}) -> ClassTable[A]",
    ),
    "delong_test": ("y_true: Any, models: Any, *, {all}) -> DelongTest",),
    "fold_summary": (
        IN_FOLDS.format("ValueMeasure", "y_score", "FoldSummary"),
        IN_FOLDS.format(ANYTHING, "y_score", "Any"),
    ),
    "fold_test": (
        IN_FOLDS.format("ValueMeasure", "models", "FoldTest"),
        IN_FOLDS.format(ANYTHING, "models", "Any"),
    ),
    "group_mean": (
        "measure: Callable[..., Any], *, {own}) -> MeanOfGroups",
        "measure: Callable[..., Any], ranking: Ranking[T], /, *, {own}) -> GroupMean[T]",
        "measure: Callable[..., Any], y_true: ArrayOf[A] | None, y_score: ArrayOf[A], *, {all})"
        " -> GroupMean[A]",
    ),
    "measure_correlations": (
        "measures: Mapping[str, Any], y_true: Any, models: Any, *, {all}) -> MeasureCorrelations",
    ),
    "mixture": (
        "hull: RocHull[T], *, fpr: Number) -> Mixture[T]",
        "hull: RocHull[T], *, tpr: Number) -> Mixture[T]",
        "hull: RocHull[T], *, quota: Number) -> Mixture[T]",
    ),
    "quota_threshold": (
        "y_score: ArrayOf[A], *, quota: NumberOf[A], {all}) -> QuotaThreshold[A]",
        "y_score: ArrayOf[A], *, fraction: NumberOf[A], {all}) -> QuotaThreshold[A]",
        "y_score: ArrayOf[A], *, cost: ArrayOf[A], budget: NumberOf[A], {all})"
        " -> QuotaThreshold[A]",
    ),
    "rank_at_quota": (
        "y_true: ArrayOf[A], y_score: ArrayOf[A], *, quota: NumberOf[A], {all})"
        " -> RankingAtQuota[A]",
        "y_true: ArrayOf[A], y_score: ArrayOf[A], *, fraction: NumberOf[A], {all})"
        " -> RankingAtQuota[A]",
    ),
    "select": (
        "y_score: ArrayOf[A], *, quota: NumberOf[A], {all}) -> A",
        "y_score: ArrayOf[A], *, fraction: NumberOf[A], {all}) -> A",
        "y_score: ArrayOf[A], *, cost: ArrayOf[A], budget: NumberOf[A], {all}) -> A",
    ),
    "table_curve": (
        "measure: OfTables, ranking: Ranking[T], {own}) -> Curve[T]",
        "measure: OfTables, y_true: ArrayOf[A], y_score: ArrayOf[A], *, {all}) -> Curve[A]",
    ),
    "vote": ("measure: Any, y_true: Any, models: Any, *, {all}) -> Vote",),
}
"""How functions that are no measures are called, where their source does not say it.  ``{all}`` is
what else their signature has, ``{own}`` leaves out the keywords of `rank`.
"""
INDEX = """\
\"\"\"All public functions of the chapters of measures.

``docs/tools/stubs.py`` writes this list, and the names and types into the stub beside it.
\"\"\"

# ruff: noqa: F403
"""
EXPORTED = '__all__ = [name for name in dir() if not name.startswith("_")]'
HEAD = """\
# Written by docs/tools/stubs.py; do not edit.
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, Union, Unpack, overload
from quotakernels._types import A, ArrayOf, Number, NumberOf, Numbers, T, TiePolicy, WhenShort
"""
OPTIONS = """\
class ValueMeasure(Measure): ...
class TableOptions(TypedDict, total=False):
    {of_tables}
class MeasureOptions(TableOptions, total=False):
    {of_rankings}
class MeanOfGroups(MeanOverGroups):
    @overload  # type: ignore[override]
    def __call__(self, ranking: Ranking[T], /, {options}) -> GroupMean[T]: ...
    @overload
    def __call__(self, y_true: ArrayOf[A] | None, y_score: ArrayOf[A], *, {data}, {options})\
 -> GroupMean[A]: ...
"""
RECORD = """\
R = TypeVar("R", covariant=True)
class RecordMeasure(Protocol[R]):
    @property
    def headline(self) -> str: ...
    def __call__(self, ranking: Ranking[BootstrapResult], /) -> R: ...
"""


def result_of(function: Any, arrays: str) -> str:
    """What a function gives, of arrays of that type."""
    name = str(function.__annotations__["return"]).partition("[")[0]
    if name == "Array":
        return arrays
    fields = inspect.get_annotations(getattr(sys.modules[function.__module__], name)).values()
    return f"{name}[{arrays}]" if any(re.search(r"\bT\b", str(x)) for x in fields) else name


def spelt_out(p: inspect.Parameter, function: Any) -> str:
    """The type of a parameter, without aliases of the module."""
    module = sys.modules[inspect.unwrap(function).__module__]

    def alias(word: re.Match[str]) -> str:
        found = getattr(module, word[0], None)
        known = found is None or isinstance(found, type) or hasattr(_types, word[0])
        return word[0] if known or found is Any else repr(found).replace("typing.", "")

    found = re.sub(r"(?<![\"'])\b[A-Z]\w*\b(?![\"'])", alias, str(p.annotation))
    return re.sub(r"\b(quotakernels|collections)\.[\w.]+\.", "", found)


def type_of(measure: Measure, name: str, number: str) -> str:
    """The type of a number or an option of a measure."""
    p = measure.__signature__.parameters[name]
    found = OTHERS.get(name) or spelt_out(p, measure._function)
    if found in ("Any", "Array", "ConfusionTable"):
        found = "{n}" if p.default is not None or name in CUTS else "{n} | None"
    return found.format(n=number)


def own_keywords(measure: Measure, cut: str, number: str) -> Iterator[str]:
    """The numbers and options of a measure beside a cut."""
    for name in measure.own_keywords:
        p = measure.__signature__.parameters[name]
        beside = [x for x in BESIDE.get(name, ()) if x in measure.own_keywords]
        if (name in CUTS and name != cut) or (beside and cut not in beside):
            continue
        default = "" if name == cut or p.default is p.empty else f" = {p.default!r}"
        yield f"{name}: {type_of(measure, name, number)}{default}"


def data_keywords(measure: Measure, cut: str) -> Iterator[str]:
    """What a measure takes of the keywords of `rank` beside a cut."""
    needed = {
        "gain": "gain" in measure.needs,
        "cost": "cost" in measure.needs or cut == "budget",
        "treatment": "treatment" in measure.needs,
    }
    for name, p in measure.__signature__.parameters.items():
        if needed.get(name):
            yield f"{name}: ArrayOf[A]"
        elif name in DATA and name != "cost":
            yield f"{name}: {DATA[name]} = {p.default!r}"


def call(positional: str, keywords: Iterable[str], result: str) -> str:
    """A call after its opening parenthesis."""
    return f"{', '.join([positional, *(['*', *x] if (x := [*keywords]) else [])])}) -> {result}"


def calls(measure: Measure) -> Iterator[str]:
    """The calls of a measure: of labels and scores, which editors show first; of other input."""
    function = measure._function
    cuts = [x for x in CUTS if x in measure.own_keywords]
    cuts = ["", *cuts] if measure.cut_optional or not cuts else cuts
    given = {cut: list(own_keywords(measure, cut, "Number")) for cut in ("", *cuts)}
    y_true = "y_true: ArrayOf[A] | None" if "gain" in measure.takes else "y_true: ArrayOf[A]"
    for cut in cuts:
        keywords = [*own_keywords(measure, cut, "NumberOf[A]"), *data_keywords(measure, cut)]
        yield call(f"{y_true}, y_score: ArrayOf[A]", keywords, result_of(function, "A"))
    if isinstance(measure, TableMeasure):
        yield call("table: ConfusionTable[NumberOf[A]]", given[""], result_of(function, "A"))
        if (several := measure.of_classes) is not None:
            yield call("table: ClassTable[NumberOf[A]]", given[""], result_of(several, "A"))
    if measure.at_quota_only:
        yield call("ranking: RankingAtQuota[T]", given[""], result_of(function, "T"))
    for cut in cuts:
        yield call("ranking: Ranking[T]", given[cut], result_of(function, "T"))


def handed_on(names: Iterable[str], options: str = "MeasureOptions") -> str:
    """What a function takes for the measure that it is given, beside its own keywords."""
    method = "" if "method" in names or options != "MeasureOptions" else "method: Any = ..., "
    return f"{method}**options: Unpack[{options}]"


def function_calls(name: str, function: Any) -> Iterator[str]:
    """The calls of a function that is no measure."""
    parameters = inspect.signature(function).parameters
    for line in FUNCTIONS[name]:
        rest = {}
        for x, p in parameters.items():
            of_budget = x == "cost" and "budget" in parameters
            if (
                p.kind is p.KEYWORD_ONLY
                and f" {x}: " not in line
                and x not in CUTS
                and not of_budget
            ):
                kind = DATA.get(x) or spelt_out(p, function)
                arrays = "[A]" if "[A]" in line else "[Any]"
                rest[x] = f"{x}: {kind.replace('[A]', arrays)} = {p.default!r}"
        if "options" in parameters:
            of_tables = "OfTables" in line
            options = "TableOptions" if of_tables else "MeasureOptions"
            rest["options"] = handed_on(parameters, options)
        own = [x for key, x in rest.items() if key not in DATA]
        yield line.format(all=", ".join(rest.values()), own=", ".join(own))


def overloads(name: str, calls: Iterable[str], indent: str = "") -> list[str]:
    """The lines of a function."""
    lines = [f"{indent}def {name}({x}: ..." for x in dict.fromkeys(calls)]
    decorated = [f"{indent}@overload\n{x}" for x in lines]
    return decorated if len(lines) > 1 else lines


def options_of(measures: Iterable[Measure]) -> dict[str, str]:
    """Each option of these measures, of any type if they do not agree on it."""
    kinds: dict[str, set[str]] = {}
    for measure in measures:
        for name in measure.own_keywords:
            kind = type_of(measure, name, "Number")
            kinds.setdefault(name, set()).add(re.sub(r"^Literal\[[^\]]*\]$", "str", kind))
    found = {x: kind.pop() if len(kind) == 1 else "Any" for x, kind in sorted(kinds.items())}
    return {x: kind for x, kind in found.items() if x not in NOT_HANDED_ON}


def options() -> str:
    """The options of all measures, for functions that hand them on."""
    functions = [*public_functions().values(), *vars(inference).values()]
    found = [x for x in functions if isinstance(x, Measure)]
    tables = [x for x in found if isinstance(x, TableMeasure)]
    of_tables = {x: kind for x, kind in options_of(tables).items() if x not in tables[0]._numbers}
    others = {x: kind for x, kind in options_of(found).items() if x not in of_tables}
    data = (
        f"{x}: {DATA[x]} = {p.default!r}"
        for x, p in inspect.signature(rank).parameters.items()
        if x in DATA
    )
    lines = [
        "\n    ".join(f"{x}: {kind}" for x, kind in each.items()) for each in (of_tables, others)
    ]
    return OPTIONS.format(
        of_tables=lines[0], of_rankings=lines[1], data=", ".join(data), options=handed_on(())
    )


def public_functions() -> dict[str, Any]:
    """The public functions of all chapters by name."""
    found = {}
    for info in pkgutil.walk_packages(measures.__path__, f"{measures.__name__}."):
        chapter = importlib.import_module(info.name)
        for name, x in sorted(vars(chapter).items()):
            marked = isinstance(x, Measure) or hasattr(x, "own_keywords")
            if marked and chapter_of(x) == info.name and not name.startswith("_"):
                found[name] = x
    return found


def chapter_of(x: Any) -> str:
    """The module where a public function or a measure is defined."""
    return str(getattr(x, "_function", x).__module__)


def family_of(name: str, x: Any) -> str:
    """The family that exports a function, with a dot; empty if the top alone does."""
    chapter = chapter_of(x).removeprefix(f"{measures.__name__}.")
    at_top = name in quotakernels.__all__
    for chapters in (FAMILIES,) if at_top else (FAMILIES, NOT_AT_THE_TOP):
        for found, parts in chapters.items():
            if any(name == part or f"{chapter}.".startswith(f"{part}.") for part in parts):
                return f"{found}."
    if not at_top:
        raise ValueError(f"{name} is exported nowhere: name its chapter in FAMILIES")
    return ""


def without_stale(text: str) -> str:
    """A page of the reference without entries of functions that are not exported there any more."""
    functions = public_functions()
    right = {f"quotakernels.{x}" for x in quotakernels.__all__}
    right |= {f"quotakernels.{family_of(name, x)}{name}" for name, x in functions.items()}
    right |= {"quotakernels.tables.ClassTable", "quotakernels.tables.ConfusionTable"}

    def kept(entry: re.Match[str]) -> str:
        of_measures = entry[2] in (None, *(f"{name}." for name in FAMILIES))
        return "" if of_measures and entry[1] not in right else entry[0]

    return re.sub(r"^::: (quotakernels\.(\w+\.)?\w+)\n\n?", kept, text, flags=re.MULTILINE)


def pages() -> dict[Path, str]:
    """The reference; what no page has an entry for stands behind others of its chapter."""
    paths = (ROOT / "docs" / "reference").glob("*.md")
    texts = {x: without_stale(x.read_text(encoding="utf-8")) for x in paths}
    functions = public_functions()

    def has(text: str, name: str) -> bool:
        return re.search(rf"^::: quotakernels\.(\w+\.)?{name}$", text, re.MULTILINE) is not None

    for name, x in functions.items():
        if not any(has(text, name) for text in texts.values()):
            beside = [other for other, y in functions.items() if chapter_of(y) == chapter_of(x)]
            page = next(x for x, text in texts.items() if any(has(text, y) for y in beside))
            family = "" if name in quotakernels.__all__ else family_of(name, x)
            texts[page] += f"\n::: quotakernels.{family}{name}\n"
    return texts


def import_of(module: str, names: Iterable[str]) -> str:
    """The import of some names: in one line, or a line for each."""
    each = sorted(names)
    line = f"from {module} import {', '.join(each)}"
    if len(line) <= 100:
        return line
    return "\n".join([f"from {module} import (", *(f"    {x}," for x in each), ")"])


def index() -> str:
    """The module that imports all public functions from their chapters."""
    chapters = sorted({chapter_of(x) for x in public_functions().values()})
    lines = [f"from {chapter} import *" for chapter in chapters]
    return "\n".join([INDEX, *lines, ""])


def family(name: str, path: Path) -> str:
    """The module of a family: its docstring, its functions, and its records."""
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_source_segment(text, ast.parse(text).body[0])
    functions = public_functions().items()
    names = [function for function, x in functions if family_of(function, x) == f"{name}."]
    homes = {public.__name__: names}
    if name == "tables":
        homes["quotakernels.measures.tables.confusion"] = ["ClassTable", "ConfusionTable"]
    lines = (import_of(home, (f"{x} as {x}" for x in own)) for home, own in homes.items())
    return "\n".join([str(docstring), "", *lines, "", EXPORTED, ""])


def top() -> str:
    """The stub of the package itself, whose names load when they are first used."""
    homes = {"": quotakernels._FAMILIES, "._version": ["__version__"]}
    for name, home in quotakernels._HOMES.items():
        homes.setdefault(f".{home}", []).append(name)
    lines = (
        import_of(f"quotakernels{home}", (f"{x} as {x}" for x in own))
        for home, own in sorted(homes.items())
    )
    return "\n".join([HEAD.splitlines()[0], *lines, ""])


def stub(functions: dict[str, Any], extra: str) -> str:
    """The stub of a module: measures, other functions, and what these need."""
    imports, written, kinds = [], [], {}
    for name, x in functions.items():
        if isinstance(x, Measure):
            found, kind = tuple(calls(x)), f"{name.title().replace('_', '')}Measure"
            if found in kinds:
                written.append(f"class {kind}({kinds[found]}): ...")
            else:
                of_values = result_of(x._function, "A") == "A"
                written.append(f"class {kind}({'ValueMeasure' if of_values else 'Measure'}):")
                written += overloads("__call__", (f"self, {line}" for line in found), "    ")
                kinds[found] = kind
            written.append(f"{name}: {kind}")
        elif name in FUNCTIONS:
            written += overloads(name, function_calls(name, x))
        elif inspect.isfunction(x):
            imports.append(f"from {x.__module__} import {name} as {name}")
    text = "\n".join([extra, *written])
    return "\n".join([HEAD, *imports, *imported(text), text, ""])


def imported(text: str) -> Iterator[str]:
    """Imports of the package's own types that stand in a text."""
    words = set(re.findall(r"(?<![\"'.])\b[A-Z]\w+\b", text))
    made = set(re.findall(r"^(?:class )?(\w+)[(: ]", text, re.MULTILINE))
    made |= set(re.findall(r"\w+", HEAD))
    homes = {
        name: x.__module__
        for module in [*sys.modules.values()]
        if getattr(module, "__name__", "").startswith("quotakernels.")
        for name, x in vars(module).items()
        if isinstance(x, type) and x.__module__.startswith("quotakernels.")
    }
    homes |= {"OfTables": "quotakernels.measures.tables.best_cut"}
    homes |= dict.fromkeys(("MeasureOptions", "ValueMeasure"), public.__name__)
    for word in sorted(words - made):
        if word in homes:
            yield f"from {homes[word]} import {word}"


def directions(page: Path) -> str:
    """The page of measures, with the names of those of which less is better."""
    losses = [name for name, x in public_functions().items() if less_is_better(x)]
    row = f"| `False`, less is better | {', '.join(f'`{name}`' for name in sorted(losses))} |"
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^\| `False`, less is better \| .* \|$", row, text, flags=re.MULTILINE)


def less_is_better(x: Any) -> bool:
    """Whether it is a measure that is a loss."""
    return isinstance(x, Measure) and x.greater_is_better is False


def files() -> dict[Path, str]:
    """The text of each file that is written."""
    package, page = ROOT / "quotakernels", ROOT / "docs" / "measures.md"
    families = {name: package / f"{name}.py" for name in FAMILIES}
    return {
        package / "__init__.pyi": top(),
        package / "measures" / "public.py": index(),
        package / "measures" / "public.pyi": stub(public_functions(), options()),
        package / "inference" / "__init__.pyi": stub(vars(inference), RECORD),
        **{path: family(name, path) for name, path in families.items()},
        **pages(),
        page: directions(page),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
