"""Keywords that are misspelt, and flags that are none: errors name the function and the keyword."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from capabilities import arguments
from public_names import FAMILIES, MEASURES

import quotakernels as qk

Y = np.arange(400) % 3 == 0
S = np.arange(400.0)
FREE = {"get_scorer"}
"""Functions whose keywords are names of the caller's, or are those of what a name stands for."""
ADAPTERS = ("dask", "duckdb", "jax", "sklearn", "torch_distributed")


def functions(module: Any) -> Iterator[Any]:
    """The functions among the public names, measures too."""
    for name in module.__all__:
        x = getattr(module, name)
        if callable(x) and not inspect.isclass(x) and name not in FREE:
            yield x


def check(function: Callable[..., Any]) -> None:
    """Every keyword of a function, when its last letter is doubled."""
    names = function.own_keywords
    parameters = inspect.signature(function).parameters.values()
    spelt = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for right in {*names, *spelt} - {"ranking"}:
        wrong = right + right[-1]
        with pytest.raises(TypeError) as error:
            function(**{wrong: 3})
        expected = f"got an unexpected keyword argument '{wrong}'; did you mean '{right}'?"
        assert str(error.value) == f"{function.__name__} {expected}"


@pytest.mark.parametrize("function", list(functions(qk)), ids=lambda x: x.__name__)
def test_every_keyword_of_every_function(function: Callable[..., Any]):
    check(function)


def test_every_keyword_of_methods():
    like = np.zeros(0)
    states = [
        qk.states.ScoreBuffer.empty(like),
        qk.states.FixedScoreBuffer.empty(like, capacity=9),
        qk.states.ScoreHistogram.empty(like),
    ]
    for state in states:
        check(state.update)
        check(state.merge)
        check(type(state).empty)
    check(qk.Ranking.from_counts)
    check(qk.Ranking.from_points)


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_keyword_of_adapters(name: str):
    try:
        module = importlib.import_module(f"quotakernels.adapters.{name}")
    except ImportError as error:
        pytest.skip(str(error))
    found = list(functions(module))
    for function in found:
        check(function)
    assert found


def flags(function: Callable[..., Any]) -> list[str]:
    """Options that are True or False."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if isinstance(p.default, bool)]


FLAGGED = {x.__name__: x for module in (qk, *FAMILIES) for x in functions(module) if flags(x)}


@pytest.mark.parametrize("function", FLAGGED.values(), ids=FLAGGED)
def test_every_flag_of_every_function(function: Callable[..., Any]):
    name = function.__name__  # functions that are no measures look at flags first
    given = arguments(name)[1] if name in MEASURES else {}
    for flag in flags(function):
        for bad in ("no", 1, None):
            with pytest.raises(TypeError, match=f"^{flag} must be True or False; got {bad!r}$"):
                function(**given, **{flag: bad})


def test_every_flag_of_displays():
    pytest.importorskip("matplotlib")
    from quotakernels import plots

    found = 0
    for display in (getattr(plots, name) for name in plots.__all__):
        for name in flags(display.plot):
            found += 1
            with pytest.raises(TypeError, match=f"^{name} must be True or False; got 'no'$"):
                display.plot(None, **{name: "no"})
    assert found > 10


def test_options_of_functions_from_elsewhere():
    """What they take is their own affair."""
    found = qk.bootstrap(lambda x, own: qk.hit_rate(x, quota=own), Y, S, n_resamples=3, own=5)
    assert found.estimate == qk.hit_rate(Y, S, quota=5)


def test_warnings_are_of_the_line_that_calls():
    few, folds, models = np.arange(400) < 5, np.arange(400) // 200, {"a": S, "b": S % 7}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        drawn = {"test": "bootstrap", "random_state": 1}
        qk.compare(qk.roc_auc, few, models, n_resamples=10, **drawn)
        qk.compare(qk.roc_auc, few[:9], {"a": S[:9], "b": -S[:9]}, n_resamples=40, **drawn)
        qk.inference.fold_summary(qk.roc_auc, few, S, folds)
        qk.inference.fold_test(qk.roc_auc, few, [S, -S], folds)
    told = [str(x.message) for x in found]
    for part in ("cannot tell", "fewer than 30", "resamples", "roc_auc is undefined in 1 of 2"):
        assert any(part in x for x in told), told
    assert {x.filename for x in found} == {__file__}


def test_errors_do_not_print_whole_lists():
    for scores in (S, S.tolist()):
        for call in (
            qk.tables.table_curve,
            lambda y, x: qk.bootstrap(x, y, S),
            lambda y, x: qk.one_vs_rest(y, np.stack([x, x], -1), qk.roc_auc),
            lambda y, x: qk.tables.total_impact(y, S, threshold=3, impacts=x),
            lambda y, x: qk.roc_auc(y, S, ties=[x]),
            lambda y, x: qk.tables.confusion_table_from_predictions(y, y, num_classes=x),
            lambda y, x: qk.charts.powers_chart(y, S, kind="roc", smoothing=x),
        ):
            with pytest.raises((TypeError, ValueError)) as error:
                call(Y, scores)
            assert len(str(error.value)) < 300, str(error.value)
