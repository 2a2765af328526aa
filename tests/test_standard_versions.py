"""Arrays whose size is not known, and libraries of an older array API standard, are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quotakernels as qk

xs = pytest.importorskip("array_api_strict")


class Unsized:
    """Stands for an array of a graph, whose size is known when the graph runs."""

    dtype = xs.float64

    def __init__(self, shape: Any):
        self.shape = shape

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return xs


@pytest.mark.parametrize("shape", [(None,), (3, None), None])
@pytest.mark.parametrize("measure", [qk.roc_auc, qk.rank, qk.average_hit_rate])
def test_sizes_that_are_not_known(measure: Any, shape: Any):
    with pytest.raises(TypeError, match="^y_(true|score) has the shape .* a size is not known"):
        measure(Unsized(shape), Unsized(shape))
    with pytest.raises(TypeError, match="^y_score has the shape"):
        qk.select(Unsized(shape), quota=1)


@pytest.mark.parametrize("version", ["2022.12", "2023.12", "2024.12", "2025.12"])
def test_versions_of_the_standard(version: str):
    if version == "2025.12" and xs.__array_api_version__ < version:
        pytest.skip("this array-api-strict has no such version")
    y, s = xs.asarray([1, 0, 1]), xs.asarray([0.3, 0.2, 0.1])
    with xs.ArrayAPIStrictFlags(api_version=version):
        if version >= "2024.12":
            assert float(qk.roc_auc(y, s)) == 0.5
            return
        wanted = rf"^y_\w+ is an array of array_api_strict in version {version} of the array API"
        with pytest.raises(TypeError, match=wanted):
            qk.roc_auc(y, s)


def test_ndonnx():
    ndx = pytest.importorskip("ndonnx")
    y, s = (
        ndx.argument(shape=("N",), dtype=ndx.int64),
        ndx.argument(shape=("N",), dtype=ndx.float64),
    )
    with pytest.raises(TypeError, match="a size is not known"):
        qk.roc_auc(y, s)
    known = (np.asarray([1, 0, 1]), np.asarray([0.3, 0.2, 0.1]))
    assert float(qk.roc_auc(*(ndx.asarray(x) for x in known)).unwrap_numpy()) == 0.5
