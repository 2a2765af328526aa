"""The confusion table at every cut: the rows behind the command `tables`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.cli.columns import sample_of
from quotakernels.cli.errors import InputError
from quotakernels.evaluation.settings import Settings


def rows_of_cuts(rows: pa.Table, settings: Settings, ratio: float | None) -> pa.Table:
    """Return one row per cut of the only model, the empty one first; that has no threshold."""
    ranking = qk.rank(**sample_of(settings, rows).of(*settings.models))
    if not ranking.counts.any():
        raise InputError("no row has any weight")
    cuts = qk.tables.cut_tables(ranking, ratio=_checked(ratio, ranking))
    thresholds = pa.array(ranking.thresholds)
    columns = {"threshold": pa.concat_arrays([pa.nulls(1, thresholds.type), thresholds])}
    columns |= {"quota": pa.array(cuts.quota)}
    columns |= {name: pa.array(x) for name, x in cuts.table._asdict().items()}
    real = np.append(True, ranking.counts > 0)  # the others are padding
    return pa.table(columns).filter(pa.array(real))


def _checked(ratio: float | None, ranking: qk.Ranking) -> float | None:
    if ratio is None:
        return None
    if not 0 < ratio < math.inf:
        raise InputError(f"--ratio {ratio} is not a finite number above 0")
    masses: dict[str, NDArray[Any]]
    masses = {"positive": ranking.positive_weights, "negative": ranking.negative_weights}
    for name, mass in masses.items():
        if not mass.any():
            raise InputError(f"--ratio needs both classes; there is no {name} row")
    return ratio
