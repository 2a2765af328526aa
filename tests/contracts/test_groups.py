"""By group, every measure gives what it gives of the examples of each group alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, any_quota, in_full, parameters
from everything import MAIN
from public_names import MEASURES

import quotakernels as qk

SIZE, GROUPS = 40, 6
RNG = np.random.default_rng(31)
IDS = RNG.choice([1, 2, 3, 5], SIZE)
IDS[[4, 17, 30]] = 0
DATA: dict[str, np.ndarray] = {
    "y_true": RNG.integers(0, 2, SIZE) * (IDS != 2),
    "y_score": RNG.choice([-1.0, 0.25, 0.5, 3.0], (2, SIZE)),
    "sample_weight": RNG.choice([0.0, 0.5, 1.0, 3.0], SIZE),
    "where": RNG.random(SIZE) < 0.8,
    "gain": RNG.integers(0, 9, SIZE) * np.where(IDS == 1, 2.0**20, 1.0),
    "gain_rejected": RNG.integers(-4, 5, SIZE).astype(float),
    "cost": RNG.integers(1, 5, SIZE) / 2,
    "treatment": RNG.integers(0, 2, SIZE),
}
"""Two models of the same examples.  Group 4 has none, group 2 one class, group 0 three, and group 1
has large gains.
"""
BESIDE: tuple[tuple[str, ...], ...] = (
    *((), ("sample_weight",), ("where",), ("sample_weight", "where")),
)
TIES = ("expected", "optimistic", "pessimistic", "given")
NUMBERS: dict[str, Any] = {
    "kind": "bift",
    "beta": 2.0,
    "prevalence": 0.3,
    "impacts": (5, -4, -1, 0),
    "cost_fp": 3,
    "cost_fn": 2,
    **{rate: [0.25, 0.5] for rate in ("fpr", "tpr", "recall", "precision")},
}
CUTS: dict[str, dict[str, Any]] = {
    "quota": {"quota": [0.0, 1.0, 2.5, 9.0], "when_short": "nan"},
    "fraction": {"fraction": [0.3, 1.0]},
    "budget": {"budget": 2.5, "when_short": "all"},
    "threshold": {"threshold": [0.25, 3.0, 9.0, -9.0], "inclusive": False},
}
OTHERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "outcome": (qk.best_boundary, {"impacts": NUMBERS["impacts"], "kind": "outcome"}),
    "auk of scott": (qk.charts.auk, {"kappa": "scott"}),
    "area": (qk.pem_areas, {"method": "area"}),
    "part": (qk.roc_auc, {"max_fpr": 0.4}),
    "part of pr": (qk.pr_auc, {"min_recall": 0.3, "max_recall": 0.7}),
    "observed": (qk.pearson, {"labels": "observed", **CUTS["quota"]}),
    "late": (qk.average_qrecall, {"start": "P+1"}),
    "qini": (qk.uplift.auuc, {"curve": "qini", "normalize": "perfect"}),
    "best f": (functools.partial(qk.best_cut, qk.f_score), {}),
    "cheapest": (functools.partial(qk.best_cut, qk.expected_cost), {"cost_fp": 3, "cost_fn": 2}),
}
"""Options that change what is computed, and functions that are no measures themselves."""
COUNTED = ("expected_average_precision", "normalized_marks", "pem_areas", "late")
COUNTED += ("dcg", "ndcg", "success", "reciprocal_rank", "work_saved_over_sampling")
COUNTED += ("auc_interval", "average_precision_interval", "hit_rate_interval", "qrecall_interval")
"""What takes no weights, as it counts examples."""
SUMMED = ("confusion_table at threshold", "total_impact at threshold")
"""What is 0 of no examples."""


def calls() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every measure that takes groups, once for each kind of cut; one quota of all is another's."""
    for name in sorted(MEASURES.keys() - {"selection_by_group", "entities"}):
        measure = MEASURES[name]
        takes = inspect.signature(measure).parameters
        if "groups" in takes:
            own = {k: NUMBERS[k] for k, x in takes.items() if k in NUMBERS and x.default is x.empty}
            own |= {"threshold_probability": 0.2} if "threshold_probability" in takes else {}
            if "quota" not in takes:
                yield name, measure, own
            yield from ((f"{name} at {x}", measure, own | CUTS[x]) for x in CUTS if x in takes)
    yield from ((name, *call) for name, call in OTHERS.items())


def amounts(name: str, measure: Any, own: dict[str, Any]) -> tuple[str, ...]:
    """What a call takes beside labels and scores."""
    takes = inspect.signature(getattr(measure, "func", measure)).parameters
    known = ("gain", "treatment") if "dcg" in name else ("gain", "gain_rejected", "treatment")
    cost = "budget" in own or "cost" in getattr(measure, "needs", ())
    return (*(x for x in known if x in takes), *(("cost",) if cost else ()))


