"""The experiments of Arbel & Rokach: printed numbers are met or explained, pages are up to date."""

from __future__ import annotations

import csv
import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import _pages
import numpy as np
import pytest

pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

import arbel_rokach_benchmarks as benchmarks  # noqa: E402
import arbel_rokach_printed as printed  # noqa: E402
import arbel_rokach_tables as tables  # noqa: E402
import arbel_rokach_uci  # noqa: E402
import arbel_rokach_voting as voting  # noqa: E402
import uci  # noqa: E402

import quotakernels as qk  # noqa: E402

PAGE = (_pages.HERE / "arbel_rokach.md").read_text(encoding="utf-8")


# pages


def test_sections_are_replaced_and_read():
    page = "above\n<!-- made: one -->\n<!-- end: one -->\nbelow\n"
    once = _pages.replaced(page, "one", "| a |\n|---|")
    assert _pages.section(once, "one") == "| a |\n|---|"
    again = _pages.replaced(once, "one", "new")
    assert again == "above\n<!-- made: one -->\n\nnew\n\n<!-- end: one -->\nbelow\n"
    with pytest.raises(ValueError, match="no section 'two'"):
        _pages.replaced(page, "two", "")


def test_no_section_of_the_page_is_empty():
    names = re.findall(r"<!-- made: (.+) -->", PAGE)
    assert len(names) == len(set(names)) == 15
    assert all(_pages.section(PAGE, name).startswith("| ") for name in names)


def test_figures_have_the_same_bytes_each_time(tmp_path: Path):
    pytest.importorskip("matplotlib")

    def draw():
        figure = _pages.new_figure(2, 1)
        figure.subplots().plot([1, 2], label="line")
        return figure

    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    _pages.save(draw, one)
    _pages.save(draw, two)
    assert one.read_bytes() == two.read_bytes()


# Tables 2, 3 and 5


def test_results_of_tables_2_3_and_5():
    *others, pem = tables.results()
    assert (pem.printed, pem.value) == ("", pytest.approx(7 / 12, rel=1e-15))
    for result in others:
        assert round(result.value, 3) == pytest.approx(float(result.printed), abs=5e-4), result


def test_page_shows_tables_2_3_and_5():
    assert _pages.section(PAGE, "tables 2, 3 and 5") == tables.positions()
    assert _pages.section(PAGE, "results of tables 2, 3 and 5") == tables.summary()


# Tables 8 and 9


