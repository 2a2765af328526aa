"""The times of ``python -m benchmarks.drawing`` are of the same curve, thinned and whole."""

from __future__ import annotations

import pytest

from benchmarks import drawing
from quotakernels import plots


@pytest.mark.full
def test_a_curve_is_drawn_thinned_and_whole():
    ranking = drawing.scored(60_000)
    thinned, whole = (drawing.drawing("RocDisplay", ranking, whole=x) for x in (False, True))
    assert thinned.points < 25_000 < whole.points == 60_001
    assert min(thinned.seconds, whole.seconds) > 0


@pytest.mark.full
def test_every_display_of_a_curve_is_measured():
    bars = {"DominanceDisplay", "LiftTableDisplay"}
    assert set(drawing.DISPLAYS) == set(plots.__all__) - bars
    assert drawing.row("ImpactDisplay", drawing.scored(100)).startswith("ImpactDisplay")