CALLS = {name: (measure, own, amounts(name, measure, own)) for name, measure, own in calls()}
OF_TABLES = set(qk.tables.__all__) - {"confusion_table", "cell_impacts", "f_score"}
FEW = {x for x in CALLS if x.partition(" ")[0] not in OF_TABLES and not x.endswith("fraction")}
"""Calls that JAX and the strict library make: the rates of tables have their cells, and a fraction
becomes a quota.
"""


def measured(
    names: tuple[str, ...], ties: Any, columns: dict[str, Any], only: Any = CALLS, **more: Any
) -> Any:
    """The fields that have a value for each group, of every call."""
    found = {}
    for name in CALLS:
        measure, own, needed = CALLS[name]
        if name not in only:
            continue
        if not ("sample_weight" in names and name.partition(" ")[0] in COUNTED):
            given = {k: columns[k] for k in ("y_true", "y_score", *names, *needed)}
            result = measure(**given, ties=ties, **own, **more)
            parts = result._asdict() if isinstance(result, tuple) else {"": result}
            found[name] = {k: x for k, x in parts.items() if k not in ("curve", "optima")}
    return found


def near(name: str, found: Any, wanted: Any) -> None:
    unit = np.finfo(found.dtype).eps if found.dtype.kind == "f" else 0
    rounding = unit * (256 if "marks" in name else 64)
    np.testing.assert_allclose(found, wanted, rounding, rounding, err_msg=name)


def check(found: Any, names: tuple[str, ...], ties: Any, model: Any) -> None:
    """Each group has what its examples have alone, and one without examples has no value."""
    for group in range(GROUPS):
        here = group == IDS
        alone = {k: x[..., here] for k, x in DATA.items()} | {"y_score": DATA["y_score"][model]}
        alone["y_score"] = DATA["y_score"][model][..., here]
        wanted = measured(names, ties, alone, found) if here.any() else found
        for name, parts in found.items():
            for field, values in parts.items():
                nothing = 0 if name in SUMMED else np.nan
                one = np.moveaxis(values, alone["y_score"].ndim - 1, 0)[group]
                exact = wanted[name][field] if here.any() else np.full(one.shape, nothing)
                near(f"{name} {field} of {group}", one, exact)


@any_quota
@pytest.mark.parametrize("ties", ["expected", *map(in_full, TIES[1:])])
@pytest.mark.parametrize("names", BESIDE)
def test_each_group_is_as_if_it_were_alone(names: tuple[str, ...], ties: Any):
    found = measured(names, ties, DATA, groups=IDS, num_groups=GROUPS)
    check(found, names, ties, slice(None))


ELSEWHERE = [m for m in MODES if m.name in MAIN][1:]


@any_quota
@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(ELSEWHERE))
@pytest.mark.parametrize("names", [BESIDE[0], BESIDE[3]])
def test_in_every_library(mode: Mode, names: tuple[str, ...]):
    columns = {k: x[0] if k == "y_score" else x for k, x in DATA.items()}

    only = CALLS if mode.library == "torch" else FEW
    if mode.library == "jax" and names == BESIDE[0]:
        only = {x for x in FEW if x.startswith("hit_rate") and x.endswith("at quota")}

    def program(groups: Any, *arrays: Any) -> Any:
        given = dict(zip(columns, arrays, strict=True))
        return measured(names, "expected", given, only, groups=groups, num_groups=GROUPS)

    check(mode.run(program, IDS, *columns.values()), names, "expected", 0)


@any_quota
@pytest.mark.parametrize("levels", [1, 6])
@pytest.mark.parametrize(("size", "number"), [(1, 1), (9, 12), (60, 9)])
def test_of_any_sizes(size: int, number: int, levels: int):
    """Whatever the ids are, and in whatever order the examples stand."""
    rng = np.random.default_rng([size, number, levels])
    groups = rng.integers(0, number, size) * 7 - 20
    columns = {k: rng.choice(x.ravel(), size) for k, x in DATA.items()}
    columns["y_score"] = rng.integers(0, levels, size) / 4
    order = rng.permutation(size)
    again = {k: x[order] for k, x in columns.items()}
    found = measured((), "expected", columns, groups=groups)
    moved = measured((), "expected", again, groups=groups[order])
    for place, group in enumerate(np.unique(groups)):
        here = {k: x[groups == group] for k, x in columns.items()}
        for name, parts in measured((), "expected", here).items():
            for field, wanted in parts.items():
                near(f"{name} {field}", found[name][field][place], wanted)
                near(f"{name} {field}", moved[name][field][place], wanted)
