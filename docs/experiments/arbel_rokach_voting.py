"""Selective voting, after section 4.2 of Arbel & Rokach: how many of the best models to average.

``python docs/experiments/arbel_rokach_voting.py [--data NAME] [--runs N] [--write]``

Four times 300 rows are drawn, 20 % of them positive, 250 for training and 50 to test.  Each of 52
models is ranked on the training rows, by predictions of models that have not seen the row; then
the probabilities of the best X are averaged, for every X, and measured on the test rows.
NAME is made, breast_cancer, or a data set of ``uci.py``, which needs a network.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import _pages
import numpy as np
import uci

import quotakernels as qk

MEASURES = {
    "AHR": qk.average_hit_rate,
    "AQR": qk.average_qrecall,
    "PEM": qk.pem,
    "AUC": qk.roc_auc,
}
FIELDS = {"AHR": "average_hit_rate", "AQR": "average_qrecall", "PEM": "pem", "AUC": "roc_auc"}
"""Their names in `normalized_marks`."""
SHARE, ROWS, TESTED, RUNS, FOLDS = 0.2, 300, 1 / 6, 4, 3
PAGE = "arbel_rokach.md"
Draw = Callable[[], tuple[np.ndarray, np.ndarray]]


class Plan(NamedTuple):
    """How much of the experiment is done; less in the tests."""

    data: str = "made"
    rows: int = ROWS
    runs: int = RUNS
    models: int = 52
    seed: int = 0


class Votes(NamedTuple):
    """What the runs gave: labels of the test rows, and scores of all models and votes.

    Attributes
    ----------
    labels : array, shape (runs, tested)
    single : array, shape (runs, models, tested)
        The probabilities of each model.
    votes : mapping from measures to arrays, shape (runs, models, tested)
        The mean of the best X, ranked by that measure, X = 1, 2, …
    """

    labels: np.ndarray
    single: np.ndarray
    votes: dict[str, np.ndarray]


# data and models


def made() -> tuple[np.ndarray, np.ndarray]:
    """2000 rows of 20 features, six of six of which."""
    from sklearn.datasets import make_classification

    features, labels = make_classification(
        n_samples=2000,
        n_informative=6,
        n_redundant=4,
        n_clusters_per_class=3,
        weights=[1 - SHARE],
        flip_y=0.05,
        class_sep=1.0,
        random_state=0,
    )
    return features, labels == 1


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Wisconsin diagnostic breast cancer, which scikit-learn ships; malignant is positive."""
    from sklearn.datasets import load_breast_cancer

    features, labels = load_breast_cancer(return_X_y=True)
    return features, labels == 0


def population(name: str) -> tuple[np.ndarray, np.ndarray]:
    own: dict[str, Draw] = {"made": made, "breast_cancer": breast_cancer}
    if name in own:
        return own[name]()
    data = uci.load(name)
    return data.features, data.labels == data.smallest


def families() -> Iterator[Any]:
    """52 models: ten families, a few parameters of each."""
    from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes, neighbors, tree
    from sklearn.neural_network import MLPClassifier

    yield from (linear_model.LogisticRegression(C=c, max_iter=500) for c in (0.001, 0.01, 0.1, 1))
    yield from (naive_bayes.GaussianNB(var_smoothing=s) for s in (1e-9, 0.1, 1))
    neighbours = product((3, 5, 9, 15, 31), ("uniform", "distance"))
    yield from (neighbors.KNeighborsClassifier(k, weights=w) for k, w in neighbours)
    yield discriminant_analysis.LinearDiscriminantAnalysis()
    for regular in (0.1, 0.5):
        yield discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=regular)
    for criterion, depth in product(("gini", "entropy"), (1, 2, 3, 5, None)):
        yield tree.DecisionTreeClassifier(criterion=criterion, max_depth=depth, random_state=0)
    for leaf in (1, 5, 20):
        yield tree.ExtraTreeClassifier(min_samples_leaf=leaf, random_state=0)
    for kind, depth in product(
        (ensemble.RandomForestClassifier, ensemble.ExtraTreesClassifier), (2, 4, None)
    ):
        yield kind(20, max_depth=depth, random_state=0)
    yield from (ensemble.BaggingClassifier(n_estimators=n, random_state=0) for n in (5, 10, 20))
    for count, depth in product((10, 30), (1, 3)):
        yield ensemble.GradientBoostingClassifier(
            n_estimators=count, max_depth=depth, random_state=0
        )
    yield from (ensemble.AdaBoostClassifier(n_estimators=n, random_state=0) for n in (10, 30))
    for hidden, decay in product((2, 8), (0.1, 1)):
        yield MLPClassifier((hidden,), solver="lbfgs", alpha=decay, max_iter=200, random_state=0)


