"""What fitted estimators of scikit-learn say of some examples, as scores and codes of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

NUMBERS = ("decision_function", "predict")
"""Methods of estimators without classes that give scores."""


class Responses:
    """What an estimator says of some examples, asked once for each method."""

    def __init__(self, estimator: Any, examples: Any):
        self.estimator, self._examples = estimator, examples
        self._known: dict[str, Any] = {}

    def classes(self) -> Any:
        """The classes of the estimator, in its order; None of a regressor or a ranker."""
        model = self.estimator
        classes = getattr(model, "classes_", None)
        if classes is None:
            if is_classifier(model):
                raise AttributeError(f"{model!r} has no classes_: is it a fitted classifier?")
            return None
        if isinstance(classes, list) and any(np.ndim(x) for x in classes):
            raise ValueError(f"{self.estimator!r} has several outputs; a scorer takes one")
        return np.asarray(classes)

    def of_all(self, number: int, methods: str | tuple[str, ...]) -> Any:
        """Scores of all classes, shape (n, K)."""
        name, scores = self._response(methods)
        if scores.ndim == 1 and number == 2:
            negative = _negative(name, scores)
            return np.stack([negative, scores.astype(negative.dtype)], axis=-1)
        if scores.shape[1:] != (number,):
            raise ValueError(
                f"{name} gives an array of shape {scores.shape} for {number} classes; "
                "name another method by response_method="
            )
        if name == "decision_function" and number > 2 and _compares_pairs(self.estimator):
            raise ValueError(
                f"{name} of {self.estimator!r} compares pairs of classes; for each class use "
                "decision_function_shape='ovr' or response_method='predict_proba'"
            )
        return scores

    def of_class(self, place: int, number: int, methods: str | tuple[str, ...]) -> Any:
        """Scores of one class, shape (n,)."""
        name, scores = self._response(methods)
        if scores.ndim == 1 and number == 2:
            return scores if place == 1 else _negative(name, scores)
        return self.of_all(number, methods)[:, place]

    def of_no_class(self, methods: str | tuple[str, ...] | None) -> Any:
        """Scores of an estimator without classes, shape (n,)."""
        name, scores = self._response(methods or NUMBERS)
        if methods is None and name == "predict" and scores.dtype.kind != "f":
            raise TypeError(
                f"{self.estimator!r} has no classes_ and predicts whole numbers, which may be "
                "classes; if they are scores pass response_method='predict'"
            )
        return scores

    def predicted(self) -> Any:
        """The predicted classes, by their places among those of the estimator."""
        return class_codes(self._said("predict"), self.classes(), "the prediction")

    def _said(self, name: str) -> Any:
        """What a method of the estimator gives."""
        if name not in self._known:
            self._known[name] = getattr(self.estimator, name)(self._examples)
        return self._known[name]

    def _response(self, methods: str | tuple[str, ...]) -> tuple[str, Any]:
        names = (methods,) if isinstance(methods, str) else tuple(methods)
        for name in names:
            if hasattr(self.estimator, name):
                return name, _numbers(name, np.asarray(self._said(name)))
        raise AttributeError(f"{self.estimator!r} has no {' and no '.join(names)}")


def _numbers(name: str, scores: Any) -> Any:
    """The scores, if they are numbers."""
    if scores.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} gives values of dtype {scores.dtype}, but scores must be numbers; "
            "name another method by response_method="
        )
    return scores


def _negative(name: str, scores: Any) -> Any:
    """The scores of the other one of two classes."""
    if scores.dtype.kind == "f":
        return -scores
    if scores.size and max(int(scores.max()), -int(scores.min())) >= 2**63:
        raise ValueError(
            f"{name} gives integers of size 2**63 or more, and int64 cannot hold their negatives; "
            "give floats"
        )
    return -scores.astype(np.int64)


def _compares_pairs(estimator: Any) -> bool:
    """Whether the decision function has a column for each pair of classes."""
    inside = [
        *(getattr(estimator, name, None) for name in ("best_estimator_", "estimator_")),
        *(step for _, step in getattr(estimator, "steps", [])[-1:]),
    ]
    own = getattr(estimator, "decision_function_shape", None) == "ovo"
    return own or any(_compares_pairs(x) for x in inside if x is not None)


def class_codes(y: Any, classes: Any, name: str = "y") -> Any:
    """The place of each label among the classes."""
    labels = column_or_1d(y)
    matches = labels[:, None] == classes
    known = matches.any(axis=-1)
    if not known.all():
        place = int(np.flatnonzero(~known)[0])
        label = labels.tolist()[place]
        raise ValueError(
            f"{name} is {label!r} at position {place}; "
            f"expected one of the classes of the estimator, {classes.tolist()}"
        )
    return matches.argmax(axis=-1)
