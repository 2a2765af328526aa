"""Functions and classes with the signatures of torchmetrics, computed by quotakernels.

They translate conventions and nothing else: the order of the arguments, axes that are flattened, a
sigmoid or softmax of what lies outside 0...1, an ignored label as a mask, 0 for undefined areas,
and the ends of curves.  A grid of thresholds ties the scores between two of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import torch
from torchmetrics.wrappers.abstract import WrapperMetric

import quotakernels as qk
from quotakernels.adapters.torchmetrics import RankingMetric

Tensor: TypeAlias = Any


class NotOfferedError(Exception):
    """What torchmetrics has and quotakernels has not, or what no shim translates."""


class Column(NamedTuple):
    """The examples of one class."""

    preds: Tensor
    target: Tensor
    where: Tensor


# one class


def grid_of(thresholds: Any) -> Tensor | None:
    """A number of thresholds, a list or a tensor, in rising order."""
    if thresholds is None:
        return None
    if isinstance(thresholds, int):
        return torch.linspace(0, 1, thresholds)
    return torch.as_tensor(thresholds)


def area(measure: Any, ranking: Any, _: Tensor | None) -> tuple[Tensor, Tensor]:
    """A number and how many positives it is of; 0 where it is undefined."""
    return torch.nan_to_num(measure(ranking)), ranking.positives.sum()


def precision_area(ranking: Any, grid: Tensor | None) -> tuple[Tensor, Tensor]:
    """The same, but undefined without a grid."""
    value = qk.average_precision(ranking)
    return value if grid is None else torch.nan_to_num(value), ranking.positives.sum()


def tables_of(ranking: Any, grid: Tensor) -> Any:
    return qk.confusion_table(ranking, threshold=grid.to(ranking.thresholds.dtype))


def roc(ranking: Any, grid: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Best score first; the empty cut has the threshold 1."""
    if grid is not None:
        grid = grid.flip(0)
        tables = tables_of(ranking, grid)
        rates = (qk.tables.false_positive_rate(tables), qk.recall(tables))
        return torch.nan_to_num(rates[0]), torch.nan_to_num(rates[1]), grid
    curve = qk.roc_curve(ranking)
    fpr, tpr = torch.nan_to_num(curve.fpr), torch.nan_to_num(curve.tpr)
    return fpr, tpr, torch.nan_to_num(curve.threshold, nan=1)


