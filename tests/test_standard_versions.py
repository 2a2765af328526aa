"""Other libraries of the array API standard, in all of its versions since 2024.12."""

from __future__ import annotations

import numpy as np
import pytest

import quotakernels as qk

xs = pytest.importorskip("array_api_strict")


@pytest.mark.parametrize("version", ["2024.12", "2025.12"])
def test_versions_of_the_standard(version: str):
    if version == "2025.12" and xs.__array_api_version__ < version:
        pytest.skip("this array-api-strict has no such version")
    y, s = xs.asarray([1, 0, 1]), xs.asarray([0.3, 0.2, 0.1])
    with xs.ArrayAPIStrictFlags(api_version=version):
        assert float(qk.roc_auc(y, s)) == 0.5


def test_ndonnx():
    ndx = pytest.importorskip("ndonnx")
    known = (np.asarray([1, 0, 1]), np.asarray([0.3, 0.2, 0.1]))
    assert float(qk.roc_auc(*(ndx.asarray(x) for x in known)).unwrap_numpy()) == 0.5
