"""What the examples of each cell of a table bring on average, against the exact reference."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from expected import as_floats
from test_example_impact import CASES, QUOTAS, ROWS, SIZE, WHOLE

import quotakernels as qk

mode = mode_fixture(QUICK)


def exact_cells(labels: np.ndarray, weighted: bool, quotas: Sequence[float]) -> np.ndarray:
    """Shape (rows, quotas, 4); undefined where a cell is empty, or there is too little mass."""
    masked = ~CASES["where"] | (weighted & (CASES["weight"] == 0))
    names = ("score", "gain", "other")
    columns = [np.where(masked, 0.0, CASES[k] if weighted else WHOLE[k]).tolist() for k in names]
    rows = zip(labels.tolist(), *columns, CASES["weight"].tolist(), (~masked).tolist(), strict=True)
    found: list[Any] = []
    for y, s, g, r, w, m in rows:
        mass = sum(x if weighted else 1 for x, there in zip(w, m, strict=True) if there)
        given: dict[str, Any] = {"sample_weight": w if weighted else None, "where": m}
        found.append(
            [
                list(ex.impact.category_means(y, s, g, r, Fraction(quota), **given))
                if quota <= mass
                else [None] * 4
                for quota in quotas
            ]
        )
    return as_floats(found)


LABELS = np.random.default_rng(9).integers(0, 2, (ROWS, SIZE))


@pytest.mark.long_program
@every.main_modes
def test_means_of_the_cells_at_quotas(mode: Mode):
    def run(y: Any, s: Any, g: Any, r: Any, w: Any, m: Any) -> Any:
        given: dict[str, Any] = {"gain_rejected": r, "where": m, "quota": QUOTAS}
        return qk.tables.cell_impacts(y, s, gain=g, sample_weight=w, **given)

    columns = (CASES[k] for k in ("score", "gain", "other", "weight", "where"))
    found = mode.run(run, LABELS, *columns)
    wanted = exact_cells(LABELS, True, QUOTAS)
    near = 1e-13 if found.tp.dtype == np.float64 else 2e-6
    for field, exact in zip(found._fields, np.moveaxis(wanted, -1, 0), strict=True):
        np.testing.assert_allclose(getattr(found, field), exact, atol=near, err_msg=field)


def test_means_of_whole_gains_are_exact():
    given: dict[str, Any] = {"gain_rejected": WHOLE["other"], "where": WHOLE["where"]}
    found = qk.tables.cell_impacts(
        LABELS, WHOLE["score"], gain=WHOLE["gain"], quota=QUOTAS, **given
    )
    wanted = exact_cells(LABELS, False, QUOTAS)
    for field, exact in zip(found._fields, np.moveaxis(wanted, -1, 0), strict=True):
        np.testing.assert_array_equal(getattr(found, field), exact, err_msg=field)


THRESHOLDS = (np.nan, -2.0, -1.0, 0.5, 0.7, 2.0, 3.0)


@pytest.mark.long_program
@every.main_modes
def test_means_of_the_cells_at_thresholds(mode: Mode):
    """They are sums over masks, and of one list as of a batch."""

    def run(y: Any, s: Any, g: Any, m: Any) -> Any:
        given: dict[str, Any] = {"gain_rejected": 2, "where": m, "threshold": list(THRESHOLDS)}
        cuts = [qk.tables.cell_impacts(y, s, gain=g, inclusive=x, **given) for x in (True, False)]
        return tuple(cuts)

    s, g, m = (WHOLE[k] for k in ("score", "gain", "where"))
    found = mode.run(run, LABELS, s, g, m)
    for inclusive, cells in zip((True, False), found, strict=True):
        for k, threshold in enumerate(THRESHOLDS):
            chosen = (s >= threshold) if inclusive else (s > threshold)
            for field in cells._fields:
                inside = m & ((field in ("tp", "fn")) == LABELS) & (chosen == (field[1] == "p"))
                brought = np.where(inside, g if field[1] == "p" else 2.0, 0.0).sum(axis=-1)
                with np.errstate(invalid="ignore"):
                    wanted = brought / inside.sum(axis=-1)
                np.testing.assert_allclose(getattr(cells, field)[:, k], wanted, rtol=1e-6)
