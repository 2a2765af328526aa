"""How the tests of the page make it: by the command, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from command import run, write_csv

from quotakernels.report import page

EVIL = "<script>alert('a')</script>"
ODD = r"$\frac$ _x"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a page once for each command, and return where it is; drawing takes most of the time."""
    folder = tmp_path_factory.mktemp("pages")
    known: dict[tuple[object, ...], Path] = {}

    def make(*arguments: object, drawn: bool = True) -> Path:
        key = (*arguments, drawn)
        if key not in known:
            output = folder / f"page{len(known)}.html"
            with pytest.MonkeyPatch.context() as patch:
                if not drawn:
                    patch.setattr(page, "figures", lambda *_: [])
                outcome = run("report", *arguments, "-o", output)
            assert outcome.status == 0, outcome.err
            known[key] = output
        return known[key]

    return make


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 40 rows; models and the label also under names that must be escaped."""
    rng = np.random.default_rng(3)
    y = (rng.random(40) < 0.3).astype(int)
    a, b = rng.normal(size=40).round(2) + y, rng.normal(size=40).round(2)
    others = {"y": y, "a": a, "b": b, "w": 1 + y, "g": rng.normal(size=40).round(1)}
    others |= {"none": 0 * y, "part": ["u", "v"] * 20}
    odd = {"</title><b>label": y, EVIL: a, ODD: b}
    return write_csv(tmp_path_factory.mktemp("<i>data") / "small & <i>.csv", **others, **odd)
