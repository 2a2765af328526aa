"""Tables 8 and 9 of Arbel & Rokach anew: models of scikit-learn on data of a network.

``python docs/experiments/arbel_rokach_uci.py [NAME …]``

It needs a network.  The models are relatives of Weka's, not the same: another tree than C4.5,
Gaussian naive Bayes where Weka estimates categories, another neural network.  So is the split, by
its size only the paper's: 66 % of the rows are for training.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import _pages
import numpy as np
import uci

import quotakernels as qk

TRAINING = 0.66


def models() -> dict[str, Any]:
    """The three classifiers, named as in the paper."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    network = MLPClassifier((16,), solver="lbfgs", alpha=0.1, max_iter=500, random_state=0)
    return {
        "C4.5": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0),
        "naive Bayes": GaussianNB(var_smoothing=1e-3),
        "neural network": make_pipeline(StandardScaler(), network),
    }


def rows(name: str, fetch: Callable[..., Any] | None = None, seed: int = 0) -> list[list[str]]:
    """The rows of one data set: both classes, three classifiers, as defined."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import train_test_split

    data = uci.load(name, fetch)
    alone = np.unique(data.labels, return_counts=True)[1].min() == 1  # cannot be on both sides
    parts = train_test_split(
        data.features,
        data.labels,
        train_size=int(TRAINING * len(data.labels)),
        stratify=None if alone else data.labels,
        random_state=seed,
    )
    found = []
    for title, model in models().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = model.fit(parts[0], parts[2]).predict_proba(parts[1])
        for kind in dict.fromkeys((data.smallest, data.largest)):
            score = scores[:, model.classes_ == kind].sum(axis=1)  # 0 if the model has not seen it
            ranking = qk.rank(parts[3] == kind, score)
            found.append([uci.SOURCES[name].title, title, kind, *measured(ranking)])
    return found


def measured(ranking: qk.Ranking) -> list[str]:
    """The four measures of the tables, from one pass."""
    all_of_them = qk.summary(ranking)
    names = ("roc_auc", "average_hit_rate", "average_qrecall", "pem")
    return [f"{float(np.asarray(getattr(all_of_them, name))):.4f}" for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(uci.SOURCES))
    chosen = parser.parse_args().names or list(uci.SOURCES)
    lines = [line for name in chosen for line in rows(name)]
    header = ["data set", "classifier", "class", "AUC", "average hit rate", "average Qrecall"]
    print(_pages.table([*header, "PEM"], lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
