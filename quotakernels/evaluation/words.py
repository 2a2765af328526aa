"""Numbers, names and conditions as people read them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import resources
from typing import NamedTuple, TypeAlias

from quotakernels._text import counted, number

Said = tuple[str, tuple[str, ...]]
"""An answer in a few words, and the sentences that say what they mean."""
MINUS = "\N{MINUS SIGN}"
_NAMES_SAID = 3


_SENTENCES = tomllib.loads(
    (resources.files("quotakernels") / "data" / "sentences.toml").read_text("utf-8")
)


def say(name: str, **parts: object) -> str:
    """The sentence of that name in `data/sentences.toml`, with these parts in its braces."""
    question, _, which = name.partition(".")
    said: str = _SENTENCES[question][which]
    return said.format(**parts)


def whole(places: float) -> bool:
    """Whether so many places can be filled without one that is left to chance."""
    return "." not in number(places)


def signed(text: str) -> str:
    """A number with a true minus sign."""
    return text.replace("-", MINUS, 1)


def sentence(words: str) -> str:
    """Let words begin with a capital letter."""
    return words[:1].upper() + words[1:]


def listed(names: Sequence[str], last: str = "and") -> str:
    """Write several names in a row."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def at_most_three(names: Sequence[str], last: str = "and") -> str:
    """Write several names in a row, of many the first two and the number of the others."""
    if len(names) <= _NAMES_SAID:
        return listed(names, last)
    return listed([*names[: _NAMES_SAID - 1], f"{len(names) - _NAMES_SAID + 1} others"], last)


def meant_by(names: Iterable[str], available: Iterable[str]) -> str:
    """Which of the available names are probably meant, as a question; nothing if none is."""
    by_spelling = {x.strip().casefold(): x for x in available}
    near = (get_close_matches(x.strip().casefold(), by_spelling, n=1) for x in names)
    meant = dict.fromkeys(repr(by_spelling[x[0]]) for x in near if x)
    return f"did you mean {listed([*meant])}?" if meant else ""


class Size(NamedTuple):
    """How many places, or how much weight, and how that is written."""

    places: float
    weighted: bool

    def __str__(self) -> str:
        if self.weighted:
            return f"a weight of {number(self.places)}"
        return counted(self.places, "place", "places")

    @property
    def all(self) -> str:
        """All of it."""
        if self.weighted:
            return f"all of {self}"
        return "the one place" if self.is_one else f"all {self}"

    @property
    def the(self) -> str:
        """The size after "of", such as "the 10 places"."""
        return f"the {str(self).removeprefix('a ')}"

    def first(self, what: str = "") -> str:
        """The size of a selection from the top, such as "first 10 rows"."""
        if self.weighted:
            return f"first {number(self.places)} of the weight"
        if self.is_one:
            return f"first {what or 'one'}"
        return f"first {number(self.places)}{f' {what}s' if what else ''}"

    @property
    def is_one(self) -> bool:
        """Whether verbs end in s."""
        return self.weighted or number(self.places) == "1"


# conditions: which rows are used


class Condition(NamedTuple):
    """A column, `=`, `!=`, `<`, `<=`, `>` or `>=`, and a value as it is written."""

    column: str
    relation: str
    value: str

    def __str__(self) -> str:
        return " ".join(self)

    @property
    def short(self) -> str:
        """The condition without spaces."""
        return "".join(self)


Conditions: TypeAlias = tuple[Condition, ...]
"""All of them hold; without one, all rows are used."""


def in_words(conditions: Conditions) -> str:
    """The conditions as part of a sentence."""
    return listed([str(x) for x in conditions])
