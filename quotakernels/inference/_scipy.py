"""SciPy, for the distributions of counts and Student's t: an extra, imported when first needed."""

from __future__ import annotations

from typing import Any


def scipy() -> Any:
    """The package, which loads its parts by itself."""
    try:
        import scipy as package
    except ImportError as error:
        raise ImportError(
            'this needs SciPy; install it by pip install "quotakernels[inference]"', name=error.name
        ) from error
    return package
