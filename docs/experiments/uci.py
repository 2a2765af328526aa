"""Data sets of the UCI repository that Arbel & Rokach evaluate, fetched.

They are not part of this package.  `load` needs a network, scikit-learn and pandas; scikit-learn
keeps what it has fetched from OpenML in ``~/scikit_learn_data``.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


class Source(NamedTuple):
    """Where a data set is, a number at OpenML or an address, and what it must look like."""

    title: str
    where: int | str
    rows: int
    classes: int


MONKS = "https://archive.ics.uci.edu/ml/machine-learning-databases/monks-problems/{}.train"
SOURCES = {
    "audiology": Source("Audiology", 7, 226, 24),
    "australian": Source("Aust Cred", 40981, 690, 2),
    "breast-cancer": Source("Breast .Ca", 13, 286, 2),
    "hepatitis": Source("Hepatitis", 55, 155, 2),
    "iris": Source("Iris", 61, 150, 3),
    "kr-vs-kp": Source("Kr-vs-kp", 3, 3196, 2),
    "labor": Source("Labor", 4, 57, 2),
    "lung-cancer": Source("Lung Ca.", 163, 32, 3),
    "monks-1": Source("Monks1", MONKS.format("monks-1"), 124, 2),
    "monks-2": Source("Monks2", MONKS.format("monks-2"), 169, 2),
    "monks-3": Source("Monks3", MONKS.format("monks-3"), 122, 2),
    "mushroom": Source("MUSH", 24, 8124, 2),
    "nursery": Source("Nurse", 26, 12960, 5),
    "optdigits": Source("OPTIC", 28, 5620, 10),
    "pima": Source("Pima I. Dia.", 37, 768, 2),
    "sonar": Source("Sonar", 40, 208, 2),
    "soybean": Source("Soybean", 42, 683, 19),
    "vote": Source("Vote", 56, 435, 2),
    "wine": Source("Wine", 187, 178, 3),
    "zoo": Source("Zoo", 62, 101, 7),
}
"""Name here: name in the paper's tables, where it is, examples, classes.

Two have other sizes in print.  The 290 examples of Vote are the two thirds for training.  OPTIC has
5,628, 64 attributes and 10 classes, which fits only the optical digits, with 5,620.
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
    try:
        found = (fetch or fetch_from)(source.where)
    except OSError as error:
        raise SystemExit(f"{name} cannot be fetched ({source.where}): {error}") from error
    labels = np.asarray(found.target, dtype=str)
    kinds, sizes = np.unique(labels, return_counts=True)
    if (labels.size, kinds.size) != (source.rows, source.classes):
        raise ValueError(
            f"{source.where} should be {name}, {source.rows} examples of "
            f"{source.classes} classes; it has {labels.size} of {kinds.size}"
        )
    smallest = kinds[::-1][np.argmin(sizes[::-1])]
    return Data(numbers(found.data), labels, str(smallest), str(kinds[np.argmax(sizes)]))


def fetch_from(where: int | str) -> Any:
    """`data` and `target`: a number at OpenML, or a file with the class first and a name last."""
    if isinstance(where, int):
        from sklearn.datasets import fetch_openml

        return fetch_openml(data_id=where, as_frame=True)
    import pandas as pd

    rows = pd.read_csv(where, sep=r"\s+", header=None, dtype=str)
    return SimpleNamespace(data=rows.iloc[:, 1:-1], target=rows[0])


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
