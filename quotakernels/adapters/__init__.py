"""Bridges to other frameworks, one module for each; none is imported here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def requiring(library: str, extra: str) -> Iterator[None]:
    """Imports of a library within it fail with the extra of this package that installs it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f'this needs {library} ({error}); install it by pip install "quotakernels[{extra}]"',
            name=error.name,
        ) from error
