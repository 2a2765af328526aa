"""The table of our own criteria in docs/criteria.md, entry by entry: what is said to hold on
all small tables, what is said not to by a counterexample among them.

The table is read from the page, so that an entry cannot be changed there alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from public_names import PUBLIC

import quotakernels as qk
from quotakernels.tables import ConfusionTable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "criteria.md"
HEADING = "| measure | function | 1 | 2 | 3 | 4 |"

LARGEST = 4
CELLS = np.asarray(list(itertools.product(range(LARGEST + 1), repeat=4)), dtype=float)
CELLS = CELLS[(CELLS[:, 0] + CELLS[:, 2] > 0) & (CELLS[:, 1] + CELLS[:, 3] > 0)].T
"""All tables with both classes and cells up to 4: rows tp, fp, fn, tn."""
TP, FP, FN, TN = range(4)
MOVES = ((FN, TP), (FP, TN))

LEVELS = (-2.0, -0.5, 0.0, 1.0, 3.0)
WEIGHTS = list(itertools.product(LEVELS, repeat=4))
"""Impacts of any sign."""
PAYING = [i for i in WEIGHTS if i[TP] > i[FN] and i[TN] > i[FP]]
"""Impacts under which the right decision brings more."""
BETAS = [(beta,) for beta in (0.25, 0.5, 1.0, 2.0, 4.0)]
COSTS = list(itertools.product((0.5, 1.0, 4.0), repeat=2))
NOTHING: list[tuple[float, ...]] = [()]
CLEAR = 1e-9
"""What lies further apart is different; equal values of small tables are far closer."""

Setting = tuple[float, ...]


class Measure(NamedTuple):
    """A measure of tables with its own numbers, of which it is seen under several settings."""

    value: Callable[..., Any]
    settings: list[Setting] = NOTHING
    sign: int = 1
    """-1 where less is better."""

    def __call__(self, cells: Any, setting: Setting) -> np.ndarray:
        return self.sign * np.asarray(self.value(ConfusionTable(*cells), *setting))


def auc(table: ConfusionTable) -> Any:
    """Of the ranking whose only cut is that of the table."""
    positives, negatives = table.tp + table.fn, table.fp + table.tn
    fp, tp = (np.stack(x, axis=-1) for x in ((table.fp, negatives), (table.tp, positives)))
    return qk.roc_auc(qk.Ranking.from_points(fp=fp, tp=tp))


def cost(table: ConfusionTable, fp: float, fn: float) -> Any:
    return qk.expected_cost(table, cost_fp=fp, cost_fn=fn)


def impact(table: ConfusionTable, *impacts: float) -> Any:
    return qk.tables.impact(table, impacts=impacts).whole


def outcome(field: str) -> Measure:
    def value(table: ConfusionTable, *impacts: float) -> Any:
        return getattr(qk.tables.outcome_impact(table, impacts=impacts), field)

    return Measure(value, PAYING)


def conditional(table: ConfusionTable, *impacts: float) -> Any:
    return qk.tables.conditional_impact(table, impacts=impacts).mean


def base_ratio(table: ConfusionTable, *weights: float) -> Any:
    return qk.tables.base_ratio(table, impacts=weights)


MEASURES: dict[str, list[Measure]] = {
    "accuracy": [Measure(qk.accuracy)],
    "F_β": [Measure(lambda table, beta: qk.f_score(table, beta=beta), BETAS)],
    "MCC": [Measure(qk.matthews_corrcoef)],
    "Cohen's κ": [Measure(qk.tables.cohen_kappa)],
    "informedness": [Measure(qk.informedness)],
    "markedness": [Measure(qk.tables.markedness)],
    "AUC": [Measure(auc)],
    "odds ratio, discriminant power": [
        Measure(qk.tables.diagnostic_odds_ratio),
        Measure(qk.tables.discriminant_power),
    ],
    "likelihood ratios": [
        Measure(qk.tables.positive_likelihood_ratio),
        Measure(qk.tables.negative_likelihood_ratio, sign=-1),
    ],
    "mutual information, IC": [
        Measure(qk.tables.mutual_information),
        Measure(qk.tables.information_coefficient),
    ],
    "expected cost": [Measure(cost, COSTS, sign=-1)],
    "base ratio": [Measure(base_ratio, WEIGHTS)],
    "ι_I": [Measure(impact, PAYING)],
    "ι_Z, ι_Z̄": [outcome("selected"), outcome("rejected")],
    "ι_σ": [outcome("mean")],
    "conditional impact": [Measure(conditional, PAYING)],
}


def entries(heading: str, first: int) -> dict[str, list[str]]:
    """The four entries of each measure, as the page has them from this column on."""
    rows = PAGE.read_text(encoding="utf-8").partition(heading)[2].split("\n\n")[0].splitlines()[2:]
    columns = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {row[0]: row[first:] for row in columns}


ENTRIES = entries(HEADING, 2)


def of_kind(criterion: int, pattern: str) -> Any:
    """Parametrise by the measures whose entry for a criterion is of this kind."""
    names = [n for n, row in ENTRIES.items() if re.fullmatch(pattern, row[criterion - 1])]
    assert names
    return pytest.mark.parametrize("name", names)


def each(name: str) -> Iterator[tuple[Measure, Setting]]:
    for measure in MEASURES[name]:
        for setting in measure.settings:
            yield measure, setting


def near(a: np.ndarray, b: np.ndarray) -> bool:
    return np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_the_table_has_these_measures_and_every_entry_is_tested():
    assert ENTRIES.keys() == MEASURES.keys()
    assert {len(row) for row in ENTRIES.values()} == {4}
    kinds = [r"yes|yes, if .+|no", r"yes|by tuning", r"yes|by tuning|no", r"yes|by tuning|no"]
    for row in ENTRIES.values():
        assert all(re.fullmatch(kind, entry) for kind, entry in zip(kinds, row, strict=True)), row


def test_the_table_names_the_functions():
    text = PAGE.read_text(encoding="utf-8").partition(HEADING)[2].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", text))
    used = {m.value.__name__ for x in MEASURES.values() for m in x if m.value.__name__ in PUBLIC}
    assert used <= named <= set(PUBLIC)
    others = {"conditional_impact", "expected_cost", "f_score", "outcome_impact", "roc_auc"}
    assert named - used == others


# 1. monotone

CONDITIONS: dict[str, Callable[[np.ndarray, Setting], Any]] = {
    "tp > 0": lambda cells, _: cells[TP] > 0,
    "no cell is empty": lambda cells, _: cells.min(axis=0) > 0,
    "all impacts have one sign": lambda _, impacts: min(impacts) * max(impacts) > 0,
    "i_tp > i_fp": lambda _, impacts: impacts[TP] > impacts[FP],
    "i_tn > i_fn": lambda _, impacts: impacts[TN] > impacts[FN],
}


OF_CELLS = ("tp > 0", "no cell is empty")


def conditions(name: str) -> list[str]:
    return ENTRIES[name][0].removeprefix("yes, if ").split(" and ")


def holds(condition: str, cells: np.ndarray, setting: Setting) -> np.ndarray:
    return np.broadcast_to(CONDITIONS[condition](cells, setting), cells.shape[1:])


class Moved(NamedTuple):
    """All moves of one example on all tables, under one setting."""

    cells: np.ndarray
    better: np.ndarray
    worse: np.ndarray


def moves(measure: Measure, setting: Setting, amount: float = 1.0) -> Iterator[Moved]:
    for wrong, right in MOVES:
        before = CELLS[:, CELLS[wrong] >= amount]
        after = before.copy()
        after[wrong] -= amount
        after[right] += amount
        values = measure(before, setting), measure(after, setting)
        defined = ~np.isnan(values[0]) & ~np.isnan(values[1])
        a, b = (x[defined] for x in values)
        yield Moved(before[:, defined], b > a + CLEAR, b < a - CLEAR)


@of_kind(1, "yes")
@pytest.mark.parametrize("amount", [1.0, 0.25])
def test_monotone(name: str, amount: float):
    for measure, setting in each(name):
        for moved in moves(measure, setting, amount):
            assert moved.better.size > 100
            assert moved.better.all(), (name, setting)


@pytest.mark.full
@of_kind(1, r"yes, if .+")
def test_monotone_under_conditions(name: str):
    """Where they are met every move is better."""
    seen = 0
    for measure, setting in each(name):
        for moved in moves(measure, setting):
            met = np.all([holds(x, moved.cells, setting) for x in conditions(name)], axis=0)
            assert moved.better[met].all(), (name, setting)
            seen += met.sum()
    assert seen > 100


def without(condition: str, name: str) -> Iterator[tuple[Setting, np.ndarray, np.ndarray]]:
    """Settings and tables at which all conditions but one are met, and which moves are better."""
    others = [x for x in conditions(name) if x != condition]
    for measure, setting in each(name):
        for cells, better, _ in moves(measure, setting, 0.25):
            there = ~holds(condition, cells, setting)
            for other in others:
                there = there & holds(other, cells, setting)
            yield setting, cells[:, there], better[there]


@pytest.mark.full
@of_kind(1, r"yes, if .+")
def test_conditions_are_needed(name: str):
    """If only one is not met, some move is not better: of every table with one empty cell where it
    speaks of cells, under every setting where it speaks of impacts.
    """
    for condition in conditions(name):
        unmet, failing = set(), set()
        for setting, cells, better in without(condition, name):
            if condition in OF_CELLS:
                one = (cells == 0).sum(axis=0) == 1
                unmet |= {(*map(int, x),) for x in cells[:, one].T}
                failing |= {(*map(int, x),) for x in cells[:, one & ~better].T}
            elif better.size:
                unmet.add(setting)
                failing |= set() if better.all() else {setting}
        assert unmet
        assert unmet == failing, condition


def test_not_monotone_information():
    """A right decision more, no cell empty before or after, and less information."""
    names = [name for name, row in ENTRIES.items() if row[0] == "no"]
    assert names == ["AUC", "mutual information, IC"]
    for measure, setting in each("mutual information, IC"):
        for moved in moves(measure, setting):
            assert (moved.worse & (moved.cells.min(axis=0) >= 2)).any()


def test_not_monotone_auc():
    """A positive example crosses the boundary, and the ranking stays the same."""
    boundary, labels = 3, [1, 1, 0]
    before, after = [4, 2, 1], [4, 3, 1]
    tables = [qk.confusion_table(labels, s, threshold=boundary) for s in (before, after)]
    assert [(*map(int, t),) for t in tables] == [(1, 0, 1, 1), (2, 0, 0, 1)]
    assert qk.roc_auc(labels, before) == qk.roc_auc(labels, after)


# 2. free of the class ratio


def other_ratios() -> Iterator[np.ndarray]:
    """The same rates with more negatives, or more positives."""
    for factor in (2, 5):
        yield CELLS * np.asarray([1, factor, 1, factor])[:, None]
        yield CELLS * np.asarray([factor, 1, factor, 1])[:, None]


@of_kind(2, "yes")
def test_free_of_the_class_ratio(name: str):
    for measure, setting in each(name):
        values = measure(CELLS, setting)
        assert np.isfinite(values).sum() > 100
        for other in other_ratios():
            assert near(measure(other, setting), values), (name, setting)


def test_auc_of_whole_rankings_is_free_of_the_class_ratio():
    dice = np.random.default_rng(4)
    labels, scores = np.arange(12) % 3 == 0, dice.integers(0, 6, (200, 12))
    weighted = qk.roc_auc(labels, scores, sample_weight=np.where(labels, 1.0, 7.0))
    assert near(weighted, qk.roc_auc(labels, scores))


@pytest.mark.full
@of_kind(2, "by tuning")
def test_tuned_to_the_class_ratio(name: str):
    """On a table without an empty cell the raw value changes; the tuned one never does."""
    inside = CELLS.min(axis=0) > 0
    for measure in MEASURES[name]:
        changed = False
        for setting in measure.settings:
            tuned = measure(qk.tables.tune_ratio(ConfusionTable(*CELLS), 0.25), setting)
            own = measure(CELLS, setting)
            for other in other_ratios():
                again = measure(qk.tables.tune_ratio(ConfusionTable(*other), 0.25), setting)
                poles = name == "base ratio"  # its denominator may vanish but for rounding
                real = np.abs(tuned) < 1e6 if poles else np.ones_like(inside)
                assert near(again[real], tuned[real]), (name, setting)
                changed |= bool((np.abs(measure(other, setting) - own) > CLEAR)[inside].any())
        assert changed


# 3. open to unequal impacts


@of_kind(3, "yes")
def test_each_impact_counts(name: str):
    """On every table without an empty cell, for one of the row's measures at least."""
    cells, setting = CELLS[:, CELLS.min(axis=0) > 0], (3.0, 0.5, 1.0, 2.0)
    for cell in range(4):
        other = tuple(x + (k == cell) for k, x in enumerate(setting))
        changed = [np.abs(m(cells, other) - m(cells, setting)) > CLEAR for m in MEASURES[name]]
        assert np.any(changed, axis=0).all(), cell


