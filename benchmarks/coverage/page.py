"""The documents' page of a run, and all of its figures for the terminal."""

from __future__ import annotations

import math
from typing import Any

from benchmarks.coverage.seen import LEVEL
from benchmarks.coverage.shapes import SHAPES
from benchmarks.coverage.shortfalls import DEFAULTS, Found, found_in
from benchmarks.coverage.sources import SOURCES
from benchmarks.tables import Table, aligned, markdown

STORED, PAGE = "benchmarks/coverage.json", "docs/coverage.md"
SHOWN = "'s value"
"""What the page leaves out behind a cut."""
UNMARKED = ("rightly sure", "by Holm", "power", "found by score", "found by Fisher's")
"""Of which more is better."""
NOTED = "sum, with a note"
Row = dict[str, Any]
Part = dict[str, Any]

TITLES = {  # unless the function says it
    "bootstrap": "single rows",
    "closed forms": "single rows",
    "groups": "clusters",
    "finite list": "finite list",
    "differences": "differences",
    "levels": "two models",
    "poisson": "Poisson draws",
    "averages": "average precision",
    "lift": "lift",
    "weights": "weighted rows",
    "few positives": "few positives",
    "few clusters": "few clusters",
    "few groups": "few groups",
    "hulls": "hulls",
    "shapes": "other scores",
    "quotas": "other scores",
    "unequal weights": "weights",
    "campaigns": "uplift",
    "verdicts": "wrong winner",
    "winners": "the best",
    "gains": "gains",
    "early quotas": "early quotas",
}
SAID = {
    "permutation": "permutation",
    "pointwise at 0.1": "at 0.1",
    "pointwise at 0.5": "at 0.5",
    "simultaneous, at all": "simultaneous",
    "expected": "`expected`",
    "percentile": "`value`",
    "sum": "at a quota",
    "difference": "of two models",
    "expected of the best cut": "the best cut",
    "rejected": "two models",
    "wrongly sure of gains": "wrong winner",
    "5 folds": "5 folds",
    "5 × 5 folds": "5 × 5 folds",
}
"""What the page calls methods of a function that has several."""
ABOUT = """\
# Coverage

`python -m benchmarks.coverage report` writes this page; `--all` prints all figures.

A 95 % interval should contain the true value in 95 of 100 data sets. A test at 5 % should find a
difference in at most 5 of 100 where there is none. We drew {replications} data sets from each
population. The Monte-Carlo error is {error:.1f} of 100.

Scores are normal, and those of positives are shifted upwards. The number of positives is random.
Hit rate and lift are those of the best tenth. A steep cut has about as many places as there are
positives. Other scores have {shapes} shapes. Rows, positives and AUC:

{data}
"""
INTERVALS = """\
## Intervals that fall short

Below 92. These calls warn of few examples or scores, and near an AUC of 1. The chosen cut does not
warn, nor do 5 to 14 of 100 heavy-tailed gains:
"""
TESTS = """\
## Tests that reject too often

Of equally good models; above 6:
"""
HOLD = """\
## Defaults that hold in every setting

- Intervals, lowest to highest figure: {intervals}.
- Tests: {tests}.
- Power of studies planned for 80 of 100, by assumed curves: {power}.
- Power of `compare_selections` at early quotas, of 100 that Fisher's mid-p finds: {early},
  the fewest where nearly all selected are positive.
"""
INSTEAD = """\
## What to use instead

- **Hit rate near 1.** Use `hit_rate_interval` and `compare_selections`.
- **Average precision.** Near an AUC of 1 use `average_precision_interval`. With rare positives
  neither method reaches its level.
- **AUC near 1, or fewer than 30 positives.** Use `auc_interval`, and compare models with
  `test="permutation"`.
- **Fewer than 60 clusters.** There is no safe interval of one model.
- **Best cut.** Use `expected` for the chosen cut, or `value` with fewer than 20 distinct scores.
- **Gains of few rows.** `evaluate` says so in {noted} of 100 where it falls short.

Not simulated: bands of the lift, permutation tests beyond AUC, most measures with weights that
depend on labels or scores.
"""


def page(run: dict[str, Any]) -> str:
    """Which defaults hold their level, and where they fall short."""
    fewest = min(part["replications"] for parts in run.values() for part in parts.values())
    by_default: dict[tuple[str, str], list[Found]] = {key: [] for key in DEFAULTS}
    for each in (x for x in found_in(run) if x.is_default):
        by_default[each.kind, each.how].append(each)
    rows: dict[bool, list[tuple[str, ...]]] = {False: [], True: []}
    holding: dict[bool, list[str]] = {False: [], True: []}
    for (kind, how), found in by_default.items():
        parts = (f"`{DEFAULTS[kind, how]}`", SAID.get(how), TITLES.get(kind))
        name = ", ".join(filter(None, parts))
        short = _short(found)
        if short:
            rows[found[0].is_test].append((name, short))
        else:
            holding[found[0].is_test].append(f"{name} ({_range(found)})")
    head = ("default", "of 100")
    intervals, tests = (markdown(Table("", head, rows[is_test])) for is_test in (False, True))
    power = [x for x in found_in(run) if x.how == "power"]
    about = ABOUT.format(
        replications=fewest, error=_error(fewest), shapes=len(SHAPES), data=_populations()
    )
    hold = HOLD.format(
        intervals="; ".join(holding[False]),
        tests="; ".join(holding[True]),
        power=_range(power),
        early=_of_best(run),
    )
    instead = INSTEAD.format(noted=_noted(run))
    return "\n".join((about, hold, INTERVALS, intervals, TESTS, tests, instead))


