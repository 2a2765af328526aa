"""How sensitive B* is to the boundary and to the class ratio (Eiland & Liebrock, section 7.4).

Of Abdou's loans there are no scores, so the loans are those that come with the package.  The
command is that of ``eiland_liebrock.py``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from _pages import columns, new_figure, table
from eiland_liebrock_tables import PRINTED_RATIOS, signed

import quotakernels as qk

IMPACTS = (0, -5, -1, 0)
"""The costs of the data set, which has the paper's 5:1."""
MODELS = ("naive_bayes", "neural_net")


@cache
def loans(model: str) -> qk.Ranking:
    """Who repaid, by a model's score."""
    found = columns(Path(qk.__file__).parent / "data" / "german_credit_scores.csv")
    return qk.rank(found["repaid"].astype(int), found[model].astype(float))


def best(model: str) -> list[Any]:
    """B* at each of the class ratios of Table 9, and what every boundary brings there."""
    return [qk.best_boundary(loans(model), impacts=IMPACTS, ratio=x) for x in PRINTED_RATIOS]


def moved_boundaries() -> str:
    """B* by class ratio, and what B* of balanced classes brings in its place."""
    rows = []
    for model in MODELS:
        found = best(model)
        balanced = np.argmax(found[0].optima)
        for ratio, at in zip(PRINTED_RATIOS, found, strict=True):
            cut = (f"{at.threshold:.4f}", f"{at.quota:.0f}")
            brought = (at.value, at.curve.value[balanced])
            rows.append((model, f"{ratio:g}", *cut, *map(signed, brought)))
    header = ("model", "ratio₊", "B*", "loans granted", "ι_I at B*", "ι_I at B* of ratio₊ = 1")
    return table(header, rows)


def sensitivity() -> Any:
    """ι_I against the number of loans granted, a curve for each class ratio."""
    from quotakernels.plots import ImpactDisplay

    figure = new_figure(7.8, 4.2)
    for axes, model in zip(figure.subplots(1, 2, sharey=True), MODELS, strict=True):
        axes.set_title(model)
        given = {"impacts": IMPACTS, "ratio": PRINTED_RATIOS, "ax": axes}
        ImpactDisplay.from_ranking(loans(model), **given)
    return figure


SECTIONS = {"sensitivity": moved_boundaries}
FIGURES = {"eiland_liebrock_sensitivity.svg": sensitivity}