@of_kind(3, "no")
def test_deaf_to_impacts(name: str):
    """Of two tables of the same classes it prefers one, however it is set; some user the other."""
    positives, negatives = 4, 4
    cells = np.asarray(
        [(t, f, positives - t, negatives - f) for t in range(1, 4) for f in range(1, 4)], float
    ).T
    worth = [np.asarray(impact(ConfusionTable(*cells), *setting)) for setting in PAYING]
    for measure in MEASURES[name]:
        assert not any(measure.settings is impacts for impacts in (PAYING, WEIGHTS))
        values = np.stack([measure(cells, setting) for setting in measure.settings])
        prefers = (values[:, :, None] > values[:, None, :] + CLEAR).all(axis=0)
        against = np.any([w[:, None] < w[None, :] - CLEAR for w in worth], axis=0)
        assert (prefers & against).any()


@of_kind(3, "by tuning")
def test_costs_are_differences_of_impacts(name: str):
    assert name == "expected cost"
    tp, fp, fn, tn = CELLS
    for i_tp, i_fp, i_fn, i_tn in PAYING:
        lost = cost(ConfusionTable(*CELLS), i_tn - i_fp, i_tp - i_fn)
        perfect = (i_tp * (tp + fn) + i_tn * (fp + tn)) / CELLS.sum(axis=0)
        assert near(impact(ConfusionTable(*CELLS), i_tp, i_fp, i_fn, i_tn), perfect - lost)


