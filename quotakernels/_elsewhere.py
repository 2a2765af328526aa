"""Names known from elsewhere: what to call here, or that it is not offered."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

_TABLES = tomllib.loads(
    (resources.files(__package__) / "data" / "elsewhere.toml").read_text("utf-8")
)
INSTEAD: dict[str, str] = _TABLES["instead"]
ADAPTERS: dict[str, str] = _TABLES["adapters"]
NOT_OFFERED: dict[str, str] = _TABLES["not_offered"]
METRIC_OPTIONS: dict[str, str] = _TABLES["metric_options"]
METRIC_UPDATE: dict[str, str] = _TABLES["metric_update"]
_KEYWORDS: dict[str, str] = _TABLES["keywords"]
_IN_PLACE: list[dict[str, Any]] = _TABLES["in_place"]


def keyword_hint(keyword: str, known: Iterable[str]) -> str:
    """What a message adds about a keyword that is none of those that are known."""
    names = list(known)
    misspelt = difflib.get_close_matches(keyword, names, n=1, cutoff=0.9)
    for case in () if misspelt else _IN_PLACE:
        if keyword in case["keywords"] and {*case["with"]} <= {*names}:
            return f"; {case['hint'].format(keyword)}"
    meant = [x for x in [_KEYWORDS.get(keyword)] if x in names]
    meant = meant or difflib.get_close_matches(keyword, names, n=1)
    return f"; did you mean {meant[0]!r}?" if meant else ""


def hint(name: str) -> str | None:
    """What to do who looks for `name`, a function or a class; None if nobody is known to."""
    known = [*INSTEAD, *ADAPTERS, *NOT_OFFERED]
    if name not in known:  # BinaryAUROC is binary_auroc, and NDCGAtK ndcg_at_k
        name = {x.replace("_", ""): x for x in known}.get(name.replace("_", "").lower(), name)
    if name in INSTEAD:
        return f"use {INSTEAD[name]}"
    if name in ADAPTERS:
        return f"use quotakernels.adapters.{ADAPTERS[name]}"
    return f"it is not offered: {NOT_OFFERED[name]}" if name in NOT_OFFERED else None


def absent(name: str, families: Mapping[str, Iterable[str]], importing: bool) -> Exception:
    """The error for a name that the top of the package lacks; a family may have it.

    To an import that of an attribute would tell nothing: Python has words of its own for it.
    """
    found = hint(name)
    for family, names in families.items():
        if name in names:
            found = f"use quotakernels.{family}.{name}"
    if found is None:
        return AttributeError(f"module 'quotakernels' has no attribute {name!r}")
    if importing:
        return ImportError(f"cannot import name {name!r} from 'quotakernels'; {found}", name=name)
    return AttributeError(f"quotakernels has no {name}; {found}")


def nearest(name: str, measures: list[str]) -> str | None:
    """Which of the measures is meant by a name that is none of them, or why none is."""
    ours = hint(name.removeprefix("neg_")) or ""
    called = re.match(r"use (?:\w+\.)*(\w+)\(", ours)
    meant = [x for x in measures if called and called[1] == x]
    if ours and not meant:
        return ours
    meant = meant or difflib.get_close_matches(name, measures)
    return f"did you mean {' or '.join(meant)}?" if meant else None
