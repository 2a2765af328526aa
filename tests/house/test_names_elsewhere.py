"""Names known from elsewhere are missing, and the error says what to call instead."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import missing
from public_names import PUBLIC

import quotakernels as qk

TABLES = tomllib.loads((files(qk) / "data" / "elsewhere.toml").read_text("utf-8"))
INSTEAD, ADAPTERS, NOT_OFFERED = (TABLES[x] for x in ("instead", "adapters", "not_offered"))
Y = np.tile([1, 0, 1, 1, 0, 0, 1, 0], 2)
S = np.tile([0.9, 0.8, 0.8, 0.6, 0.1, 0.4, 0.7, 0.3], 2)
GIVEN = {"y_true": Y, "y_score": S, "y_score_b": S[::-1], "y_pred": S > 0.5, "k": 3, "t": 0.5}
GIVEN |= {"y_class": np.tile([0, 1, 2, 1], 4), "class_scores": np.stack([S, S[::-1], -S], axis=1)}
GIVEN |= {"c": 1, "groups": np.repeat([0, 1], 8)}
GIVEN["treated"] = np.tile([1, 0, 0, 1, 1, 0, 1, 0], 2)
GIVEN |= {"amount": S, "cards": qk.groups.entities(Y, S, groups=np.arange(16) // 2)}


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_what_is_named_instead_can_be_called(name: str):
    expression, *_ = INSTEAD[name].split(", and ")
    value: Any = eval(expression, vars(qk) | {"sum": sum}, dict(GIVEN))
    assert isinstance(value, tuple) or not np.isnan(value)


def test_what_is_named_instead_is_what_is_looked_for():
    metrics = pytest.importorskip("sklearn.metrics")
    predictions = ("accuracy_score", "balanced_accuracy_score", "cohen_kappa_score", "f1_score")
    predictions += ("mutual_info_score", "precision_score", "recall_score", "zero_one_loss")
    for name in (*predictions, "average_precision_score", "roc_auc_score"):
        theirs = getattr(metrics, name)(Y, GIVEN["y_pred"] if name in predictions else S)
        assert eval(INSTEAD[name], dict(vars(qk)), dict(GIVEN)) == pytest.approx(theirs), name
    fpr, tpr, _ = metrics.roc_curve(Y, S)
    assert eval(INSTEAD["ks"], dict(vars(qk)), dict(GIVEN)) == pytest.approx(max(tpr - fpr))


@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_the_adapter_that_is_named_is_there(name: str):
    module, _, attribute = ADAPTERS[name].partition(".")
    try:
        adapter = importlib.import_module(f"quotakernels.adapters.{module}")
    except ImportError as error:
        pytest.skip(str(error))
    assert attribute in adapter.__all__


def names_of_other_libraries() -> list[str]:
    """Those in the first columns of the tables of the page about them."""
    page = Path(__file__).resolve().parents[2] / "docs" / "coming_from.md"
    sections = page.read_text("utf-8").partition("\n## scikit-learn\n")[2]
    first = [row.split("|")[1] for row in sections.splitlines() if row.startswith("| `")]
    return sorted(
        {x for cell in first for x in re.findall(r"`(?:\w+\.)?(\w+)(?![\w=])", cell)} - MODULES
    )


MODULES = {"metrics", "functional", "metrax"}
"""Of the heads of the tables."""


def test_every_name_on_the_page_about_other_libraries_is_here_or_has_a_hint():
    names = names_of_other_libraries()
    assert {"roc_auc_score", "retrieval_hit_rate", "MetricCollection", "NDCGAtK"} <= set(names)
    lacking = []
    for name in names:
        try:
            getattr(qk, name)
        except AttributeError as error:
            if not re.match(rf"quotakernels has no {name}; (use |it is not offered: )", str(error)):
                lacking.append(name)
    assert lacking == []


@pytest.mark.parametrize(
    ("theirs", "known"),
    [
        ("BinaryAUROC", "binary_auroc"),
        ("MulticlassPrecision", "multiclass_precision"),
        ("RetrievalMRR", "retrieval_mrr"),
        ("AUCPR", "aucpr"),
        ("PrecisionAtK", "precision_at_k"),
        ("MetricCollection", "metric_collection"),
        ("BrierScore", "brier_score"),
    ],
)
def test_classes_have_the_hints_of_functions(theirs: str, known: str):
    told = []
    for name in (theirs, known):
        with pytest.raises(AttributeError) as error:
            getattr(qk, name)
        told.append(str(error.value).partition("; ")[2])
    assert told[0] == told[1] != ""


OTHERWISE = ("binary_roc", "binary_confusion_matrix", "binary_stat_scores", "retrieval_auroc")
OTHERWISE += ("binary_logauc",)
"""Whose results are of another shape, of lists, or read between other points."""


def test_what_torchmetrics_calls_the_same_value():
    if lacking := missing("torch", "torchmetrics"):
        pytest.skip(lacking)
    import torch
    from torchmetrics import functional

    preds, target = torch.tensor(S + np.arange(16) / 1e3), torch.tensor(Y)
    given = GIVEN | {"y_score": preds.numpy(), "k": 5}
    for name in (x for x in INSTEAD if x.startswith(("binary_", "retrieval_"))):
        module = functional.retrieval if name.startswith("r") else functional.classification
        theirs = getattr(module, name, None)
        if theirs is None or "curve" in name or name in OTHERWISE:
            continue
        more = {"top_k": 5} if "quota=k" in INSTEAD[name] else {}
        more |= {"beta": 2.0} if "fbeta" in name else {}
        fixed = [0.8] if "fixed" in name else []
        found = theirs(preds, target, *fixed, **more)
        found = found[0] if fixed else found
        expression, *_ = INSTEAD[name].split(", and ")
        ours = eval(expression, vars(qk) | {"sum": sum}, dict(given))
        if name == "retrieval_average_precision":  # of the positives that the best hold
            ours = ours / qk.qrecall(Y, given["y_score"], quota=5)
        assert ours == pytest.approx(found.item(), abs=1e-6), name


@pytest.mark.parametrize("name", sorted({**INSTEAD, **ADAPTERS, **NOT_OFFERED}))
def test_the_error_of_a_missing_name_says_what_to_do(name: str):
    with pytest.raises(AttributeError, match=rf"^quotakernels has no {name}; (use |it is not off)"):
        getattr(qk, name)
    assert not hasattr(qk, name)
    assert name not in dir(qk)


@pytest.mark.parametrize("name", ["f1_score", "ndcg", "cohen_kappa"])
def test_so_does_that_of_an_import(name: str):
    with pytest.raises(AttributeError) as missing:
        getattr(qk, name)
    told = str(missing.value).partition("; ")[2]
    with pytest.raises(ImportError) as error:
        exec(f"from quotakernels import {name}")
    assert str(error.value) == f"cannot import name '{name}' from 'quotakernels'; {told}"
    assert error.value.name == name


def test_reasons_name_what_is_there():
    named = {x for text in NOT_OFFERED.values() for x in re.findall(r"\b\w+_\w+\b", text)}
    assert named <= set(PUBLIC)
    assert len(named) > 1
    assert INSTEAD.keys() & NOT_OFFERED.keys() == set()


def test_other_names_are_missing_as_in_any_module():
    with pytest.raises(ImportError, match="cannot import name 'roc_acu'"):
        exec("from quotakernels import roc_acu")
    assert not hasattr(qk, "__path_of_nothing__")


def test_the_hints_are_read_when_a_name_is_missing():
    code = (
        "import sys, quotakernels as qk\n"
        "assert 'quotakernels._elsewhere' not in sys.modules\n"
        "assert not hasattr(qk, 'ndcg') and 'quotakernels._elsewhere' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