# 4. in the user's unit


@of_kind(4, "yes")
def test_in_the_unit_of_the_impacts(name: str):
    for measure, setting in each(name):
        value = measure(CELLS, setting)
        assert np.isfinite(value).sum() > 100
        assert near(measure(CELLS, tuple(100 * x for x in setting)), 100 * value)
        assert near(measure(CELLS, tuple(x + 7 for x in setting)), value + 7)
        losses = measure(CELLS, tuple(x - max(setting) - 0.1 for x in setting))
        assert (losses[~np.isnan(losses)] < 0).all()


@of_kind(4, "no")
def test_not_in_the_unit_of_the_impacts(name: str):
    """It is above 0, or for the AUC above 1/2, where the decisions bring a loss."""
    neutral = 0.5 if name == "AUC" else 0.0
    inside = CELLS[:, CELLS.min(axis=0) > 0]
    losing = {user: impact(ConfusionTable(*inside), *user) < -CLEAR for user in PAYING}
    for measure in MEASURES[name]:
        takes_impacts = measure.settings is WEIGHTS
        for setting in NOTHING if takes_impacts else measure.settings:
            misled = [
                (
                    measure.sign * measure(inside, user if takes_impacts else setting)
                    > neutral + CLEAR
                )
                & losing[user]
                for user in PAYING
            ]
            assert np.any(misled)


