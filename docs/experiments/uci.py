"""Data sets of the UCI repository that Arbel & Rokach evaluate, fetched from OpenML.

They are not part of this repository.  `load` needs a network, scikit-learn and pandas;
scikit-learn keeps what it has fetched in ``~/scikit_learn_data``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Source(NamedTuple):
    """Where a data set is, and what it must look like."""

    title: str
    openml: int
    rows: int
    classes: int


SOURCES = {
    "breast-cancer": Source("Breast cancer", 13, 286, 2),
    "hepatitis": Source("Hepatitis", 55, 155, 2),
    "iris": Source("Iris", 61, 150, 3),
    "labor": Source("Labor", 4, 57, 2),
    "lung-cancer": Source("Lung cancer", 163, 32, 3),
    "monks-1": Source("Monks1", 333, 556, 2),
    "monks-2": Source("Monks2", 334, 601, 2),
    "monks-3": Source("Monks3", 335, 554, 2),
    "pima": Source("Pima I. Dia.", 37, 768, 2),
    "vote": Source("Vote", 56, 435, 2),
}
"""Name here: name in the paper, number at OpenML, examples, classes.

The paper's OPTIC is not among them: which data set that is, is not known here.
"""


class Data(NamedTuple):
    """Features as numbers, and the class of each example."""

    features: np.ndarray
    labels: np.ndarray
    smallest: str
    largest: str


def load(name: str, fetch: Callable[..., Any] | None = None) -> Data:
    """One data set; what is fetched must have its numbers of examples and classes.

    Categories become one column of 0 and 1 each, what is missing the median or the most frequent
    category.  Of classes of one size the last in the alphabet counts as smallest and the first as
    largest, as the paper takes iris.
    """
    if name not in SOURCES:
        raise SystemExit(f"no data set {name!r}; there are {', '.join(SOURCES)}")
    source = SOURCES[name]
    if fetch is None:
        from sklearn.datasets import fetch_openml as fetch
    try:
        found = fetch(data_id=source.openml, as_frame=True)
    except OSError as error:
        raise SystemExit(f"{name} cannot be fetched from OpenML: {error}") from error
    labels = np.asarray(found.target, dtype=str)
    kinds, sizes = np.unique(labels, return_counts=True)
    if (labels.size, kinds.size) != (source.rows, source.classes):
        raise ValueError(
            f"number {source.openml} at OpenML should be {name}, {source.rows} examples of "
            f"{source.classes} classes; it has {labels.size} of {kinds.size}"
        )
    smallest = kinds[::-1][np.argmin(sizes[::-1])]
    return Data(numbers(found.data), labels, str(smallest), str(kinds[np.argmax(sizes)]))


def numbers(frame: Any) -> np.ndarray:
    """The columns of a data frame as numbers."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    numeric = make_column_selector(dtype_include="number")
    others = make_column_selector(dtype_exclude="number")
    categories = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)
    )
    columns = make_column_transformer(
        (SimpleImputer(strategy="median"), numeric), (categories, others), sparse_threshold=0
    )
    return np.asarray(columns.fit_transform(frame), dtype=float)
