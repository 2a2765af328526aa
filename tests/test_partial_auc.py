"""Areas under parts of the ROC and the precision-recall curve, against fractions and peers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from expected import as_floats, assert_within
from test_charts import GROUPS, PADDED, WEIGHTED
from test_published import columns

import quotakernels as qk

mode = mode_fixture(QUICK)
RNG = np.random.default_rng(19)
PARTS: tuple[dict[str, Any], ...] = (
    {"max_fpr": 0.5},
    {"max_fpr": 0.3, "standardized": False},
    {"min_tpr": 0.5},
    {"min_tpr": 0.7, "standardized": False},
    {"max_fpr": 0.75, "min_tpr": 0.25, "standardized": False},
)

PR_PARTS: tuple[dict[str, Any], ...] = (
    {"min_recall": 0.3, "max_recall": 0.7},
    {"min_recall": 0.5},
    {"max_recall": 0.45, "start": "horizontal"},
)


def exact_pr(groups: Any, part: dict[str, Any]) -> float | None:
    return ex.pr.partial_pr_auc(groups, **{"min_recall": 0.0, "max_recall": 1.0} | part)


def near(found: Any, wanted: Any, units: float = 4) -> None:
    unit = 2.0**-53 if np.asarray(found).dtype == np.float64 else 2.0**-24
    assert_within(found, as_floats(wanted), units * unit, "partial area")


@pytest.mark.long_program
def test_every_small_case(mode: Mode):
    def areas(y: Any, s: Any, m: Any) -> list[Any]:
        ranking = qk.rank(y, s, where=m)
        found = [qk.roc_auc(ranking, **part) for part in PARTS]
        return found + [qk.pr_auc(ranking, **part) for part in PR_PARTS]

    for found, wanted in zip(mode.run(areas, *PADDED), wanted_of_small_cases(), strict=True):
        near(found, wanted)


@cache
def wanted_of_small_cases() -> list[list[Any]]:
    of_roc = [[ex.partial_auc(groups, **part) for groups in GROUPS] for part in PARTS]
    return of_roc + [[exact_pr(groups, part) for groups in GROUPS] for part in PR_PARTS]


@pytest.mark.full
def test_weights_everywhere(mode: Mode):
    columns = (np.asarray(x) for x in zip(*WEIGHTED, strict=True))
    found = mode.run(
        lambda y, s, w: [qk.roc_auc(y, s, sample_weight=w, **part) for part in PARTS], *columns
    )
    for values, part in zip(found, PARTS, strict=True):
        near(values, [ex.partial_auc(ex.groups(*case), **part) for case in WEIGHTED], 8)


def test_areas_of_proc(shared: Path):
    data = columns(shared / "published" / "proc_asah.csv")
    y, wfns = (data[name].astype(float) for name in ("y_true", "wfns"))
    found = qk.roc_auc(y, wfns, max_fpr=0.1, standardized=False)
    assert found == pytest.approx(0.0334417344173, abs=5e-14)


NUMBERS = (np.float32, np.float16, np.float64, np.asarray)


@pytest.mark.parametrize("kind", NUMBERS)
def test_rates_of_any_precision(kind: Any):
    y, s = RNG.integers(0, 2, 30), RNG.integers(0, 9, 30)
    for name in ("max_fpr", "min_tpr"):
        wanted = qk.roc_auc(y, s, **{name: 0.125})
        np.testing.assert_array_equal(qk.roc_auc(y, s, **{name: kind(0.125)}), wanted)
        tenth = float(kind(0.1)[()])
        found = qk.roc_auc(y, s, **{name: kind(0.1)})
        np.testing.assert_array_equal(found, qk.roc_auc(y, s, **{name: tenth}))
    for name in ("min_recall", "max_recall"):
        wanted = qk.pr_auc(y, s, **{name: 0.125})
        np.testing.assert_array_equal(qk.pr_auc(y, s, **{name: kind(0.125)}), wanted)
    with pytest.raises(ValueError, match="^max_fpr must be a rate above 0 and at most 1; got "):
        qk.roc_auc(y, s, max_fpr=kind(1.5))


@pytest.mark.parametrize("step", [2.0**-10, 2.0**-30, 2.0**-40, 2.0**-50])
def test_narrow_parts_keep_their_digits(step: float):
    y, s = RNG.integers(0, 2, 40), RNG.integers(0, 6, 40)
    groups, top, bottom = ex.groups(y.tolist(), s.tolist()), 1 - step, step
    ends: tuple[dict[str, Any], ...] = (
        {"min_tpr": top},
        {"max_fpr": bottom},
        {"min_tpr": top, "max_fpr": top},
    )
    for part in ends:
        part = part | {"standardized": False}
        for model, rows in ((s, groups), (-s, ex.groups(y.tolist(), (-s).tolist()))):
            found, wanted = qk.roc_auc(y, model, **part), float(ex.partial_auc(rows, **part))
            assert found == pytest.approx(wanted, rel=1e-14, abs=0)
    for band in ({"min_recall": top}, {"max_recall": bottom}):
        found, wanted = qk.pr_auc(y, s, **band), exact_pr(groups, band)
        assert found == pytest.approx(float(wanted), rel=1e-13, abs=0)
    one = qk.pr_auc([1, 0, 1], [1, 1, 1], min_recall=0.25, max_recall=0.25 + step)
    assert one == pytest.approx(2 / 3 * step, rel=1e-14, abs=0)