def test_a_base_ratio_has_no_unit():
    table = ConfusionTable(*CELLS[:, CELLS.min(axis=0) > 0])
    for setting in PAYING:
        fours = base_ratio(table, *(4 * x for x in setting))
        np.testing.assert_array_equal(base_ratio(table, *setting), fours)


@of_kind(4, "by tuning")
def test_costs_with_the_sign_turned(name: str):
    assert name == "expected cost"
    for fp, fn in COSTS:
        found = cost(ConfusionTable(*CELLS), fp, fn)
        assert near(-found, impact(ConfusionTable(*CELLS), 0, -fp, -fn, 0))
        assert (found >= 0).all()


def test_differences_of_the_two_impacts():
    """n times that of ι_I is what is brought more; ι_σ may prefer what brings less."""
    tp, fp, fn, tn = CELLS
    even = CELLS[:, (tp + fn == 4) & (fp + tn == 4)]
    setting = (3.0, -2.0, -0.5, 1.0)
    mean = impact(ConfusionTable(*even), *setting)
    brought = np.asarray(setting) @ even
    assert near(8 * (mean[:, None] - mean), brought[:, None] - brought)
    balanced = np.asarray(MEASURES["ι_σ"][0](even, setting))
    higher = balanced[:, None] > balanced[None, :] + CLEAR
    assert (higher & (mean[:, None] < mean[None, :] - CLEAR)).any()


