"""Directories whose files differ: the same answer in any order, or an error that tells the file."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from backends import in_full
from command import run
from pyarrow import parquet

ASKED = ("--label", "y", "--score", "s")
Y = [0, 1, 0, 1]
FLOATS = [0.1, 0.9, 0.2, 0.95]


def part(s: Any = FLOATS, y: Any = Y, kind: Any = None, **more: Any) -> pa.Table:
    return pa.table({"y": y, "s": pa.array(s, kind), **more})


def write(folder: Path, *parts: pa.Table) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"{number}.parquet" for number in range(len(parts))]
    for path, content in zip(paths, parts, strict=True):
        parquet.write_table(content, path)
    return paths


def evaluate(path: Path, *more: str) -> Any:
    return run("evaluate", path, *ASKED, *more, "--json")


PROMOTED = {
    "integers and floats": [part([0, 1, 0, 1]), part()],
    "single and double": [part(kind="f4"), part()],
    "half, single and double": [part(np.float16(FLOATS)), part(kind="f4"), part()],
    "narrow and wide integers": [part([1, 100, 3, 4], kind="i1"), part([1, 10**12, 3, 4])],
    "signs": [part([1, 200, 3, 4], kind="u1"), part([-1, 100, 3, 4], kind="i1")],
    "large integers": [part([2**60, 2**60 + 1, 5, 6]), part([1, 2, 3, 4], kind="i4")],
    "labels": [part(), part(y=[0.0, 1.0, 1.0, 0.0]), part()],
    "other columns and their order": [part(a=[1] * 4), part().select(["s", "y"]), part(a=Y)],
    "rows": [part(), pa.table({"y": pa.nulls(0), "s": pa.array([], "str")})],
}


@pytest.mark.parametrize("name", [x if k % 3 == 0 else in_full(x) for k, x in enumerate(PROMOTED)])
def test_types_that_differ_are_promoted(tmp_path: Path, name: str) -> None:
    """The numbers are those of all rows in one file, in whatever order the files are."""
    parts = PROMOTED[name]
    columns = [np.concatenate([np.asarray(x[c]) for x in parts if len(x)]) for c in "ys"]
    one = tmp_path / "one.parquet"
    parquet.write_table(pa.table(dict(zip("ys", columns, strict=True))), one)
    expected = json.loads(evaluate(one).out)
    for number, ordered in enumerate(permutations(parts)):
        write(tmp_path / str(number), *ordered)
        outcome = evaluate(tmp_path / str(number))
        assert outcome.status == 0, outcome.err
        assert json.loads(outcome.out) == {**expected, "source": str(number)}


def test_decimals_are_the_nearest_floats(tmp_path: Path) -> None:
    """Of this one, Arrow's own cast gives the float below."""
    text = "0.74391500080636083"
    scores = [Decimal(x) for x in (text, "0.5", "0.25", "0.125")]
    write(tmp_path / "0", part(scores, Y[::-1], pa.decimal128(30, 20)))
    found = evaluate(tmp_path / "0", "--impact", "1,-2,0,0").record
    assert found["models"][0]["best_cut"]["threshold"] == float(text)


TEXTS = part(["0.1", "0.9", "0.2", "0.95"])
LARGE = part([2**53 + 1, 1, 2, 3])
REFUSED = [
    (part(), TEXTS, "Field s has incompatible types: "),
    (part([1, 2, 3, 4]), TEXTS, "Field s has incompatible types: "),
    (part([2**63, 2, 3, 4], kind="u8"), part([1, 2, 3, 4]), "9223372036854775808"),
    (part(), LARGE, "9007199254740993"),
    (part(), pa.table({"y": Y}), "has no column 's'; "),
]


@pytest.mark.parametrize(("one", "other", "message"), REFUSED)
def test_types_that_nothing_holds_are_refused(
    tmp_path: Path, one: pa.Table, other: pa.Table, message: str
) -> None:
    for number, parts in enumerate(((one, other), (other, one))):
        write(tmp_path / str(number), *parts)
        assert message in evaluate(tmp_path / str(number)).error


def test_files_without_rows(tmp_path: Path) -> None:
    write(tmp_path / "some", part(), part().slice(0, 0))
    assert evaluate(tmp_path / "some").status == 0
    write(tmp_path / "none", part().slice(0, 0), part().slice(0, 0))
    assert evaluate(tmp_path / "none").error == "Error: none has no rows\n"
    (tmp_path / "some" / "junk.parquet").write_text("nothing of that kind")
    assert "junk.parquet" in evaluate(tmp_path / "some").error


def test_a_page_names_the_directory(tmp_path: Path) -> None:
    folder, page = tmp_path / "parts", tmp_path / "page.html"
    write(folder, part())
    assert run("report", folder, *ASKED, "--quota", 2, "-o", page).status == 0
    assert f"quotakernels select {folder} --score s" in page.read_text()


def test_texts_and_categories_may_differ(tmp_path: Path) -> None:
    groups = pa.array(["u", "v"])
    parts = [
        pa.table({"y": [0, 1], "s": [3, 1], "g": groups}),
        pa.table({"y": [0, 1], "s": [0, 2], "g": groups.dictionary_encode()}),
        pa.table({"y": [0.0, 1.0], "s": [5, 4], "g": groups}),
    ]
    whole = {"y": [0, 1] * 3, "s": [3, 1, 0, 2, 5, 4], "g": ["u", "v"] * 3}
    parquet.write_table(pa.table(whole), tmp_path / "whole.parquet")
    write(tmp_path / "parts", *parts)
    asked = (*ASKED, "--json", "--by", "g", "--quota", 2, "--engine", "memory")
    found, wanted = (run("evaluate", tmp_path / x, *asked) for x in ("parts", "whole.parquet"))
    assert found.status == 0, found.err
    assert json.loads(found.out) == {**json.loads(wanted.out), "source": "parts"}
