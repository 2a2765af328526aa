"""The part of a page in which a reader moves the quota: its data, its script and its words."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from markupsafe import Markup

from quotakernels._text import number
from quotakernels.evaluation.choice import AnyQuota, at_any_quota
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.words import listed

_SIZE = 50_000
"""Bytes that the lines of all models may take."""
_ROUNDING = 1e-9
_PLACES = 200
"""Steps of a slider along what is not counted in rows."""


@dataclass(frozen=True)
class OtherQuotas:
    """What the template needs for a slider; `data` and `script` are those of the page's script."""

    what: str
    end: float
    step: float
    head: tuple[str, ...]
    rows: tuple[str, ...]
    note: str
    data: Markup
    script: Markup

    @property
    def hash(self) -> str:
        """The script's, by which the page's policy allows it and no other."""
        digest = hashlib.sha256(self.script.encode()).digest()
        return f"sha256-{base64.b64encode(digest).decode()}"


def other_quotas(evaluation: Results, script: str) -> OtherQuotas | None:
    """The slider of a page, if every quota can be told."""
    found = at_any_quota(evaluation, _SIZE)
    if found is None:
        return None
    paid = found.axis == "cost"
    brings = [evaluation.settings.in_currency("brings")] if evaluation.gains is not None else []
    whole = not paid and not evaluation.weighted
    return OtherQuotas(
        "budget" if paid else "quota",
        found.end,
        1 if whole else found.end / _PLACES,
        (*["places"] * paid, "finds", "hit rate", *brings, "lift"),
        (*evaluation.models, "random choice"),
        _exactness(found, evaluation),
        _in_script(found.to_json()),
        Markup(script),
    )


def _in_script(text: str) -> Markup:
    """JSON that cannot end the element in which it stands."""
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _exactness(found: AnyQuota, evaluation: Results) -> str:
    """How far off the values are, and what the slider does not tell."""
    forms = {
        "found": ("the positives found", number),
        "places": ("places", number),
        "brings": ("what is brought", evaluation.amount),
    }
    errors = [
        f"{what} by {form(error)}"
        for name, (what, form) in forms.items()
        if (error := found.errors.get(name, 0.0)) > _ROUNDING
    ]
    near = f"may be off: {listed(errors)} at the most" if errors else "are exact"
    several = len(evaluation.models) > 1
    untested = " The order of the models was not tested anew." if several else ""
    return f"These values {near}.{untested}"
