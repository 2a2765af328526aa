"""What the page answers where models tie, where nothing pays, and where resamples say little."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import write_csv

import quotakernels as qk
from quotakernels.evaluation.settings import Resampling, resamples_for

from .test_page import read

Made = Callable[..., Path]
TWO = ("--label", "y", "--score", "a", "--score", "b")
FEW = ("--resamples", 60)


def answers(made: Made, *arguments: Any) -> str:
    return read(made(*arguments, drawn=False)).text.partition("On this page")[0]


def test_tests_of_many_models_get_resamples_enough() -> None:
    ample = [8 * 239, 8 * 839]
    assert [resamples_for(n, None) for n in (0, 3, 4, 7, 60)] == [1000, 1000, *ample, 20000]
    assert resamples_for(4, 0.9) == 1000
    for models in (2, 7, 8, 30):
        plain, drawn = (
            Resampling.asked(None, True, None, None, models, gains=x) for x in (False, True)
        )
        assert plain is not None
        assert drawn is not None
        assert not drawn.few(models, drawn.resamples)
        assert (drawn.resamples == 1000) == (models < 8)
        assert plain == replace(drawn, resamples=1000)


def test_the_first_for_sure_is_not_told_again_to_be_better(made: Made, tmp_path: Path) -> None:
    best = list(range(200, 0, -1))
    path = write_csv(tmp_path / "sure.csv", y=[1] * 80 + [0] * 120, a=best, b=best[::-1])
    said = answers(made, path, *TWO, "--quota", 60, *FEW)
    assert "Sure that a is the first a finds 60 more than b in 60 places" in said
    assert "It is better than" not in said


def test_models_that_find_as_many_share_quotas(made: Made, tmp_path: Path) -> None:
    """So that what the first three have adds up to more than all, and leaves no rest."""
    y = [1, 0] * 10
    best = [2 * x - k / 20 for k, x in enumerate(y)]
    columns = dict(zip("abcd", (best, best, best, y), strict=True))
    path = write_csv(tmp_path / "alike.csv", y=y, e=range(20, 0, -1), **columns)
    scores = [x for name in "abcde" for x in ("--score", name)]
    said = answers(made, path, "--label", "y", *scores, *FEW)
    assert "by a at 100.0% of all quotas, b at 100.0%, c at 100.0% and others at no more." in said


def test_fewer_places_have_a_command(made: Made, tmp_path: Path) -> None:
    """Where they are the answer, and the best of all cuts lies beyond the quota."""
    y = [1] * 10 + [0] * 10 + [1] * 30 + [0] * 50
    path = write_csv(tmp_path / "waves.csv", y=y, s=range(100, 0, -1), gain=[2 * x - 1 for x in y])
    asked = (path, "--label", "y", "--score", "s", "--gain", "gain", *FEW, "--quota")
    page = read(made(*asked, 20, drawn=False)).text
    assert "How many should I take? 10 of the 20 places" in page
    fill = "Fill 10 of the 20 places by s, which bring more than all: quotakernels select"
    assert fill in page
    assert "--score s --quota 10 -o selected.csv" in page.partition(fill)[2]
    assert "which bring more than all" not in read(made(*asked, 60, drawn=False)).text


def test_no_more_is_expected_of_a_best_cut_than_it_brings() -> None:
    gains, drawn = [1.0, 1, -1, 1], {"confidence_level": 0.95, "n_resamples": 2}
    for seed in range(20):
        found = qk.evaluate([1, 0, 1, 0], [4, 3, 2, 1], gain=gains, random_state=seed, **drawn)
        assert found.gains.at_best_cut.of("expected")[0] <= 2


@pytest.mark.full
def test_letters_without_a_glyph_are_no_warning(made: Made, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "kanji.csv", y=[0, 1, 0, 1], 漢字=[4, 3, 2, 1], b=[1, 2, 3, 4])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Glyph")
        page = read(made(path, "--label", "y", "--score", "漢字", "--score", "b", *FEW))
    assert ("text", "漢字") in page.texts
