"""What docs/errata.md says is right, and that it says where something is only stated.

AR is Arbel & Rokach, DG Davis & Goadrich, PW Powers, EL Eiland & Liebrock, as on the page.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import exact as ex
import pytest
from exact import charts, confusion, impact
from exact.small_tables import rankings, tables

import quotakernels as qk

F = Fraction
TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "errata.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^- \*\*(.+?)\.?\*\*(.*?)(?=^- |^$)", re.MULTILINE | re.DOTALL)
ELSEWHERE = {
    "Eq. 8": "test_relations.py::test_pearson_of_all_is_the_ordinary_correlation",
    "Average Qrecall": "test_published.py::test_average_qrecall_as_printed_is_not_that_of_eq_13",
    "Ties": "test_published.py::test_tables_8_and_9",
    "C4.5": "test_published.py::test_printed_pem_of_c45_averages_to_the_right_one",
    "Figure 7, curve I": "test_exact_roc.py::test_davis_and_goadrich_figure_7",
}
"""Entries that other tests verify."""
CHECKED: list[str] = []

FULL = list(tables(3, 1))
IMPACTS = (0, F("-7.9"), -13, 0)
ANN = confusion.table_from_rates(F(1, 2), F(".67"), F(".05"))
FOREST = confusion.table_from_rates(F(1, 2), F(".69"), F(".15"))


def verifies(*entries: str) -> Callable[[Any], Any]:
    """The test below shows what these entries of the page say is right."""
    CHECKED.extend(entries)
    return lambda test: test


def rounded(values: Any, digits: int = 3) -> list[float]:
    return [round(float(value), digits) for value in values]


# AR


@verifies("Eq. 15")
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


@pytest.fixture(scope="module")
def printed_rows(shared: Path) -> list[dict[str, str]]:
    with (shared / "weka" / "paper_tables_8_9.csv").open() as lines:
        return list(csv.DictReader(lines))


def test_the_code_of_the_page_has_the_printed_values(printed_rows: list[dict[str, str]]):
    quoted = re.findall(r'^ +"(\w+)": \((\S+), (\S+), (\S+)\),$', PAGE, re.MULTILINE)
    assert len(quoted) == 3
    for name, smallest, largest, auc in quoted:
        rows = [r for r in printed_rows if r["dataset"].startswith(name)]
        found = [float(r["pem"]) for r in rows if r["classifier"] == "C45"]
        assert found == [float(smallest), float(largest)]
        assert float(auc) in {float(r["auc"]) for r in rows}


def test_rows_that_are_only_stated_are_not_at_hand(printed_rows: list[dict[str, str]]):
    names = " ".join(row["dataset"] for row in printed_rows).lower()
    for missing in ("breast", "monks", "lung", "vote", "optic"):
        assert missing not in names


@verifies("OPTIC, NN")
def test_pem_and_auc_of_one_ranking_agree():
    assert all(ex.pem(ranking) == 2 * ex.roc_auc(ranking) - 1 for ranking in rankings(4))
    assert abs(0.9621 - 0.926) > 0.03


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
    assert [(v.fp, v.tp) for v in ex.roc_hull(ex.groups([1, 0, 0], scores))] == [
        (0, 0),
        (1, 1),
        (2, 1),
    ]


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


@verifies("Criterion 1")
def test_what_a_moved_mass_changes():
    i_tp, i_fp, i_fn, i_tn = IMPACTS
    for t in FULL:
        n, epsilon = sum(t), F(1, 7)
        before = impact.impact(t, IMPACTS).whole
        found = t._replace(tp=t.tp + epsilon, fn=t.fn - epsilon)
        spared = t._replace(tn=t.tn + epsilon, fp=t.fp - epsilon)
        assert impact.impact(found, IMPACTS).whole - before == epsilon / n * (i_tp - i_fn)
        assert impact.impact(spared, IMPACTS).whole - before == epsilon / n * (i_tn - i_fp)


@verifies("Eq. 10")
def test_normalised_cells_add_up_to_one():
    for t in FULL:
        cells = impact.normalize_table(t)
        assert sum(cells) == 1
        brought = sum(F(i) * cell for i, cell in zip(IMPACTS, cells, strict=True))
        assert impact.impact(cells, IMPACTS).whole == brought
        whole = sum(F(i) * cell for i, cell in zip(IMPACTS, t, strict=True))
        assert impact.impact(t, IMPACTS).whole == whole / sum(t)


@verifies("Eq. 13")
def test_impacts_count_once():
    cents = [100 * F(i) for i in IMPACTS]
    for t in FULL:
        for measure in (impact.impact, impact.outcome_impact):
            assert measure(t, cents) == tuple(100 * x for x in measure(t, IMPACTS))


@verifies("Eq. 14 and 15")
def test_the_rejected_have_their_own_mean():
    _, _, i_fn, i_tn = IMPACTS
    differ = 0
    for t in FULL:
        cells, found = impact.normalize_table(t), impact.outcome_impact(t, IMPACTS)
        rejected = (i_fn * cells.fn + i_tn * cells.tn) / (cells.fn + cells.tn)
        assert found.rejected == rejected
        assert found.mean == (found.selected + rejected) / 2
        differ += found.mean != found.selected
    assert differ > len(FULL) / 2


# EL: text


@verifies("β = 10 and β = 0.1")
def test_f_is_not_the_same_for_beta_and_its_inverse():
    values = [confusion.f_score(ANN, beta) for beta in (10, F(1, 10))]
    assert rounded(values) == [0.672, 0.927]
    assert rounded([confusion.recall(ANN), confusion.precision(ANN)]) == [0.67, 0.931]
    for t in FULL:
        same = confusion.f_score(t, 10) == confusion.f_score(t, F(1, 10))
        assert same == (confusion.precision(t) == confusion.recall(t))


@verifies("F_β and the class ratio")
def test_f_rises_with_the_class_ratio():
    for t in FULL:
        tuned = [impact.tune_prevalence(t, r) for r in (F(1, 100), F(1, 2), 1, 2, 100)]
        for beta in (F(1, 10), F(1), F(10)):
            values = [confusion.f_score(one, beta) for one in tuned]
            assert all(a < b for a, b in pairwise(values))
        rates = {(confusion.recall(one), confusion.false_positive_rate(one)) for one in tuned}
        assert rates == {(confusion.recall(t), confusion.false_positive_rate(t))}
        assert [one.tp + one.fn for one in tuned[2:4]] == [F(1, 2), F(2, 3)]


@verifies("Section 7.4, errors")
def test_errors_of_type_one_are_false_alarms():
    """The null hypothesis is the negative class: type I selects a negative, type II misses."""
    table = qk.tables.confusion_table_from_predictions([0, 0, 0, 1, 1], [1, 0, 0, 0, 0])
    assert qk.tables.false_positive_rate(table) == pytest.approx(1 / 3)
    assert qk.tables.false_negative_rate(table) == 1


@verifies("Section 7.4, AUC")
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


# EL: Table 7


@verifies("Table 7")
@pytest.mark.parametrize(("t", "printed"), [(ANN, (-9.6, -5.1)), (FOREST, (-9.5, -5.5))])
def test_printed_table_7_has_tn_in_place_of_fn(t: confusion.Table, printed: tuple[float, float]):
    selected = impact.outcome_impact(t, IMPACTS).selected
    rejected = IMPACTS[2] * t.tn / (t.fn + t.tn)
    assert rounded((rejected, (selected + rejected) / 2), 1) == list(printed)
    right = impact.outcome_impact(t, IMPACTS)
    assert all(abs(a - b) > 3 for a, b in zip(right[1:], printed, strict=True))


# the page


def test_every_entry_is_verified_or_says_that_it_is_not():
    entries = dict(ENTRY.findall(PAGE))
    stated = {
        name
        for name, text in entries.items()
        if "*Stated, not recomputed.*" in " ".join(text.split())
    }
    verified = [*CHECKED, *ELSEWHERE]
    assert len(verified) == len(set(verified))
    assert stated.isdisjoint(verified)
    assert stated | set(verified) == entries.keys()
    assert len(ENTRY.findall(PAGE)) == PAGE.count("\n- **") == len(entries)


def test_the_other_tests_are_there():
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"\ndef {name}(" in (TESTS / file).read_text(encoding="utf-8")
