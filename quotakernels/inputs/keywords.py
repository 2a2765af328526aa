"""Checks of calls of public functions: misspelt keywords, flags that are not True or False."""

from __future__ import annotations

import contextlib
import functools
import inspect
import reprlib
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

_OF_MEASURES = ("measure", "measures", "best", "curve")
"""Parameters that are measures: these get the keywords that a public function does not have."""
_OWNERS, _ABSENT = ("self", "cls"), inspect.Parameter.empty
_VARIED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_shown = reprlib.Repr()
_shown.maxother = _shown.maxstring = 100


def show_value(value: Any) -> str:
    """A value as messages show it, shortened if it is long."""
    shape = None if isinstance(value, type) else getattr(value, "shape", None)
    return f"an array of shape {tuple(shape)}" if shape else _shown.repr(value)


def forwarding(*others: Callable[..., Any], without: Collection[str] = ()) -> Callable[[F], F]:
    """Make a function public that passes keywords on: to these functions, and to measures.

    Its signature shows their parameters in place of ``*`` and ``**``, `without` those that it
    refuses; a mapping says why it does.  ``**options`` go to the measure among its arguments too;
    the keywords of a function from elsewhere are not checked.
    """

    def decorated(function: F) -> F:
        signature = inspect.signature(function)
        parameters = signature.parameters.values()
        kinds = {p.kind for p in parameters}
        known = [p.name for p in parameters if p.kind not in _VARIED and p.name not in _OWNERS]
        positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        needed = [x for x in positional if signature.parameters[x].default is _ABSENT]
        handed_on = "options" in signature.parameters and not {*_OF_MEASURES}.isdisjoint(known)
        known += ["ranking"] if handed_on else []
        known += [x for x in _all_of(others) or () if x not in without]
        signature = _handing_on(signature, others, without) if others else signature
        flags = {p.name for p in signature.parameters.values() if p.annotation == "bool"}

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            if len(arguments) != len(needed):
                most = None if inspect.Parameter.VAR_POSITIONAL in kinds else positional
                _check_places(function.__name__, most, needed, arguments, keywords)
            for name, value in keywords.items():
                if name in flags:
                    check_flag(name, value)
                elif name not in known:
                    if value is None and name in without and isinstance(without, Mapping):
                        continue  # nothing is handed on
                    given = _measures(arguments, keywords, positional) if handed_on else ()
                    _refuse(function.__name__, name, without, known, given)
            return function(*arguments, **keywords)

        checked.own_keywords = tuple(known)  # type: ignore[attr-defined]
        checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorated


def public(function: F) -> F:
    """Make a function public: it reports misspelt keywords, and flags other than True or False."""
    return forwarding()(function)


def _refuse(
    caller: str, name: str, without: Collection[str], known: list[str], measures: Iterable[Any]
) -> None:
    """Raise for a keyword that is unknown, or is not passed on; a mapping gives the reason."""
    if name in without and isinstance(without, Mapping):
        raise TypeError(f"{caller} takes no {name}{without[name]}")
    refuse_unknown(caller, [name], known, *map(keywords_of, () if name in without else measures))


