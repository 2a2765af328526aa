"""What the page on Eiland & Liebrock shows, and what it says of the tables and the simulation."""

from __future__ import annotations

import math

import _pages
import eiland_liebrock as el
import eiland_liebrock_sensitivity as sensitivity
import eiland_liebrock_tables as printed
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


# Tables 6 to 8


@pytest.mark.parametrize("test", printed.TESTS.values(), ids=printed.TESTS)
def test_printed_impacts_of_the_tests_have_tn_for_fn(test: printed.BloodTest):
    slip = [f"{value:.1f}" for value in printed.exchanged(test.table(), printed.DOLLARS)]
    assert tuple(slip) == test.printed[1:]
    selected = qk.tables.outcome_impact(test.table(), impacts=printed.DOLLARS).selected
    assert selected == pytest.approx(float(test.printed[0]), abs=0.05)


def test_the_tests_differ_by_490_dollars():
    found = [test.table() for test in printed.TESTS.values()]
    means = [qk.tables.outcome_impact(one, impacts=printed.DOLLARS).mean for one in found]
    assert means[0] - means[1] == pytest.approx(0.49, abs=0.005)
    first, second = (test.printed[2] for test in printed.TESTS.values())
    assert float(first) - float(second) == pytest.approx(0.4)


def test_ends_of_the_intervals_are_the_extremes():
    """No rates within the intervals of Table 7 give more or less."""
    for test in printed.TESTS.values():
        (_, few, many), (_, rare, frequent) = test.sensitivity, test.false_positives
        tpr, fpr = np.meshgrid(np.linspace(few, many, 9), np.linspace(rare, frequent, 9))
        within = qk.tables.confusion_table_from_rates(tpr=tpr, fpr=fpr, prevalence=0.5)
        values = qk.tables.outcome_impact(within, impacts=printed.DOLLARS).selected
        ends = printed.interval_of_selected(test)
        assert (values.min(), values.max()) == pytest.approx(ends, rel=1e-12)


def test_intervals_are_not_those_printed():
    (low, high), factor = map(printed.interval_of_selected, printed.TESTS.values())
    assert (f"{low:.2f}", f"{high:.2f}") == ("-0.67", "-0.44")
    assert [f"{value:.1f}" for value in factor] == ["-1.5", "-1.3"]
    said = [" ".join(test.interval) for test in printed.TESTS.values()]
    assert said == ["-0.56 -0.44", "-1.6 -1.3"]
    rare, frequent = printed.TESTS["anti-CCP"].false_positives[1:]
    assert (round(1 - frequent, 2), round(1 - rare, 2)) == (0.94, 0.96) != (0.94, 0.95)


# Table 9


@pytest.mark.parametrize("name", printed.PRINTED_9)
def test_table_9_is_of_these_rates(name: str):
    """The rates come from the columns 1 and 2.5; the third column is of 2.06, 2.1 when rounded."""
    found = printed.loan_table(name)
    assert np.all((np.asarray(found) > 0) & (np.asarray(found) < 0.5))
    values = printed.impact_of_loans(found, printed.RATIOS)
    misprinted = {1, 2} if name == "GP_p" else set()
    for k, (value, own) in enumerate(zip(printed.PRINTED_9[name][1], values, strict=True)):
        assert (abs(own - value) <= 1e-4) == (k not in misprinted)
    assert abs(printed.impact_of_loans(found, 2.1) - printed.PRINTED_9[name][1][2]) > 2e-3
    if name == "WOE":
        assert values.round(4).tolist() == [0.3484, 0.4223, 0.4764, 0.5068]
    if name == "GP_p":
        assert values.round(4).tolist() == [0.4315, 0.5222, 0.5886, 0.6259]


def test_the_printed_cost_of_woe_alone_is_far_from_that_of_its_impacts():
    far = {
        name: abs(printed.cost_of_loans(printed.loan_table(name)) - cost)
        for name, (cost, _) in printed.PRINTED_9.items()
    }
    assert far.pop("WOE") > 0.18
    assert max(far.values()) < 0.008


def test_gp_t_brings_most_of_what_perfect_decisions_bring():
    found = printed.loan_table("GP_t")
    shares = [printed.share_of_perfect(found, ratio) for ratio in (1.5, 2.5)]
    assert [round(100 * share) for share in shares] == [93, 94]
    assert [round(100 * printed.PRINTED_9["GP_t"][1][k]) for k in (1, 3)] == [56, 67]


# the simulation


