"""Texts that reach a terminal: names from files could hold codes that it would obey."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    r"""Write control characters but line feeds as escapes, such as `\x1b`."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


class TextConsole(Console):
    """A console that no text can control."""

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        """Render, and write control characters of texts as escapes."""
        for segment in super().render(*arguments, **options):
            plain = segment.control is None
            yield segment._replace(text=printable(segment.text)) if plain else segment