# the table of Eiland & Liebrock's criteria in docs/criteria.md, entry by entry


EL_HEADING = (
    "| measure | category importance | pdf sensitivity | output basis | appropriate value |"
)
OF_EL = entries(EL_HEADING, 1)
INSIDE = CELLS[:, CELLS.min(axis=0) > 0]
TYPICAL: dict[int, tuple[float, ...]] = {0: (), 1: (2.0,), 2: (0.5, 4.0), 4: (3.0, 0.5, 1.0, 2.0)}
"""A setting by its length: β, two costs, four impacts."""


def names(column: int, pattern: str) -> Any:
    found = [name for name, row in OF_EL.items() if re.fullmatch(pattern, row[column - 1])]
    assert found
    return pytest.mark.parametrize("name", found)


def value(measure: Measure, cells: np.ndarray) -> np.ndarray:
    return measure(cells, TYPICAL[len(measure.settings[0])])


def test_the_table_has_our_measures_and_every_entry_is_tested():
    assert OF_EL.keys() == MEASURES.keys() - {"ι_Z, ι_Z̄"}
    kinds = [
        "yes|no|not ι_T₋|errors only",
        "yes|no|not t₋|not ratio₊",
        "yes|no|by parts|normalised",
        "yes|no|as a cost",
    ]
    for row in OF_EL.values():
        assert all(re.fullmatch(kind, entry) for kind, entry in zip(kinds, row, strict=True)), row


# category importance


@names(1, "yes")
def test_every_impact_counts(name: str):
    impacts = TYPICAL[4]
    for cell in range(4):
        changed = tuple(x + (k == cell) for k, x in enumerate(impacts))
        for measure in MEASURES[name]:
            assert (np.abs(measure(INSIDE, changed) - measure(INSIDE, impacts)) > CLEAR).all()


@names(1, "no")
def test_no_impact_is_taken(name: str):
    assert all(measure.settings is NOTHING for measure in MEASURES[name])


