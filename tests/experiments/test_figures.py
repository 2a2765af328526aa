"""The figures of the experiments are those that their scripts draw."""

from __future__ import annotations

import re
from pathlib import Path

import _pages
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("scipy")

import arbel_rokach_benchmarks  # noqa: E402
import davis_goadrich  # noqa: E402
import eiland_liebrock  # noqa: E402
import powers  # noqa: E402

FIGURES = {
    name: draw
    for script in (arbel_rokach_benchmarks, davis_goadrich, eiland_liebrock, powers)
    for name, draw in script.FIGURES.items()
}
IDENTIFIER = re.compile(r"\b[pm][0-9a-f]{10}\b")
"""They are hashes, also of digits that are not written."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-\d+)?")


def shape_and_numbers(svg: str) -> tuple[str, np.ndarray]:
    """The text without its numbers, and these."""
    known = IDENTIFIER.sub("", svg)
    return NUMBER.sub("", known), np.asarray(NUMBER.findall(known), dtype=float)


@pytest.mark.full
@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_what_the_script_draws(
    name: str, tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
):
    """Another Matplotlib may set its text elsewhere."""
    stored = (_pages.HERE / name).read_text(encoding="utf-8")
    if f"Matplotlib v{matplotlib.__version__}," not in stored:
        pytest.skip("another Matplotlib drew it")
    monkeypatch.setenv(_pages.VARIABLE, str(shared))
    _pages.save(FIGURES[name], tmp_path / name)
    old, new = map(shape_and_numbers, (stored, (tmp_path / name).read_text(encoding="utf-8")))
    assert new[0] == old[0]
    np.testing.assert_allclose(new[1], old[1], atol=0.01)