def precision_recall(ranking: Any, grid: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Best score last, and then precision 1 and recall 0."""
    if grid is None:
        curve = qk.pr_curve(ranking)
        precision, recall = curve.precision[1:].flip(0), curve.recall[1:].flip(0)
        grid = curve.threshold[1:].flip(0)
    else:
        tables = tables_of(ranking, grid)
        precision, recall = qk.precision(tables), qk.recall(tables)
    one = torch.ones(1, dtype=precision.dtype)
    return torch.cat([precision, one]), torch.cat([recall, 0 * one]), grid


FORMS: dict[str, Callable[..., Any]] = {
    "auroc": partial(area, qk.roc_auc),
    "average_precision": precision_area,
    "roc": roc,
    "precision_recall_curve": precision_recall,
}
AREAS = ("auroc", "average_precision")


def prepared(column: Column, form: str, thresholds: Any) -> Column:
    """Scores of areas on a grid: how many thresholds they reach."""
    grid = grid_of(thresholds)
    if grid is None or form not in AREAS:
        return column
    edges = grid.to(column.preds.dtype).contiguous()
    return column._replace(preds=torch.bucketize(column.preds.contiguous(), edges, right=True))


def measured(form: str, thresholds: Any, ranking: Any) -> Any:
    return FORMS[form](ranking, grid_of(thresholds))


# all classes


def columns_of(
    task: str, preds: Tensor, target: Tensor, ignore_index: int | None, average: str | None
) -> list[Column]:
    """The examples of each class; under the micro average all in one."""
    if torch.any((preds < 0) | (preds > 1)):
        preds = preds.softmax(1) if task == "multiclass" else preds.sigmoid()
    several = task != "binary"
    flat = preds.movedim(1, -1).reshape(-1, preds.shape[1]) if several else preds.reshape(-1, 1)
    if task == "multiclass":
        target = target.reshape(-1, 1).expand(flat.shape)
    else:
        target = target.movedim(1, -1) if several else target
        target = target.reshape(flat.shape)
    where = (
        torch.ones_like(target, dtype=torch.bool)
        if ignore_index is None
        else (target != ignore_index)
    )
    if task == "multiclass":
        target = (target == torch.arange(flat.shape[1])).long()
    if average == "micro":
        flat, target, where = (x.reshape(-1, 1) for x in (flat, target, where))
    return [Column(*x) for x in zip(flat.T, target.T, where.T, strict=True)]


def combined(form: str, task: str, options: Options, found: list[Any]) -> Any:
    """The result of torchmetrics out of those of the classes."""
    average, thresholds = options.average, options.thresholds
    if form not in AREAS:
        if task == "binary" or average == "micro":
            return found[0]
        parts = [list(x) for x in zip(*found, strict=True)]
        if grid_of(thresholds) is not None:
            return (*(torch.stack(x) for x in parts[:2]), found[0][2])
        return tuple(torch.stack(x) if len({y.shape for y in x}) == 1 else x for x in parts)
    values, positives = (torch.stack(x) for x in zip(*found, strict=True))
    if task == "binary" or average == "micro":
        return values[0]
    if average == "weighted":
        return (values * positives).nansum() / positives.sum()
    return values.nanmean() if average == "macro" else values


class Options(NamedTuple):
    """The arguments of torchmetrics that its forms share; `rest` is for a metric."""

    count: int
    average: str | None
    thresholds: Any
    ignore_index: int | None
    validate_args: bool
    rest: dict[str, Any]


def options_of(form: str, task: str, values: tuple[Any, ...], named: dict[str, Any]) -> Options:
    """The arguments, of which each form and task has another order."""
    count = {"multiclass": "num_classes", "multilabel": "num_labels"}.get(task)
    several = (count, "average") if form in AREAS else (count, "thresholds")
    orders: dict[str, tuple[Any, ...]] = {
        "binary": ("max_fpr",) if form == "auroc" else (),
        "multiclass": (*several, "thresholds" if form in AREAS else "average"),
        "multilabel": several,
    }
    order = dict.fromkeys((*orders[task], "thresholds", "ignore_index", "validate_args"))
    given = dict(zip(order, values, strict=False)) | named
    if given.pop("max_fpr", None) is not None:
        raise NotOfferedError("a partial area (max_fpr)")
    average = given.pop("average", "macro" if form in AREAS else None)
    if form not in AREAS and average is not None:
        raise NotOfferedError("a mean of curves (average)")
    usual = {"thresholds": None, "ignore_index": None, "validate_args": True}
    own = [given.pop(name, default) for name, default in usual.items()]
    return Options(given.pop(count, 1), average, *own, given)


def function(form: str, task: str) -> Callable[..., Any]:
    """The function of torchmetrics for one form and task."""

    def functional(preds: Tensor, target: Tensor, *values: Any, **named: Any) -> Any:
        options = options_of(form, task, values, named)
        found = []
        for column in columns_of(task, preds, target, options.ignore_index, options.average):
            preds, target, where = prepared(column, form, options.thresholds)
            ranking = qk.rank(target, preds, where=where, validate=options.validate_args)
            found.append(measured(form, options.thresholds, ranking))
        return combined(form, task, options, found)

    return functional


class Binary(RankingMetric):
    """A `RankingMetric` with the arguments of torchmetrics."""

    form, task = "", "binary"

    def __init__(self, *values: Any, **named: Any) -> None:
        self.form_options = options = options_of(self.form, self.task, values, named)
        measure = partial(measured, self.form, options.thresholds)
        super().__init__(measure, validate_args=options.validate_args, **options.rest)

    def update(self, preds: Tensor, target: Tensor) -> None:  # type: ignore[override]
        options = self.form_options
        (column,) = columns_of(self.task, preds, target, options.ignore_index, None)
        column = prepared(column, self.form, options.thresholds)
        super().update(column.preds, column.target, where=column.where)

    def compute(self) -> Any:
        return combined(self.form, self.task, self.form_options, [super().compute()])


class PerClass(WrapperMetric):  # type: ignore[misc]
    """A `RankingMetric` for each class."""

    form = task = ""
    is_differentiable, higher_is_better, full_state_update = False, True, False

    def __init__(self, *values: Any, **named: Any) -> None:
        options = options_of(self.form, self.task, values, named)
        super().__init__(**options.rest)
        self.form_options = options
        measure = partial(measured, self.form, options.thresholds)
        count = 1 if options.average == "micro" else options.count
        each = options.rest | {"validate_args": options.validate_args}
        self.each = torch.nn.ModuleList(RankingMetric(measure, **each) for _ in range(count))

    def _columns(self, preds: Tensor, target: Tensor) -> list[Column]:
        options = self.form_options
        columns = columns_of(self.task, preds, target, options.ignore_index, options.average)
        return [prepared(column, self.form, options.thresholds) for column in columns]

    def _combined(self, found: list[Any]) -> Any:
        return combined(self.form, self.task, self.form_options, found)

    def update(self, preds: Tensor, target: Tensor) -> None:
        for metric, column in zip(self.each, self._columns(preds, target), strict=True):
            metric.update(column.preds, column.target, where=column.where)

    def compute(self) -> Any:
        return self._combined([metric.compute() for metric in self.each])

    @torch.jit.unused
    def forward(self, preds: Tensor, target: Tensor) -> Any:
        pairs = zip(self.each, self._columns(preds, target), strict=True)
        return self._combined([m(x.preds, x.target, where=x.where) for m, x in pairs])

    def reset(self) -> None:
        for metric in self.each:
            metric.reset()


CLASSES: dict[str, type] = {}
FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _form, _name in zip(
    FORMS, ("AUROC", "AveragePrecision", "ROC", "PrecisionRecallCurve"), strict=True
):
    for _task in ("binary", "multiclass", "multilabel"):
        _class = f"{_task.capitalize()}{_name}"
        _base = Binary if _task == "binary" else PerClass
        _own = {"form": _form, "task": _task, "__module__": __name__}
        CLASSES[_class] = globals()[_class] = type(_class, (_base,), _own)
        FUNCTIONS[f"{_task}_{_form}"] = function(_form, _task)


# lists of one query


def at_most(top_k: int | None, count: int) -> int:
    """The cutoff, or the end of the list."""
    return min(count if top_k is None else top_k, count)


def retrieval_precision(
    preds: Tensor, target: Tensor, top_k: int | None = None, adaptive_k: bool = False
) -> Tensor:
    """The hit rate; beyond the end of a list nothing more is found."""
    preds, target = preds.flatten(), target.flatten()
    count = preds.shape[0]
    quota = min(top_k or count, count)
    rate = qk.hit_rate(target, preds, quota=quota)
    return rate if adaptive_k or top_k is None else rate * quota / top_k


def retrieval_recall(preds: Tensor, target: Tensor, top_k: int | None = None) -> Tensor:
    """Qrecall, 0 without positives."""
    preds, target = preds.flatten(), target.flatten()
    quota = min(top_k or preds.shape[0], preds.shape[0])
    return torch.nan_to_num(qk.qrecall(target, preds, quota=quota))


def of_list(measure: Any) -> Callable[..., Tensor]:
    """A measure of one list at a cutoff, 0 where it is undefined."""

    def retrieval(preds: Tensor, target: Tensor, top_k: int | None = None) -> Tensor:
        preds, target = preds.flatten(), target.flatten()
        quota = at_most(top_k, preds.shape[0])
        return torch.nan_to_num(measure(target, preds, quota=quota)).float()

    return retrieval


def found_precision(target: Tensor, preds: Tensor, quota: int) -> Tensor:
    """AP over the positives that the best hold, and not over all."""
    whole = qk.expected_average_precision(target, preds, quota=quota)
    return whole / qk.qrecall(target, preds, quota=quota)


def fall_out(target: Tensor, preds: Tensor, quota: int) -> Tensor:
    """The negatives that are among the best, over all negatives."""
    return qk.qrecall(1 - target.long(), preds, quota=quota)


def graded(target: Tensor, preds: Tensor, quota: int) -> Tensor:
    return qk.retrieval.ndcg(None, preds, gain=target, quota=quota)


def retrieval_auroc(
    preds: Tensor, target: Tensor, top_k: int | None = None, max_fpr: float | None = None
) -> Tensor:
    """The AUC of the best alone, 0 where they are of one class."""
    preds, target = preds.flatten(), target.flatten()
    best = preds.topk(at_most(top_k, preds.shape[0]))[1]
    found = FUNCTIONS["binary_auroc"](preds[best], target[best].int(), max_fpr=max_fpr)
    return torch.nan_to_num(found)


def retrieval_r_precision(preds: Tensor, target: Tensor) -> Tensor:
    """The hit rate at as many as there are positives."""
    preds, target = preds.flatten(), target.flatten()
    return torch.nan_to_num(qk.hit_rate(target, preds, quota=int(target.sum())))


LISTS: dict[str, Callable[..., Any]] = {
    "auroc": retrieval_auroc,
    "precision": retrieval_precision,
    "recall": retrieval_recall,
    "r_precision": retrieval_r_precision,
    "hit_rate": of_list(qk.retrieval.success),
    "reciprocal_rank": of_list(qk.retrieval.reciprocal_rank),
    "average_precision": of_list(found_precision),
    "fall_out": of_list(fall_out),
    "ndcg": of_list(graded),
}
OTHER_NAMES = {"ndcg": "normalized_dcg"}


def places() -> dict[str, dict[str, Any]]:
    """The modules from which the tests of torchmetrics import, and what shall stand there."""
    found: dict[str, Any] = {}
    for form in FORMS:
        for module in ("torchmetrics.classification", "torchmetrics.functional.classification"):
            found |= dict.fromkeys((f"{module}.{form}",), CLASSES | FUNCTIONS)
    for name, shim in LISTS.items():
        for module in ("torchmetrics.retrieval", "torchmetrics.functional.retrieval"):
            found[f"{module}.{name}"] = {f"retrieval_{OTHER_NAMES.get(name, name)}": shim}
    for module, shims in found.items():
        found[module] = {x: shims[x] for x in shims if x in vars(sys.modules[module])}
        assert found[module], module
    return found


def install() -> None:
    """Put the shims into these places."""
    for module, shims in places().items():  # as attributes, functions stand in the modules' place
        vars(sys.modules[module]).update(shims)
