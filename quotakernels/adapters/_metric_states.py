"""What a metric of ``torchmetrics`` keeps, as tensors that it registers: of either state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import torch

from quotakernels._array import namespace
from quotakernels.adapters.torch_distributed import added_sums
from quotakernels.inputs.columns import of_two_columns
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import keywords_of, silently
from quotakernels.ops.binning import bin_rows
from quotakernels.states import ScoreBuffer, ScoreHistogram
from quotakernels.states._compute import bounds_of, measured

Tensor: TypeAlias = Any
Columns = list[tuple[str, Any, Any]]
"""Names, empty values and reductions, as ``Metric.add_state`` takes them."""

_ABSENT = 2
"""Among the labels of a buffer, an example that does not count."""
_SETTINGS_SIZE = 256
_IDS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_MEANT = {
    "mask": "where",
    "costs": "cost",
    **dict.fromkeys(("group", "groups"), "indexes"),
    **dict.fromkeys(("weight", "weights", "sample_weights"), "sample_weight"),
}
"""Arguments of other metrics: what `update` calls them."""
_EACH_CLASS = (
    "a metric is of one class; MultioutputWrapper(metric, K) has one for each of K columns of "
    "preds and target, which for classes is one_hot(target, K)"
)
_THEIRS = {
    **dict.fromkeys(("num_classes", "num_labels", "task"), _EACH_CLASS),
    "adaptive_k": 'groups that are shorter than the quota are told by the option when_short="all"',
    "aggregation": 'with groups="mean" the result is the mean over groups; other ways are not here',
    "average": "averages over classes are not here; average what MultioutputWrapper computes",
    "empty_target_action": "groups where the measure is undefined are left out of the mean",
    "ignore_index": "pass where=target != ignore_index to update",
    "thresholds": 'each score is a threshold; for a fixed size use state="histogram"',
    "top_k": "fix the quota of the measure, as in hit_rate.with_options(quota=top_k); the k best "
    "classes of each example are not here",
}
"""What the metrics of torchmetrics take, and what to do here."""


class KeptHistogram:
    """The counts of a `ScoreHistogram`, with weights its masses and their corrections in one."""

    def __init__(self, dtype: Any, bits: int | None, weighted: bool, grouped: bool, priced: bool):
        if grouped or priced:
            what = "groups of examples" if grouped else "costs"
            raise ValueError(f"a histogram keeps no {what}; a buffer does")
        like = torch.empty(0, dtype=dtype or torch.float32, device="cpu")
        empty = ScoreHistogram.empty(like, bits=bits, weighted=weighted)
        self.dtype, self.weighted, self.bits = empty.like.dtype, weighted, empty.bits
        self.exact = empty.exact
        self.columns: Columns = [("counts", empty.counts, "sum")]
        if weighted:
            sums = torch.stack([empty.masses, empty.corrections])
            self.columns.append(("sums", sums, added_sums))

    def type_of(self, _metric: Any) -> Any:
        """The type of the scores."""
        return self.dtype

    def read(self, metric: Any) -> ScoreHistogram:
        """What the metric holds."""
        counts, place = metric.counts, metric.counts.device
        sums = metric.sums if self.weighted else torch.zeros(2, 0, 2, dtype=float, device=place)
        like = torch.empty(0, dtype=self.dtype, device=place)
        return ScoreHistogram(like, counts, metric.bad, *sums.unbind())

    def add(self, metric: Any, *columns: Any, **options: Any) -> None:
        """One batch more; parameters as in `ScoreHistogram.update`."""
        state = self.read(metric).update(*columns, **options)
        metric.counts, metric.bad = state.counts, state.bad
        if self.weighted:
            metric.sums = torch.stack([state.masses, state.corrections])

    def of_batch(self, batch: ScoreBuffer, measures: Mapping[str, Any]) -> Any:
        """What `ScoreHistogram.compute` gives of one batch, of which few bins hold anything."""
        if self.exact:
            return batch.compute(measures)
        (piece,) = batch.pieces
        rows = bin_rows(namespace(piece.scores), piece.scores, self.bits)
        coarse = batch._replace(pieces=(piece._replace(scores=-rows),))
        worst = coarse.ranking("pessimistic")
        with silently():
            ends = worst, coarse.ranking("optimistic")
        return measured(measures, lambda f, own: bounds_of(f, own, *ends), {})


class KeptBuffer:
    """The columns of a `ScoreBuffer`, each a list of batches, and those of groups and costs.

    Without a type it takes that of the first batch.  The labels are called targets, as
    ``ClasswiseWrapper`` replaces an attribute ``labels`` of its metric.
    """

    bits = None

    def __init__(self, dtype: Any, bits: int | None, weighted: bool, grouped: bool, priced: bool):
        if bits is not None:
            raise ValueError("bits= is for a histogram; a buffer keeps whole scores")
        if dtype is not None:
            ScoreBuffer.empty(torch.empty(0, dtype=dtype))  # refuses what are no scores
        self.dtype, self.weighted, self.grouped, self.priced = dtype, weighted, grouped, priced
        optional = {"weights": weighted, "indexes": grouped, "costs": priced}
        names = ("scores", "targets", *(name for name, there in optional.items() if there))
        self.columns: Columns = [(name, [], "cat") for name in names]

    def type_of(self, metric: Any) -> Any:
        """The type of the scores, None before any came."""
        if self.dtype is not None:
            return self.dtype
        return next((x.dtype for x in _kept(metric, "scores") if x.numel()), None)

    def read(self, metric: Any, last: int = 0, before: Any = 0) -> ScoreBuffer:
        """What the metric holds, or has been given in its last batches, and `before` these."""
        kept = self._filled(metric, self.type_of(metric), last)
        whole = {name: torch.cat(x) if len(x) > 1 else x[0] for name, x in kept.items()}
        scores, labels = whole["scores"], whole["targets"]
        piece = Examples(scores, labels == 1, whole.get("weights"), labels != _ABSENT)
        piece = piece._replace(cost=whole.get("costs"))
        bad = (metric.bad - before).to(scores.device)
        groups = (whole["indexes"],) if self.grouped else ()
        return ScoreBuffer(scores[:0], (piece,), bad, groups)

    def add(self, metric: Any, *columns: Any, indexes: Any = None, **options: Any) -> None:
        """One batch more; parameters as in `ScoreBuffer.update`."""
        if options["sample_weight"] is not None and not self.weighted:
            raise ValueError(
                "sample_weight is given and the metric has no weights; make it weighted"
            )
        dtype = self.type_of(metric) or columns[1].dtype
        like = torch.empty(0, dtype=dtype, device=metric.bad.device)
        batch = ScoreBuffer(like, (), metric.bad).update(*columns, **options)
        scores, labels, weights, valid, *_, cost, _ = batch.pieces[0]
        codes = torch.as_tensor(labels, dtype=torch.uint8)
        metric.scores.append(scores)
        metric.targets.append(codes if valid is None else torch.where(valid, codes, _ABSENT))
        if self.weighted:
            metric.weights.append(
                torch.ones_like(scores, dtype=float) if weights is None else weights
            )
        if self.grouped:
            metric.indexes.append(indexes.to(torch.int64))
        if self.priced:
            metric.costs.append(cost)
        metric.bad = batch.bad

    def of_batch(self, batch: ScoreBuffer, measures: Mapping[str, Any]) -> Any:
        """What `compute` gives of one batch."""
        return batch.compute(measures)

    def fill(self, metric: Any, dtype: Any) -> None:
        """Give empty lists an empty tensor of their type, which other ranks expect."""
        for name, pieces in self._filled(metric, dtype).items():
            setattr(metric, name, pieces)

    def _filled(self, metric: Any, dtype: Any, last: int = 0) -> dict[str, list[Tensor]]:
        """The tensors of each column, or so many of the last, at least an empty one."""
        types = {"scores": dtype, "targets": torch.uint8}
        types |= {"weights": torch.float64, "indexes": torch.int64, "costs": torch.float64}
        place = metric.bad.device
        kept = {
            name: [x for x in _kept(metric, name)[-last:] if x.numel()]
            or [torch.empty(0, dtype=types[name], device=place)]
            for name, _, _ in self.columns
        }
        several = sorted({str(x.dtype) for x in kept["scores"]})
        if len(several) > 1:  # put together after `update` had seen only some of them
            raise TypeError(
                f"the batches have scores of {' and '.join(several)}; convert preds to one of them"
            )
        return kept


def of_metrics(kwargs: dict[str, Any], measures: Any) -> dict[str, Any]:
    """The keywords; raise for what is an option of the measure and not of the metric."""
    for name in kwargs.keys() & set(keywords_of(measures) or ()):
        raise TypeError(
            f"{name} is an option of the measure and not of the metric; fix it by with_options, as "
            "in hit_rate.with_options(quota=100)"
        )
    for name in kwargs.keys() & _THEIRS.keys():
        raise TypeError(f"RankingMetric takes no {name}=; {_THEIRS[name]}")
    return kwargs


def check_names(given: Mapping[str, Any]) -> None:
    """Raise for what `update` has under another name, unless that is given too."""
    for name, own in _MEANT.items():
        if given.get(name) is not None and given.get(own) is None:
            raise TypeError(
                f"update takes no {name}=; pass {own}=, or put metrics that take {name}= into a "
                "collection of their own"
            )


def check_batch(preds: Any, target: Any, dtype: Any) -> None:
    """Raise for what is no list of scores of the type that is kept, with a label for each."""
    if not isinstance(preds, torch.Tensor):
        raise TypeError(f"preds must be a tensor; got {type(preds).__name__}")
    if preds.ndim != 1:
        raise ValueError(
            "preds must have shape (n,), the scores of one model for one class; got "
            f"{tuple(preds.shape)}{_column_hint(tuple(preds.shape))}"
        )
    if isinstance(target, torch.Tensor) and target.shape != preds.shape:
        raise ValueError(
            f"target must have shape {tuple(preds.shape)}, as preds has; got {tuple(target.shape)}"
        )
    if dtype is not None and preds.dtype != dtype:
        raise TypeError(
            f"preds has dtype {preds.dtype} and the metric keeps scores of {dtype}; convert preds, "
            f"or make the metric with dtype={preds.dtype}"
        )


def _column_hint(shape: tuple[int, ...]) -> str:
    if not shape:
        return "; pass preds.reshape(-1)"
    if shape[1:] == (1,):
        return "; pass preds[:, 0]"
    one = f"pass {of_two_columns('preds')}" if shape[1:] == (2,) else "take a column"
    return (
        f"; {one}, or put the metric in "
        "torchmetrics.wrappers.MultioutputWrapper, which has one for each column of preds and "
        "target, for classes one_hot(target, K)"
    )


def check_cost(cost: Any, priced: bool) -> None:
    """Raise for costs that are absent, and for those not asked for."""
    if (cost is not None) != priced:
        raise ValueError(
            "the metric keeps costs and needs cost=, what each example costs"
            if priced
            else "cost is given and the metric keeps no costs; make it with costs=True"
        )


def check_indexes(indexes: Any, preds: Tensor, grouped: bool) -> None:
    """Raise for groups that are no integers beside the scores, and for those not asked for."""
    if (indexes is not None) != grouped:
        raise ValueError(
            "the metric has groups and needs indexes=, the group of each example"
            if grouped
            else 'indexes are given and the metric has no groups; make it with groups="mean", or '
            "put metrics without groups into a collection of their own"
        )
    if not grouped:
        return
    if not isinstance(indexes, torch.Tensor) or indexes.dtype not in _IDS:
        found = indexes.dtype if isinstance(indexes, torch.Tensor) else type(indexes).__name__
        raise TypeError(f"indexes must be a tensor of integers; got {found}")
    if indexes.shape != preds.shape:
        raise ValueError(
            f"indexes must have shape {tuple(preds.shape)}, as preds has; "
            f"got {tuple(indexes.shape)}"
        )


def _kept(metric: Any, name: str) -> list[Tensor]:
    """The tensors of a column; torchmetrics makes one of them when it syncs."""
    kept = getattr(metric, name)
    return kept if isinstance(kept, list) else [kept]


def as_bytes(settings: dict[str, Any]) -> Tensor:
    """Settings as a tensor, so that they are kept, compared and saved with the states."""
    text = json.dumps(settings, default=str).ljust(_SETTINGS_SIZE)
    return torch.tensor(list(text.encode()), dtype=torch.uint8, device="cpu")


def differences(own: dict[str, Any], other: Tensor) -> str:
    """What differs between settings and those in a tensor, empty if nothing does."""
    mine, theirs = (json.loads(bytes(x.tolist())) for x in (as_bytes(own), other))
    return "; ".join(
        f"{name} is {mine.get(name)!r} here and {theirs.get(name)!r} there"
        for name in {**mine, **theirs}
        if mine.get(name) != theirs.get(name)
    )


def first(stacked: Tensor) -> Tensor:
    """Of several that are the same."""
    return stacked[0]