@pytest.fixture
def _data(shared: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(_pages.VARIABLE, str(shared))


@pytest.mark.usefixtures("_data")
def test_tables_8_and_9():
    """All printed numbers are reproduced; as defined, exactly what the page says is not."""
    cells = [cell for cell in benchmarks.cells() if cell.printed]
    assert len(cells) == 92
    assert [x for x in cells if not printed.matches(x.printed, x.as_printed)] == []
    wrong = [x for x in cells if not printed.matches(x.printed, x.as_defined)]
    assert {x.model for x in wrong if x.measure != "average_qrecall"} == {"C4.5"}
    right = [x for x in cells if x.measure == "average_qrecall" and x not in wrong]
    assert {x.as_defined for x in right} == {1.0}
    every = product(benchmarks.DATA_SETS, benchmarks.MODELS)
    assert {(x.data_set, x.model) for x in cells} == set(every)


@pytest.mark.usefixtures("_data")
def test_page_shows_tables_8_and_9():
    assert _pages.section(PAGE, "table 8") == benchmarks.rows("8")
    assert _pages.section(PAGE, "table 9") == benchmarks.rows("9")
    assert _pages.section(PAGE, "agreement") == benchmarks.agreement()
    assert _pages.section(PAGE, "ties") == benchmarks.ties()


@pytest.mark.usefixtures("_data")
def test_printed_pem_lies_between_the_worst_and_the_best_order():
    spreads = benchmarks.spreads()
    assert len(spreads) == 8
    for x in spreads:
        assert x.worst - 1e-3 <= x.printed <= x.best
        assert x.worst <= x.defined <= x.best


BINARY = ("Hepatitis", "Labor", "Pima I. Dia.")


@pytest.mark.usefixtures("_data")
@pytest.mark.parametrize("data_set", BINARY)
def test_pem_of_c45_is_the_same_for_both_classes(data_set: str):
    small, large = (x.defined for x in benchmarks.spreads() if x.data_set == data_set)
    assert small == pytest.approx(large, rel=1e-15)


@pytest.mark.usefixtures("_data")
@pytest.mark.parametrize("data_set", BINARY)
def test_pem_of_c45_differs_between_classes_by_the_order_of_ties_only(data_set: str):
    """The mean over both classes, one of which loses each tie that the other wins, is right."""
    data = [benchmarks.examples(data_set, "C4.5", table) for table in "89"]
    small, large = (float(qk.pem(*each, ties="given")) for each in data)
    assert abs(small - large) > 0.02
    assert (small + large) / 2 == pytest.approx(2 * qk.roc_auc(*data[0]) - 1, rel=1e-14)


@pytest.mark.usefixtures("_data")
def test_average_qrecall_as_printed_is_not_that_of_eq_13():
    """Eq. 13 has one term more, Q(P), and divides by N + 1."""
    labels, scores = benchmarks.examples("Hepatitis", "NB", "8")
    positives, negatives = labels.sum(), (~labels).sum()
    as_printed = qk.average_qrecall(labels, scores, start="P+1")
    by_eq_13 = qk.average_qrecall(labels, scores)
    assert (round(float(as_printed), 4), round(float(by_eq_13), 4)) == (0.9268, 0.9185)
    first = qk.qrecall(labels, scores, quota=positives)
    assert by_eq_13 * (negatives + 1) == pytest.approx(as_printed * negatives + first, rel=1e-14)


def test_digits_that_are_rounded_or_cut_off():
    assert printed.matches("0.7116", 0.71169)
    assert printed.matches("0.890", 0.8901)
    assert not printed.matches("0.7116", 0.7115)
    assert not printed.matches("0.890", 0.8911)


# selective voting


SMALL = voting.Plan(rows=120, runs=2, models=5)


@pytest.fixture(scope="module")
def votes() -> voting.Votes:
    return voting.vote(SMALL)


@pytest.mark.full
def test_votes_begin_with_the_best_model_and_end_with_all(votes: voting.Votes):
    assert votes.single.shape == (2, 5, 20)
    assert votes.labels.sum(1).tolist() == [4, 4]
    for run in range(2):
        assert any(np.array_equal(votes.votes[run, 0], x) for x in votes.single[run])
    np.testing.assert_allclose(votes.votes[:, -1], votes.single.mean(1), atol=1e-4)


@pytest.mark.full
def test_chance_changes_the_marks_of_averages_only(votes: voting.Votes):
    """As AR Figure 10 normalises these two, and the other two are not said to be."""
    values, marks = voting.curves(votes), voting.marks(votes, "chance")
    for name in ("PEM", "Pearson"):
        np.testing.assert_allclose(marks[name], values[name], atol=1e-15)
    for name in ("AHR", "AQR"):
        assert (marks[name] < values[name]).any()
    for one in voting.marks(votes, "minmax").values():
        assert (one.min(1).tolist(), one.max(1).tolist()) == ([0, 0], [1, 1])


def test_eq_5_makes_two_scores_perfectly_correlated():
    labels, coin = np.array([1, 0, 1, 0, 0, 0]), np.array([0.9, 0.9, 0.9, 0.1, 0.1, 0.1])
    assert voting.expected_pearson(labels, coin) == pytest.approx(1)
    alone = voting.pearson(labels, coin)
    assert alone == pytest.approx(np.corrcoef(labels, coin)[0, 1])
    assert alone == pytest.approx(qk.pearson(labels, coin, fraction=1, ties="given"))


def test_models_are_ranked_by_unseen_rows():
    labels = np.array([True, True, False, False, False])
    unseen = np.array([[0.1, 0.2, 0.3, 0.4, 0.5], [0.9, 0.8, 0.1, 0.2, 0.3]])
    single = np.array([[0.0, 1.0], [1.0, 0.5]])
    scores = voting.votes(labels, unseen, single)
    np.testing.assert_allclose(scores, [[1.0, 0.5], [0.5, 0.75]])


@pytest.mark.full
def test_tables_of_votes(votes: voting.Votes):
    found = list(csv.reader(voting.peaks(votes).splitlines(), delimiter="|"))
    assert [row[1].strip() for row in found[2:]] == list(voting.MEASURES)
    assert voting.table_6(votes).count("\n") == 1 + len(printed.PEAKS)
    assert voting.table_7(votes).count("\n") == 1 + len(printed.CORRELATIONS)
    assert voting.correlations_of_models(votes).count("1.00") >= 5


def test_page_shows_what_is_printed_in_tables_6_and_7():
    for values in printed.PEAKS.values():
        assert ", ".join(values) in _pages.section(PAGE, "table 6: made, 4 runs")
    for pair, values in printed.CORRELATIONS.items():
        line = f"| {' and '.join(pair)} | {', '.join(map(str, values))} |"
        assert line in _pages.section(PAGE, "table 7: made, 4 runs")


@pytest.mark.full
def test_votes_renew_what_the_page_shows_of_them(
    votes: voting.Votes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_pages, "HERE", tmp_path)
    page = tmp_path / voting.PAGE
    page.write_text("<!-- made: peaks -->\nold\n<!-- end: peaks -->\n", encoding="utf-8")
    voting.write({"peaks": "| new |", "other": "| x |"}, "not_shown.svg", votes)
    assert _pages.section(page.read_text(encoding="utf-8"), "peaks") == "| new |"
    assert list(tmp_path.iterdir()) == [page]


def test_there_are_52_models_and_a_fifth_of_the_rows_is_positive():
    assert len(voting.models(52)) == 52 == len(list(voting.families()))
    labels = np.arange(100) < 10
    drawn = voting.draw(labels, 300, np.random.default_rng(0))
    assert len(set(drawn)) == len(drawn) == 50
    assert labels[drawn].sum() == 10


# data sets of the UCI repository


def fetched(where: int | str) -> SimpleNamespace:
    """What OpenML would give for hepatitis, but for the values."""
    assert where == 55
    rng = np.random.default_rng(0)
    dies = rng.permutation(155) < 32
    sex = pd.Categorical(np.where(rng.random(155) < 0.5, "male", "female"))
    frame = pd.DataFrame({"AGE": rng.normal(40 + 10 * dies), "SEX": sex})
    frame.loc[3, "AGE"] = np.nan
    frame.loc[4, "SEX"] = np.nan
    return SimpleNamespace(data=frame, target=pd.Series(np.where(dies, "DIE", "LIVE")))


def test_uci_data_are_numbers():
    data = uci.load("hepatitis", fetched)
    assert data.features.shape == (155, 3)
    assert np.isfinite(data.features).all()
    assert set(np.unique(data.features[:, 1:])) == {0.0, 1.0}
    assert (data.smallest, data.largest) == ("DIE", "LIVE")


def test_uci_classes_of_one_size_are_taken_as_in_the_paper():
    def iris(_):
        names = ["Iris-versicolor", "Iris-setosa", "Iris-virginica"] * 50
        return SimpleNamespace(data=pd.DataFrame({"x": np.arange(150.0)}), target=names)

    data = uci.load("iris", iris)
    assert (data.smallest, data.largest) == ("Iris-virginica", "Iris-setosa")


def test_uci_data_of_another_size_are_refused():
    with pytest.raises(ValueError, match=r"4 should be labor, 57 .* it has 155 of 2"):
        uci.load("labor", lambda _: fetched(55))
    with pytest.raises(SystemExit, match="no data set 'optic'; there are audiology"):
        uci.load("optic")


def test_the_training_file_of_the_monks_is_read(tmp_path: Path):
    file = tmp_path / "monks.train"
    file.write_text(" 1 1 1 2 1 3 1 data_5\n 0 3 1 1 3 4 2 data_7\n", encoding="utf-8")
    found = uci.fetch_from(str(file))
    assert found.target.tolist() == ["1", "0"]
    assert found.data.to_numpy().tolist() == [[*"112131"], [*"311342"]]


def test_rows_of_uci_data():
    rows = arbel_rokach_uci.rows("hepatitis", fetched)
    assert [row[1:3] for row in rows[:2]] == [["C4.5", "DIE"], ["C4.5", "LIVE"]]
    assert len(rows) == 6
    for small, large in zip(rows[::2], rows[1::2], strict=True):
        assert small[3] == large[3]  # AUC
        assert float(small[6]) == pytest.approx(2 * float(small[3]) - 1, abs=2e-4)


def test_uci_data_that_cannot_be_fetched():
    def offline(_):
        raise OSError("no network")

    with pytest.raises(SystemExit, match=r"vote cannot be fetched \(56\): no network"):
        uci.load("vote", offline)


def test_voting_takes_uci_data(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(uci, "fetch_from", fetched)
    features, labels = voting.population("hepatitis")
    assert features.shape == (155, 3)
    assert labels.sum() == 32


def test_sources_agree_with_the_printed_sizes():
    sizes = {(x.data_set, x.instances, x.classes) for x in printed.ROWS}
    others = {("Vote", 290, 2), ("OPTIC", 5628, 10)}
    named = {(x.title, x.rows, x.classes) for x in uci.SOURCES.values()}
    assert sizes - named == others
    assert len(named) == len(sizes) == 20