def models(count: int) -> list[Any]:
    """As many, spread over the families."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    everyone = list(families())
    chosen = np.linspace(0, len(everyone) - 1, count).round().astype(int)
    return [make_pipeline(StandardScaler(), everyone[i]) for i in chosen]


# the runs


def vote(plan: Plan) -> Votes:
    """All runs, each model on one thread: they are small."""
    from threadpoolctl import threadpool_limits

    features, labels = population(plan.data)
    with threadpool_limits(1):
        runs = [_run(plan, features, labels, plan.seed + run) for run in range(plan.runs)]
    tested, single, votes = zip(*runs, strict=True)
    by_measure = {name: np.stack([x[name] for x in votes]) for name in MEASURES}
    return Votes(np.stack(tested), np.stack(single), by_measure)


def _run(
    plan: Plan, features: np.ndarray, labels: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    from sklearn.model_selection import train_test_split

    drawn = draw(labels, plan.rows, np.random.default_rng(seed))
    train, test = train_test_split(
        drawn, test_size=TESTED, stratify=labels[drawn], random_state=seed
    )
    parts = [_scores(model, features, labels, train, test, seed) for model in models(plan.models)]
    unseen, single = (np.stack(part) for part in zip(*parts, strict=True))
    return labels[test], single, votes(labels[train], unseen, single)


def draw(labels: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """As many rows with a fifth of them positive, or as many as there are for that."""
    positive, negative = np.flatnonzero(labels), np.flatnonzero(~labels)
    rows = int(min(rows, positive.size / SHARE, negative.size / (1 - SHARE)))
    count = round(SHARE * rows)
    return np.concatenate(
        [
            rng.choice(positive, count, replace=False),
            rng.choice(negative, rows - count, replace=False),
        ]
    )


def _scores(
    model: Any,
    features: np.ndarray,
    labels: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Of the training rows, by models of the other folds, and of the test rows."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    x, y = features[train], labels[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        unseen = cross_val_predict(model, x, y, cv=folds, method="predict_proba")[:, 1]
        return unseen, model.fit(x, y).predict_proba(features[test])[:, 1]


def votes(labels: np.ndarray, unseen: np.ndarray, single: np.ndarray) -> dict[str, np.ndarray]:
    """The mean score of the best X models by each measure."""
    found = {}
    for name, measure in MEASURES.items():
        best_first = np.argsort(-measure(labels, unseen), stable=True)
        sums = np.cumsum(single[best_first], axis=0)
        found[name] = sums / np.arange(1, len(single) + 1)[:, None]
    return found


# what comes of them


def each(found: Votes) -> np.ndarray:
    """The labels of the test rows, once for each model."""
    return np.broadcast_to(found.labels[:, None, :], found.single.shape)


def curves(found: Votes) -> dict[str, np.ndarray]:
    """Each measure of the votes that it has ranked, shape (runs, models)."""
    return {name: MEASURES[name](each(found), found.votes[name]) for name in MEASURES}


def marks(found: Votes, method: str) -> dict[str, np.ndarray]:
    """The same, normalised."""
    return {
        name: getattr(qk.normalized_marks(each(found), found.votes[name], method=method), field)
        for name, field in FIELDS.items()
    }


def peaks(found: Votes) -> str:
    """Where each measure is highest, and what it is with one model and with all (AR Table 6)."""
    lines = []
    for name, values in curves(found).items():
        mean = values.mean(0)
        best = int(mean.argmax())
        ends = (f"{mean[x]:.3f} ({_gain(values, best, x)})" for x in (0, -1))
        lines.append([name, best + 1, f"{mean[best]:.3f}", *ends, _spread(values.argmax(1) + 1)])
    header = ["measure", "best X", "mean there", "the best model alone", "all models"]
    return _pages.table([*header, "best X of a run"], lines)


def _gain(values: np.ndarray, best: int, other: int) -> str:
    """How much the runs lose there on average, with its standard error."""
    less = values[:, best] - values[:, other]
    if not less.any():
        return "the same"
    return f"−{less.mean():.3f} ± {less.std(ddof=1) / np.sqrt(less.size):.3f}"


def _spread(peaks: np.ndarray) -> str:
    """The peaks of few runs, or the quartiles of many."""
    if peaks.size <= RUNS:
        return ", ".join(str(x) for x in sorted(peaks))
    low, middle, high = np.quantile(peaks, (0.25, 0.5, 0.75))
    return f"median {middle:g}, quartiles {low:g} and {high:g}"


def doubt(found: Votes) -> str:
    """In how many runs the vote at the peak differs from one model and from all for certain."""
    lines = []
    for name, values in curves(found).items():
        best = int(values.mean(0).argmax())
        others = {"the best alone": 0, "all": -1}
        told = [sum(_differs(found, name, best, x)) for x in others.values()]
        lines.append([name, best + 1, *(f"{x} of {len(found.labels)}" for x in told)])
    return _pages.table(["measure", "X", "differs from the best alone", "from all"], lines)


def _differs(found: Votes, name: str, best: int, other: int) -> Iterator[bool]:
    """For each run whether the interval of the difference leaves zero out."""
    for labels, votes in zip(found.labels, found.votes[name], strict=True):
        if np.array_equal(votes[best], votes[other]):
            yield False
            continue
        two = {"best": votes[best], "other": votes[other]}
        result = qk.compare(MEASURES[name], labels, two, stratified=True, random_state=0)
        yield bool(result.lower[0, 1] > 0)


def correlations(found: Votes) -> str:
    """Between the measures of the votes, over X, means of the runs (AR Table 7)."""
    return _correlations({name: x.mean(0) for name, x in curves(found).items()})


def correlations_of_models(found: Votes) -> str:
    """Between the measures of the single models on the test rows, all runs together."""
    return _correlations(
        {name: np.ravel(measure(each(found), found.single)) for name, measure in MEASURES.items()}
    )


def _correlations(values: dict[str, np.ndarray]) -> str:
    table = np.corrcoef(list(values.values()))
    lines = [[name, *(f"{x:.3f}" for x in row)] for name, row in zip(values, table, strict=True)]
    return _pages.table(["", *values], lines)


def draw_marks(found: Votes) -> Any:
    """The mean marks of the runs against X, in both normalisations, with the highest of each."""
    figure = _pages.new_figure(7.2, 3.3)
    panels = {"chance": "chance = 0, perfect = 1", "minmax": "of each run: worst X = 0, best X = 1"}
    last = found.single.shape[1]
    for axes, (method, title) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        found_marks = marks(found, method)
        shown = {"AHR": "AHR", "AQR": "AQR", "PEM": "PEM and AUC"}  # whose marks are equal
        for (name, label), style in zip(shown.items(), _lines(), strict=False):
            _draw_mean(axes, found_marks[name].mean(0), style, label)
        axes.set(xlabel="models that vote, X", ylabel="normalised measure", title=title)
        axes.set(xlim=(0, last + 1), xticks=[1, *range(10, last - 4, 10), last])
    axes.plot([], [], "o", color="#666666", markersize=5, label="its highest value")
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4)
    return figure


def _lines() -> Iterator[dict[str, Any]]:
    for colour, dashes in zip(_pages.COLOURS, _pages.DASHES, strict=True):
        yield {"color": colour, "linestyle": dashes}


def _draw_mean(axes: Any, mean: np.ndarray, style: dict[str, Any], label: str) -> None:
    counts, best = np.arange(1, mean.size + 1), int(mean.argmax())
    axes.plot(counts, mean, label=label, **style)
    axes.plot(counts[best], mean[best], "o", color=style["color"], markersize=5)


# the command


def main() -> int:
    parser = _pages.parser(__doc__, PAGE)
    parser.add_argument("--data", default="made", metavar="NAME", help="made by default")
    parser.add_argument("--runs", default=RUNS, type=int, metavar="N", help="4 by default")
    chosen = parser.parse_args()
    found = vote(Plan(chosen.data, runs=chosen.runs))
    of = f"{chosen.data}, {chosen.runs} runs"
    made_of = {
        f"peaks: {of}": peaks(found),
        f"doubt: {of}": doubt(found),
        f"correlations: {of}": correlations(found),
        f"correlations of models: {of}": correlations_of_models(found),
    }
    print("\n\n".join(made_of.values()))
    if chosen.write:
        write(made_of, f"arbel_rokach_voting_{chosen.data}_{chosen.runs}.svg", found)
    return 0


def write(sections: dict[str, str], figure: str, found: Votes) -> None:
    """Renew what the page shows of this."""
    text = (_pages.HERE / PAGE).read_text(encoding="utf-8")
    shown = {name: body for name, body in sections.items() if _pages.marks(name)[0] in text}
    figures = {figure: lambda: draw_marks(found)} if figure in text else {}
    _pages.write(PAGE, shown, figures)


if __name__ == "__main__":
    sys.exit(main())
