"""Numbers on the command line, with a decimal comma or with marks of thousands too."""

from __future__ import annotations

import math
import re
from typing import Any

import click

_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DOUBTFUL = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
"""One mark and three digits: of thousands or of decimals."""
_GROUPED = re.compile(
    r"[+-]?[1-9]\d{0,2}(?:(?P<mark>[.,' ])\d{3})(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d+)?"
)


def parse_number(text: str, *, counted: bool = False) -> float:
    """Read `1250.5` and `1250,5`, and marks of thousands where they leave no doubt: `1.250,5`.

    Of something `counted`, such as places or money, `1,250` is a number of thousands, as it is
    printed.
    """
    return float(plain_number(text, counted=counted))


def plain_number(text: str, *, counted: bool = False) -> str:
    """Return the text of a number as Python reads it, with all its digits."""
    text = text.strip()
    if counted and _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    if _DOUBTFUL.fullmatch(text):
        decimal = text.replace(",", ".")
        if not counted and decimal == text and not text.endswith(".000"):
            return text
        part = decimal.removesuffix(".000")  # else one digit more leaves no doubt
        either = f"{decimal.replace('.', '')} or {part if part != decimal else f'{decimal}0'}"
        raise click.BadParameter(f"{text!r} may mean {either}: write one of these.")
    if grouped := _GROUPED.fullmatch(text):
        text = text.replace(grouped["mark"], "")
    return text.replace(",", ".") if text.count(",") == 1 else text


class _Number(click.ParamType):  # type: ignore[type-arg]  # as _Column
    """A number, with a decimal point."""

    name = "number"
    counted = False

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `0.8`."""
        try:
            return parse_number(str(value), counted=self.counted)
        except ValueError:
            self.fail(f"{value!r} is not a number, as 0.8 is.", param, ctx)


class _Amount(_Number):
    """A number of 0 or more."""

    counted = True

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `0.8`, and refuse what no budget can be."""
        amount = super().convert(value, param, ctx)
        if not 0 <= amount < math.inf:
            self.fail(f"{value!r} is not a finite number of 0 or more.", param, ctx)
        return amount


NUMBER, AMOUNT = _Number(), _Amount()
