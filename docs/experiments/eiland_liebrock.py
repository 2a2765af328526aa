"""Eiland & Liebrock (2016): the diagnosis, the loans and the simulation of their section 7.

Run as ``python docs/experiments/eiland_liebrock.py [--write]``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import eiland_liebrock_sensitivity
import eiland_liebrock_tables
import numpy as np
from _pages import COLOURS, DASHES, command, new_figure, table
from eiland_liebrock_tables import signed

import quotakernels as qk

PAGE = "eiland_liebrock.md"

SHAPE = (1.5, 5.0)
SIZE = 20_000
CLASS_RATIOS = (1.0, 0.1)
BETAS = (10, 1, 0.1)


class Case(NamedTuple):
    """What the four outcomes bring, and which of them matter most."""

    impacts: tuple[float, float, float, float]
    largest: str

    def odds(self) -> float:
        """The odds of being positive from which on selecting an example pays."""
        i_tp, i_fp, i_fn, i_tn = self.impacts
        return (i_tn - i_fp) / (i_tp - i_fn)


CASES = {
    "A": Case((1, -0.1, -0.1, 0.1), "T₊"),
    "B": Case((0.1, -1, -0.1, 0.1), "F₊"),
    "C": Case((1, -0.1, -0.1, 1), "T₊, T₋"),
    "D": Case((0.1, -1, -1, 0.1), "F₊, F₋"),
    "E": Case((1, -1, -0.1, 0.1), "T₊, F₊"),
    "F": Case((1, -0.1, -1, 0.1), "T₊, F₋"),
    "G": Case((1, -1, -1, 1), "none"),
}


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
    """What `best_cut` or `best_boundary` found."""
    cut = qk.confusion_table(simulated(ratio), threshold=found.threshold)
    boundary, value = float(found.threshold), float(found.value)
    return Optimum(name, boundary, boundary_at(odds, ratio), float(qk.recall(cut)), value)


@cache
def f_optima(ratio: float) -> list[Optimum]:
    """F_β is best where the probability of being positive is F_β/(1 + β²)."""
    found = []
    for beta in BETAS:
        best = qk.best_cut(qk.f_score, simulated(ratio), beta=beta)
        probability = float(best.value) / (1 + beta**2)
        odds = probability / (1 - probability)
        found.append(optimum(f"F_β, β = {beta:g}", best, ratio, odds))
    return found


COMMON = {
    "accuracy": qk.accuracy,
    "informedness": qk.informedness,
    "MCC": qk.matthews_corrcoef,
    "IC": qk.tables.information_coefficient,
}


@cache
def other_optima(ratio: float) -> list[Optimum]:
    """Accuracy (TAR), informedness, MCC and IC; where the last two are best has no closed form."""
    odds = {"accuracy": 1.0, "informedness": ratio}
    return [
        optimum(name, qk.best_cut(measure, simulated(ratio)), ratio, odds.get(name, np.nan))
        for name, measure in COMMON.items()
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
        (name, case.largest, *(f"{impact:g}".replace("-", "−") for impact in case.impacts))
        for name, case in CASES.items()
    ]
    return table(("case", "largest", "i_tp", "i_fp", "i_fn", "i_tn"), rows)


@cache
def outcome_best(ratio: float) -> list[Optimum]:
    """ι_σ of the seven cases."""
    found = []
    for name, case in CASES.items():
        best = qk.best_boundary(simulated(ratio), impacts=case.impacts, kind="outcome")
        found.append(optimum(name, best, ratio, np.nan))
    return found


def outcome_optima() -> str:
    """B* by ι_σ, which is the same at every class ratio."""
    rows = []
    for here, there in zip(outcome_best(1.0), outcome_best(0.1), strict=True):
        impacts = CASES[here.name].impacts
        whole = qk.best_boundary(simulated(1.0), impacts=impacts)
        cut = qk.confusion_table(simulated(1.0), threshold=whole.threshold)
        at = qk.tables.outcome_impact(cut, impacts=impacts).mean
        cells = (f"{there.boundary:.2f}", f"{here.sensitivity:.3f}", signed(here.value))
        rows.append((here.name, f"{here.boundary:.2f}", *cells, signed(at)))
    header = ("case", "B*, r = 1", "B*, r = 0.1", "sensitivity", "ι_σ", "ι_σ at B* of ι_I")
    return table(header, rows)


# figures

MARKERS = "os^DvXP"


AT = np.linspace(0.005, 0.995, 199)


def common_curves(axes: Any) -> None:
    """The measures that know no impacts, against the boundary, classes balanced."""
    cuts = qk.confusion_table(simulated(1.0), threshold=AT)
    shown = [(name, measure(cuts)) for name, measure in COMMON.items()]
    draw_curves(axes, shown, other_optima(1.0))
    axes.set(title="common measures", ylabel="value", ylim=(0, 1.02))


def curves_of_f(axes: Any) -> None:
    """F_β against the boundary, one positive to ten negatives."""
    cuts = qk.confusion_table(simulated(0.1), threshold=AT)
    shown = [(f"F, β = {beta:g}", qk.f_score(cuts, beta=beta)) for beta in BETAS]
    draw_curves(axes, shown, f_optima(0.1))
    axes.set(title="F-score", ylabel="value", ylim=(0, 1.02))


def curves_of_outcomes(axes: Any) -> None:
    """ι_σ of the seven cases against the boundary."""
    cuts = qk.confusion_table(simulated(1.0), threshold=AT)
    shown = [(n, qk.tables.outcome_impact(cuts, impacts=c.impacts).mean) for n, c in CASES.items()]
    draw_curves(axes, shown, outcome_best(1.0))
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.set(title="ι_σ of the cases A to G", ylabel="ι_σ per decision", ylim=(-0.25, 1.3))


def curves_of_impact(axes: Any) -> None:
    """ι_I of the seven cases against the boundary, one positive to ten negatives."""
    tuned = qk.tables.tune_ratio(qk.confusion_table(simulated(0.1), threshold=AT), 0.1)
    shown = [(name, qk.tables.impact(tuned, impacts=c.impacts).whole) for name, c in CASES.items()]
    draw_curves(axes, shown, impact_optima(0.1))
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.set(title="ι_I of the cases A to G", ylabel="ι_I per example")


def draw_curves(axes: Any, shown: list[tuple[str, Any]], marked: list[Optimum]) -> None:
    looks = zip(shown, marked, COLOURS, DASHES, MARKERS, strict=False)
    for (name, values), best, colour, dash, marker in looks:
        axes.plot(AT, values, color=colour, linestyle=dash, label=name)
        place = {"color": colour, "markersize": 7, "markeredgecolor": "white"}
        axes.plot(best.boundary, best.value, marker, zorder=3, **place)
    axes.set(xlabel="boundary (score from which on is selected)", xlim=(0, 1))
    axes.legend(fontsize=8, ncols=2)


def draw_figure(*draw: Callable[[Any], None]) -> Any:
    figure = new_figure(7.8, 3.8)
    for axes, one in zip(figure.subplots(1, 2), draw, strict=True):
        one(axes)
    return figure


SECTIONS = {
    **eiland_liebrock_tables.SECTIONS,
    **eiland_liebrock_sensitivity.SECTIONS,
    "cases": cases,
    "optima": optima,
    "outcome optima": outcome_optima,
}
FIGURES = {
    **eiland_liebrock_sensitivity.FIGURES,
    "eiland_liebrock_1.svg": lambda: draw_figure(common_curves, curves_of_outcomes),
    "eiland_liebrock_2.svg": lambda: draw_figure(curves_of_f, curves_of_impact),
}

if __name__ == "__main__":
    raise SystemExit(command(__doc__, PAGE, SECTIONS, FIGURES))
