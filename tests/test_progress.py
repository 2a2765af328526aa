"""The line that tells how far a resampling is."""

from __future__ import annotations

import sys

import pytest

from quotakernels.inference import _values as reports


@pytest.mark.parametrize(
    ("progress", "terminal", "patience", "written"),
    [
        (True, False, 1e9, True),
        (True, True, 1e9, True),
        (None, True, 1e9, False),
        (None, True, -1.0, True),
        (None, False, -1.0, False),
        (False, True, -1.0, False),
    ],
)
def test_a_line_is_written_at_once_or_to_a_terminal_once_it_takes_long(
    progress: bool | None,
    terminal: bool,
    patience: float,
    written: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(reports, "PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    tell = reports.reporter(progress, "resamples")
    tell(1, 2)
    tell(2, 2)
    line = "\rresamples: 1 of 2\rresamples: 2 of 2\n"
    assert capsys.readouterr().err == (line if written else "")
