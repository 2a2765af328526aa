"""`tables`: the confusion table of every cut, in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from expected import compact

import quotakernels as qk
from quotakernels.cli.files import read_table

Run = Callable[..., Any]
CELLS = ("tp", "fp", "fn", "tn")


def test_tables_writes_every_cut(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=["no", "yes", "no", "yes"], s=[3, 7, 3, 1])
    output = path.with_name("cuts.csv")
    given = ("--label", "y", "--score", "s", "--pos-label", "yes", "-o", output)
    outcome = run("tables", path, *given)
    assert outcome.status == 0
    assert outcome.out == "cuts.csv: 4 cuts, the empty one first\n"
    assert output.read_text() == (
        "threshold,quota,tp,fp,fn,tn\n,0,0,0,2,2\n7,1,1,0,1,2\n3,3,1,2,1,0\n1,4,2,2,0,0\n"
    )
    assert run("tables", path, *given, "--where", "y=yes").status == 0
    assert (
        output.read_text() == "threshold,quota,tp,fp,fn,tn\n,0,0,0,2,0\n7,1,1,0,1,0\n1,2,2,0,0,0\n"
    )
    assert run("tables", path, *given, "--ratio", 3).status == 0
    assert output.read_text().splitlines()[2] == "7,1,0.375,0.0,0.375,0.25"


@pytest.mark.parametrize("name", ["cuts.csv", "cuts.tsv", "cuts.parquet", "cuts.feather"])
@pytest.mark.parametrize("ratio", [None, 1])
def test_the_reader_finds_the_best_boundary(
    run: Run,
    credit: dict[str, np.ndarray[Any, Any]],
    credit_file: Path,
    tmp_path: Path,
    name: str,
    ratio: float | None,
) -> None:
    """With impacts of their own, and a class ratio of their own."""
    output, impacts = tmp_path / name, (5, -8, 0, 0)
    more = () if ratio is None else ("--ratio", ratio)
    given = ("--label", "repaid", "--score", "tree", *more, "-o", output)
    assert run("tables", credit_file, *given).status == 0
    content = read_table(output)
    columns = {x: content.column(x).to_numpy().astype(float) for x in content.column_names}
    published = qk.tables.ConfusionTable(*(columns[cell] for cell in CELLS))
    best = qk.best_boundary(credit["repaid"], credit["tree"], impacts=impacts)
    positives = float(np.sum(credit["repaid"]))
    own_ratio = positives / (len(credit["repaid"]) - positives)
    tuned = published if ratio is None else qk.tables.tune_ratio(published, own_ratio)
    found = qk.tables.impact(tuned, impacts=impacts).whole
    quota, value, threshold = compact(best.curve.quota, *best.curve)
    np.testing.assert_allclose(found, value, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(columns["threshold"], threshold)
    np.testing.assert_array_equal(columns["quota"], quota)


def test_weights_give_masses(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[1, 0, 1], s=["9007199254740993", 5, 5], w=[0.5, 2, 0])
    output = path.with_name("cuts.csv")
    given = ("--label", "y", "--score", "s", "--weight", "w", "-o", output)
    assert run("tables", path, *given).status == 0
    lines = output.read_text().splitlines()[1:]
    assert lines[:2] == [",0.0,0.0,0.0,0.5,2.0", "9007199254740993,0.5,0.5,0.0,0.0,2.0"]
    assert lines[2] == "5,2.5,0.5,2.0,0.0,0.0"
