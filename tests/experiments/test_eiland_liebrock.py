"""What the page on Eiland & Liebrock shows, and what it says of the tables and the simulation."""

from __future__ import annotations

import math

import _pages
import eiland_liebrock as el
import numpy as np
import pytest

import quotakernels as qk

SIMULATED = ("optima", "outcome optima")


@pytest.mark.parametrize("name", el.SECTIONS)
def test_page_shows_what_the_script_makes(name: str):
    if name in SIMULATED:
        pytest.importorskip("scipy")
    text = (_pages.HERE / el.PAGE).read_text(encoding="utf-8")
    assert _pages.section(text, name) == el.SECTIONS[name]()


@pytest.mark.parametrize("name", el.TESTS)
def test_printed_table_7_has_tn_for_fn(name: str):
    tpr, fpr = el.TESTS[name]
    found = qk.tables.confusion_table_from_rates(tpr=tpr, fpr=fpr, prevalence=0.5)
    slip = [f"{value:.1f}" for value in el.exchanged(found, el.DOLLARS)]
    assert tuple(slip) == el.PRINTED_7[name]


def test_the_slip_matters_less_for_the_loans():
    """By .08 to .20; and no cut of the tree costs less than to refuse everybody."""
    shown = [row.strip("| ").split(" | ") for row in el.loans().replace("−", "-").splitlines()[2:]]
    changes = [abs(float(a) - float(b)) for row in shown[1:] for a, b in (row[6:8], row[8:10])]
    assert 0.08 <= min(changes) < max(changes) < 0.21
    tree = el.loan_rankings()["tree"]
    costs = qk.expected_cost(
        qk.tables.cut_tables(tree, ratio=el.GOOD_TO_BAD).table, cost_fp=5, cost_fn=1
    )
    assert costs.min() == pytest.approx(0.7)
    assert shown[0][4] == "-0.700"


def test_columns_of_table_9_differ_little():
    rows = [row.strip("| ").split(" | ") for row in el.costs().splitlines()[2:]]
    differences = [float(row[4]) - float(row[3]) for row in rows]
    assert 0.0025 < min(differences) < max(differences) < 0.0055


def test_cases_differ_as_their_names_say():
    odds = {name: case.odds() for name, case in el.CASES.items()}
    assert odds["A"] == odds["B"] == 1
    assert odds["C"] > 1 > odds["D"]
    assert min(el.CASES["E"].impacts) == 0 == max(el.CASES["G"].impacts)
    assert len(set(odds.values())) == len(odds) - 1


@pytest.mark.parametrize("ratio", el.CLASS_RATIOS)
def test_best_boundaries_are_where_theory_has_them(ratio: float):
    """Scores are 20 000 quantiles, so that a flat optimum is found to about .005."""
    pytest.importorskip("scipy")
    found = [*el.f_optima(ratio), *el.other_optima(ratio), *el.impact_optima(ratio)]
    known = [one for one in found if not math.isnan(one.theory)]
    assert len(known) == len(found) - 2
    for one in known:
        assert one.boundary == pytest.approx(one.theory, abs=0.01), one.name
    losses = {one.name[-1] for one in found if one.value < 0}
    assert losses == {"B", "G"}


def test_boundary_at_is_where_the_odds_are_these():
    """By the densities themselves, up to the constant that both share."""
    a, b = el.SHAPE
    for odds, ratio in ((1, 1), (3, 0.1), (0.2, 1)):
        s = el.boundary_at(odds, ratio)
        positive, negative = (s ** (b - 1) * (1 - s) ** (a - 1), s ** (a - 1) * (1 - s) ** (b - 1))
        assert ratio * positive / negative == pytest.approx(odds)


def test_case_f_selects_one_example_by_the_mean_of_outputs():
    pytest.importorskip("scipy")
    ranking, impacts = el.simulated(1.0), el.CASES["F"].impacts
    best = qk.best_boundary(ranking, impacts=impacts, kind="outcome")
    assert (best.value, best.quota) == (0.5, 1)
    table = qk.confusion_table(ranking, threshold=best.threshold)
    assert 0 < qk.tables.impact(table, impacts=impacts).whole < 1e-4


def test_scores_are_quantiles_of_beta_and_its_mirror_image():
    stats = pytest.importorskip("scipy.stats")
    ranking = el.simulated(1.0)
    scores = np.sort(ranking.thresholds)
    middle = stats.beta.cdf(scores, *el.SHAPE) + 1 - stats.beta.cdf(1 - scores, *el.SHAPE)
    np.testing.assert_allclose(middle / 2, (np.arange(scores.size) + 0.5) / scores.size, atol=1e-4)
