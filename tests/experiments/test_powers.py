"""What the page on Powers' charts shows, and what it says of noise."""

from __future__ import annotations

from itertools import pairwise

import _pages
import numpy as np
import powers as pw
import pytest

import quotakernels as qk

pytest.importorskip("sklearn")


@pytest.mark.full
@pytest.mark.parametrize("name", pw.SECTIONS)
def test_page_shows_what_the_script_makes(name: str):
    text = (_pages.HERE / pw.PAGE).read_text(encoding="utf-8")
    assert _pages.section(text, name) == pw.SECTIONS[name]()


def test_noise_changes_the_share_it_says():
    labels = np.arange(1000) % 4
    changed = [pw.noisy(labels, share, seed=2) != labels for share in pw.NOISE]
    assert [mask.sum() for mask in changed] == [0, 100, 200, 400]
    assert all((small <= large).all() for small, large in pairwise(changed))


def test_bift_is_half_of_gini_and_bprd_that_over_the_prevalence():
    for share in pw.NOISE:
        auc, lift, bift, bprd = (
            pw.areas(share, kind).per_class for kind in ("roc", "lift", "bift", "bprd")
        )
        prevalence = np.bincount(pw.run(share).labels) / pw.run(share).labels.size
        np.testing.assert_allclose(bift, auc - 0.5, rtol=1e-12)
        np.testing.assert_allclose(bprd, bift / prevalence, rtol=1e-12)
        np.testing.assert_allclose(lift, prevalence / 2 + (1 - prevalence) * auc, rtol=1e-12)


def test_noise_leaves_what_is_expected():
    """Of 898 labels; of agreement beyond chance it is 1 - ν·K/(K - 1)."""
    for share in pw.NOISE:
        measured, expected = pw.decisions(share), pw.expected_decisions(share)
        true = pw.decisions(share, clean=True)
        assert qk.informedness(measured) == pytest.approx(qk.informedness(expected), abs=0.03)
        left = beyond_chance(expected) / beyond_chance(true)
        assert left == pytest.approx(1 - share * 4 / 3)


def beyond_chance(table: qk.tables.ClassTable) -> float:
    rates = table.cells / table.cells.sum()
    return float(np.trace(rates) - rates.sum(axis=0) @ rates.sum(axis=1))


def peaks(share: float, kind: str) -> list[tuple[float, float]]:
    """Where the chart of each class is highest, and how high."""
    run = pw.run(share)
    found = []
    for index in range(len(pw.GROUPS)):
        chart = qk.charts.powers_chart(run.labels == index, run.scores[:, index], kind=kind)
        best = chart.y.argmax()
        found.append((float(chart.x[best]), float(chart.y[best])))
    return found


def test_peaks_are_where_the_page_says():
    bprd = peaks(0.0, "bprd")
    assert all(0.98 < x < 1.12 for x, _ in bprd)
    assert [y for _, y in bprd] == sorted((y for _, y in bprd), reverse=True)
    assert [round(peaks(share, "bird")[0][1], 1) for share in (0.0, 0.4)] == [9.6, 2.7]


def test_most_labels_of_the_smallest_class_are_wrong_with_the_most_noise():
    run = pw.run(0.4)
    assert (run.clean[run.labels == 0] == 0).mean() == pytest.approx(0.3, abs=0.01)


def test_drawn_cuts_are_cuts_of_the_chart():
    run = pw.run(0.2)
    ranking = qk.rank(run.labels == 1, run.scores[:, 1])
    chart = qk.charts.powers_chart(ranking, kind="bift")
    x, y = pw.thinned(ranking, "bift")
    assert (x[0], x[-1], y.max()) == (0, 1, chart.y.max())
    assert 50 < x.size <= 1 + pw.SMALL + pw.ALL
    assert {*zip(x, y, strict=True)} <= {*zip(chart.x, chart.y, strict=True)}
