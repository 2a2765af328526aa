"""Labels and calls for several classes: what is accepted, what is an error, what is undefined."""

from __future__ import annotations

from typing import Any

import everything as every
import numpy as np
import pandas as pd
import pytest
from backends import MODES, Mode, parameters
from expected import ulps

import quotakernels as qk

# labels

Y = np.asarray([2, 0, 1, 1, 0, 2])
S = np.random.default_rng(5).choice([2.0, 0.5, -1.0], (6, 3))
WANTED = qk.one_vs_rest(qk.average_hit_rate, Y, S)
NAMES = np.asarray(["VF", "F", "M"])


def average(y: Any, s: Any = S, **given: Any) -> Any:
    return qk.one_vs_rest(qk.average_hit_rate, y, s, **given)


def exactly(found: qk.results.OneVsRest, wanted: qk.results.OneVsRest = WANTED) -> None:
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(x, y)


OF_ANY_KIND = [
    (NAMES[Y], NAMES),
    (NAMES[Y].tolist(), list(NAMES)),
    (NAMES[Y].astype(object), pd.Index(NAMES)),
    (pd.Series(NAMES[Y], dtype="category"), tuple(NAMES)),
    (pd.Series(NAMES[Y], dtype="string"), pd.Series(NAMES)),
    (NAMES[Y].astype(np.dtypes.StringDType()), NAMES.tolist()),
    (NAMES[Y].astype("S"), [b"VF", b"F", b"M"]),
    (
        np.asarray([(1, "a"), 2.5, "b"][:0] + [[1, 2.5, "b"][k] for k in Y], dtype=object),
        [1, 2.5, "b"],
    ),
    (np.asarray([0.1, 0.7, np.inf], dtype=np.float32)[Y], [0.1, 0.7, np.inf]),
    (np.asarray([-1, 2**62, 2**62 + 1])[Y], [-1, 2**62, 2**62 + 1]),
    (Y, [0, 1.0, np.int8(2)]),
    (Y, range(3)),
]


@pytest.mark.parametrize(("labels", "classes"), OF_ANY_KIND)
def test_labels_of_any_kind_with_classes(labels: Any, classes: Any):
    exactly(average(labels, classes=classes))


# what is bad

BAD: list[dict[str, Any]] = [
    *({"y_true": [0, 1, x, 1, 0, 2]} for x in (3, -1, 0.5, np.nan, 1e-45)),
    {"y_true": Y, "classes": [0, 1, 7]},
    {"where": np.arange(6) > 3, "y_true": 9 * Y},
    {"y_score": np.where(np.arange(18).reshape(6, 3) == 5, np.nan, S)},
    *({"sample_weight": [1, 1, x, 1, 1, 1.0]} for x in (-1, np.inf)),
]


@pytest.mark.long_program
@pytest.mark.parametrize("bad", BAD)
@every.reading_modes
def test_bad_values_are_nan_where_they_are_not_read(mode: Mode, bad: dict[str, Any]):
    given = {"y_true": Y, "y_score": S} | bad
    classes = given.pop("classes", None)
    arrays = {k: np.stack([{"y_true": Y, "y_score": S}.get(k, x), x]) for k, x in given.items()}

    def run(validate: bool, *columns: Any) -> Any:
        named = dict(zip(given, columns, strict=True))
        return qk.one_vs_rest(qk.hit_rate, classes=classes, fraction=1, validate=validate, **named)

    result = mode.run(lambda *x: run(mode.lazy, *x), *arrays.values())
    assert np.isnan(result.value[1])
    assert np.isnan(result.per_class[1]).all()
    assert result.defined[1] == 0
    if not {"classes", "where", "sample_weight"} & bad.keys():
        assert result.defined[0] == 3


def test_what_does_not_count_is_never_bad():
    y, s, w = Y.astype(float), S.copy(), np.ones(6)
    y[1], s[1, 2], w[1] = 77, np.nan, 0
    kept = average(np.delete(Y, 1), np.delete(S, 1, axis=0))
    exactly(average(y, s, where=np.arange(6) != 1), kept)
    weighted = average(y, s, sample_weight=w)
    assert ulps(weighted.per_class, kept.per_class) <= 4


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name == "jax32"]))
def test_host_arrays_beside_those_of_another_library(mode: Mode):
    with mode.context():
        scores, quota = mode.array(S), mode.array(np.asarray(2))
        mode.to_numpy(average(NAMES[Y], scores, classes=NAMES).value)
        top = qk.one_vs_rest(qk.hit_rate, Y, S, quota=quota, average="weighted")
        assert mode.to_numpy(top.value).dtype == np.float32
        close = np.float64(1) + np.arange(18).reshape(6, 3) * 1e-12
        with pytest.warns(UserWarning, match="have 15 new ties"):
            average(mode.array(Y), close)
