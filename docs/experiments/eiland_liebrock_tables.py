"""Tables 6 to 9 of Eiland & Liebrock: two diagnostic tests, and four classifiers of loans.

The command is that of ``eiland_liebrock.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from _pages import table

import quotakernels as qk

# the diagnosis, Tables 6 to 8

DOLLARS = (0, -7.9, -13, 0)
"""Thousands of dollars for a true positive, false positive, false negative and true negative."""


class BloodTest(NamedTuple):
    """A blood test for rheumatoid arthritis: Table 7 with its intervals, and what is printed."""

    sensitivity: tuple[float, float, float]
    false_positives: tuple[float, float, float]
    likelihood_ratios: tuple[float, float]
    """LR₊ and LR₋ of Table 6(a)."""
    printed: tuple[str, str, str]
    """ι_Z, ι_Z̄ and ι_σ of Tables 6(b) and 8."""
    interval: tuple[str, str]
    """Of ι_Z, in Table 6(b)."""

    def table(self) -> qk.tables.ConfusionTable:
        rates = {"tpr": self.sensitivity[0], "fpr": self.false_positives[0]}
        return qk.tables.confusion_table_from_rates(**rates, prevalence=0.5)


TESTS = {
    "anti-CCP": BloodTest(
        (0.67, 0.65, 0.68),
        (0.05, 0.04, 0.06),
        (12.46, 0.36),
        ("-0.55", "-9.6", "-5.1"),
        ("-0.56", "-0.44"),
    ),
    "RF": BloodTest(
        (0.69, 0.68, 0.7),
        (0.15, 0.14, 0.16),
        (4.86, 0.38),
        ("-1.4", "-9.5", "-5.5"),
        ("-1.6", "-1.3"),
    ),
}
"""RF is rheumatoid factor."""

# the loans, Table 9

LOANS = (1, -0.05, -0.01, -0.01)
"""Loan units for a loan repaid, a loan defaulted, a good applicant refused, a bad one refused."""
PRINTED_RATIOS = (1, 1.5, 2.1, 2.5)
RATIOS = (1, 1.5, 2.06, 2.5)
PRINTED_9 = {
    "WOE": (0.4627, (0.3484, 0.4223, 0.4764, 0.5068)),
    "PA": (0.6232, (0.4377, 0.5299, 0.5975, 0.6354)),
    "GP_p": (0.5679, (0.4315, 0.5555, 0.5896, 0.6259)),
    "GP_t": (0.6964, (0.4590, 0.5561, 0.6271, 0.6670)),
}
"""The misclassification cost at 5:1, and ι_I at the four class ratios."""

# tables 6 to 8


def signed(value: Any, digits: int = 3) -> str:
    """A number with a true minus sign."""
    return f"{float(value):.{digits}f}".replace("-", "−")


def exchanged(found: qk.tables.ConfusionTable, impacts: tuple[float, ...]) -> tuple[Any, Any]:
    """Impact of the rejected, and the mean, with TN where equation 7 has FN: the paper's slip."""
    cells = qk.tables.normalize_table(found)
    rejected = (impacts[2] * cells.tn + impacts[3] * cells.fn) / (cells.fn + cells.tn)
    return rejected, (qk.tables.outcome_impact(found, impacts=impacts).selected + rejected) / 2


def both_tests() -> str:
    """The diagnosis, printed and right."""
    rows = []
    for name, test in TESTS.items():
        right = qk.tables.outcome_impact(test.table(), impacts=DOLLARS)
        slip = exchanged(test.table(), DOLLARS)
        printed = [text.replace("-", "−") for text in test.printed]
        rejected = (printed[1], signed(right.rejected), signed(slip[0], 1))
        mean = (printed[2], signed(right.mean), signed(slip[1], 1))
        rows.append((name, printed[0], signed(right.selected), *rejected, *mean))
    header = ("test", "ι_Z printed", "ι_Z", "ι_Z̄ printed", "ι_Z̄", "with TN for FN")
    return table((*header, "ι_σ printed", "ι_σ", "with TN for FN"), rows)


def interval_of_selected(test: BloodTest) -> tuple[float, float]:
    """ι_Z with the ends of Table 7's intervals that are worst and best for it."""
    (_, few, many), (_, rare, frequent) = test.sensitivity, test.false_positives
    found = qk.tables.confusion_table_from_rates(
        tpr=[few, many], fpr=[frequent, rare], prevalence=0.5
    )
    worst, best = qk.tables.outcome_impact(found, impacts=DOLLARS).selected
    return float(worst), float(best)


def intervals() -> str:
    """The interval of ι_Z, printed and by the intervals of Table 7."""
    rows = []
    for name, test in TESTS.items():
        printed = " to ".join(test.interval).replace("-", "−")
        rows.append((name, printed, " to ".join(signed(x, 2) for x in interval_of_selected(test))))
    return table(("test", "ι_Z printed in Table 6(b)", "by Table 7"), rows)


