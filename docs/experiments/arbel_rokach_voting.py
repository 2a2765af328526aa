"""Selective voting, after section 4.2 of Arbel & Rokach: how many of the best models to average.

``python docs/experiments/arbel_rokach_voting.py [--data NAME] [--runs N] [--write]``

Four times 300 rows are drawn, 20 % of them positive, 250 for training and 50 to test.  The 52
models are ranked by PEM on the training rows, by predictions of models that have not seen the row;
then the probabilities of the best X are averaged, for every X, and marked by four measures on the
test rows.
NAME is made, breast_cancer, or a data set of ``uci.py``, which needs a network.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import _pages
import arbel_rokach_printed as printed
import numpy as np
import uci

import quotakernels as qk

Draw = Callable[[], tuple[np.ndarray, np.ndarray]]
Measured = Callable[..., Any]


def pearson(*data: Any) -> np.ndarray:
    """The correlation of all scores with the labels themselves."""
    return qk.pearson(*data, fraction=1, labels="observed")


def expected_pearson(*data: Any) -> np.ndarray:
    """The same with eq. 5: the labels of tied examples are their mean."""
    return qk.pearson(*data, fraction=1)


MEASURES: dict[str, Measured] = {
    "AHR": qk.average_hit_rate,
    "AQR": qk.average_qrecall,
    "PEM": qk.pem,
    "Pearson": pearson,
}
FIELDS = dict(zip(MEASURES, ("average_hit_rate", "average_qrecall", "pem", "pearson"), strict=True))
"""Their names in `normalized_marks`."""
SHARE, ROWS, TESTED, RUNS, FOLDS = 0.2, 300, 1 / 6, 4, 3
DIGITS = 4
"""Of probabilities: the rounding of one machine's arithmetic does not decide ties."""
PAGE = "arbel_rokach.md"


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
    votes : array, shape (runs, models, tested)
        The mean of the best X, X = 1, 2, …
    """

    labels: np.ndarray
    single: np.ndarray
    votes: np.ndarray


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
    return Votes(*(np.stack(part) for part in zip(*runs, strict=True)))


def _run(
    plan: Plan, features: np.ndarray, labels: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        single = model.fit(x, y).predict_proba(features[test])[:, 1]
    return unseen.round(DIGITS), single.round(DIGITS)


def votes(labels: np.ndarray, unseen: np.ndarray, single: np.ndarray) -> np.ndarray:
    """The mean score of the best X models, ranked by PEM."""
    found = qk.inference.vote(lambda x: qk.pem(x).round(9), labels, unseen, greater_is_better=True)
    means: np.ndarray = found.means(single)
    return means.round(DIGITS)


# what comes of them


def each(found: Votes) -> np.ndarray:
    """The labels of the test rows, once for each model."""
    return np.broadcast_to(found.labels[:, None, :], found.single.shape)


def curves(found: Votes) -> dict[str, np.ndarray]:
    """Each measure of the votes, shape (runs, models)."""
    return {name: measure(each(found), found.votes) for name, measure in MEASURES.items()}


def marks(found: Votes, method: str) -> dict[str, np.ndarray]:
    """The same, normalised."""
    normal = qk.normalized_marks(each(found), found.votes, method=method)
    return {name: getattr(normal, field) for name, field in FIELDS.items()}


def peaks(found: Votes) -> str:
    """What each measure is at its highest mean, with one model and with all."""
    lines = []
    for name, values in curves(found).items():
        mean = values.mean(0)
        best = _highest(mean)[0]
        ends = (f"{mean[x]:.2f} ({_gain(values, best, x)})" for x in (0, -1))
        lines.append([name, best + 1, f"{mean[best]:.2f}", *ends])
    return _pages.table(
        ["measure", "best X", "mean there", "the best model alone", "all models"], lines
    )


def _highest(values: np.ndarray) -> np.ndarray:
    """Where they are highest, but for rounding."""
    return np.flatnonzero(values >= values.max() - 1e-9)


def table_6(found: Votes) -> str:
    """How many models vote where a measure is highest, in each run, beside AR Table 6."""
    lines = []
    for name, values in curves(found).items():
        highest = [_highest(x) + 1 for x in values]
        shown = _spread([x[0] for x in highest]) if len(highest) > RUNS else _each(highest)
        lines.append([name, ", ".join(printed.PEAKS[name]), shown])
    return _pages.table(["measure", "printed", "here"], lines)


def _each(highest: list[np.ndarray]) -> str:
    """The peaks of few runs; of more than two in one run the first and the last."""
    return ", ".join(
        f"{x[0]} to {x[-1]}" if len(x) > 2 else " and ".join(map(str, x)) for x in highest
    )


def _spread(values: Any, form: str = "g") -> str:
    low, middle, high = np.nanquantile(values, (0.25, 0.5, 0.75))
    return f"median {middle:{form}}, quartiles {low:{form}} and {high:{form}}"


def _gain(values: np.ndarray, best: int, other: int) -> str:
    """How much the runs lose there on average, with its standard error."""
    less = values[:, best] - values[:, other]
    if not less.any():
        return "the same"
    return f"−{less.mean():.2f} ± {less.std(ddof=1) / np.sqrt(less.size):.2f}"


def doubt(found: Votes) -> str:
    """In how many runs the vote at the peak differs from one model and from all for certain."""
    lines = []
    for name, values in curves(found).items():
        best = int(_highest(values.mean(0))[0])
        others = {"the best alone": 0, "all": -1}
        told = [sum(_differs(found, name, best, x)) for x in others.values()]
        lines.append([name, best + 1, *(f"{x} of {len(found.labels)}" for x in told)])
    return _pages.table(["measure", "X", "differs from the best alone", "from all"], lines)


def _differs(found: Votes, name: str, best: int, other: int) -> Iterator[bool]:
    """For each run whether the interval of the difference leaves zero out."""
    for labels, votes in zip(found.labels, found.votes, strict=True):
        if np.array_equal(votes[best], votes[other]):
            yield False
            continue
        two = {"best": votes[best], "other": votes[other]}
        result = qk.compare(
            MEASURES[name], labels, two, stratified=True, random_state=0, greater_is_better=True
        )
        yield bool(result.lower[0, 1] > 0)


def table_7(found: Votes) -> str:
    """Correlations of the marks over X, in each run, beside AR Table 7."""
    runs = [
        qk.inference.measure_correlations(MEASURES, labels, votes).correlation
        for labels, votes in zip(found.labels, found.votes, strict=True)
    ]
    place, lines = {name: k for k, name in enumerate(MEASURES)}, []
    for (one, other), numbers in printed.CORRELATIONS.items():
        here = [run[place[one], place[other]] for run in runs]
        shown = _spread(here, ".2f") if len(here) > RUNS else ", ".join(f"{x:.2f}" for x in here)
        lines.append([f"{one} and {other}", ", ".join(map(str, numbers)), shown])
    return _pages.table(["measures", "printed", "here"], lines)


def correlations_of_models(found: Votes) -> str:
    """Between the measures of the single models on the test rows, all runs together."""
    measures = {**MEASURES, "Pearson, eq. 5": expected_pearson}
    values = {name: np.ravel(x(each(found), found.single)) for name, x in measures.items()}
    pairs = [[f"{x:.2f}" for x in row] for row in np.corrcoef(list(values.values()))]
    return _pages.table(
        ["", *values], ([name, *row] for name, row in zip(values, pairs, strict=True))
    )


def draw_marks(found: Votes) -> Any:
    """The mean marks of the runs against X, in both normalisations, with the highest of each."""
    figure = _pages.new_figure(7.2, 3.3)
    panels = {"chance": "chance = 0", "minmax": "of each run: worst X = 0, best X = 1"}
    last = found.single.shape[1]
    for axes, (method, title) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        found_marks = marks(found, method)
        for (name, values), style in zip(found_marks.items(), _lines(), strict=False):
            _draw_mean(axes, values.mean(0), style, name)
        axes.set(xlabel="models that vote, X", ylabel="normalised measure", title=title)
        axes.set(xlim=(0, last + 1), xticks=[1, *range(10, last - 4, 10), last])
    axes.plot([], [], "o", color="#666666", markersize=5, label="its highest value")
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=5)
    return figure


def _lines() -> Iterator[dict[str, Any]]:
    for colour, dashes in zip(_pages.COLOURS, _pages.DASHES, strict=True):
        yield {"color": colour, "linestyle": dashes}


def _draw_mean(axes: Any, mean: np.ndarray, style: dict[str, Any], label: str) -> None:
    counts, best = np.arange(1, mean.size + 1), int(_highest(mean)[0])
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
        f"table 6: {of}": table_6(found),
        f"table 7: {of}": table_7(found),
        f"doubt: {of}": doubt(found),
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
