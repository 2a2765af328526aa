"""Eiland & Liebrock (2016): Table 7, stand-ins for Tables 6, 8 and 9, and the simulation.

Run as ``python docs/experiments/eiland_liebrock.py [--write]``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _pages import COLOURS, DASHES, columns, command, new_figure, table

import quotakernels as qk

PAGE = "eiland_liebrock.md"

# the diagnosis, Table 7

DOLLARS = (0, -7.9, -13, 0)
"""Thousands of dollars for a true positive, false positive, false negative and true negative."""
TESTS = {"ANN": (0.67, 0.05), "RF": (0.69, 0.15)}
"""Sensitivity and false positive rate."""
PRINTED_7 = {"ANN": ("-9.6", "-5.1"), "RF": ("-9.5", "-5.5")}
"""What is printed of the rejected, and of the mean."""

# the loans, in place of Tables 6, 8 and 9

LOANS = (0, -5, -1, 0)
"""The cost matrix of the data: a bad loan granted costs 5, a good one refused 1."""
MODELS = ("tree", "naive_bayes", "neural_net")
GOOD_TO_BAD = 7 / 3
COST_RATIOS = (1, 1.5, 2.06, 2.1, 5)

# the simulation

SHAPE = (1.5, 5.0)
SIZE = 20_000
CLASS_RATIOS = (1.0, 0.1)
BETAS = (10, 1, 0.1)


class Case(NamedTuple):
    """What the four outcomes bring, and in which situation."""

    impacts: tuple[float, float, float, float]
    situation: str

    def odds(self) -> float:
        """The odds of being positive from which on selecting an example pays."""
        i_tp, i_fp, i_fn, i_tn = self.impacts
        return (i_tn - i_fp) / (i_tp - i_fn)


CASES = {
    "A": Case((1, -1, -1, 1), "symmetric"),
    "B": Case((0, -1, -1, 0), "errors only, alike"),
    "C": Case((1, -5, -1, 1), "false alarms are dear"),
    "D": Case((1, -1, -5, 1), "misses are dear"),
    "E": Case((2, 0, 0, 1), "gains only"),
    "F": Case((1, -4, 0, 0), "only the selected matter, as loans"),
    "G": Case((-1, -2, -6, 0), "losses only: treatment costs, too"),
}
"""These stand in for the seven cases of the paper, whose numbers are not in the sources at hand."""


def exchanged(found: qk.tables.ConfusionTable, impacts: tuple[float, ...]) -> tuple[Any, Any]:
    """Impact of the rejected, and the mean, with TN where equation 7 has FN: the paper's slip."""
    cells = qk.tables.normalize_table(found)
    rejected = (impacts[2] * cells.tn + impacts[3] * cells.fn) / (cells.fn + cells.tn)
    return rejected, (qk.tables.outcome_impact(found, impacts=impacts).selected + rejected) / 2


# tables 6 to 9


def table_7() -> str:
    """The diagnosis, printed and right."""
    rows = []
    for name, (tpr, fpr) in TESTS.items():
        found = qk.tables.confusion_table_from_rates(tpr=tpr, fpr=fpr, prevalence=0.5)
        right = qk.tables.outcome_impact(found, impacts=DOLLARS)
        slip = exchanged(found, DOLLARS)
        printed = [text.replace("-", "−") for text in PRINTED_7[name]]
        rejected = (printed[0], signed(right.rejected), signed(slip[0], 1))
        mean = (printed[1], signed(right.mean), signed(slip[1], 1))
        rows.append((name, signed(right.selected), *rejected, *mean))
    header = ("test", "ι_Z", "ι_Z̄ printed", "ι_Z̄", "with TN for FN")
    return table((*header, "ι_σ printed", "ι_σ", "with TN for FN"), rows)


def diagnosis() -> str:
    """ι_I of both tests at the class ratios of the simulation."""
    rows = []
    for ratio in CLASS_RATIOS:
        values = []
        for tpr, fpr in TESTS.values():
            found = qk.tables.confusion_table_from_rates(tpr=tpr, fpr=fpr, prevalence=0.5)
            tuned = qk.tables.tune_prevalence(found, ratio)
            values.append(signed(qk.tables.impact(tuned, impacts=DOLLARS).whole))
        rows.append((f"{ratio:g}", *values))
    return table(("ill to healthy", *(f"ι_I, {name}" for name in TESTS)), rows)


@cache
def loan_rankings() -> dict[str, qk.Ranking]:
    """The scores of 340 applicants by three models; the label says who repaid."""
    data = columns(Path(str(files("quotakernels") / "data" / "german_credit_scores.csv")))
    repaid = data["repaid"].astype(int)
    return {name: qk.rank(repaid, data[name].astype(float)) for name in MODELS}