def test_cases_have_the_largest_impacts_that_their_names_say():
    names = ("T₊", "F₊", "F₋", "T₋")
    for case in el.CASES.values():
        sizes = [abs(impact) for impact in case.impacts]
        largest = [n for n, size in zip(names, sizes, strict=True) if size == max(sizes)]
        assert case.largest == ("none" if len(largest) == 4 else ", ".join(largest))
        signs = [math.copysign(1, impact) for impact in case.impacts]
        assert signs == [1, -1, -1, 1]


def test_cases_with_the_same_odds_have_the_same_boundary():
    """By ι_I those of C, D, E, G; by ι_σ those of A, B and of C, D, F, G."""
    dice = np.random.default_rng(5)
    labels, scores = dice.integers(0, 2, 60), dice.integers(0, 30, 60)
    ranking = qk.rank(labels, scores)
    for kind, groups in (("impact", ("CDEG",)), ("outcome", ("AB", "CDFG"))):
        for group in groups:
            best = [
                qk.best_boundary(ranking, impacts=el.CASES[name].impacts, kind=kind)
                for name in group
            ]
            assert len({float(one.threshold) for one in best}) == 1
            assert all((one.optima == best[0].optima).all() for one in best)


@pytest.mark.parametrize("ratio", el.CLASS_RATIOS)
def test_curves_of_c_d_and_e_differ_by_a_constant(ratio: float):
    tables = qk.tables.cut_tables([1, 0, 1, 1, 0], [5, 4, 3, 2, 1], ratio=ratio).table
    c, d, e, g = (qk.tables.impact(tables, impacts=el.CASES[name].impacts).whole for name in "CDEG")
    assert max(np.ptp(c - d), np.ptp(c - e)) < 1e-12 < np.ptp(c - g)
    np.testing.assert_allclose(g, 2 * qk.accuracy(tables) - 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ratio", el.CLASS_RATIOS)
def test_best_boundaries_are_where_theory_has_them(ratio: float):
    """Scores are 20 000 quantiles, so that a flat optimum is found to about .005."""
    pytest.importorskip("scipy")
    found = [*el.f_optima(ratio), *el.other_optima(ratio), *el.impact_optima(ratio)]
    known = [one for one in found if not math.isnan(one.theory)]
    assert len(known) == len(found) - 2
    for one in known:
        assert one.boundary == pytest.approx(one.theory, abs=0.01), one.name


def test_boundary_at_is_where_the_odds_are_these():
    """By the densities themselves, up to the constant that both share."""
    a, b = el.SHAPE
    for odds, ratio in ((1, 1), (3, 0.1), (0.2, 1)):
        s = el.boundary_at(odds, ratio)
        positive, negative = (s ** (b - 1) * (1 - s) ** (a - 1), s ** (a - 1) * (1 - s) ** (b - 1))
        assert ratio * positive / negative == pytest.approx(odds)


def test_the_mean_of_outputs_selects_fewer_where_the_page_says_so():
    pytest.importorskip("scipy")
    pairs = zip(el.outcome_best(1.0), el.impact_optima(1.0), strict=True)
    fewer = [mean.name for mean, whole in pairs if mean.boundary > whole.boundary + 0.01]
    assert fewer == ["A", "B", "E", "F"]


def test_scores_are_quantiles_of_beta_and_its_mirror_image():
    stats = pytest.importorskip("scipy.stats")
    ranking = el.simulated(1.0)
    scores = np.sort(ranking.thresholds)
    middle = stats.beta.cdf(scores, *el.SHAPE) + 1 - stats.beta.cdf(1 - scores, *el.SHAPE)
    np.testing.assert_allclose(middle / 2, (np.arange(scores.size) + 0.5) / scores.size, atol=1e-4)


# the sensitivity of B*


def test_best_boundaries_move_as_the_page_says():
    staying, moving = (sensitivity.best(model) for model in sensitivity.MODELS)
    assert [x.quota for x in staying] == [87] * 4
    assert [x.quota for x in moving] == [6, 93, 93, 160]
    balanced = np.argmax(moving[0].optima)
    lost = [x.value - x.curve.value[balanced] for x in moving]
    assert np.round(lost, 3).tolist() == [0, 0.012, 0.071, 0.103]


def test_best_boundaries_are_those_of_tables_tuned_one_by_one():
    for model in sensitivity.MODELS:
        ranking, found = sensitivity.loans(model), sensitivity.best(model)
        for best, ratio in zip(found, printed.PRINTED_RATIOS, strict=True):
            tuned = qk.tables.cut_tables(ranking, ratio=ratio)
            values = qk.tables.impact(tuned.table, impacts=sensitivity.IMPACTS).whole
            np.testing.assert_allclose(best.value, values.max(), rtol=1e-12)
