"""What the public functions return for a fixed list of calls, in `values.json`.

With QUOTAKERNELS_WRITE=1 in the environment the numbers are written again, after a change that was
meant: look at the difference before you keep it.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import STANDARD_ONLY
from libraries.test_lazy import CASES, IDS

import quotakernels as qk

KEPT = Path(__file__).with_name("values.json")
AGAIN = "if that is meant, run this test with QUOTAKERNELS_WRITE=1 and look at the difference"
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 60)
MODELS = {
    "good": np.round(Y + RNG.normal(0, 0.7, 60), 1),
    "poor": np.round(RNG.normal(0, 1, 60), 2),
}
W, GROUPS = RNG.choice([0.5, 1.0, 3.0], 60), RNG.integers(0, 9, 60)
S = MODELS["good"]
DRAWN: dict[str, Any] = {"n_resamples": 40, "random_state": 1}


def histogram() -> Any:
    scores = S.astype(np.float32)
    return qk.states.ScoreHistogram.of(Y, scores, bits=9, sample_weight=W)


def buffer() -> Any:
    state = qk.states.ScoreBuffer.empty(S, num_groups=9)
    given = {"sample_weight": W, "cost": W, "gain": S}
    for part in (slice(0, 20), slice(20, 60)):
        own = {name: x[part] for name, x in given.items()}
        state = state.update(Y[part], S[part], groups=GROUPS[part], **own)
    return state


ON_HOST = {
    "bootstrap": lambda: qk.bootstrap(qk.roc_auc, Y, S, **DRAWN)[:4],
    "bootstrap of clusters": lambda: qk.bootstrap(
        qk.hit_rate, Y, S, clusters=GROUPS, quota=9, method="percentile", **DRAWN
    )[:4],
    "best_cut_interval": lambda: qk.inference.best_cut_interval(
        qk.best_cut, Y, S, measure=qk.f_score, **DRAWN
    ),
    "curve_band": lambda: qk.inference.curve_band(qk.roc_curve, Y, S, fpr=[0.1, 0.5], **DRAWN),
    "compare": lambda: qk.compare(qk.roc_auc, Y, MODELS, test="permutation", **DRAWN),
    "compare_selections": lambda: qk.inference.compare_selections(Y, MODELS, quota=15),
    "measure_correlations": lambda: qk.inference.measure_correlations(
        {"AUC": qk.roc_auc, "PEM": qk.pem, "AHR": qk.average_hit_rate}, Y, MODELS
    )[1:],
    "vote": lambda: qk.inference.vote(qk.roc_auc, Y, MODELS)[1:],
    "bounds of a histogram": lambda: histogram().bounds(qk.roc_auc),
    "lift of a histogram": lambda: histogram().compute(qk.lift, fraction=0.3),
    "pairs of a buffer": lambda: buffer().compute(qk.roc_auc),
    "budget of a buffer": lambda: buffer().compute(qk.hit_rate, budget=12),
}
"""Functions that read values, and states, which `CASES` leave out."""
NAMES = (*IDS, *ON_HOST)
LOOSE = ("uncertainty", "folds", "compare", "best_cut_interval", "curve_band", "bootstrap")
"""Those whose results are quantiles, or are made of differences: 1e-11, the others 4 ulp of 1."""


def numbers(result: Any) -> Any:
    """Arrays of numbers as lists, in place of records and names; no empty records."""
    if isinstance(result, dict):
        parts = sorted(result.items())
        return {name: numbers(x) for name, x in parts if not isinstance(x, dict) or x}
    if isinstance(result, (tuple, list)):
        return [numbers(x) for x in result]
    return np.asarray(result).tolist()


def found(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in ON_HOST:
            return numbers(ON_HOST[name]())
        function, arrays = CASES[IDS.index(name)]
        return numbers(function(*arrays))


if os.environ.get("QUOTAKERNELS_WRITE"):
    LINES = (f"{json.dumps(name)}: {json.dumps(found(name))}" for name in NAMES)
    KEPT.write_text("{\n" + ",\n".join(LINES) + "\n}\n", encoding="utf-8")


def differences(found: Any, wanted: Any, unit: float, where: str) -> list[str]:
    """The places at which two nested lists of numbers differ by more than a unit of 1."""
    if isinstance(wanted, dict):
        if new := found.keys() ^ wanted.keys():
            return [f"{where}: {', '.join(sorted(new))} stand on one side only; {AGAIN}"]
        pairs = {name: (found[name], x) for name, x in wanted.items()}
    elif isinstance(wanted, list):
        same = isinstance(found, list) and len(found) == len(wanted)
        pairs = dict(enumerate(zip(found, wanted, strict=True))) if same else {"len": (found, 0)}
    else:
        plain = isinstance(wanted, float) and isinstance(found, float)
        close = plain and abs(found - wanted) <= unit * max(1.0, abs(wanted))
        right = close or found == wanted or (plain and found != found and wanted != wanted)
        return [] if right else [f"{where}: {found} in place of {wanted}"]
    return [x for k, (f, w) in pairs.items() for x in differences(f, w, unit, f"{where}/{k}")]


@pytest.mark.skipif(STANDARD_ONLY, reason="other draws, and tables that are padded")
@pytest.mark.parametrize("name", NAMES)
def test_the_values_are_those_that_were_kept(name: str):
    wanted = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    unit = 1e-11 if name.startswith(LOOSE) else 4 * float(np.finfo(float).eps)
    assert not differences(found(name), wanted, unit, name)


def test_the_list_is_whole():
    assert json.loads(KEPT.read_text(encoding="utf-8")).keys() == set(NAMES), AGAIN
