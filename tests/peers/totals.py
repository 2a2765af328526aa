"""What the tests of other libraries come to: counted, kept and shown.

Each suite beside this file runs tests of one library.  With ``--write`` it keeps how many cases
there are of each outcome in ``totals.json``, and writes the section of docs/checks.md from there.
With ``--sample`` it runs a part of the cases.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).resolve().with_name("totals.json")
PAGE = ROOT / "docs" / "checks.md"


class Total:
    """How many cases there are of each outcome, and which have none that is known."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.unexpected: list[str] = []


def options_of(arguments: list[str]) -> tuple[bool, bool, list[str]]:
    """Whether to run a sample, whether to keep the totals, and the other arguments."""
    others = [x for x in arguments if x not in ("--sample", "--write")]
    return "--sample" in arguments, "--write" in arguments, others


def sample(items: list[Any], share: int) -> None:
    """Leave one in so many of the tests that pytest has found, the same in each run."""
    items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % share == 0]


def told(suite: str, version: str, total: Total, arguments: list[str]) -> int:
    """Print the totals, keep them if asked for, and return the status of the process.

    A sample has no outcome that the page does not have, and no more cases of any.
    """
    sampled, write, _ = options_of(arguments)
    found = dict(total.reasons.most_common())
    for reason, number in found.items():
        print(f"{number:6} {reason}")
    if sampled:
        kept = json.loads(KEPT.read_text("utf-8"))[suite]["cases"]
        more = {x: n for x, n in found.items() if n > kept.get(x, 0)}
        total.unexpected += [f"more than {kept.get(x, 0)}: {x}" for x in more]
    print(*total.unexpected, sep="\n")
    if write and not total.unexpected:
        everything = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
        everything[suite] = {"version": version, "cases": found}
        KEPT.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        _write_page(suite, everything[suite])
    return bool(total.unexpected or not found)


def section(kept: Mapping[str, Any]) -> str:
    """The totals of one suite, as Markdown."""
    from _pages import table

    cases = sorted(kept["cases"].items(), key=lambda x: (-x[1], x[0]))
    rows = [(sum(kept["cases"].values()), f"all, of version {kept['version']}")]
    rows += [(number, reason) for reason, number in cases]
    return str(table(("cases", ""), rows))


def _write_page(suite: str, kept: Mapping[str, Any]) -> None:
    sys.path.insert(0, str(ROOT / "docs" / "experiments"))
    from _pages import replaced

    text = replaced(PAGE.read_text("utf-8"), suite, section(kept))
    PAGE.write_text(text, encoding="utf-8")