def _check_places(
    name: str,
    positional: list[str] | None,
    needed: list[str],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> None:
    """Raise for too many positional arguments, or a ranking in place of labels and scores."""
    if positional is not None and len(arguments) > len(positional):
        raise TypeError(_too_many(name, positional))
    absent = [x for x in needed[len(arguments) :] if x not in keywords and "y_true" in needed]
    if absent and any(type(x).__name__ == "Ranking" for x in (*arguments, *keywords.values())):
        raise TypeError(
            f"{name} needs {absent[0]}: a Ranking has lost the order of the examples; pass labels "
            "and scores"
        )


def _too_many(name: str, positional: list[str]) -> str:
    """The message about arguments that must be given by keyword."""
    names = [x for x in positional if x not in _OWNERS]
    listed = " and ".join(x for x in (", ".join(names[:-1]), *names[-1:]) if x) or "nothing"
    models = "; several models are one argument, a mapping from names to scores"
    hint = models if "models" in names else ""
    return f"{name} takes {listed} by position, and everything else by keyword{hint}"


def _handing_on(
    signature: inspect.Signature, others: Iterable[Callable[..., Any]], without: Iterable[str]
) -> inspect.Signature:
    """The signature with other functions' parameters for ``*`` and ``**``; a measure's stay."""
    own = signature.parameters
    handed_on = {name: p for x in others for name, p in inspect.signature(x).parameters.items()}
    rest = [p for name, p in handed_on.items() if name not in (*own, *without)]
    shown: list[inspect.Parameter] = []
    for p in own.values():
        if p.kind is p.VAR_POSITIONAL:
            shown += [x for x in rest if x.kind is x.POSITIONAL_OR_KEYWORD]
        elif p.kind is p.VAR_KEYWORD:
            shown += [x for x in rest if x.kind is x.KEYWORD_ONLY]
            shown += [p] if p.name == "options" and not own.keys().isdisjoint(_OF_MEASURES) else []
        else:
            shown.append(p)
    return signature.replace(parameters=shown)


def _measures(
    arguments: tuple[Any, ...], keywords: dict[str, Any], positional: Iterable[str] = ()
) -> Iterator[Any]:
    """The arguments that further keywords may be for: measures, functions and mappings."""
    for name, x in (*zip(positional, arguments, strict=False), *keywords.items()):
        if name in _OF_MEASURES:
            yield from x.values() if isinstance(x, Mapping) else (x,)
    yield from (x for x in arguments if callable(x) or isinstance(x, Mapping))


def keywords_of(function: Any) -> tuple[str, ...] | None:
    """The keywords of a measure, public function, partial or mapping of these; None of others."""
    if isinstance(function, Mapping):
        return _all_of(x for x in function.values() if callable(x))
    if isinstance(function, functools.partial):
        return _all_of((function.func, *_measures(function.args, function.keywords)))
    own: tuple[str, ...] | None = getattr(function, "own_keywords", None)
    return own


def _all_of(functions: Iterable[Any]) -> tuple[str, ...] | None:
    names: list[str] = []
    for own in map(keywords_of, functions):
        if own is None:
            return None
        names.extend(own)
    return tuple(names)


def refuse_unknown(name: str, given: Iterable[str], *known: Iterable[str] | None) -> None:
    """Raise for the first keyword that a function does not know, and name the one like it."""
    if any(names is None for names in known):
        return
    right = [x for names in known for x in names or ()]
    for keyword in given:
        if keyword not in right:
            from quotakernels._elsewhere import keyword_hint

            hint = keyword_hint(keyword, right)
            raise TypeError(f"{name} got an unexpected keyword argument {keyword!r}{hint}")


def flagged(function: F) -> F:
    """Check the flags of a function that passes keywords on to another library."""
    parameters = inspect.signature(function).parameters.values()
    flags = [p.name for p in parameters if p.annotation == "bool"]

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        for name in flags:
            if name in keywords:
                check_flag(name, keywords[name])
        return function(*arguments, **keywords)

    return checked  # type: ignore[return-value]


def check_flag(name: str, value: Any) -> None:
    """Raise unless a flag is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {show_value(value)}")


def check_choice(name: str, value: Any, *choices: Any) -> None:
    """Raise unless the value is one of these choices."""
    if getattr(value, "shape", ()) or value not in choices:  # arrays compare one by one
        *others, last = (f'"{x}"' if isinstance(x, str) else str(x) for x in choices)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}; got {show_value(value)}")


_SILENT: ContextVar[bool] = ContextVar("_SILENT", default=False)


def warn_once(message: str) -> None:
    """Warn the caller of this library, unless that was done, or is not meant (`silently`)."""
    if not _SILENT.get():
        warnings.warn(message, stacklevel=level_of_caller())


def level_of_caller() -> int:
    """How many calls up from `warnings.warn` the first one outside of this library is."""
    level, frame = 1, sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level


@contextlib.contextmanager
def silently(again: bool = True) -> Iterator[None]:
    """A context without warnings: a quota that is used `again` had one the first time."""
    token = _SILENT.set(again)
    try:
        yield
    finally:
        _SILENT.reset(token)
