"""Values that other tools published for real scores.

Those of the papers are in tests/experiments/.
"""

from __future__ import annotations

import csv
import gzip
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import Mode

import quotakernels as qk

Columns = dict[str, np.ndarray]


def columns(path: Any) -> Columns:
    """The columns of a CSV file, as strings."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.name.endswith(".gz") else data
    rows = list(csv.DictReader(data.decode().splitlines()))
    return {name: np.asarray([row[name] for row in rows]) for name in rows[0]}


def assert_printed(value: Any, printed: str, slack: float = 0.0) -> None:
    """Within half a unit of the last printed digit."""
    unit = 10.0 ** -len(printed.partition(".")[2])
    assert abs(value - float(printed)) <= unit / 2 + slack


# other tools

TWO_CLASS = ("published/yardstick_two_class_example.csv", "truth", "Class1")
PRECREC = ("published/precrec_p10n10.csv", "y_true", "y_score")
AUCS = [
    ("published/rocr_unit10.csv", "y_true", "y_score", ".84"),
    ("published/proc_asah.csv", "y_true", "s100b", ".731368563685637"),
    ("published/proc_asah.csv", "y_true", "ndka", ".612"),
    (*TWO_CLASS, ".93931386"),
    (*PRECREC, ".72"),
    ("published/mason_graham_2002.csv", "y_true", "p1", ".839286"),
    ("published/mason_graham_2002.csv", "y_true", "p2", ".875"),
    ("published/dmba_lift_example.csv", "actual", "prob", ".9375"),
]
CREDIT_AUCS = [("tree", ".605"), ("naive_bayes", ".8035"), ("neural_net", ".7471")]


def examples(table: Columns, label: str, score: str) -> tuple[np.ndarray, np.ndarray]:
    return np.isin(table[label], ["1", "Class1"]), table[score].astype(float)


@pytest.mark.parametrize(("path", "label", "score", "printed"), AUCS)
def test_auc(shared: Path, path: str, label: str, score: str, printed: str):
    assert_printed(qk.roc_auc(*examples(columns(shared / path), label, score)), printed)


@pytest.mark.parametrize(("score", "printed"), CREDIT_AUCS)
def test_auc_of_the_data_that_ship(score: str, printed: str):
    table = columns(files("quotakernels") / "data" / "german_credit_scores.csv")
    assert_printed(qk.roc_auc(*examples(table, "repaid", score)), printed)


@pytest.mark.full
def test_auc_of_hillstrom_on_the_validation_rows(shared: Path):
    table = columns(shared / "quota" / "hillstrom_scores.csv.gz")
    scores = [table["logistic.score"], table["svm.score"]]
    validation = table["train"] == "0"
    auc = qk.roc_auc(table["conversion"] == "1", np.asarray(scores, dtype=float), where=validation)
    assert_printed(auc[0], ".634788")
    assert_printed(auc[1], ".507952")


def test_pem_of_yardstick(shared: Path):
    assert_printed(qk.pem(*examples(columns(shared / TWO_CLASS[0]), *TWO_CLASS[1:])), ".87862771")


def test_precrec(shared: Path):
    """With ties, which average precision counts at the end of each group: 11 scores of 20."""
    data = examples(columns(shared / PRECREC[0]), *PRECREC[1:])
    assert_printed(qk.average_hit_rate(*data), ".745401")
    assert_printed(qk.average_precision(*data), ".726538")


def test_average_hit_rate_without_ties_is_the_published_average_precision(shared: Path):
    labels, scores = examples(columns(shared / TWO_CLASS[0]), *TWO_CLASS[1:])
    assert np.unique(scores).size == scores.size
    assert_printed(qk.average_hit_rate(labels, scores), ".94655702")
    assert_printed(qk.average_precision(labels, scores), ".94655702")


def test_macro_averages_of_yardstick(shared: Path):
    table = columns(shared / "published" / "yardstick_hpc_cv.csv")
    classes = ["VF", "F", "M", "L"]
    scores = np.stack([table[name].astype(float) for name in classes], axis=-1)
    precision = ((m, ".62356608") for m in (qk.average_hit_rate, qk.average_precision))
    for measure, printed in ((qk.roc_auc, ".86926363"), *precision):
        average = qk.one_vs_rest(measure, table["obs"], scores, classes=classes)
        assert_printed(average.value, printed)
        assert average.defined == 4


def test_heavy_ties_in_every_mode(mode: Mode, shared: Path):
    """Five distinct scores; PEM is 2·AUC - 1."""
    labels, scores = examples(columns(shared / "published" / "proc_asah.csv"), "y_true", "wfns")
    assert np.unique(scores).size == 5
    auc, pem = mode.run(lambda y, s: (qk.roc_auc(y, s), qk.pem(y, s)), labels, scores)
    rounding = np.finfo(np.float32).eps if mode.float32 else 0.0
    assert_printed(auc, ".823678861788618", rounding)
    assert abs(pem - (2 * 0.823678861788618 - 1)) <= 1e-15 + rounding