def likelihood_ratios() -> str:
    """The ratios of Table 6(a), those of Table 7, and what the former give."""
    rows = []
    for name, test in TESTS.items():
        positive, negative = test.likelihood_ratios
        found = qk.tables.confusion_table_from_rates(
            lr_positive=positive, lr_negative=negative, prevalence=0.5
        )
        own = (
            qk.tables.positive_likelihood_ratio(test.table()),
            qk.tables.negative_likelihood_ratio(test.table()),
        )
        rates = (qk.recall(found), qk.tables.false_positive_rate(found))
        mean = qk.tables.outcome_impact(found, impacts=DOLLARS).mean
        cells = (f"{positive}", f"{own[0]:.2f}", f"{negative}", f"{own[1]:.2f}")
        rows.append((name, *cells, *(f"{rate:.3f}" for rate in rates), signed(mean)))
    header = ("test", "LR₊ printed", "by Table 7", "LR₋ printed", "by Table 7")
    return table((*header, "TPR by both printed", "FPR", "ι_σ"), rows)


def diagnosis() -> str:
    """ι_I of both tests with as many ill as healthy, and with a tenth of them."""
    rows = []
    for ratio in (1, 0.1):
        tuned = [qk.tables.tune_ratio(test.table(), ratio) for test in TESTS.values()]
        values = [qk.tables.impact(one, impacts=DOLLARS).whole for one in tuned]
        rows.append((f"{ratio:g}", *(signed(value) for value in values)))
    return table(("ill to healthy", *(f"ι_I, {name}" for name in TESTS)), rows)


# table 9


def loan_table(name: str) -> qk.tables.ConfusionTable:
    """The table whose ι_I at the class ratios 1 and 2.5 are those printed.

    With a of one good and b of one bad applicant ι_I is (r·a + b)/(1 + r) at the ratio r.
    """
    (first, *_, last), (i_tp, i_fp, i_fn, i_tn) = PRINTED_9[name][1], LOANS
    good = (3.5 * last - 2 * first) / 1.5
    bad = 2 * first - good
    tpr, fpr = (good - i_fn) / (i_tp - i_fn), (bad - i_tn) / (i_fp - i_tn)
    return qk.tables.confusion_table_from_rates(tpr=tpr, fpr=fpr, prevalence=0.5)


def impact_of_loans(found: qk.tables.ConfusionTable, ratio: Any) -> Any:
    """ι_I at this class ratio."""
    return qk.tables.impact(qk.tables.tune_ratio(found, ratio), impacts=LOANS).whole


def table_9() -> str:
    """ι_I at the four class ratios, printed and computed."""
    rows = []
    for name, (_, printed) in PRINTED_9.items():
        found = loan_table(name)
        rates = (qk.recall(found), qk.tables.false_positive_rate(found))
        cells = [f"{rate:.3f}" for rate in rates]
        for value, own in zip(printed, impact_of_loans(found, RATIOS), strict=True):
            cells += [f"{value:.4f}", f"{own:.4f}"]
        rows.append((name, *cells, f"{impact_of_loans(found, 2.1):.4f}"))
    pairs = zip(PRINTED_RATIOS, RATIOS, strict=True)
    header = [part for a, b in pairs for part in (f"{a:g} printed", f"{b:g}")]
    return table(("test", "TPR", "FPR", *header, "2.1"), rows)


def cost_of_loans(found: qk.tables.ConfusionTable) -> Any:
    """A loan defaulted costs 5, a good applicant refused 1."""
    tuned = qk.tables.tune_ratio(found, RATIOS[2])
    return qk.tables.expected_cost(tuned, cost_fp=5, cost_fn=1)


def share_of_perfect(found: qk.tables.ConfusionTable, ratio: float) -> Any:
    """ι_I as a share of that of a test without errors."""
    perfect = qk.tables.confusion_table_from_rates(tpr=1, fpr=0, prevalence=0.5)
    return impact_of_loans(found, ratio) / impact_of_loans(perfect, ratio)


def loans() -> str:
    """The cost printed and computed, and what share of perfect decisions the tests bring."""
    rows = []
    for name, (cost, _) in PRINTED_9.items():
        found = loan_table(name)
        shares = (f"{100 * share_of_perfect(found, ratio):.0f} %" for ratio in (1.5, 2.5))
        rows.append((name, f"{cost:.4f}", f"{cost_of_loans(found):.4f}", *shares))
    header = ("test", "cost printed", "cost", "of perfect, ratio 1.5", "of perfect, ratio 2.5")
    return table(header, rows)


SECTIONS = {
    "tests": both_tests,
    "intervals": intervals,
    "likelihood ratios": likelihood_ratios,
    "diagnosis": diagnosis,
    "table 9": table_9,
    "loans": loans,
}
