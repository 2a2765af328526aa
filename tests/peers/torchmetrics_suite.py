"""Tests of torchmetrics itself, run against quotakernels by thin shims.

``python tests/peers/torchmetrics_suite.py CHECKOUT`` takes a checkout of torchmetrics 1.9.0, as its
distributions have no tests.  Without one it runs the examples in the docstrings of what the shims
replace, which every installed torchmetrics has.  It counts what holds, and what differs for one of
the reasons below.  It fails if anything else differs, or if what was to differ holds.  The tests
with two processes are left out, since torchmetrics runs them in one unless it is told otherwise.
``--sample`` and ``--write`` are those of `totals`.
"""

from __future__ import annotations

import doctest
import inspect
import os
import re
import sys
import types
import warnings
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


SHARE = 40
"""Of the tests, one in so many is in a sample."""


def add(total: Any, name: str, error: Any, known: list[str]) -> None:
    """Count one test or example, and what it raised."""
    if type(error).__name__ == "NotOfferedError":
        known = [f"not offered: {error}"]
    if bool(known) == (error is None):
        said = " ".join(str(error).split())[:200]
        total.unexpected.append(f"{'differs' if error else 'holds'}: {name}: {said}")
    total.reasons[known[0] if known else "hold" if error is None else "differ unexpectedly"] += 1


class Count:
    """How the tests went, and why some differ."""

    def __init__(self, total: Any, share: int) -> None:
        self.total, self.share = total, share

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        from peers.totals import sample

        items[:] = [item for item in items if not LEFT_OUT.search(item.nodeid)]
        sample(items, self.share)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report = (yield).get_result()
        if report.when != "call" and not report.failed and not report.skipped:
            return
        if report.skipped:
            self.total.reasons["skipped or expected to fail there"] += 1
            return
        known = [reason for name, reason in DIFFER.items() if re.search(name, item.nodeid)]
        add(self.total, item.nodeid, call.excinfo.value if call.excinfo else None, known)


class Checker(doctest.OutputChecker):
    """Compares the numbers: types differ, and where classes have equally many cuts, so do forms."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        wanted, found = (
            [float(x) for x in re.findall(r"(?<![\w.])-?(?:\d[\d.]*|nan)", text)]
            for text in (want, got.replace("float64", ""))
        )
        return found == pytest.approx(wanted, abs=5.01e-5, nan_ok=True)


class Runner(doctest.DocTestRunner):
    """Raises what an example raises, and for one that prints something else."""

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
        raise AssertionError(f"{got!r} instead of {example.want!r}")

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, info: Any) -> None:
        raise info[1]


def examples(total: Any) -> None:
    """Run those of all functions and classes of the modules where shims stand."""
    import torch

    from peers import torchmetrics_shims

    modules = [sys.modules[name] for name in torchmetrics_shims.places()]
    originals = {(module, name): x for module in modules for name, x in _own(module)}
    torchmetrics_shims.install()
    instead = {id(x): vars(module)[name] for (module, name), x in originals.items()}
    for module in [x for name, x in sys.modules.items() if name.startswith("torchmetrics")]:
        for name, x in list(vars(module).items()):  # packages from which examples import
            setattr(module, name, instead.get(id(x), x))
    for (module, name), x in originals.items():
        names = vars(module) | {"torch": torch, "tensor": torch.tensor}
        text = inspect.getdoc(x) or ""
        found = doctest.DocTestParser().get_doctest(text, dict(names), name, None, None)
        if found.examples:
            add(total, name, _error(found), [])


def _own(module: Any) -> list[tuple[str, Any]]:
    public = [(name, x) for name, x in vars(module).items() if not name.startswith("_")]
    return [(name, x) for name, x in public if getattr(x, "__module__", "") == module.__name__]


def _error(example: doctest.DocTest) -> Exception | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            Runner(Checker(), verbose=False).run(example, out=lambda _: None)
    except Exception as error:  # of any kind
        return error
    return None


def checkout_tests(total: Any, checkout: Path, share: int) -> None:
    """Run the tests of a checkout."""
    tests, own = checkout.resolve() / "tests", Path(__file__).resolve().parents[1]
    paths = [str(tests), str(own), str(own.parent)]
    sys.path.insert(0, str(tests))
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])
    # their cache of reference values, which saves time only
    cache = types.ModuleType("cachier")
    cache.cachier = lambda **_: lambda function: function  # type: ignore[attr-defined]
    sys.modules.setdefault("cachier", cache)
    from peers import torchmetrics_shims

    torchmetrics_shims.install()
    files = [str(tests / "unittests" / file) for file in FILES]
    arguments = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tests), "-c", os.devnull]
    one_process = ["-m", "not DDP", "-W", "ignore", "--tb=no", "--no-summary"]
    pytest.main([*arguments, *one_process, *files], plugins=[Count(total, share)])


def main(arguments: list[str]) -> int:
    own = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(own), str(own.parent)]
    import torchmetrics

    from peers import totals

    total, (sampled, _, checkouts) = totals.Total(), totals.options_of(arguments)
    if checkouts:
        checkout_tests(total, Path(checkouts[0]), SHARE if sampled else 1)
    else:
        examples(total)
    suite = "torchmetrics" if checkouts else "torchmetrics' examples"
    return totals.told(suite, torchmetrics.__version__, total, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
