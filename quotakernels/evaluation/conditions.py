"""Which rows are used: those in which columns hold what is asked for."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from quotakernels.evaluation.words import listed


class Condition(NamedTuple):
    """A column, `=`, `!=`, `<`, `<=`, `>` or `>=`, and a value as it is written."""

    column: str
    relation: str
    value: str

    def __str__(self) -> str:
        return " ".join(self)

    @property
    def option(self) -> str:
        """The condition as an option of the command has it."""
        return "".join(self)


Conditions: TypeAlias = tuple[Condition, ...]
"""All of them hold; without one, all rows are used."""


def in_words(conditions: Conditions) -> str:
    """The conditions as part of a sentence."""
    return listed([str(x) for x in conditions])
