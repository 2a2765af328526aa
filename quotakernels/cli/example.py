"""The real scores that ship with the package, ready to be evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from quotakernels.evaluation.settings import Quota, Settings

_CREDIT = Settings(
    source="german_credit_scores.csv",
    label="repaid",
    models=("tree", "naive_bayes", "neural_net"),
    quotas=(Quota(100.0),),
    command=True,
)
EXAMPLES = {"credit": _CREDIT}

ATTRIBUTION = (
    "Data: Hofmann (1994), Statlog (German Credit Data), UCI repository,\n"
    "https://doi.org/10.24432/C5NC77, licence CC BY 4.0; scores computed with Weka."
)


@contextmanager
def example_file(settings: Settings) -> Iterator[Path]:
    """Yield the path of an example's file, which may have to be unpacked for the time being."""
    with as_file(files("quotakernels") / "data" / settings.source) as path:
        yield path
