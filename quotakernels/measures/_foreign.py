"""Functions from elsewhere in the place of a measure: what their signature tells."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any


def refusal(measure: Any, options: Mapping[str, Any]) -> str | None:
    """Why a function from elsewhere cannot be called with a ranking, where its signature tells."""
    inner = measure
    while isinstance(inner, functools.partial):
        inner = inner.func
    if str(getattr(inner, "__module__", "")).partition(".")[0] == "quotakernels":
        return None  # its signature is the one for labels and scores
    try:
        signature = inspect.signature(measure)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(None, **options)
    except TypeError as error:
        name = getattr(measure, "__name__", repr(measure))
        return f"{name} {_in_words(signature, options, error)}"
    return None


def _in_words(signature: inspect.Signature, options: Mapping[str, Any], error: TypeError) -> str:
    """What a function does not take, to be said after its name."""
    parameters = signature.parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for name in options:
            if name not in signature.parameters:
                return f"has no option {name}"
    if all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in parameters):
        return "takes no ranking"
    return f"cannot be called with a ranking alone: {error}"
