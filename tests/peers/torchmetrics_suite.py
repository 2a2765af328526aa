"""Tests of torchmetrics itself, run against quotakernels by thin shims.

``python tests/peers/torchmetrics_suite.py CHECKOUT [pytest options]`` takes a checkout of
torchmetrics 1.9.0, whose packages have no tests.  It counts what holds, and what differs for one
of the reasons below.  It fails if anything else differs, or if what was to differ holds.  The tests
with two processes are left out, since torchmetrics runs them in one unless it is told otherwise.
"""

from __future__ import annotations

import os
import re
import sys
import types
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FILES = (
    *("classification/test_auroc.py", "classification/test_average_precision.py"),
    *("classification/test_roc.py", "classification/test_precision_recall_curve.py"),
    *("retrieval/test_precision.py", "retrieval/test_recall.py", "retrieval/test_r_precision.py"),
    *("retrieval/test_hit_rate.py", "retrieval/test_mrr.py", "retrieval/test_map.py"),
    *("retrieval/test_ndcg.py", "retrieval/test_fallout.py", "retrieval/test_auroc.py"),
)
_ACCEPTED = "integers and booleans may be scores, floats labels or quotas, and a list may be empty"
_WORDS = "an error says something else"
DIFFER = {
    r"test_ndcg.*test_arguments_functional_metric\[.*metric_args3": _WORDS,
    r"test_ndcg.*test_arguments_functional_metric\[.*metric_args4": _ACCEPTED,
    r"test_\w+_error_on_wrong_dtypes": _ACCEPTED,
    r"test_arguments_functional_metric\[.*(non-empty|of floats|metric_args5)": _ACCEPTED,
    r"test_arguments_functional_metric\[.*(same shape|binary|metric_args4)": _WORDS,
    r"test_arguments_functional_metric\[.*adaptive_k": "an argument that is not here",
    r"all_zero_predictions_returns_zero": "scores of 0 and less are ranked as all others",
    r"test_warning_on_no_positives": "undefined is NaN, without a warning",
}
"""Why tests differ, by their names."""
LEFT_OUT = re.compile(r"retrieval/.*-(median|max|min|_custom_aggregate_fn)-")
"""Tests of the ways in which torchmetrics itself sums up the queries; the mean stays."""


class Count:
    """How the tests went, and why some differ."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.unexpected: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if not LEFT_OUT.search(item.nodeid)]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report = (yield).get_result()
        if report.when != "call" and not report.failed and not report.skipped:
            return
        if report.skipped:
            self.reasons["skipped or expected to fail there"] += 1
            return
        error = call.excinfo.value if call.excinfo else None
        known = [reason for name, reason in DIFFER.items() if re.search(name, item.nodeid)]
        if type(error).__name__ == "NotOfferedError":
            known = [f"not offered: {error}"]
        if bool(known) == report.passed:
            self.unexpected.append(f"{'holds' if report.passed else 'differs'}: {item.nodeid}")
        else:
            self.reasons[known[0] if known else "hold"] += 1


def main(checkout: Path, options: list[str]) -> int:
    tests, own = checkout.resolve() / "tests", Path(__file__).resolve().parents[1]
    paths = [str(tests), str(own), str(own.parent)]
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])
    # their cache of reference values, which saves time only
    cache = types.ModuleType("cachier")
    cache.cachier = lambda **_: lambda function: function  # type: ignore[attr-defined]
    sys.modules.setdefault("cachier", cache)
    from peers import torchmetrics_shims

    torchmetrics_shims.install()
    count = Count()
    files = [str(tests / "unittests" / file) for file in FILES]
    arguments = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tests), "-c", os.devnull]
    one_process = ["-m", "not DDP", "-W", "ignore", "--tb=no"]
    pytest.main([*arguments, *one_process, *(options or files)], plugins=[count])
    for reason, number in sorted(count.reasons.items(), key=lambda x: -x[1]):
        print(f"{number:6} {reason}")
    print(*count.unexpected, sep="\n")
    return bool(count.unexpected)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