def loans() -> str:
    """Impacts of each model at its best boundary, with the slip beside them."""
    rows = []
    for name, ranking in loan_rankings().items():
        prevalence = GOOD_TO_BAD / (1 + GOOD_TO_BAD)
        best = qk.best_operating_point(ranking, cost_fp=5, cost_fn=1, prevalence=prevalence)
        found = qk.confusion_table(ranking, threshold=best.threshold)
        right = qk.tables.outcome_impact(found, impacts=LOANS)
        slip = exchanged(found, LOANS)
        tuned = qk.tables.tune_prevalence(found, GOOD_TO_BAD)
        values = (
            qk.tables.impact(tuned, impacts=LOANS).whole,
            *right[:2],
            slip[0],
            right.mean,
            slip[1],
        )
        rates = (f"{best.quota:.0f}", f"{best.tpr:.3f}", f"{best.fpr:.3f}")
        rows.append((name, *rates, *(signed(value) for value in values)))
    header = ("model", "loans", "TPR", "FPR", "ι_I", "ι_Z", "ι_Z̄", "with TN for FN", "ι_σ")
    return table((*header, "with TN for FN"), rows)


def costs() -> str:
    """The smallest expected cost per applicant of each model, for ratios of the two costs."""
    prevalence = GOOD_TO_BAD / (1 + GOOD_TO_BAD)
    rows = []
    for name, ranking in loan_rankings().items():
        best = qk.best_operating_point(
            ranking, cost_fp=list(COST_RATIOS), cost_fn=1, prevalence=prevalence
        )
        rows.append((name, *(f"{cost:.3f}" for cost in best.cost)))
    return table(("model", *(f"{ratio:g}" for ratio in COST_RATIOS)), rows)


# the simulation


@cache
def simulated(ratio: float) -> qk.Ranking:
    """Negatives with scores of beta(1.5, 5), positives with their mirror image, beta(5, 1.5).

    The scores are quantiles, evenly spaced in probability, so that no luck of the draw is in them.
    """
    from scipy.special import betaincinv

    negative = betaincinv(*SHAPE, (np.arange(SIZE) + 0.5) / SIZE)
    scores = np.concatenate([1 - negative, negative])
    labels = np.repeat([1, 0], SIZE)
    return qk.rank(labels, scores, sample_weight=np.where(labels == 1, ratio, 1.0))


def boundary_at(odds: float, ratio: float) -> float:
    """The score at which the odds of being positive are these.

    The densities of both classes have the ratio (s/(1 − s))^3.5, 3.5 = 5 − 1.5.
    """
    quotient = (odds / ratio) ** (1 / (SHAPE[1] - SHAPE[0]))
    return quotient / (1 + quotient)


class Optimum(NamedTuple):
    """The best boundary by one measure: where it is, where theory has it, and what it gives."""

    name: str
    boundary: float
    theory: float
    sensitivity: float
    value: float

    def cells(self) -> tuple[str, ...]:
        theory = "" if np.isnan(self.theory) else f"{self.theory:.2f}"
        return (f"{self.boundary:.2f}", theory, f"{self.sensitivity:.3f}", signed(self.value))


def optimum(name: str, found: Any, ratio: float, odds: float) -> Optimum:
    """What `optimal_cut` or `best_boundary` found."""
    cut = qk.confusion_table(simulated(ratio), threshold=found.threshold)
    boundary, value = float(found.threshold), float(found.value)
    return Optimum(name, boundary, boundary_at(odds, ratio), float(qk.recall(cut)), value)


@cache
def f_optima(ratio: float) -> list[Optimum]:
    """F_β is best where the probability of being positive is F_β/(1 + β²)."""
    found = []
    for beta in BETAS:
        best = qk.optimal_cut(qk.f_score, simulated(ratio), beta=beta)
        probability = float(best.value) / (1 + beta**2)
        odds = probability / (1 - probability)
        found.append(optimum(f"F_β, β = {beta:g}", best, ratio, odds))
    return found


@cache
def other_optima(ratio: float) -> list[Optimum]:
    """Accuracy (TAR), informedness, MCC and κ; where the last two are best has no closed form."""
    odds = {"accuracy": 1.0, "informedness": ratio}
    measures = {
        "accuracy": qk.accuracy,
        "informedness": qk.informedness,
        "MCC": qk.matthews_corrcoef,
        "κ": qk.tables.cohen_kappa,
    }
    return [
        optimum(name, qk.optimal_cut(measure, simulated(ratio)), ratio, odds.get(name, np.nan))
        for name, measure in measures.items()
    ]


@cache
def impact_optima(ratio: float) -> list[Optimum]:
    """ι_I of the seven cases."""
    return [
        optimum(
            f"ι_I, {name}",
            qk.best_boundary(simulated(ratio), impacts=case.impacts),
            ratio,
            case.odds(),
        )
        for name, case in CASES.items()
    ]


