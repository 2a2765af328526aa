"""What docs/errata.md says is right, and that it says where something is only stated.

AR is Arbel & Rokach, DG Davis & Goadrich, PW Powers, EL Eiland & Liebrock, as on the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import arbel_rokach_printed as printed
import exact as ex
import pytest
import uci
from exact import charts, confusion, impact
from exact.small_tables import rankings, tables

import quotakernels as qk

F = Fraction
TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "errata.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^- \*\*(.+?)\.?\*\*(.*?)(?=^- |^$)", re.MULTILINE | re.DOTALL)
AR = "experiments/test_arbel_rokach.py"
EL = "experiments/test_eiland_liebrock.py"
ELSEWHERE = {
    "Average Qrecall": f"{AR}::test_average_qrecall_as_printed_is_not_that_of_eq_13",
    "Ties": f"{AR}::test_tables_8_and_9",
    "Section 7.2, cases": f"{EL}::test_cases_with_the_same_odds_have_the_same_boundary",
    "Section 7.4, share of perfect": f"{EL}::test_gp_t_brings_most_of_what_perfect_decisions_bring",
    "Tables 6(b) and 8, intervals": f"{EL}::test_intervals_are_not_those_printed",
    "Table 7(a), intervals": f"{EL}::test_intervals_are_not_those_printed",
    "Table 9, GP_p": f"{EL}::test_table_9_is_of_these_rates",
    "Table 9, WOE": f"{EL}::test_the_printed_cost_of_woe_alone_is_far_from_that_of_its_impacts",
}
"""Entries that other tests verify."""
CHECKED: list[str] = []

FULL = list(tables(3, 1))
IMPACTS = (0, F("-7.9"), -13, 0)
ANTI_CCP = confusion.table_from_rates(F(1, 2), F(".67"), F(".05"))
RF = confusion.table_from_rates(F(1, 2), F(".69"), F(".15"))


def verifies(*entries: str) -> Callable[[Any], Any]:
    """The test below shows what these entries of the page say is right."""
    CHECKED.extend(entries)
    return lambda test: test


def rounded(values: Any, digits: int = 3) -> list[float]:
    return [round(float(value), digits) for value in values]


# AR


def test_second_form_of_pem_is_the_ratio_of_areas():
    for ranking in rankings(4):
        n, positives = ex.total_weight(ranking), ex.total_positive_weight(ranking)
        total = sum(ex.qrecall(ranking, j) for j in range(1, int(n) + 1))
        s1, s2, s3 = ex.pem_areas(ranking, method="sum")
        assert (total - (n + 1) / 2) / ((n - positives) / 2) == (s1 - s2) / s3 == ex.pem(ranking)


@verifies("Eq. 2 and section 2.2.3")
def test_hit_rate_is_precision_below_the_score_only():
    labels, scores = [1, 0, 1, 1, 0], [0.9, 0.75, 0.5, 0.25, 0.125]
    ranking = qk.rank(labels, scores)
    for j, (above, below) in enumerate(pairwise([*scores, 0.0]), start=1):
        inside = qk.precision(ranking, threshold=[below, (below + above) / 2], inclusive=False)
        assert inside.tolist() == [qk.hit_rate(ranking, quota=j)] * 2
        at = qk.confusion_table(ranking, threshold=above, inclusive=False)
        assert at.tp + at.fp == j - 1


@verifies("Type 1 and Type 2 errors")
def test_the_paper_s_alpha_is_the_share_of_missed_positives():
    """AR eq. 16: α = 1 - recall, of false negatives, which are errors of type II elsewhere."""
    for t in FULL:
        assert 1 - confusion.recall(t) == t.fn / (t.tp + t.fn) == confusion.false_negative_rate(t)


# AR: Tables 8 and 9

BINARY = {x.data_set for x in printed.ROWS if x.classes == 2}


def column(measure: str, classifier: str, table: str = "9") -> dict[str, float]:
    """A measure of one classifier in one of the tables, by data set."""
    rows = (x for x in printed.ROWS if (x.table, x.classifier) == (table, classifier))
    return {x.data_set: float(x.cells[measure]) for x in rows}


def best(measure: str, data_set: str, table: str = "9") -> set[str]:
    """Which classifiers have the largest printed value."""
    values = {name: column(measure, name, table)[data_set] for name in printed.CLASSIFIERS}
    return {name for name, value in values.items() if value == max(values.values())}


@verifies("C4.5")
def test_printed_pem_of_c45_averages_to_that_of_the_printed_auc():
    smallest, largest = (column("pem", "C4.5", table) for table in ("8", "9"))
    auc = column("auc", "C4.5")
    assert len(BINARY) == 12
    for name in BINARY:
        assert (smallest[name] + largest[name]) / 2 == pytest.approx(2 * auc[name] - 1, abs=1e-3)
    assert {name for name in BINARY if smallest[name] == largest[name]} == {"MUSH"}
    quoted = re.findall(r'^ +"(.+)": \((\S+), (\S+), (\S+)\),$', PAGE, re.MULTILINE)
    assert {name: tuple(map(float, values)) for name, *values in quoted} == {
        name: (smallest[name], largest[name], auc[name]) for name in BINARY
    }


@verifies("Average Qrecall of 1")
def test_average_qrecall_of_one_forgives_one_negative():
    pairs = [[float(x.cells[k]) for k in ("average_qrecall", "auc")] for x in printed.ROWS]
    assert sum(average == 1 and auc < 1 for average, auc in pairs) == 5
    for ranking in rankings(4):
        positives, auc = int(ex.total_positive_weight(ranking)), ex.roc_auc(ranking)
        assert (ex.average_qrecall(ranking) == 1) == (auc == 1)
        late = ex.average_qrecall(ranking, "P+1") == 1
        assert late == (ex.qrecall(ranking, positives + 1) == 1)
    assert qk.average_qrecall([1, 0, 1, 0], [4, 3, 2, 1], start="P+1") == 1


@verifies("OPTIC, NN", "PEM is more sensitive")
def test_pem_and_auc_of_one_ranking_agree():
    assert all(ex.pem(ranking) == 2 * ex.roc_auc(ranking) - 1 for ranking in rankings(4))
    apart = column("pem", "NN")["OPTIC"] - (2 * column("auc", "NN")["OPTIC"] - 1)
    assert apart == pytest.approx(0.9621 - 0.926)


@verifies("Breast cancer, NN")
def test_pem_of_breast_cancer_has_another_auc():
    auc, largest = column("auc", "NN")["Breast .Ca"], column("pem", "NN")["Breast .Ca"]
    smallest_at_most = column("pem", "NB", "8")["Breast .Ca"]
    assert (auc, largest, smallest_at_most) == (0.676, 0.326, 0.351)
    assert (1 + (largest + smallest_at_most) / 2) / 2 < 0.67 < auc


@verifies("Monks2, NB")
def test_pem_of_monks2_has_lost_its_sign():
    for table in ("8", "9"):
        auc, pem = (column(name, "NB", table)["Monks2"] for name in ("auc", "pem"))
        assert (auc, pem) == (0.4878, 0.0244)
        assert 2 * auc - 1 == pytest.approx(-pem)


@verifies("Monks3")
def test_average_qrecall_and_pem_choose_one_classifier_for_monks3():
    for name in ("Aust Cred", "Audiology"):
        assert best("average_qrecall", name).isdisjoint(best("pem", name))
    assert best("average_qrecall", "Monks3") == best("pem", "Monks3") == {"C4.5"}


@verifies("Lung cancer")
def test_rows_of_lung_cancer_have_few_positives():
    """Average hit rate and Qrecall of all rankings of 10 to 12 rows, without ties."""
    found: dict[str, set[tuple[int, int]]] = {"8": set(), "9": set()}
    wanted = {
        table: [x.cells for x in printed.ROWS if (x.table, x.data_set) == (table, "Lung Ca.")]
        for table in found
    }
    for n, positives in ((rows, p) for rows in (10, 11, 12) for p in range(1, rows)):
        pairs = set()
        for places in combinations(range(1, n + 1), positives):
            hit_rate = sum(F(i, place) for i, place in enumerate(places, start=1)) / positives
            late = sum(n - max(place, positives + 1) + 1 for place in places)
            pairs.add((hit_rate, F(late, positives * (n - positives))))
        for table, rows in wanted.items():
            names = ("average_hitrate", "average_qrecall")
            if all(
                any(all(map(printed.matches, map(row.__getitem__, names), pair)) for pair in pairs)
                for row in rows
            ):
                found[table].add((n, positives))
    assert found == {"8": {(11, 4)}, "9": {(11, 3)}}


@verifies("Vote")
def test_printed_size_of_vote_is_that_of_its_training_rows():
    size = {x.instances for x in printed.ROWS if x.data_set == "Vote"}
    assert size == {uci.SOURCES["vote"].rows * 2 // 3} == {290}


# DG


@verifies("Candidate thresholds")
def test_where_the_class_changes_is_not_where_the_curve_bends():
    """Score 2 has both classes; the rule sees its end only if the positive example comes last."""
    scores = [2, 2, 1]
    for labels, kept in (([1, 0, 0], False), ([0, 1, 0], True)):
        changes = [
            s for (s, y), (t, z) in pairwise(zip(scores, labels, strict=True)) if y != z and s > t
        ]
        assert (2 in changes) == kept
        assert qk.roc_curve(labels, scores).threshold[1:].tolist() == [2, 1]
    hull = ex.roc_hull(ex.groups([1, 0, 0], scores))
    assert [(v.fp, v.tp) for v in hull] == [(0, 0), (1, 1), (2, 1)]


@verifies("Figure 6")
def test_printed_area_of_figure_6_is_a_sum_of_left_rectangles():
    points = ex.interpolate_pr((0, F("8.66")), (56164, 433), positives=433)
    strips = [(b.recall - a.recall, a.precision, b.precision) for a, b in pairwise(points)]
    start = points[0].recall
    left, middle = (
        round(float(start + sum(parts)), 4)
        for parts in ([w * a for w, a, _ in strips], [w * (a + b) / 2 for w, a, b in strips])
    )
    assert (round(left, 3), middle) == (0.031, 0.0295)


@verifies("Figure 7, curve I")
def test_printed_area_of_figure_7_has_one_stretch_at_its_right_end():
    points = ex.interpolate_pr((0, 10), (1500, 20), positives=20)
    heights = [
        b.precision if a.recall == F(1, 2) else (a.precision + b.precision) / 2
        for a, b in pairwise(points)
    ]
    assert rounded([F(1, 2) + sum(heights) / 20], 6) == [0.514003]


# PW


@verifies("BIRD")
def test_the_two_readings_of_bird_differ():
    ranking = ex.without_ties((1, 1, 0, 0, 0, 0))
    points = charts.bird_points(ranking)
    others = charts.bird_informedness_points(ranking)
    assert [p.x for p in points] == [p.x for p in others]
    assert points[3].y == pytest.approx(math.log2(5 / 2), rel=1e-15)
    assert (others[3].y, others[2].y) == (2, math.inf)


@verifies("H-measure")
def test_the_h_measure_needs_a_distribution():
    ranking = ex.without_ties((1, 0, 1, 1, 0, 0, 0, 0))
    values = [ex.h_measure_float(ranking), ex.h_measure_float(ranking, 2, 2)]
    assert rounded(values) == [0.663, 0.648]


# EL: formulas


@verifies("Section 6.4.1, criterion 1")
def test_what_a_changed_impact_changes():
    epsilon = F(1, 7)
    changed = (IMPACTS[0] + epsilon, *IMPACTS[1:])
    for t in FULL:
        whole = impact.impact(t, changed).whole - impact.impact(t, IMPACTS).whole
        assert whole == epsilon * t.tp / sum(t)
        cells = impact.normalize_table(t)
        mean = impact.outcome_impact(t, changed).mean - impact.outcome_impact(t, IMPACTS).mean
        assert mean == epsilon * cells.tp / (2 * (cells.tp + cells.fp))


@verifies("Eq. 3")
def test_odds_ratio_by_output_has_the_errors_over_the_other_output():
    for t in FULL:
        selected, rejected = t.tp + t.fp, t.fn + t.tn
        right = (t.tp / selected) * (t.tn / rejected) / ((t.fp / selected) * (t.fn / rejected))
        printed = (t.tp / selected) * (t.tn / rejected) / ((t.fp / rejected) * (t.fn / selected))
        assert right == printed == confusion.diagnostic_odds_ratio(t)


@verifies("Section 6.4, eq. 10")
def test_impact_of_normalised_cells_is_that_of_the_ratio_one():
    differ = 0
    for t in FULL:
        cells = impact.normalize_table(t)
        assert cells == impact.tune_ratio(t, 1)
        differ += impact.impact(cells, IMPACTS).whole != impact.impact(t, IMPACTS).whole
    assert differ > len(FULL) / 2


@verifies("Section 8, eq. 13")
def test_impacts_count_once():
    cents = [100 * F(i) for i in IMPACTS]
    i_tp, i_fp, i_fn, i_tn = IMPACTS
    for t in FULL:
        found = impact.impact(t, IMPACTS)
        assert found.selected == F(i_tp * t.tp + i_fp * t.fp) / sum(t)
        assert found.rejected == F(i_fn * t.fn + i_tn * t.tn) / sum(t)
        assert found.selected + found.rejected == found.whole
        assert impact.impact(t, cents) == tuple(100 * x for x in found)


@verifies("Section 8, eq. 14 and 15")
def test_the_rejected_have_their_own_mean():
    _, _, i_fn, i_tn = IMPACTS
    differ = 0
    for t in FULL:
        cells, found = impact.normalize_table(t), impact.outcome_impact(t, IMPACTS)
        rejected = i_fn * cells.fn + i_tn * cells.tn
        assert found.rejected == rejected / (cells.fn + cells.tn)
        assert found.mean == (found.selected + found.rejected) / 2
        differ += found.rejected != rejected / (cells.tp + cells.fp)
    assert differ > len(FULL) / 2


# EL: text

RATIOS = (F(1, 100), F(1, 2), 1, 2, 100)


@verifies("Sections 1 and 7.1, TAR")
def test_accuracy_rises_with_the_class_ratio_if_positives_are_found_more_often():
    for t in FULL:
        values = [confusion.accuracy(impact.tune_ratio(t, r)) for r in RATIOS]
        sensitivity, specificity = confusion.recall(t), confusion.true_negative_rate(t)
        assert {(b > a) - (b < a) for a, b in pairwise(values)} == {
            (sensitivity > specificity) - (sensitivity < specificity)
        }


@verifies("Section 1, F_β")
def test_f_rises_with_the_class_ratio():
    for t in FULL:
        tuned = [impact.tune_ratio(t, r) for r in RATIOS]
        for beta in (F(1, 10), F(1), F(10)):
            values = [confusion.f_score(one, beta) for one in tuned]
            assert all(a < b for a, b in pairwise(values))
        rates = {(confusion.recall(one), confusion.false_positive_rate(one)) for one in tuned}
        assert rates == {(confusion.recall(t), confusion.false_positive_rate(t))}
        assert [one.tp + one.fn for one in tuned[2:4]] == [F(1, 2), F(2, 3)]


@verifies("Section 7.1, MCC and IC")
@pytest.mark.parametrize("measure", [qk.matthews_corrcoef, qk.tables.information_coefficient])
def test_correlation_and_information_do_not_fall_with_the_class_ratio(measure: Any):
    table = qk.tables.ConfusionTable(*map(float, ANTI_CCP))
    ratios = [1e-9, 0.01, 1, 100, 1e9]
    least, rare, even, common, most = measure(qk.tables.tune_ratio(table, ratios))
    assert least < rare < even > common > most


@verifies("Section 6.1, a fair coin")
def test_measures_of_a_fair_coin():
    coin = qk.tables.ConfusionTable(tp=2, fp=3, fn=2, tn=3)
    assert qk.f_score(coin) > 0.4
    assert qk.tables.diagnostic_odds_ratio(coin) == 1
    assert qk.tables.discriminant_power(coin) == 0
    assert qk.informedness(coin) == qk.matthews_corrcoef(coin) == 0
    assert qk.tables.information_coefficient(coin) == pytest.approx(0, abs=1e-15)


@verifies("Section 6.2.4, AUC")
def test_auc_is_the_share_of_pairs_in_order():
    for labels, scores in ex.cases(4):
        pairs = [
            1 if s > r else F(1, 2) if s == r else 0
            for y, s in zip(labels, scores, strict=True)
            for z, r in zip(labels, scores, strict=True)
            if y > z
        ]
        if pairs:
            assert qk.roc_auc(labels, scores) == pytest.approx(float(sum(pairs) / len(pairs)))
    assert qk.roc_auc([1, 1, 0], [3, 2, 1]) == 1


@verifies("Section 6.2.4, lower bounds")
def test_discriminant_power_has_no_lower_bound_of_zero():
    opposite = qk.tables.ConfusionTable(tp=1, fp=3, fn=3, tn=1)
    assert 0 < qk.tables.diagnostic_odds_ratio(opposite) < 1
    assert qk.tables.discriminant_power(opposite) < 0


@verifies("Section 7.2, β = 10 and β = 0.1")
def test_f_is_not_the_same_for_beta_and_its_inverse():
    values = [confusion.f_score(ANTI_CCP, beta) for beta in (10, F(1, 10))]
    assert rounded(values) == [0.672, 0.927]
    assert rounded([confusion.recall(ANTI_CCP), confusion.precision(ANTI_CCP)]) == [0.67, 0.931]
    for t in FULL:
        same = confusion.f_score(t, 10) == confusion.f_score(t, F(1, 10))
        assert same == (confusion.precision(t) == confusion.recall(t))


@verifies("Section 7.3, likelihood ratios")
def test_ends_of_the_likelihood_ratios():
    no_false_alarm, no_miss = (2.0, 0.0, 1.0, 3.0), (2.0, 1.0, 0.0, 3.0)
    never = (2.0, 3.0, 1.0, 0.0)
    tables = [qk.tables.ConfusionTable(*cells) for cells in (no_false_alarm, no_miss, never)]
    assert qk.tables.positive_likelihood_ratio(tables[0]) == math.inf
    assert qk.precision(tables[0]) == 1
    assert [qk.tables.negative_likelihood_ratio(t) for t in tables[1:]] == [0, math.inf]
    assert [qk.tables.inverse_precision(t) for t in tables[1:]] == [1, 0]


@verifies("Section 7.4, errors")
def test_errors_of_type_one_are_false_alarms():
    """The null hypothesis is the negative class: type I selects a negative, type II misses."""
    table = qk.tables.confusion_table_from_predictions([0, 0, 0, 1, 1], [1, 0, 0, 0, 0])
    assert qk.tables.false_positive_rate(table) == pytest.approx(1 / 3)
    assert qk.tables.false_negative_rate(table) == 1


# EL: tables


@verifies("Tables 3 and 5, criterion 2")
def test_what_does_not_move_with_rejected_negatives_or_the_class_ratio():
    for t in FULL:
        assert confusion.f_score(t, 2) == confusion.f_score(t._replace(tn=t.tn + 5), 2)
        tuned = [impact.tune_ratio(t, r) for r in RATIOS]
        for free in (confusion.informedness, confusion.diagnostic_odds_ratio):
            assert {free(one) for one in tuned} == {free(t)}
        assert len({impact.outcome_impact(one, IMPACTS) for one in tuned}) == 1


@verifies("Tables 6(b) and 8, the rejected")
@pytest.mark.parametrize(("t", "printed"), [(ANTI_CCP, (-9.6, -5.1)), (RF, (-9.5, -5.5))])
def test_printed_impacts_have_tn_in_place_of_fn(t: confusion.Table, printed: tuple[float, float]):
    selected = impact.outcome_impact(t, IMPACTS).selected
    rejected = IMPACTS[2] * t.tn / (t.fn + t.tn)
    assert rounded((rejected, (selected + rejected) / 2), 1) == list(printed)
    right = impact.outcome_impact(t, IMPACTS)
    assert all(abs(a - b) > 3 for a, b in zip(right[1:], printed, strict=True))


# the page


def test_every_entry_is_verified_or_says_that_it_is_not():
    entries = dict(ENTRY.findall(PAGE))
    said = "*Stated, not recomputed.*"
    stated = {name for name, text in entries.items() if said in " ".join(text.split())}
    verified = [*CHECKED, *ELSEWHERE]
    assert len(verified) == len(set(verified))
    assert stated.isdisjoint(verified)
    assert stated | set(verified) == entries.keys()
    assert len(ENTRY.findall(PAGE)) == PAGE.count("\n- **") == len(entries)


def test_the_other_tests_are_there():
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"\ndef {name}(" in (TESTS / file).read_text(encoding="utf-8")