def _of_best(run: dict[str, Any]) -> str:
    """The power of the score test as a percentage of that of Fisher's, lowest to highest."""
    found = {(x.what, x.how): x.of_100 for x in found_in(run) if x.kind == "early quotas"}
    fisher = {what: x for (what, how), x in found.items() if how == "found by Fisher's"}
    parts = sorted(100 * found[what, "found by score"] / x for what, x in fisher.items() if x)
    return f"{parts[0]:.0f}–{parts[-1]:.0f}" if parts else ""


def _noted(run: dict[str, Any]) -> str:
    """How many intervals of gains have a note where these fall short."""
    found = [x for x in found_in(run) if x.kind == "gains"]
    short = {x.what for x in found if x.how == "sum" and x.is_short}
    return _range([x for x in found if x.how == NOTED and x.what in short]) if short else "none"


def _populations() -> str:
    """A line of each."""
    lines = (
        f"- {x.title}: {x.n}, {x.positive:.0%}, {x.truth('AUC'):.3f}" for x in SOURCES.values()
    )
    return "\n".join(lines)


def _range(found: list[Found]) -> str:
    """The lowest and the highest of their figures."""
    low, high = (f"{choose(x.of_100 for x in found):.0f}" for choose in (min, max))
    return low if low == high else f"{low}–{high}"


def _short(found: list[Found]) -> str:
    """Where they fall short, and how far."""
    alone = len({x.source for x in found}) == 1
    places: dict[str, list[Found]] = {}
    for x in (x for x in found if x.is_short):
        place = x.what.partition(", ")[0] if alone else SOURCES[x.source].title
        places.setdefault(place, []).append(x)
    said = []
    for place, short in places.items():
        names = (x.what.removeprefix(f"{place}, ").removesuffix(SHOWN) for x in short)
        figures = ", ".join(f"{x} {y.of_100:.1f}" for x, y in zip(names, short, strict=True))
        said.append(figures if figures.startswith(place) else f"{place}: {figures}")
    return "; ".join(said)


def everything(run: dict[str, Any]) -> str:
    """A table of each kind, with all methods, for the terminal."""
    return "\n\n".join(aligned(_table(kind, found)) for kind, found in run.items())


def _table(kind: str, found: dict[str, Part]) -> Table:
    columns = dict.fromkeys(row["how"] for part in found.values() for row in part["rows"])
    rows = []
    for name, part in found.items():
        for what in dict.fromkeys(row["what"] for row in part["rows"]):
            own = [row for row in part["rows"] if row["what"] == what]
            cells = {row["how"]: _cell(row, part["replications"]) for row in own}
            rows.append((SOURCES[name].title, what, *(cells.get(how, "") for how in columns)))
    made = "\n".join(dict.fromkeys(_made(part) for part in found.values()))
    return Table(f"{kind}\n{made}", ("data", "of what", *columns), rows)


def _made(part: Part) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in part["versions"].items())
    return f"{part['date']}, {versions}: {part['command'] or 'an earlier version of the command'}"


def _error(replications: int) -> float:
    return 100 * math.sqrt(LEVEL * (1 - LEVEL) / replications)


def _cell(row: Row, drawn: int) -> str:
    """In how many of 100 data sets the interval held the truth, or the test rejected it.

    Where fewer than 90 % of them have one, in how many there was one.  A sign says what is off by
    more than two Monte-Carlo errors: − if intervals hold too rarely or tests reject too often.
    """
    defined = row["number"]
    if not defined:
        return "undefined"
    if "more" in row:
        return f"{100 * row['more']:+.1f}".replace("-", "−")
    if row["how"] in UNMARKED:
        return f"{100 * row['said'] / defined:.1f}"
    wrong = row.get("rejected", row.get("said"))
    missed = 100 * (row["above"] + row["below"] if wrong is None else wrong) / defined
    off = 100 * (1 - LEVEL) - missed
    mark = "" if abs(off) <= 2 * _error(defined) else " +" if off > 0 else " −"
    some = f" of {defined}" if defined < 0.9 * drawn else ""
    return f"{100 - missed if wrong is None else missed:.1f}{some}{mark}"
