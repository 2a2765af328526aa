"""The Tab key: what it offers, and what the shells run for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

Run = Callable[..., Any]


@pytest.fixture
def offered(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """What Bash is told to offer for the last of some words."""

    def offered_for(*words: object) -> list[str]:
        monkeypatch.setenv("_QUOTAKERNELS_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(["quotakernels", *map(str, words)]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        outcome = run()
        assert (outcome.status, outcome.err) == (0, "")
        return [line.removeprefix("plain,") for line in outcome.out.splitlines() if line]

    return offered_for


@pytest.mark.parametrize("option", ["--label", "--score", "--weight", "--gain"])
def test_columns_of_the_file(
    offered: Callable[..., list[str]], table: Callable[..., Path], option: str
) -> None:
    path = table(bought=[0, 1], a=[1, 2], **{"a b": [1, 2], "a\x1b[2J": [1, 2]})
    assert offered("evaluate", path, option, "") == ["bought", "a", "'a b'"]
    assert offered("evaluate", path, option, "a") == ["a", "'a b'"]
    assert offered("evaluate", path, option, "none") == []


def test_columns_that_are_given_are_not_offered_again(
    offered: Callable[..., list[str]], table: Callable[..., Path]
) -> None:
    path = table(y=[0, 1], a=[1, 2], b=[1, 2])
    assert offered("evaluate", path, "--score", "a", "--score", "") == ["y", "b"]
    assert offered("evaluate", path, "--where", "") == ["y=", "a=", "b="]
    assert offered("select", path, "--score", "") == ["y", "a", "b"]
    assert offered("tables", path, "--label", "y", "--score", "b") == ["b"]


def test_columns_of_every_format(offered: Callable[..., list[str]], tmp_path: Path) -> None:
    content = pa.table({"y": [0, 1], "s": [0.1, 0.2]})
    parts = tmp_path / "parts"
    parts.mkdir()
    for path in (tmp_path / "a.parquet", parts / "1.parquet"):
        parquet.write_table(content, path)
    feather.write_feather(content, str(tmp_path / "a.feather"))
    np.savez(tmp_path / "a.npz", y=[0, 1], s=[0.1, 0.2])
    for path in (*tmp_path.glob("a.*"), parts, parts / "*.parquet"):
        assert offered("evaluate", path, "--label", "") == ["y", "s"], path


def test_nothing_is_offered_without_a_file_that_can_be_read(
    offered: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "a.npz").write_text("no archive")
    (tmp_path / "a.xlsx").write_text("something else")
    for name in ("empty.csv", "a.npz", "a.xlsx", "absent.csv"):
        assert offered("evaluate", tmp_path / name, "--label", "") == []
    assert offered("evaluate", "--label", "") == []


def test_the_example_and_the_choices(offered: Callable[..., list[str]]) -> None:
    assert offered("evaluate", "--example", "") == ["credit"]
    assert "naive_bayes" in offered("evaluate", "--example", "credit", "--score", "")
    assert offered("evaluate", "--engine", "d") == ["duckdb"]
    assert "evaluate" in offered("ev")
    assert "--confidence" in offered("evaluate", "--con")
    assert offered("evaluate", "da") == ["file,da"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(run: Run, shell: str) -> None:
    outcome = run("completion", shell)
    assert outcome.status == 0
    assert f"_QUOTAKERNELS_COMPLETE={shell}_complete" in outcome.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=outcome.out, check=True, text=True, timeout=60)


def test_another_shell(run: Run) -> None:
    assert "'ksh' is not one of 'bash', 'zsh', 'fish'" in run("completion", "ksh").error


@pytest.mark.full
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_a_column(run: Run, table: Callable[..., Path], tmp_path: Path) -> None:
    """As a shell does it: the function of the script fills COMPREPLY."""
    command = tmp_path / "quotakernels"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m quotakernels "$@"\n')
    command.chmod(0o755)
    path = table(y=[0, 1], **{"model a": [1, 2]})
    (tmp_path / "script").write_text(run("completion", "bash").out)
    code = (
        f"source script; COMP_WORDS=(quotakernels evaluate {path} --score mo); COMP_CWORD=4; "
        '_quotakernels_completion quotakernels; echo "${COMPREPLY[@]}"'
    )
    search = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    here = str(Path(__file__).resolve().parents[2])
    env = {**os.environ, "PATH": search, "PYTHONPATH": here}
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env=env,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("'model a'\n", "")
