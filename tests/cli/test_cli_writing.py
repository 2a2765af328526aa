"""The files that commands write: whole or not at all, also through links and pipes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import in_full
from command import run, table
from pyarrow import feather, parquet

import quotakernels as qk

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes are POSIX's")

COMMANDS = {
    "select.csv": ("select", "--score", "s", "--quota", "50%"),
    "select.parquet": ("select", "--score", "s", "--quota", "50%"),
    "select.feather": ("select", "--score", "s", "--quota", "50%"),
    "tables.csv": ("tables", "--score", "s", "--label", "y"),
    "report.html": ("report", "--score", "s", "--label", "y", "--resamples", "20"),
}
every_table = pytest.mark.parametrize("name", list(COMMANDS)[:-1])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    random = np.random.default_rng(3)
    return table(tmp_path, y=random.integers(0, 2, 2000).tolist(), s=random.random(2000).tolist())


def command(name: str, data: Path, output: Path) -> tuple[object, ...]:
    first, *rest = COMMANDS[name]
    return first, data, *rest, "-o", output


def listing(folder: Path) -> set[str]:
    return set(os.listdir(folder))


@pytest.mark.parametrize("name", [*list(COMMANDS)[:-1], in_full("report.html")])
def test_a_full_disk_leaves_the_old_file(data: Path, tmp_path: Path, name: str) -> None:
    import resource

    output, new = tmp_path / name, tmp_path / f"new.{name}"
    output.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        errors = [run(*command(name, data, x)).error for x in (output, new)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    for error, path in zip(errors, (output, new), strict=True):
        assert error == f"Error: {path} cannot be written: File too large\n"
    assert output.read_text() == "old"
    assert listing(tmp_path) == {"data.csv", name}


KILLED = """
import os, signal, sys
from quotakernels.cli import main

whole = os.fsync

def killed(number):
    os.kill(os.getpid(), signal.SIGKILL)

os.fsync = killed
sys.argv[0] = "quotakernels"
main()
"""


@pytest.mark.full
@pytest.mark.parametrize("name", ["select.csv", "select.parquet"])
def test_a_kill_leaves_the_old_file_and_a_part(data: Path, tmp_path: Path, name: str) -> None:
    output = tmp_path / name
    output.write_text("old")
    given = [sys.executable, "-c", KILLED, *map(str, command(name, data, output))]
    done = subprocess.run(given, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    assert output.read_text() == "old"
    (part,) = listing(tmp_path) - {"data.csv", name}
    assert part.endswith(".part")


@every_table
def test_mode_links_and_long_names(data: Path, tmp_path: Path, name: str) -> None:
    """The file that a link leads to is replaced, and keeps its mode; a new one has the usual."""
    folder = tmp_path / "folder"
    folder.mkdir()
    target = folder / ("x" * (255 - len(name)) + name)
    link = tmp_path / name
    link.symlink_to(target)
    for mode in (0o640, None):
        if mode is None:
            target.unlink()
        else:
            target.write_text("old")
            target.chmod(mode)
        outcome = run(*command(name, data, link))
        assert outcome.status == 0, outcome.err
        usual = 0o666 & ~umask()
        assert stat.S_IMODE(target.stat().st_mode) == (usual if mode is None else mode)
        assert target.stat().st_size > 1000
        assert listing(folder) == {target.name}
    assert link.is_symlink()


def umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def test_the_part_is_private(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    whole = os.fsync

    def looked_at(number: int) -> None:
        found.append(stat.S_IMODE(os.fstat(number).st_mode))
        whole(number)

    monkeypatch.setattr(os, "fsync", looked_at)
    path = tmp_path / "select.csv"
    path.write_text("old")
    path.chmod(0o640)
    assert run(*command(path.name, data, path)).status == 0
    assert found[0] == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_protected_file_stays(data: Path, tmp_path: Path, monkeypatch: Any) -> None:
    output = tmp_path / "select.csv"
    output.write_text("old")
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)  # for root all is True
    error = run(*command("select.csv", data, output)).error
    assert error == f"Error: {output} cannot be written: Permission denied\n"
    assert listing(tmp_path) == {"data.csv", "select.csv"}


def test_states_keep_their_mode(tmp_path: Path) -> None:
    path = tmp_path / ("s" * 255)
    state = qk.states.ScoreBuffer.empty([0.0])
    qk.states.save_state(state, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask()
    path.chmod(0o600)
    qk.states.save_state(state, path, notes="new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert qk.states.state_info(path).notes == "new"


def through_a_pipe(path: Path, write: Callable[[], object]) -> bytes:
    """What `write` writes to a pipe of a name."""
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write()
    reader.join()
    return read[0]


@every_table
def test_a_pipe_stays_a_pipe(data: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "pipes").mkdir()
    pipe, output = tmp_path / "pipes" / name, tmp_path / name
    os.mkfifo(pipe)
    found = through_a_pipe(pipe, lambda: run(*command(name, data, pipe)))
    assert run(*command(name, data, output)).status == 0
    assert found == output.read_bytes()
    assert pipe.is_fifo()
    assert listing(pipe.parent) == {name}


def test_states_through_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    state = qk.states.ScoreBuffer.empty([0.0])
    found = through_a_pipe(
        tmp_path / "pipe", lambda: qk.states.save_state(state, tmp_path / "pipe")
    )
    (tmp_path / "state").write_bytes(found)
    assert qk.states.state_info(tmp_path / "state").kind == "ScoreBuffer"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="there is no /dev/stdout")
@pytest.mark.parametrize("to_file", [in_full(False), True])
def test_standard_output(data: Path, tmp_path: Path, to_file: bool) -> None:
    """What is said goes to stderr then, also where the output is a file."""
    expected, shown = tmp_path / "a.csv", tmp_path / "shown.csv"
    assert run(*command("select.csv", data, expected)).status == 0
    to_stdout = map(str, command("select.csv", data, Path("/dev/stdout")))
    given = [sys.executable, "-m", "quotakernels", *to_stdout]
    if to_file:
        with shown.open("wb") as file:
            done = subprocess.run(given, stdout=file, stderr=subprocess.PIPE, check=True)
    else:
        done = subprocess.run(given, capture_output=True, check=True)
        shown.write_bytes(done.stdout)
    assert shown.read_bytes() == expected.read_bytes()
    assert b"stdout: 1,000 rows, best first" in done.stderr
    assert listing(tmp_path) == {"data.csv", "a.csv", "shown.csv"}


def test_read_back(data: Path, tmp_path: Path) -> None:
    """All formats hold the same rows."""
    columns = []
    for name in ("select.parquet", "select.feather"):
        assert run(*command(name, data, tmp_path / name)).status == 0
        read = parquet.read_table if name.endswith("parquet") else feather.read_table
        columns.append(read(tmp_path / name).to_pydict())
    assert columns[0] == columns[1]
    assert len(columns[0]["s"]) == 1000
