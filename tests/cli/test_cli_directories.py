"""`evaluate` on directories whose files differ: the same answer in any order, or an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from backends import in_full
from pyarrow import parquet
from records import by_model

Run = Callable[..., Any]
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


def evaluate(run: Run, path: Path, *more: str) -> Any:
    return run("evaluate", path, "--label", "y", "--score", "s", *more, "--json")


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
def test_types_that_differ_are_promoted(run: Run, tmp_path: Path, name: str) -> None:
    """The numbers are those of all rows in one file, in whatever order the files are."""
    parts = PROMOTED[name]
    columns = [np.concatenate([np.asarray(x[c]) for x in parts if len(x)]) for c in "ys"]
    one = tmp_path / "one.parquet"
    parquet.write_table(pa.table(dict(zip("ys", columns, strict=True))), one)
    expected = json.loads(evaluate(run, one).out)
    for number, ordered in enumerate(permutations(parts)):
        write(tmp_path / str(number), *ordered)
        outcome = evaluate(run, tmp_path / str(number))
        assert outcome.status == 0, outcome.err
        assert json.loads(outcome.out) == {**expected, "source": str(number)}


def test_decimals_are_the_nearest_floats(run: Run, tmp_path: Path) -> None:
    """Of this one, Arrow's own cast gives the float below."""
    text = "0.74391500080636083"
    scores = [Decimal(x) for x in (text, "0.5", "0.25", "0.125")]
    write(tmp_path / "0", part(scores, Y[::-1], pa.decimal128(30, 20)))
    found = by_model(evaluate(run, tmp_path / "0", "--impact", "1,-2,0,0").out)
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
    run: Run, tmp_path: Path, one: pa.Table, other: pa.Table, message: str
) -> None:
    for number, parts in enumerate(((one, other), (other, one))):
        write(tmp_path / str(number), *parts)
        assert message in evaluate(run, tmp_path / str(number)).error


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_decimal_marks_that_differ_are_refused(run: Run, tmp_path: Path, engine: str) -> None:
    """No mistake of a thousand: here 1.234 and 2.345 may only be told by another column."""
    (tmp_path / "a.csv").write_text("y;s;x\n1;1.250,5;0,5\n0;2,5;0,7\n0;900;1\n")
    (tmp_path / "b.csv").write_text("y;s;x\n1;1.234;1.5\n0;2.345;0.25\n")
    error = evaluate(run, tmp_path, "--quota", "2", "--engine", engine).error
    assert "a.csv is a comma and that of" in error
    assert "b.csv is a point; write them alike" in error


def test_a_third_label_among_floats(run: Run, tmp_path: Path) -> None:
    parts = [part(), part(y=[0.0, 0.6, 0.0, 1.0])]
    for folder, ordered in (("0", parts), ("1", parts[::-1])):
        paths = write(tmp_path / folder, *ordered)
        error = evaluate(run, tmp_path / folder).error
        row, value = (2, 0.6) if ordered is parts else (4, 1.0)
        place = f"row {row} of {paths[ordered.index(parts[1])]}"
        assert f"{value}; the third one first in {place}" in error


def test_files_without_rows(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "some", part(), part().slice(0, 0))
    assert evaluate(run, tmp_path / "some").status == 0
    write(tmp_path / "none", part().slice(0, 0), part().slice(0, 0))
    assert evaluate(run, tmp_path / "none").error == "Error: none has no rows\n"
    (tmp_path / "some" / "junk.parquet").write_text("nothing of that kind")
    assert "junk.parquet" in evaluate(run, tmp_path / "some").error