def optima() -> str:
    """B* by measure, at both class ratios."""
    both = [
        [*f_optima(ratio), *other_optima(ratio), *impact_optima(ratio)] for ratio in CLASS_RATIOS
    ]
    rows = [(one.name, *one.cells(), *other.cells()) for one, other in zip(*both, strict=True)]
    parts = ("B*", "theory", "sensitivity", "value")
    header = [f"{part}, r = {ratio:g}" for ratio in CLASS_RATIOS for part in parts]
    return table(("measure", *header), rows)


def cases() -> str:
    """The seven cases."""
    rows = [
        (name, *(f"{signed(impact, 0)}" for impact in case.impacts), case.situation)
        for name, case in CASES.items()
    ]
    return table(("case", "i_tp", "i_fp", "i_fn", "i_tn", "situation"), rows)


def outcome_optima() -> str:
    """B* by ι_σ, which is the same at every class ratio."""
    rows = []
    for name, case in CASES.items():
        here, there = (
            qk.best_boundary(simulated(ratio), impacts=case.impacts, kind="outcome")
            for ratio in CLASS_RATIOS
        )
        found = optimum(name, here, 1.0, np.nan)
        whole = qk.best_boundary(simulated(1.0), impacts=case.impacts)
        at = qk.tables.outcome_impact(
            simulated(1.0), threshold=whole.threshold, impacts=case.impacts
        ).mean
        cells = (f"{there.threshold:.2f}", f"{found.sensitivity:.3f}", signed(found.value))
        rows.append((name, f"{found.boundary:.2f}", *cells, signed(at)))
    header = ("case", "B*, r = 1", "B*, r = 0.1", "sensitivity", "ι_σ", "ι_σ at B* of ι_I")
    return table(header, rows)


def signed(value: Any, digits: int = 3) -> str:
    """A number with a true minus sign."""
    return "undefined" if np.isnan(value) else f"{float(value):.{digits}f}".replace("-", "−")


# figures

MARKERS = "os^DvXP"


def curves_of_f(axes: Any, ratio: float) -> None:
    """F_β and accuracy against the boundary."""
    at = np.linspace(0.005, 0.995, 199)
    cuts = qk.confusion_table(simulated(ratio), threshold=at)
    shown = [(f"F, β = {beta:g}", qk.f_score(cuts, beta=beta)) for beta in BETAS]
    shown.append(("accuracy", qk.accuracy(cuts)))
    marked = [*f_optima(ratio), other_optima(ratio)[0]]
    draw_curves(axes, at, shown, marked)
    axes.set(title="F-score and accuracy", ylabel="value", ylim=(0, 1.02))


def curves_of_impact(axes: Any, ratio: float) -> None:
    """ι_I of the seven cases against the boundary."""
    at = np.linspace(0.005, 0.995, 199)
    cuts = qk.confusion_table(simulated(ratio), threshold=at)
    tuned = qk.tables.tune_prevalence(cuts, ratio)
    shown = [(name, qk.tables.impact(tuned, impacts=c.impacts).whole) for name, c in CASES.items()]
    draw_curves(axes, at, shown, impact_optima(ratio))
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.set(title="impact of the cases A to G", ylabel="ι_I per example")


def draw_curves(
    axes: Any, at: np.ndarray, shown: list[tuple[str, Any]], marked: list[Optimum]
) -> None:
    looks = zip(shown, marked, COLOURS, DASHES, MARKERS, strict=False)
    for (name, values), best, colour, dash, marker in looks:
        axes.plot(at, values, color=colour, linestyle=dash, label=name)
        place = {"color": colour, "markersize": 7, "markeredgecolor": "white"}
        axes.plot(best.boundary, best.value, marker, zorder=3, **place)
    axes.set(xlabel="boundary (score from which on is selected)", xlim=(0, 1))
    axes.legend(fontsize=8, ncols=2)


def draw_figure(ratio: float) -> Any:
    figure = new_figure(7.8, 3.8)
    left, right = figure.subplots(1, 2)
    curves_of_f(left, ratio)
    curves_of_impact(right, ratio)
    return figure


SECTIONS = {
    "table 7": table_7,
    "diagnosis": diagnosis,
    "loans": loans,
    "costs": costs,
    "cases": cases,
    "optima": optima,
    "outcome optima": outcome_optima,
}
FIGURES = {
    "eiland_liebrock_1.svg": lambda: draw_figure(1.0),
    "eiland_liebrock_2.svg": lambda: draw_figure(0.1),
}

if __name__ == "__main__":
    raise SystemExit(command(__doc__, PAGE, SECTIONS, FIGURES))
