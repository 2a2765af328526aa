"""Measures by the names of fields: exact values, and those of peers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, mode_fixture, parameters
from everything import MAIN
from exact import fields
from expected import as_floats

import quotakernels as qk
from measures.test_small_cases import padded_cases
from quotakernels import decisions, screening

ALPHA = 4.0
RATES = (Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(1))
AT = [float(x) for x in RATES]
LIMITS = {"min_fpr": 0.125, "max_fpr": 0.75}
mode = mode_fixture(QUICK)
of_main = pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in MAIN]))


def near(found: Any, wanted: Any, name: str = "") -> None:
    unit = float(np.finfo(np.asarray(found).dtype).eps)
    np.testing.assert_allclose(found, as_floats(wanted), 64 * unit, 64 * unit, err_msg=name)


# screening


def screened(ranking: qk.Ranking, weighted: bool = False) -> dict[str, Any]:
    found = {
        "bedroc": screening.bedroc(ranking, alpha=ALPHA),
        "rie": screening.rie(ranking, alpha=ALPHA),
        "log_auc": screening.log_auc(ranking),
        "log_auc of a part": screening.log_auc(ranking, **LIMITS),
        "roc_enrichment": screening.roc_enrichment(ranking, fpr=AT),
    }
    if weighted:
        return found
    saved = screening.work_saved_over_sampling
    return found | {
        "saved": saved(ranking, recall=AT),
        "normalized": saved(ranking, recall=AT, normalized=True),
    }


def wanted(groups: list[ex.Group], of: Any = None) -> dict[str, Any]:
    """Of groups, and where positions count `of` those of repeated examples."""
    of = of or groups
    saved = fields.work_saved_over_sampling
    return {
        "bedroc": fields.bedroc(of, ALPHA),
        "rie": fields.rie(of, ALPHA),
        "log_auc": fields.log_auc(groups),
        "log_auc of a part": fields.log_auc(groups, *LIMITS.values()),
        "roc_enrichment": [fields.roc_enrichment(groups, x) for x in RATES],
        "saved": [saved(groups, x) for x in RATES],
        "normalized": [saved(groups, x, normalized=True) for x in RATES],
    }


@pytest.mark.long_program
def test_screening_of_every_small_case(mode: Mode):
    longest = 4 if mode.library == "numpy" else 3

    def measures(y: Any, s: Any, mask: Any) -> dict[str, Any]:
        return screened(qk.rank(y, s, where=mask))

    found = mode.run(measures, *padded_cases(longest))
    rows = [wanted(ex.groups(y, s)) for y, s in ex.ordered_cases(longest)]
    for name, value in found.items():
        near(value, [row[name] for row in rows], name)


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "given"])
def test_screening_of_one_list(ties: Any):
    for y, s in ex.cases(3):
        exact = wanted(ex.groups(y, s, ties=ties))
        for name, value in screened(qk.rank(y, s, ties=ties)).items():
            near(value, exact[name], name)


def test_work_saved_is_a_mean_over_orders():
    for y, s in ex.cases(4):
        for k in range(1, sum(y) + 1):
            saved = fields.work_saved_over_sampling(ex.groups(y, s), Fraction(k, sum(y)))
            mean = fields.screened_over_orders(y, s, k)
            assert saved == Fraction(k, sum(y)) - mean / len(y)


RNG = np.random.default_rng(45)
SIZE = 40
Y, S = RNG.integers(0, 2, SIZE), RNG.choice([-1.0, 0.25, 0.5, 3.0, 4.0, 8.0], SIZE)
W, G = RNG.integers(0, 4, SIZE), RNG.integers(0, 3, SIZE)
GAIN = RNG.integers(0, 9, SIZE).astype(float)


@of_main
def test_screening_with_weights_and_groups(mode: Mode):
    def measures(y: Any, s: Any, w: Any, g: Any) -> Any:
        groups = qk.rank(y, s, groups=g, num_groups=3)
        return screened(qk.rank(y, s, sample_weight=w), weighted=True), screened(groups)

    weighted, grouped = mode.run(measures, Y, S, W.astype(float), G)
    lists = [x.tolist() for x in (Y, S, W)]
    exact = wanted(ex.groups(*lists), fields.tied_groups(*lists))
    for name, value in weighted.items():
        near(value, exact[name], name)
    rows = [wanted(ex.groups(Y[g == G].tolist(), S[g == G].tolist())) for g in range(3)]
    for name, value in grouped.items():
        near(value, [row[name] for row in rows], name)


def test_rdkit():
    """RDKit 2026.9.1, Scoring.CalcBEDROC, CalcRIE, CalcEnrichment; no scores tie."""
    active, score = [1, 0, 1, 0, 0, 1, 0, 0], [5, 4, 3, 2, 1.5, 1, 0.5, 0.2]
    bedroc = [float(screening.bedroc(active, score, alpha=x)) for x in (20, 1)]
    assert bedroc == pytest.approx([0.924614393744857, 0.7192486120872378], rel=1e-14)
    rie = [float(screening.rie(active, score, alpha=x)) for x in (20, 1)]
    assert rie == pytest.approx([2.464275431094958, 1.147078559308218], rel=1e-14)
    assert qk.lift(active, score, fraction=[0.25, 0.5]) == pytest.approx([4 / 3, 4 / 3])


def test_the_order_of_rows_does_not_move_bedroc():
    active, score = [1, 0, 1, 0, 0, 1, 0, 0], [5, 5, 5, 4, 3, 3, 2, 1]
    policies = ("pessimistic", "expected", "optimistic")
    found = [float(screening.bedroc(active, score, ties=x)) for x in policies]
    assert found == pytest.approx([0.0816, 0.6667, 0.9939], abs=1e-4)


def test_torchmetrics_has_the_same_log_auc_without_ties():
    classification = pytest.importorskip("torchmetrics.functional.classification")
    if not hasattr(classification, "binary_logauc"):
        pytest.skip("torchmetrics before binary_logauc")
    import torch

    y, s = np.arange(300) % 7 == 0, RNG.permutation(300) / 300
    theirs = classification.binary_logauc(torch.tensor(s), torch.tensor(y).int(), (0.01, 0.5))
    assert screening.log_auc(y, s, min_fpr=0.01, max_fpr=0.5) == pytest.approx(theirs.item(), 1e-5)


@pytest.mark.parametrize("name", ["bedroc", "rie"])
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 20, 321.9, 1e5])
def test_any_alpha(name: str, alpha: float):
    y, s = [1, 0, 1, 0, 0, 1, 0, 0, 0, 0], [9, 8, 8, 7, 6, 6, 5, 4, 3, 2]
    exact = getattr(fields, name)(ex.groups(y, s), alpha)
    found = float(getattr(screening, name)(y, s, alpha=alpha))
    assert found == pytest.approx(exact, rel=1e-12 / min(alpha, 1))


# decisions

P = np.round(RNG.random(SIZE), 1)
PROBABILITIES = [0.0, 0.125, 0.5, 0.75]


@of_main
@pytest.mark.parametrize("prevalence", [None, 0.125])
def test_decision_curves(mode: Mode, prevalence: float | None):
    p = np.floor(P * 8) / 8

    def measures(y: Any, p: Any, w: Any, g: Any) -> Any:
        at = {"threshold_probability": PROBABILITIES, "prevalence": prevalence}
        groups = decisions.decision_curve(y, p, groups=g, num_groups=3, **at).net_benefit[0, ...]
        return decisions.decision_curve(y, p, sample_weight=w, **at), groups

    curve, of_group = mode.run(measures, Y, p, W.astype(float), G)
    all_groups = ex.groups(Y.tolist(), p.tolist(), W.tolist())
    first = ex.groups(Y[G == 0].tolist(), p[G == 0].tolist())
    tables = [ex.confusion.table_at_threshold(all_groups, x) for x in PROBABILITIES]
    everybody = ex.confusion.table_at_threshold(all_groups, -1)
    for name, measure, cells in (
        ("net_benefit", fields.net_benefit, tables),
        ("standardized", fields.standardized_net_benefit, tables),
        ("interventions_avoided", fields.net_interventions_avoided, tables),
        ("treat_all", fields.net_benefit, [everybody] * 4),
    ):
        pairs = zip(cells, PROBABILITIES, strict=True)
        near(getattr(curve, name), [measure(t, x, prevalence) for t, x in pairs], name)
    own = [ex.confusion.table_at_threshold(first, x) for x in PROBABILITIES]
    pairs = zip(own, PROBABILITIES, strict=True)
    near(of_group, [fields.net_benefit(t, x, prevalence) for t, x in pairs])
    near(curve.threshold_probability, PROBABILITIES)


def test_dcurves():
    """Of dcurves 1.1.7 for Python and its data df_binary: 750 patients, 105 with cancer."""
    at, tp, fp = [0.05, 0.1, 0.2, 0.35], np.asarray([96, 87, 75, 57]), [320, 193, 98, 36]
    marker = qk.tables.ConfusionTable(tp, np.asarray(fp), 105 - tp, 645 - np.asarray(fp))
    given = {"threshold_probability": at}
    benefit = [0.1055438596491228, 0.08740740740740742, 0.06733333333333334, 0.05015384615384615]
    assert decisions.net_benefit(marker, **given) == pytest.approx(benefit, rel=1e-13)
    avoided = [0.20533333333333287, 0.38666666666666666, 0.56933333333333325, 0.69314285714285717]
    assert decisions.net_interventions_avoided(marker, **given) == pytest.approx(avoided, rel=1e-12)
    history = qk.tables.ConfusionTable(24, 91, 81, 554)
    found = decisions.net_benefit(history, threshold_probability=[0.05, 0.1], prevalence=0.1)
    assert found == pytest.approx([0.01617415632103514, 0.00874861572535991], rel=1e-13)


def test_net_benefit_is_an_impact_and_takes_any_cut():
    p = 0.2
    impacts = (1, -p / (1 - p), 0, 0)
    for cut in ({"threshold": p}, {"quota": 9}, {"fraction": 0.3}):
        own = {} if "threshold" in cut else {"threshold_probability": p}
        found = decisions.net_benefit(Y, P, **cut, **own)
        assert found == pytest.approx(qk.tables.impact(Y, P, impacts=impacts, **cut).whole)
    other = decisions.net_benefit(Y, P, threshold=0.5, threshold_probability=p)
    assert other == pytest.approx(qk.tables.impact(Y, P, impacts=impacts, threshold=0.5).whole)
    with pytest.raises(TypeError, match="give threshold_probability="):
        decisions.net_benefit(Y, P, quota=9)
    band = qk.bootstrap(decisions.decision_curve, Y, P, n_resamples=20, random_state=1)
    assert band.net_benefit.lower.shape == (99,)


# value, and entities


@of_main
def test_value_found_and_entities(mode: Mode):
    def measures(y: Any, s: Any, gain: Any, g: Any) -> Any:
        own = {"gain": gain, "quota": [0.0, 2.5, 40.0]}
        return (
            qk.budgets.value_found(y, s, **own),
            qk.budgets.value_found(None, s, **own),
            qk.groups.entities(y, s, gain=gain, groups=g, num_groups=4),
        )

    found, of_all, groups = mode.run(measures, Y, S, GAIN, G)
    columns = [x.tolist() for x in (Y, S, GAIN)]
    chosen = [ex.select(columns[1], x) for x in (0, Fraction(5, 2), 40)]
    near(found, [fields.value_found(columns[0], columns[2], x) for x in chosen])
    near(of_all, [fields.value_found([1] * SIZE, columns[2], x) for x in chosen])
    exact = fields.entities(*columns, G.tolist())
    np.testing.assert_array_equal([x[:3] for x in groups], np.asarray(exact).T)
    assert np.isnan(groups.y_score[3])
    assert groups.y_true[3] == groups.gain[3] == 0


def test_one_alert_finds_all_of_a_card():
    fraud, score, card = [1, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.1], list("aabcc")
    cards = qk.groups.entities(fraud, score, groups=card, gain=[900, 50, 7, 8, 20])
    own = {"gain": cards.gain, "quota": 1}
    assert qk.hit_rate(fraud, score, quota=2) == 1  # both of one card
    assert qk.hit_rate(cards.y_true, cards.y_score, quota=2) == 0.5
    assert qk.budgets.value_found(cards.y_true, cards.y_score, **own) == 950 / 970
    with pytest.raises(TypeError, match="^entities are groups of examples: pass groups="):
        qk.groups.entities(fraud, score)


# precision-recall gain


def test_pr_gain_curves_of_small_cases():
    for y, s in ex.cases(4):
        curve = qk.retrieval.pr_gain_curve(y, s)
        exact = as_floats(fields.pr_gain_curve(ex.groups(y, s)))
        near(np.stack(curve[:2], axis=-1), exact)


def test_chance_and_best_of_pr_gain():
    assert qk.retrieval.pr_gain_auc([1, 0, 0], [1, 1, 1]) == 0
    assert qk.retrieval.pr_gain_auc([1, 1, 0], [3, 2, 1]) == 1
    assert qk.retrieval.normalized_pr_auc([1, 1, 0], [3, 2, 1]) == 1
    assert qk.retrieval.normalized_pr_auc([1, 1, 0], [1, 2, 3]) == pytest.approx(0, abs=1e-15)
