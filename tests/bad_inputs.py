"""One table of bad and extreme input: calls, inputs, and what must come of each.

A case is a call of `CALLS` with an input of `INPUTS`, or an entry of `OPTIONS`.  What must come is
one of three things: the exact value (`fine`), an error that names the argument where values can
be read and NaN where they cannot (`bad`), or such an error everywhere, since the type or the shape
tells (`refused`).
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import exact as ex
import numpy as np
from expected import AT_QUOTA, NUMBERS
from public_names import PUBLIC

import quotakernels as qk

Y = np.asarray([1, 0, 1, 0, 0, 1, 1, 0])
S = np.asarray([0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.25, 0.1])
W = np.asarray([1.0, 2, 0.5, 1, 3, 1, 0.25, 2])
M = np.asarray([True] * 8)
SHARE = Fraction(1, 4)
IMPACTS = (1, -1, 0, 0)
NAN = float("nan")
ARGUMENTS = ("y_true", "y_score", "sample_weight", "where")


class Rows(NamedTuple):
    """What the exact reference gets: lists of numbers."""

    y_true: list[Any]
    y_score: list[Any]
    sample_weight: list[Any] | None
    where: list[bool] | None

    @property
    def groups(self) -> list[ex.Group]:
        return ex.groups(*self)

    @property
    def quota(self) -> Fraction:
        return SHARE * ex.total_weight(self.groups)


class Call(NamedTuple):
    """A public function, called with ``(y_true, y_score, **options)``, and its exact value.

    `eager` says that it is no function to trace, `labels` whether it needs labels.
    """

    run: Callable[..., Any]
    exact: Callable[[Rows], Any]
    eager: bool = False
    labels: bool = True


class Input(NamedTuple):
    """Arguments that differ from the plain ones, and what must come of them.

    `given` are the arguments that differ, `clean` what the exact reference takes in their
    place.  `host` says that only NumPy's users can have such a thing, `wide` that float32 cannot
    hold it, `meant` that a library which takes it may well guess the plain labels and scores,
    `beside_labels` that labels alone show it.
    """

    about: str
    name: str
    outcome: str
    argument: str
    given: dict[str, Any]
    clean: dict[str, Any]
    host: bool = False
    wide: bool = False
    meant: bool = False
    beside_labels: bool = False

    def arguments(self) -> dict[str, Any]:
        """Labels, scores and what is given beside them."""
        return {"y_true": Y, "y_score": S, **self.given}

    def rows(self, float32: bool = False) -> Rows:
        """What counts, for the exact reference; as float32, where a library has no wider one."""
        named = {"y_true": Y, "y_score": S, **self.given, **self.clean}

        def column(x: Any) -> list[Any]:
            x = np.asarray(x)
            return (x.astype(np.float32) if float32 and x.dtype == np.float64 else x).tolist()

        return Rows(*(column(named[x]) if x in named else None for x in ARGUMENTS))


class Option(NamedTuple):
    """A call with options of its own: a quota, a policy, a misspelt name."""

    call: str
    options: dict[str, Any]
    outcome: str
    argument: str


# calls


def _measure(name: str, exact: Callable[..., Any] | None = None, **options: Any) -> Call:
    """A measure of the whole ranking."""
    reference = exact or getattr(ex, name)

    def run(y: Any, s: Any, **given: Any) -> Any:
        return PUBLIC[name](y, s, **options, **given)

    return Call(run, lambda rows: reference(rows.groups))


def _at_share(name: str) -> Call:
    """A measure at a fraction of the examples."""

    def run(y: Any, s: Any, **given: Any) -> Any:
        return PUBLIC[name](y, s, fraction=0.25, **given)

    def exact(rows: Rows) -> Any:
        return getattr(ex, name)(rows.groups, rows.quota) if rows.quota else None

    return Call(run, exact)


def _of_table(function: Callable[..., Any], exact: Callable[..., Any], **cut: Any) -> Call:
    """Something of the confusion table at a cut."""

    def run(y: Any, s: Any, **given: Any) -> Any:
        return function(y, s, **cut, **given)

    def reference(rows: Rows) -> Any:
        if "threshold" in cut:
            return exact(ex.confusion.table_at_threshold(rows.groups, cut["threshold"]))
        if not rows.groups:
            return None
        return exact(ex.confusion.table_at_fraction(rows.groups, cut["fraction"]))

    return Call(run, reference)


def _best(rows: Rows) -> Any:
    """The best informedness of all cuts."""
    if not rows.groups:
        return None
    values = [ex.confusion.informedness(t) for t in ex.confusion.tables_at_cuts(rows.groups)]
    return max((x for x in values if x is not None), default=None)


def _gained(rows: Rows) -> Any:
    groups = ex.impact.gain_groups(rows.y_score, rows.y_true, 0, *rows[2:])
    return ex.impact.example_impact(groups, rows.quota).whole if groups else None


def _threshold(rows: Rows) -> Any:
    if not rows.quota:
        return None
    return ex.quota_threshold(rows.y_score, rows.quota, *rows[2:]).threshold


def _selected(rows: Rows) -> Any:
    if not rows.quota:
        return [None] * len(rows.y_score)
    return ex.select(rows.y_score, rows.quota, *rows[2:])


def _by_state(make: Callable[[Any, bool], Any]) -> Call:
    def run(y: Any, s: Any, **given: Any) -> Any:
        return make(s, "sample_weight" in given).update(y, s, **given).compute(qk.roc_auc)

    return Call(run, lambda rows: ex.roc_auc(rows.groups), eager=True)


def _without_labels(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y, s, **given: function(s, **given)


CALLS = {
    **{name: _measure(name) for name in NUMBERS},
    "pr_auc": _measure("pr_auc", ex.pr_auc_exact),
    **{name: _at_share(name) for name in AT_QUOTA if name != "pearson"},
    "f_score": _of_table(qk.f_score, ex.confusion.f_score, fraction=0.25),
    "informedness": _of_table(qk.informedness, ex.confusion.informedness, threshold=0.5),
    "expected_cost": _of_table(
        functools.partial(qk.expected_cost, cost_fp=1, cost_fn=5),
        lambda t: ex.confusion.expected_cost(t, 1, 5),
        fraction=0.25,
    ),
    "confusion_table": _of_table(
        lambda *data, **given: qk.confusion_table(*data, **given).tp, lambda t: t.tp, threshold=0.5
    ),
    "total_impact": _of_table(
        lambda *data, **given: qk.tables.total_impact(*data, impacts=IMPACTS, **given).whole,
        lambda t: ex.impact.impact(t, IMPACTS, total=True).whole,
        threshold=0.5,
    ),
    "best_cut": Call(
        lambda y, s, **given: qk.best_cut(qk.informedness, y, s, **given).value, _best
    ),
    "tpr_at": Call(
        lambda y, s, **given: qk.points.tpr_at(y, s, fpr=0.5, **given).value,
        lambda rows: ex.operating.tpr_at(rows.groups, 0.5).value,
    ),
    "equal_error_rate": Call(
        lambda y, s, **given: qk.points.equal_error_rate(y, s, **given).value,
        lambda rows: ex.operating.equal_error_rate(rows.groups).value,
    ),
    "select": Call(
        _without_labels(lambda s, **given: qk.select(s, fraction=0.25, **given)),
        _selected,
        labels=False,
    ),
    "quota_threshold": Call(
        _without_labels(lambda s, **given: qk.quota_threshold(s, fraction=0.25, **given).threshold),
        _threshold,
        labels=False,
    ),
    "impact_at_quota": Call(  # the labels are its gains
        lambda y, s, **given: qk.impact_at_quota(None, s, gain=y, fraction=0.25, **given).whole,
        _gained,
        labels=False,
    ),
    "ScoreBuffer": _by_state(lambda s, weighted: qk.states.ScoreBuffer.empty(s)),
    "FixedScoreBuffer": _by_state(
        lambda s, weighted: qk.states.FixedScoreBuffer.empty(s, capacity=16, weighted=weighted)
    ),
}


# inputs


def _fine(about: str, name: str, given: dict[str, Any], **more: Any) -> Input:
    clean = more.pop("clean", {})
    return Input(about, name, "fine", "", given, clean, **more)


def _bad(name: str, argument: str, value: Any, meant: bool = False, **given: Any) -> Input:
    named = {argument: value, **given}
    return Input(argument, name, "bad", argument, named, {}, meant=meant)


def _refused(
    name: str, argument: str, value: Any, host: bool = False, meant: bool = False
) -> Input:
    return Input(argument, name, "refused", argument, {argument: value}, {}, host, meant=meant)


def with_value(x: np.ndarray, place: int, value: Any) -> np.ndarray:
    """A copy with one other value."""
    changed = x.astype(np.result_type(x.dtype, np.float64))
    changed[place] = value
    return changed


def _scores() -> Iterator[Input]:
    logits = np.log(S / (1 - S))
    ranked = {
        "logits": logits,
        "log-probabilities": np.log(S),
        "credit scores": np.round(850 - 550 * S),
        "all negative": S - 5,
        "all below .004": S * 0.004,
        "all equal": np.full(8, 0.3),
        "infinite at both ends": np.asarray([np.inf, np.inf, 3, 2, 1, 1, -np.inf, -np.inf]),
        "zeros of both signs": np.asarray([0.0, -0.0, 1, -1, 0.0, -0.0, -0.0, 0.0]),
        "the largest floats": np.asarray([3e38, -3e38, 1, 0, 1e-30, -1e-30, 2e38, -2e38]),
        "integers": np.asarray([9, 8, 7, 7, 4, 3, 2, 1]),
        "integers of one byte": np.asarray([127, 5, 5, 4, -1, -1, -128, 0], dtype=np.int8),
        "unsigned integers": np.asarray([250, 5, 5, 4, 200, 3, 0, 0], dtype=np.uint8),
        "booleans": S > 0.5,
        "float32": S.astype(np.float32),
        "float16": S.astype(np.float16),
    }
    for name, x in ranked.items():
        yield _fine("y_score", name, {"y_score": x})
    tiny = 5e-324 * np.asarray([8.0, 7, 6, 6, 3, 2, 1, 0])
    wide = {
        "subnormals": tiny,
        "steps of 1e-12": 1 + 1e-12 * np.arange(8)[::-1],
        "integers beyond 2**31": 2**40 + np.arange(8)[::-1],
        "spans beyond the largest float": np.asarray([1.7e308, 1, 0, 0, -1, -2, -3, -1.7e308]),
    }
    for name, x in wide.items():
        yield _fine("y_score", name, {"y_score": x}, wide=True)
    rounded_up = with_value(S, 0, 1 + 2.0**-20)
    yield _fine("y_score", "one just above 1", {"y_score": rounded_up})
    for place in (0, 3, 7):
        yield _bad(f"NaN at {place}", "y_score", with_value(S, place, NAN))
    yield _bad("all NaN", "y_score", np.full(8, NAN))
    hidden = with_value(S, 2, NAN)
    yield _fine(
        "y_score",
        "NaN where masked",
        {"y_score": hidden, "where": np.arange(8) != 2},
        clean={"y_score": with_value(S, 2, 0)},
    )
    yield _fine(
        "y_score",
        "NaN at weight 0",
        {"y_score": hidden, "sample_weight": with_value(W, 2, 0)},
        clean={"y_score": with_value(S, 2, 0)},
    )
    yield _refused("complex", "y_score", S + 1j)


def _labels() -> Iterator[Input]:
    for dtype in ("bool", "int8", "uint8", "int32", "int64", "float32", "float64"):
        yield _fine("y_true", f"labels of {dtype}", {"y_true": Y.astype(dtype)})
    yield _fine("y_true", "no positive", {"y_true": np.zeros(8, dtype=int)})
    yield _fine("y_true", "no negative", {"y_true": np.ones(8, dtype=int)})
    yield _bad("-1 and 1", "y_true", 2 * Y - 1, meant=True)
    yield _bad("1 and 2", "y_true", Y + 1, meant=True)
    yield _bad("0 and 255", "y_true", Y * 255, meant=True)
    yield _bad("soft labels", "y_true", 0.1 + 0.8 * Y)
    yield _bad("three classes", "y_true", Y + np.asarray([1, 0, 0, 0, 0, 0, 0, 0]))
    yield _bad("scores in their place", "y_true", S, y_score=Y.astype(float))
    yield _bad("NaN", "y_true", with_value(Y, 4, NAN))
    yield _bad("infinite", "y_true", with_value(Y, 4, np.inf))
    yield _bad("just above 1", "y_true", with_value(Y, 0, 1 + 2.0**-20))
    hidden = with_value(Y, 4, NAN)
    yield _fine(
        "y_true",
        "NaN where masked",
        {"y_true": hidden, "where": np.arange(8) != 4},
        clean={"y_true": Y},
    )
    yield _fine(
        "y_true",
        "a third class at weight 0",
        {"y_true": with_value(Y, 4, 7), "sample_weight": with_value(W, 4, 0)},
        clean={"y_true": Y},
    )
    yield _refused("complex", "y_true", Y + 1j)


def _shapes() -> Iterator[Input]:
    columns = {
        "a column of scores": {"y_score": S[:, None]},
        "columns of labels and scores": {"y_true": Y[:, None], "y_score": S[:, None]},
    }
    for name, given in columns.items():
        yield Input("shapes", name, "refused", "y_score", given, {}, meant=True)
    two = Input("shapes", "predict_proba as it comes", "refused", "y_score", {}, {}, meant=True)
    yield two._replace(given={"y_score": np.stack([1 - S, S], axis=1)}, beside_labels=True)
    for name in ("y_true", "sample_weight", "where"):
        x = {"y_true": Y, "sample_weight": W, "where": M}[name]
        yield _refused("one short", name, x[:-1])
        yield _refused("one too many", name, np.concatenate([x, x[:1]]))
        yield _refused("of length 1", name, x[:1])
        yield _refused("a column", name, x[:, None], meant=True)
        yield _refused("a row of a batch", name, x[None, :])
        yield _refused("a scalar", name, x[0])
    yield _refused("a scalar", "y_score", S[0])
    one = {"y_true": Y[:1], "y_score": S[:1]}
    yield _fine("shapes", "one positive example", one)
    yield _fine("shapes", "one negative example", {"y_true": Y[1:2], "y_score": S[1:2]})
    yield _fine("shapes", "two examples", {"y_true": Y[:2], "y_score": S[:2]})
    yield _fine("shapes", "no example", {"y_true": Y[:0], "y_score": S[:0]})


def _weights() -> Iterator[Input]:
    exact = {
        "unequal": W,
        "zero for some": W * np.asarray([1, 0, 1, 0, 1, 1, 0, 1]),
        "zero of both signs": W * np.asarray([1, -0.0, 1, 0, 1, 1, -0.0, 1]),
        "all zero": np.zeros(8),
        "all one": np.ones(8),
        "zero for all positives": W * (1 - Y),
        "zero for all negatives": W * Y,
        "integers": np.asarray([1, 2, 3, 0, 1, 4, 1, 1]),
        "booleans": W > 1,
        "from 1e-20 to 1e20": 10.0 ** np.asarray([-20, 20, 0, 3, -7, 12, -12, 5]),
    }
    for name, x in exact.items():
        yield _fine("sample_weight", name, {"sample_weight": x})
    for power in (-300, -160, 154, 300):
        x = W * 10.0**power
        yield _fine("sample_weight", f"all about 1e{power}", {"sample_weight": x}, wide=True)
    for value, name in ((-1.0, "negative"), (NAN, "NaN"), (np.inf, "infinite")):
        bad = with_value(W, 5, value)
        yield _bad(name, "sample_weight", bad)
        yield _fine(
            "sample_weight",
            f"{name} where masked",
            {"sample_weight": bad, "where": np.arange(8) != 5},
            clean={"sample_weight": W},
        )
    yield _refused("complex", "sample_weight", W + 1j)


def _masks() -> Iterator[Input]:
    for name, x in {
        "all true": M,
        "all false": ~M,
        "one true": np.arange(8) == 2,
        "only positives": Y == 1,
        "only negatives": Y == 0,
        "every second": np.arange(8) % 2 == 0,
    }.items():
        yield _fine("where", name, {"where": x})
    yield _refused("integers", "where", M.astype(int))
    yield _refused("floats", "where", M.astype(float))


def _forms() -> Iterator[Input]:
    """What only users of NumPy have: other memory layouts, lists, columns, objects."""
    import pandas as pd
    import polars as pl

    for name, form in {
        "a list": lambda x: x.tolist(),
        "a tuple": lambda x: tuple(x.tolist()),
        "a reversed view": lambda x: x[::-1].copy()[::-1],
        "a strided view": lambda x: np.repeat(x, 2)[::2],
        "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
        "a column of pandas": pd.Series,
        "a nullable column of pandas": lambda x: pd.Series(x).convert_dtypes(),
        "a column of polars": pl.Series,
        "a masked array without a mask": np.ma.masked_array,
    }.items():
        given = {"y_true": form(Y), "y_score": form(S)}
        yield _fine("forms", name, given, clean={"y_true": Y, "y_score": S}, host=True)
    for argument, x in (("y_true", Y), ("y_score", S), ("sample_weight", W)):
        yield _refused("None in a list", argument, [None, *x[1:].tolist()], True)
        yield _refused("missing in pandas", argument, _with_missing(pd.Series(x)), True)
        yield _refused("missing in polars", argument, pl.Series([None, *x[1:].tolist()]), True)
        yield _refused("masked", argument, np.ma.masked_array(x, mask=np.arange(8) == 1), True)
        yield _refused("strings", argument, [str(v) for v in x], True, meant=True)
        yield _refused("dates", argument, np.full(8, np.datetime64("2020-01-01")), True)
        yield _refused("objects", argument, np.asarray([object()] * 8), True)
        yield _refused("dates of Python", argument, [datetime.date(2020, 1, 1)] * 8, True)
        yield _refused("ragged lists", argument, [[1, 0], [1]], True)
        yield _refused("a dictionary", argument, dict(enumerate(x.tolist())), True)
        yield _refused("a set", argument, set(x.tolist()), True)
        yield _refused("a string", argument, "01010101", True)
        yield _refused("a named tuple", argument, Rows([], [], None, None), True)
    for argument in ("y_true", "y_score"):
        yield _refused("None", argument, None, True)


def _with_missing(column: Any) -> Any:
    nullable = column.convert_dtypes()
    nullable[1] = None
    return nullable


INPUTS = [*_scores(), *_labels(), *_shapes(), *_weights(), *_masks(), *_forms()]


# options

OF_QUOTAS = {
    name: functools.partial(lambda name, *data, **given: PUBLIC[name](*data, **given), name)
    for name in (*AT_QUOTA, "f_score", "confusion_table")
}
OF_QUOTAS |= {
    "select": _without_labels(qk.select),
    "quota_threshold": _without_labels(qk.quota_threshold),
    "impact_at_quota": lambda y, s, **given: qk.impact_at_quota(None, s, gain=y, **given),
}
WHOLE = {
    name: PUBLIC[name]
    for name in ("roc_auc", "average_hit_rate", "pr_auc", "summary", "roc_curve", "rank")
}
OPTION_CALLS = OF_QUOTAS | WHOLE


def _options() -> Iterator[Option]:
    for call in OF_QUOTAS:
        for quota in (9, -1, NAN, np.inf, [2, 9], np.asarray(9)):
            yield Option(call, {"quota": quota}, "bad", "quota")
        for quota in ("3", True, None, 3j, [[1], [1, 2]], {}, datetime.timedelta(3)):
            yield Option(call, {"quota": quota}, "refused", "quota")
        for fraction in (0, 1.5, -0.1, NAN):
            yield Option(call, {"fraction": fraction}, "bad", "fraction")
        for fraction in ("25%", True):
            yield Option(call, {"fraction": fraction}, "refused", "fraction")
        yield Option(call, {"quota": 2, "fraction": 0.25}, "refused", "quota")
        yield Option(call, {}, "refused", "quota")
        yield Option(call, {"qouta": 2}, "refused", "quota")
    for call in WHOLE:
        yield Option(call, {"ties": "first"}, "refused", "ties")
        yield Option(call, {"validate": "no"}, "refused", "validate")
        yield Option(call, {"sample_wieght": 1}, "refused", "sample_weight")


OPTIONS = list(_options())
