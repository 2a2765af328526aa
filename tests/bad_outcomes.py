"""What comes of the cases of `bad_inputs` in each way to run a function."""

from __future__ import annotations

import contextlib
import functools
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from backends import MODES, Mode, tree_leaves, tree_map
from bad_inputs import CALLS, OPTION_CALLS, Input, Option, S, Y
from expected import as_floats, check, ulps


class Way(NamedTuple):
    """A mode, and whether values are checked where they can be read."""

    mode: Mode
    checked: bool = True

    def __str__(self) -> str:
        return f"{self.mode}{'' if self.checked else ', validate=False'}"

    @property
    def reading(self) -> bool:
        """Whether a bad value is an error."""
        return self.checked and not self.mode.lazy

    @property
    def traced(self) -> bool:
        """Whether a function is traced."""
        return self.mode.name.endswith(("-jit", "-vmap", "-compile"))

    def takes(self, case: Input) -> bool:
        """Whether a user of this library can have such input."""
        host = case.host and self.mode.library != "numpy"
        return not host and not (case.wide and self.mode.float32)

    def calls(self, case: Input) -> list[str]:
        """The calls that take such input."""
        return [
            name
            for name, call in CALLS.items()
            if not (call.eager and self.traced)
            and (call.labels or not (case.argument == "y_true" or case.beside_labels))
            and not (call.eager and case.about == "forms")
        ]


WAYS = [Way(mode) for mode in MODES]
WAYS += [Way(mode, False) for mode in MODES if mode.name in ("numpy", "torch")]


class Failure(NamedTuple):
    """A case of which something else came than must."""

    way: str
    call: str
    case: str
    found: str


# running


@functools.cache
def _program(names: tuple[str, ...], calls: tuple[str, ...], checked: bool) -> Callable[..., Any]:
    """Several calls as one function of arrays, which traces share."""

    def program(*arrays: Any) -> Any:
        given = dict(zip(names, arrays, strict=True))
        data = given.pop("y_true"), given.pop("y_score")
        more = {} if checked else {"validate": False}
        return {name: CALLS[name].run(*data, **given, **more) for name in calls}

    return program


@functools.cache
def _compiled(program: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10**4
    return torch.compile(program, fullgraph=True, backend="eager")


def run(way: Way, calls: Iterable[str], arguments: dict[str, Any]) -> dict[str, Any]:
    """What the calls give, as NumPy arrays."""
    program = _program(tuple(arguments), tuple(calls), way.checked)
    if way.mode.library == "numpy":
        return program(*arguments.values())
    if way.mode.name == "torch-compile":
        tensors = [way.mode.array(x) for x in arguments.values()]
        return tree_map(way.mode.to_numpy, _compiled(program)(*tensors))
    return way.mode.run(program, *arguments.values())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of libraries about what the cases are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# judging


def _is_named(error: Exception, argument: str) -> bool:
    """Whether an error is one for users, and tells which argument is wrong.

    A state is made for scores like the first ones, which are `like` there.
    """
    text = f"{type(error).__name__}: {error}"
    named = argument in text or (argument == "y_score" and ": like" in text)
    return named and bool(re.search("TypeError|ValueError", text))


def _in_own_words(way: Way, error: Exception) -> bool:
    """Whether torch.compile stops at what is refused, and does not show the message."""
    return way.mode.name == "torch-compile" and type(error).__name__ == "Unsupported"


def _wrong_value(name: str, found: Any, case: Input, float32: bool) -> str:
    """Empty if the value is the exact one, as near as is promised."""
    rows = case.rows(float32)
    wanted, found = as_floats(CALLS[name].exact(rows)), np.asarray(found)
    if np.array_equal(found, wanted, equal_nan=True):
        return ""
    try:
        assert found.shape == wanted.shape
        if rows.sample_weight is None:
            check(name, found, wanted)
        else:
            _assert_near(name, found, wanted)
    except AssertionError:
        return f"{found} in place of {wanted}"
    return ""


OF_ONE = ("best_cut", "normalized_pr_auc", "pr_gain_auc")


def _assert_near(name: str, found: np.ndarray, wanted: np.ndarray) -> None:
    """Assert 16 ulp; numbers below the normal ones may be 0, as XLA has it.

    Cuts whose values differ by rounding alone are equally good, and differences have an error in
    units of 1.
    """
    limits = np.finfo(found.dtype)
    slack = max(2.0**-49, 2 * limits.eps) if name in OF_ONE else limits.tiny
    close = np.abs(found - wanted) <= slack
    assert ulps(np.where(close, wanted, found).astype(found.dtype), wanted) <= 16


def judge(way: Way, case: Input, only: Collection[str] = CALLS) -> list[Failure]:
    """The calls, of some only, of which something else comes than must."""
    calls = [name for name in way.calls(case) if name in only]
    if not calls:
        return []
    with quiet():
        if case.outcome == "refused" or (case.outcome == "bad" and way.reading):
            found = {name: _error_of(way, name, case.arguments(), case.argument) for name in calls}
        else:
            found = _values_of(way, calls, case)
    return [
        Failure(str(way), name, f"{case.about}: {case.name}", what)
        for name, what in found.items()
        if what
    ]


def _error_of(way: Way, call: str, arguments: dict[str, Any], argument: str) -> str:
    """Empty if the call raises an error that names the argument."""
    try:
        result = run(way, [call], arguments)
    except Exception as error:  # whatever comes is judged
        right = _is_named(error, argument) or _in_own_words(way, error)
        return "" if right else f"{type(error).__name__}: {str(error)[:200]}"
    return f"{result[call]} in place of an error"


def _values_of(way: Way, calls: list[str], case: Input) -> dict[str, str]:
    """For each call what is wrong with its value, empty if nothing is."""
    try:
        values = run(way, calls, case.arguments())
    except Exception as error:
        if len(calls) == 1:
            return {calls[0]: f"{type(error).__name__}: {str(error)[:200]}"}
        return {k: x for call in calls for k, x in _values_of(way, [call], case).items()}
    if case.outcome == "bad":
        return {k: "" if np.isnan(x).all() else f"{x} in place of NaN" for k, x in values.items()}
    return {k: _wrong_value(k, x, case, way.mode.float32) for k, x in values.items()}


def judge_option(way: Way, case: Option) -> list[Failure]:
    """An option that is bad is an error, or NaN where its value cannot be judged."""

    def program(y: Any, s: Any) -> Any:
        return OPTION_CALLS[case.call](y, s, **case.options)

    what = f"{case.options}"
    with quiet():
        try:
            arrays = [Y, S]
            found = way.mode.run(program, *arrays)
        except Exception as error:
            untraced = (
                way.mode.name == "torch-compile"
            )  # it may stop at the option in its own words
            right = untraced or _is_named(error, case.argument)
            text = "" if right else f"{type(error).__name__}: {str(error)[:200]}"
        else:
            undefined = all(np.isnan(x).any() for x in tree_leaves(found))
            fits = case.outcome == "bad" and not way.reading and undefined
            text = "" if fits else f"{found} in place of an error"
    return [Failure(str(way), case.call, what, text)] if text else []
