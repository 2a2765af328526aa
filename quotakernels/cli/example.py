"""The real scores that ship with the package, ready to be evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from quotakernels._text import number
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.settings import Settings

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


def loans_repaid(evaluation: Results, quota: Quota) -> str:
    """Say what the hit rates at a quota mean to the bank, best model first."""
    loans = evaluation.places_at_random(quota)
    rates = evaluation.at_quota[quota].of("hit_rate")
    repaid = {
        name: loans * float(rate) for name, rate in zip(evaluation.models, rates, strict=True)
    }
    first, *others = sorted(repaid, key=lambda name: -repaid[name])
    rest = "".join(f", by {name} {number(repaid[name])}" for name in others)
    return (
        f"With money for {number(loans)} loans, choosing by {first}: {number(repaid[first])} of "
        f"{number(loans)} are repaid{rest}; at random {number(loans * evaluation.prevalence)}."
    )
