"""Tests of scikit-learn's metrics, run against quotakernels by thin shims.

``python tests/peers/sklearn_suite.py`` runs `test_ranking.py` and `test_common.py`
of the scikit-learn that is installed, 1.9.  It counts what holds, and what differs for one of the
reasons below.  It fails if anything else differs, or if what was to differ holds.  An error may say
something else than theirs, and a warning may be missing; the rest of such a test must hold.
``--sample`` and ``--write`` are those of `totals`.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

MODULES = ("sklearn.metrics.tests.test_ranking", "sklearn.metrics.tests.test_common")
_POINTS = "curves keep all points, also those on a straight line"
_UNDEFINED = "undefined is NaN; there it is an error, 0 or 1"
_FLOATS = "numbers are NumPy's float64; there Python's float"
_INFINITE = "infinite scores are ranked"
_ARRAYS = "nested lists and single rows are the arrays that they make"
_COLUMNS = "a batch of lists of one example is refused, as it may be a column"
_UNUSED = "an argument that is not used is not checked, nor the order of classes"
DIFFER = {
    r"test_roc_curve_drop_intermediate$": _POINTS,
    r"test_precision_recall_curve(\[True\]|_drop_intermediate)$": _POINTS,
    r"test_det_curve_drop_intermediate\[y_true[13]-.*-True\]": _POINTS,
    r"test_precision_recall_curve_toydata": _UNDEFINED,
    r"test_det_curve_bad_input\[.*Only one class": _UNDEFINED,
    r"test_classification_metrics_raise_on_empty_input\[(pre|rec|f1|metric1[56])": _UNDEFINED,
    r"test_returned_value_consistency\[(?!(normalized_)?confusion|\w+_curve)": _FLOATS,
    r"test_continuous_inf_nan_input\[y_true[03]-": _INFINITE,
    r"test_raise_value_error_multilabel_sequences\[(macro|micro|samples|weighted)_": _ARRAYS,
    r"test_format_invariance_with_1d_vectors\[micro_average_precision_score": _ARRAYS,
    r"test_single_sample_multioutput\[(macro|micro|weighted)_[fpr]": _COLUMNS,
    r"test_format_invariance_with_1d_vectors\[(weighted_)?ovr_roc_auc": _COLUMNS,
    r"test_average_precision_score_multi(label|class)_pos_label_errors": _UNUSED,
    r"test_roc_auc_score_multiclass_labels_error\[ovr-.*must be ordered": _UNUSED,
    r"test_confusion_matrix_at_thresholds_positional_args": "of an old form of a call there",
}
"""Why tests differ, by their names."""
SHARE = 9
"""Of the tests, one in so many is in a sample."""


class Count:
    """How the tests went, and why some differ."""

    def __init__(self, total: Any, share: int) -> None:
        self.total, self.share = total, share
        self.called: set[str] = set()
        self.lenient: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        from peers.totals import sample

        sample(items, self.share)

    def pytest_runtest_setup(self, item: Any) -> None:
        self.called.clear()
        self.lenient.clear()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report = (yield).get_result()
        if report.skipped:
            self.total.reasons["skipped there"] += 1
        elif report.when == "call" or report.failed:
            self._add(item.nodeid.partition("::")[2], call.excinfo and call.excinfo.value)

    def _add(self, name: str, error: BaseException | None) -> None:
        known = [why for x, why in DIFFER.items() if re.match(x, name)] if self.called else []
        if type(error).__name__ == "NotOfferedError":
            known = [f"not offered: {error}"]
        if bool(known) == (error is None):
            said = " ".join(str(error).split())[:200]
            self.total.unexpected.append(f"{'differs' if error else 'holds'}: {name}: {said}")
        if not self.called:
            known = ["of metrics that are not here"]
        known = known or ["differ for none of these reasons" if error else self._held()]
        self.total.reasons[known[0]] += 1

    def _held(self) -> str:
        return f"hold, but for {' and '.join(sorted(self.lenient))}" if self.lenient else "hold"

    def install(self) -> None:
        """Errors may say something else, and warnings may be missing, which is counted."""
        raises, warns = pytest.raises, pytest.warns

        @contextmanager
        def of_any_words(kind: Any, *, match: str | None = None) -> Iterator[Any]:
            with raises((kind, TypeError, ValueError)) as info:
                yield info
            if not isinstance(info.value, kind):
                assert "quotakernels" in str(info.traceback[-1].path), info.value
                self.lenient.add("the type of an error")
            elif match is not None and not re.search(match, str(info.value)):
                self.lenient.add("the words of an error")

        @contextmanager
        def perhaps(kind: Any = Warning, *, match: str | None = None) -> Iterator[Any]:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                yield seen
            if not any(issubclass(x.category, kind) for x in seen):
                self.lenient.add("a warning")

        def either(context: Any, original: Any) -> Any:
            """The form that calls a function stays as it is."""
            return lambda kind, *call, **given: (
                original(kind, *call, **given) if call else context(kind, **given)
            )

        pytest.raises, pytest.warns = either(of_any_words, raises), either(perhaps, warns)


def main(arguments: list[str]) -> int:
    own = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(own), str(own.parent)]
    import sklearn

    from peers import sklearn_shims, totals

    total, (sampled, _, _) = totals.Total(), totals.options_of(arguments)
    count = Count(total, SHARE if sampled else 1)
    count.install()
    sklearn_shims.install(count.called.add)
    options = ["-q", "-p", "no:cacheprovider", "--tb=no", "-W", "ignore", "--no-summary"]
    pytest.main([*options, "--pyargs", *MODULES], plugins=[count])
    return totals.told("scikit-learn", sklearn.__version__, total, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