@names(1, "not ι_T₋")
def test_f_is_a_base_ratio_without_true_negatives(name: str):
    (measure,) = MEASURES[name]
    for (beta,) in BETAS:
        impacts = (1 + beta**2, 1, beta**2, 0)
        ratio = qk.tables.base_ratio(ConfusionTable(*INSIDE), impacts=impacts)
        assert near(measure(INSIDE, (beta,)), ratio)


@names(1, "errors only")
def test_costs_are_impacts_of_errors(name: str):
    (measure,) = MEASURES[name]
    fp, fn = TYPICAL[2]
    impacts = qk.tables.impact(ConfusionTable(*INSIDE), impacts=(0, -fp, -fn, 0))
    assert near(value(measure, INSIDE), impacts.whole)


# pdf sensitivity


def changes(measure: Measure, after: np.ndarray) -> float:
    """The share of tables at which the value changes."""
    return float((np.abs(value(measure, after) - value(measure, INSIDE)) > CLEAR).mean())


def of_cells(measure: Measure) -> list[float]:
    """How often it changes with one example more in each cell alone."""
    return [changes(measure, INSIDE + np.eye(4)[:, [cell]]) for cell in range(4)]


def of_ratio(measure: Measure) -> float:
    """How often it changes with twice as many negatives, at the same rates."""
    return changes(measure, INSIDE * np.asarray([1, 2, 1, 2])[:, None])


@names(2, "yes|not ratio₊|not t₋")
def test_value_moves_with_cells_and_the_class_ratio(name: str):
    entry = OF_EL[name][1]
    for measure in MEASURES[name]:
        *others, negatives = of_cells(measure)
        assert min(others) > 0.75
        assert negatives == 0 if entry == "not t₋" else negatives > 0.75
        ratio = of_ratio(measure)
        assert ratio == 0 if entry == "not ratio₊" else ratio > 0.75


@names(2, "no")
def test_auc_has_no_boundary(name: str):
    assert name == "AUC"


# output basis


def by_output(cells: np.ndarray) -> np.ndarray:
    """EL eq. 2: t₊/|Z|, f₊/|Z|, f₋/|Z̄|, t₋/|Z̄|."""
    tp, fp, fn, tn = cells
    return np.stack([tp / (tp + fp), fp / (tp + fp), fn / (fn + tn), tn / (fn + tn)])


def is_same_by_output(measure: Measure) -> bool:
    return near(value(measure, by_output(INSIDE)), value(measure, INSIDE))


def is_sum_of_parts(measure: Measure) -> bool:
    """EL eq. 6, with the values of the selected and of the rejected alone."""
    selected = INSIDE * np.asarray([1, 1, 0, 0])[:, None]
    bias = qk.tables.bias(ConfusionTable(*INSIDE))
    parts = value(measure, selected), value(measure, INSIDE - selected)
    return near(bias * parts[0] + (1 - bias) * parts[1], value(measure, INSIDE))


@names(3, ".*")
def test_output_basis(name: str):
    entry = OF_EL[name][2]
    for measure in MEASURES[name]:
        assert is_same_by_output(measure) == (entry == "yes")
        assert is_sum_of_parts(measure) == (entry == "by parts")


@names(3, "normalised")
def test_mean_of_outputs_is_conditional_on_normalised_cells(name: str):
    (measure,), (conditional,) = MEASURES[name], MEASURES["conditional impact"]
    cells = np.stack(qk.tables.normalize_table(ConfusionTable(*INSIDE)))
    assert near(value(measure, INSIDE), value(conditional, cells))
    assert near(value(measure, INSIDE), value(conditional, by_output(cells)))


# appropriate value


def test_appropriate_values_are_those_in_the_unit_of_the_impacts():
    """As tests/house/test_criteria.py shows them for the fourth of our own criteria."""
    same = {"yes": "yes", "no": "no", "as a cost": "by tuning"}
    for name, row in OF_EL.items():
        assert same[row[3]] == ENTRIES[name][3]
