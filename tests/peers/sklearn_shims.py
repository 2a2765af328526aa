"""Functions with the arguments of scikit-learn's metrics, computed by quotakernels.

They translate conventions and nothing else: which label is the positive one, classes as numbers,
columns of indicators as a batch, the order and the ends of curves, averages over classes, and the
number that an argument such as ``zero_division`` puts for NaN.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.metrics

import quotakernels as qk


class NotOfferedError(Exception):
    """What scikit-learn has and quotakernels has not."""


def refuse(what: str, asked: bool) -> None:
    if asked:
        raise NotOfferedError(what)


def plain(values: Any) -> Any:
    """An array; also of a sparse matrix.  A single column is a list."""
    array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    return array.ravel() if array.shape[1:] == (1,) else array


# averages over classes, or over the columns or rows of indicators


def mean(values: Any, average: str | None, weights: Any, of_nothing: float = np.nan) -> Any:
    if average is None:
        return values
    if average not in ("macro", "weighted", "samples"):
        raise ValueError(f"average must be another one; got {average!r}")
    if average == "macro" or weights is None:
        return np.mean(values)
    if np.shape(weights) != np.shape(values):
        raise ValueError(f"weights have shape {np.shape(weights)}, values {np.shape(values)}")
    return np.average(values, weights=weights) if np.any(weights) else of_nothing


def of_indicators(measure: Any, y: Any, s: Any, average: str | None, weight: Any) -> Any:
    if average == "micro":
        repeated = None if weight is None else np.repeat(weight, y.shape[1])
        return measure(y.ravel(), s.ravel(), sample_weight=repeated)
    if average == "samples":
        return mean(measure(y, s), "samples", weight)
    support = y.sum(axis=0) if weight is None else np.asarray(weight) @ y
    return mean(measure(y.T, s.T, sample_weight=weight), average, support)


# scores


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    average: str | None,
    sample_weight: Any,
    max_fpr: float | None,
    multi_class: str,
    labels: Any,
) -> Any:
    measure = functools.partial(qk.roc_auc, max_fpr=max_fpr)
    y, s = plain(y_true), plain(y_score)
    if y.ndim == 2:
        return of_indicators(measure, y, s, average, sample_weight)
    classes = np.unique(y)
    if len(classes) > 2 or s.ndim == 2:
        refuse("one class against another", multi_class != "ovr")
        refuse("partial areas of several classes", max_fpr not in (None, 1))
        given = {"classes": classes if labels is None else labels, "sample_weight": sample_weight}
        found = qk.one_vs_rest(qk.roc_auc, y, s, average=average or "macro", **given)
        return found.value if average else found.per_class
    pos_label = classes[1] if len(classes) == 2 else 1
    return measure(y, s, pos_label=pos_label, sample_weight=sample_weight)


def average_precision_score(
    y_true: Any, y_score: Any, average: str | None, pos_label: Any, sample_weight: Any
) -> Any:
    y, s = plain(y_true), plain(y_score)
    if y.ndim == 1 and s.ndim == 2:
        y = y[:, None] == np.unique(y)
    if y.ndim == 2:
        return of_indicators(qk.average_precision, y, s, average, sample_weight)
    return qk.average_precision(y, s, pos_label=pos_label, sample_weight=sample_weight)


def curve(function: Any, y_true: Any, y_score: Any, pos_label: Any, weight: Any) -> Any:
    """A curve by its points of decreasing score."""
    label = 1 if pos_label is None else pos_label
    return function(plain(y_true), plain(y_score), pos_label=label, sample_weight=weight)


def roc_curve(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any, drop_intermediate: bool
) -> Any:
    """All points, also those that `drop_intermediate` leaves out."""
    found = curve(qk.roc_curve, y_true, y_score, pos_label, sample_weight)
    return found.fpr, found.tpr, np.append(np.inf, found.threshold[1:])


def precision_recall_curve(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any, drop_intermediate: bool
) -> Any:
    found = curve(qk.pr_curve, y_true, y_score, pos_label, sample_weight)
    precision, recall = found.precision[:0:-1], found.recall[:0:-1]
    return np.append(precision, 1.0), np.append(recall, 0.0), found.threshold[:0:-1]


def confusion_matrix_at_thresholds(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any
) -> Any:
    found = curve(qk.roc_curve, y_true, y_score, pos_label, sample_weight)
    fp, tp = (x[1:].astype(float) for x in (found.fp, found.tp))
    return fp[-1] - fp, fp, tp[-1] - tp, tp, found.threshold[1:]


def det_curve(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any, drop_intermediate: bool
) -> Any:
    """From the last point without false positives to the first without false negatives."""
    found = curve(qk.roc_curve, y_true, y_score, pos_label, sample_weight)
    first = np.searchsorted(found.fp, found.fp[0], side="right") - 1
    kept = slice(first, np.searchsorted(found.tp, found.tp[-1]) + 1)
    thresholds = np.append(np.inf, found.threshold[1:])
    return tuple(x[kept][::-1] for x in (found.fpr, 1 - found.tpr, thresholds))


# predictions


def class_table(y_true: Any, y_pred: Any, labels: Any, weight: Any) -> qk.tables.ClassTable:
    truth, predicted = plain(y_true), plain(y_pred)
    refuse("matches of whole sets of labels", truth.ndim == 2)
    if (truth.dtype.kind in "OUS") != (predicted.dtype.kind in "OUS"):
        qk.tables.confusion_table_from_predictions(truth, predicted, pos_label=1)  # refuses that
    present = np.unique(np.concatenate([truth, predicted]))
    classes = present if labels is None else np.asarray(labels)
    refuse("a selection of the labels", labels is not None and not set(present) <= set(classes))
    codes = [class_codes(x, classes) for x in (truth, predicted)]
    given = {"num_classes": len(classes), "sample_weight": weight}
    return qk.tables.confusion_table_from_predictions(*codes, **given)


def class_codes(labels: Any, classes: Any) -> Any:
    """Classes as numbers; what is no whole number stays, to be refused."""
    codes = (labels[:, None] == classes).argmax(axis=-1)
    if labels.dtype.kind != "f":
        return codes
    return np.where(np.isfinite(labels) & (labels == np.round(labels)), codes, labels)


def confusion_matrix(
    y_true: Any, y_pred: Any, labels: Any, sample_weight: Any, normalize: Any
) -> Any:
    refuse("shares of a confusion matrix", normalize is not None)
    return class_table(y_true, y_pred, labels, sample_weight).cells


def accuracy_score(y_true: Any, y_pred: Any, normalize: bool, sample_weight: Any) -> Any:
    table = class_table(y_true, y_pred, None, sample_weight)
    return qk.accuracy(table) if normalize else np.trace(table.cells)


def zero_one_loss(y_true: Any, y_pred: Any, normalize: bool, sample_weight: Any) -> Any:
    table = class_table(y_true, y_pred, None, sample_weight)
    lost = table.cells.sum() - np.trace(table.cells)
    return qk.tables.misclassification_rate(table) if normalize else lost


def matthews_corrcoef(y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
    return qk.matthews_corrcoef(class_table(y_true, y_pred, None, sample_weight))


def balanced_accuracy_score(y_true: Any, y_pred: Any, sample_weight: Any, adjusted: bool) -> Any:
    recalls = qk.recall(class_table(y_true, y_pred, None, sample_weight).by_class())
    chance = 1 / np.isfinite(recalls).sum()
    value = np.nanmean(recalls)
    return (value - chance) / (1 - chance) if adjusted else value


def cohen_kappa_score(
    y1: Any, y2: Any, labels: Any, weights: Any, sample_weight: Any, replace_undefined_by: Any
) -> Any:
    refuse("weights of ordered classes", weights is not None)
    value = qk.tables.cohen_kappa(class_table(y1, y2, labels, sample_weight))
    return replace_undefined_by if np.isnan(value) else value


def tables(y_true: Any, y_pred: Any, average: str | None, labels: Any, weight: Any) -> Any:
    """A table for each class, or for each column or row of indicators."""
    truth, predicted = plain(y_true), plain(y_pred)
    if truth.ndim == 1:
        return class_table(truth, predicted, labels, weight).by_class()
    refuse("a selection of the labels", labels is not None)
    if average == "samples":
        return qk.tables.confusion_table_from_predictions(truth, predicted)
    return qk.tables.confusion_table_from_predictions(truth.T, predicted.T, sample_weight=weight)


def of_predictions(
    measure: Any,
    y_true: Any,
    y_pred: Any,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    zero_division: Any,
) -> Any:
    given = {"pos_label": pos_label, "sample_weight": sample_weight}
    if average == "binary":
        table: Any = qk.tables.confusion_table_from_predictions(
            plain(y_true), plain(y_pred), **given
        )
        average = None
    else:
        table = tables(y_true, y_pred, average, labels, sample_weight)
    weights = sample_weight if average == "samples" else table.tp + table.fn
    if average == "micro":
        table, average = qk.tables.ConfusionTable(*(x.sum() for x in table)), None
    values = measure(table)
    instead = 0.0 if zero_division == "warn" else zero_division
    return mean(np.where(np.isnan(values), instead, values)[()], average, weights, instead)


def f_score(beta: float, **given: Any) -> Any:
    return of_predictions(functools.partial(qk.f_score, beta=beta), **given)


SHIMS: dict[str, Callable[..., Any]] = {
    "precision_score": functools.partial(of_predictions, qk.precision),
    "recall_score": functools.partial(of_predictions, qk.recall),
    "f1_score": functools.partial(f_score, 1.0),
    "fbeta_score": f_score,
    **{
        x.__name__: x
        for x in (
            *(roc_auc_score, average_precision_score, roc_curve, precision_recall_curve, det_curve),
            *(confusion_matrix_at_thresholds, confusion_matrix, accuracy_score, zero_one_loss),
            *(matthews_corrcoef, balanced_accuracy_score, cohen_kappa_score),
        )
    },
}


def install(called: Callable[[str], None]) -> None:
    """Put the shims in the place of scikit-learn's metrics; `called` hears of each call."""
    for name, shim in SHIMS.items():
        setattr(sklearn.metrics, name, _in_place_of(getattr(sklearn.metrics, name), shim, called))


def _in_place_of(theirs: Any, shim: Any, called: Callable[[str], None]) -> Any:
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def here(*arguments: Any, **keywords: Any) -> Any:
        called(theirs.__name__)
        given = signature.bind(*arguments, **keywords)
        given.apply_defaults()
        return shim(**given.arguments)

    return here
