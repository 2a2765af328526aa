"""All measures and decisions of one input at once, and what the exact reference says of them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, parameters
from expected import BINS, as_floats, check, computed, expected
from public_names import PUBLIC

import quotakernels as qk

QUOTAS = (Fraction(0), Fraction(1), Fraction(5, 2), Fraction(4))
AS_FLOATS = [float(q) for q in QUOTAS]  # torch.compile of PyTorch 2.11 knows no fractions
SELECTED = 2.5
EAGER = [mode for mode in MODES if not mode.lazy and mode.name != "jax64"]
"""The modes in which values are read; JAX once, with the fewer types."""

MAIN = ("numpy", "strictest-device1", "jax32-jit", "torch", "torch-vmap", "cupy")
main_modes = pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in MAIN]))
"""Every library, where its other modes would show nothing else."""

READING = (*MAIN, "jax32")
reading_modes = pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in READING]))
"""The same, and JAX both where values can be read and where they cannot."""

CURVES = ("hit_rate_curve", "qrecall_curve", "lift_curve", "pearson_curve")


def everything(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    where: Any = None,
    *,
    validate: bool = True,
) -> dict[str, Any]:
    """Every number that the public functions give; one of a bad row is NaN."""
    weighted = sample_weight is not None
    given = {"sample_weight": sample_weight, "where": where, "validate": validate}
    ranking = qk.rank(y_true, y_score, **given)
    found = computed(ranking, AS_FLOATS, weighted)
    found |= {name: PUBLIC[name](ranking).value for name in CURVES}
    table = qk.lift_table(ranking, bins=BINS)._asdict()
    found |= {f"lift_table.{name}": table[name] for name in table if name[:2] != "st"}
    if not weighted:
        found |= record("normalized_marks", qk.normalized_marks(ranking))
        found |= record("summary", qk.summary(ranking))
    found["h_measure"] = qk.h_measure(ranking, cost_distribution=(2, 2))
    best = qk.best_operating_point(ranking, cost_fp=1, cost_fn=[0.5, 2.0])
    found |= record("best_operating_point", best)
    found["select"] = qk.select(y_score, quota=SELECTED, **given)
    ends = qk.quota_threshold(y_score, quota=AS_FLOATS, **given)
    return found | record("quota_threshold", ends)


def record(name: str, result: Any) -> dict[str, Any]:
    """The fields by their names, and those of a field that is a record, such as gains."""
    found: dict[str, Any] = {}
    parts = result if isinstance(result, dict) else getattr(result, "_asdict", dict)()
    for field, value in parts.items():
        inside = isinstance(value, (tuple, dict))
        found |= record(f"{name}.{field}", value) if inside else {f"{name}.{field}": value}
    return found


def assert_exact(
    found: dict[str, Any], y_true: Any, y_score: Any, sample_weight: Any = None, where: Any = None
) -> None:
    """The values found for one input are the exact ones, as near as is promised for each."""
    optional = [None if x is None else np.asarray(x).tolist() for x in (sample_weight, where)]
    labels, scores = np.asarray(y_true).tolist(), np.asarray(y_score).tolist()
    weighted = sample_weight is not None
    wanted = expected(ex.groups(labels, scores, *optional), QUOTAS, weighted)
    for name in found.keys() & wanted.keys():
        value = wanted[name]
        check(name, np.asarray(found[name]), as_floats(value), weighted)
    check("select", found["select"], as_floats(ex.select(scores, SELECTED, *optional)))
    if "quota_threshold.above" not in found:
        return
    ends = [ex.quota_threshold(scores, q, *optional) for q in QUOTAS]
    for field in ex.QuotaThreshold._fields:
        value = as_floats([getattr(end, field) for end in ends])
        got = np.asarray(found[f"quota_threshold.{field}"], dtype=float)
        if field == "threshold":
            np.testing.assert_array_equal(got, value)
        else:
            check(field, got, value)


def raises(mode: Mode, error: type[Exception], match: str) -> Any:
    """The error, also where torch.compile reports it as its own."""
    if mode.name == "torch-compile":
        import torch

        message = rf"{error.__name__}\(.{match.removeprefix('^')}"
        return pytest.raises(torch._dynamo.exc.Unsupported, match=re.compile(message, re.DOTALL))
    return pytest.raises(error, match=match)


def assert_undefined(found: dict[str, Any]) -> None:
    """No value is a number."""
    for name, value in found.items():
        assert np.isnan(value).all(), (name, value)


def of_row(found: dict[str, Any], index: int) -> dict[str, Any]:
    """What was found for one row of the batch."""
    return {name: value[index] for name, value in found.items()}
