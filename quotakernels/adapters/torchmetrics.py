"""Any measures of rankings as a metric of ``torchmetrics``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import quotakernels
from quotakernels._elsewhere import METRIC_OPTIONS, METRIC_UPDATE
from quotakernels.adapters import requiring
from quotakernels.adapters._metrics import (
    check_measures_fit,
    checked_metric,
    named_measures,
    reported,
)
from quotakernels.inputs.columns import of_two_columns
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import check_choice, flagged, keywords_of
from quotakernels.measures._facts import fact, title_of
from quotakernels.measures.by_group import as_mean_over_groups, mean_over_groups
from quotakernels.ops import namespace
from quotakernels.states import ScoreBuffer, ScoreHistogram
from quotakernels.states._batch import checked_batch, with_bad

with requiring("torchmetrics", "torchmetrics"):
    import torch
    import torchmetrics

    from quotakernels.adapters.torch_distributed import (
        added_sums,
        agreed,
        check_same,
        group_or_world,
    )


__all__ = ["RankingMetric"]

Tensor: TypeAlias = Any
_FOR_EXACT_SCORES = (
    'make the metric with state="buffer", or with dtype=torch.bfloat16 or torch.float16 for scores '
    "of that type"
)


class RankingMetric(torchmetrics.Metric):  # type: ignore[misc]
    """One or several measures of all predictions, as a ``torchmetrics.Metric``.

    By default every example is kept, as in a `ScoreBuffer`, and the result is that of all
    examples at once.  A histogram has a fixed size instead.  `update` reads no value on an
    accelerator, so it does not wait for it.  As elsewhere in torchmetrics, a checkpoint has the
    states only after ``metric.persistent(True)``.  Metrics in a ``MetricCollection`` share states
    that are the same.

    With ``torch.distributed``, `compute` measures the examples of all ranks.  Before torchmetrics
    gathers the states, the ranks compare their settings.  Ranks may have different numbers of
    examples, or none.

    Parameters
    ----------
    measures : callable, or a mapping from names to callables
        Functions of a `Ranking`: `roc_auc`, ``partial(hit_rate, quota=100)``.
    state : {"buffer", "histogram"}
        What is kept.  A buffer keeps every example: its score and one more byte, and eight more
        with weights.  A histogram has the size of its bins, a megabyte by default.  It is exact for
        float16 and bfloat16 scores.  For wider scores it has guaranteed bounds of the measures that
        never fall where the ROC curve rises; other measures are refused.
    dtype : torch.dtype, optional
        The type of the scores.  The default of a buffer is that of the first batch, the default of
        a histogram float32.
    bits : int, optional
        Of a histogram, as in `ScoreHistogram.empty`.
    weighted : bool
        Whether batches may come with sample weights.
    groups : {"mean", "each"}, optional
        Each batch then needs `indexes`, the group of each example, such as its query or user, and
        all examples of a group are ranked together.  With ``"mean"`` the result is the mean over
        the groups where the measure is defined; pass ``group_mean(roc_auc, weights="examples")`` to
        weight groups.  With ``"each"`` it is the value of each group, in ascending order of the
        indexes.  Only a buffer keeps groups, in 8 more bytes per example.  `compute` then waits for
        an accelerator once, for their number.
    columns : iterable of str, optional
        Which of ``"gain"``, ``"gain_rejected"``, ``"cost"`` and ``"treatment"`` all batches come
        with.  By default what the measures need.
    bound : {"midpoint", "lower", "upper", "both"}
        Which number to report for two bounds.  The exact value is at most half their distance from
        the midpoint.  ``"both"`` gives two entries.
    pos_label : optional
        The label of the positive class, if labels are not 0 and 1.
    higher_is_better : bool, optional
        The attribute of the metric.  By default as its measures say, or None if these differ or say
        nothing.
    validate_args : bool
        Whether bad values raise if they can be read; otherwise they make the results NaN.
    **kwargs
        Of ``torchmetrics.Metric``.

    Raises
    ------
    TypeError
        Measures that cannot be called, that lack an option such as their quota, or that have no
        mean over groups although `groups` asks for one; a dtype that scores cannot have.
    ValueError
        Another `state`, `bound` or `groups`, or `bits`, `groups` or a measure that the
        state refuses; `columns` without one that a measure needs.

    Notes
    -----
    The states keep their types if a module that holds the metric is converted.

    Examples
    --------
    >>> from functools import partial
    >>> import torch
    >>> from quotakernels import hit_rate, roc_auc
    >>> from quotakernels.adapters.torchmetrics import RankingMetric
    >>> metric = RankingMetric({"top2": partial(hit_rate, quota=2), "auc": roc_auc})
    >>> metric.update(torch.tensor([0.9, 0.8]), torch.tensor([1, 0]))
    >>> metric.update(torch.tensor([0.7, 0.2]), torch.tensor([1, 0]))
    >>> print({name: value.item() for name, value in metric.compute().items()})
    {'top2': 0.5, 'auc': 0.75}
    >>> metric = RankingMetric(roc_auc, groups="mean")
    >>> metric.update(torch.tensor([0.9, 0.8]), torch.tensor([1, 0]), indexes=torch.tensor([3, 3]))
    >>> metric.update(torch.tensor([0.7, 0.2]), torch.tensor([0, 1]), indexes=torch.tensor([5, 3]))
    >>> metric.compute().item()  # of group 3 alone, as 5 has no positive
    0.5
    """

    is_differentiable = False
    full_state_update = False
    if TYPE_CHECKING:  # torch.jit.script takes no annotation of an attribute that is a plain number
        _update_count: int

    @flagged
    def __init__(
        self,
        measures: Callable[..., Any] | Mapping[str, Callable[..., Any]],
        *,
        state: Literal["buffer", "histogram"] = "buffer",
        dtype: Any = None,
        bits: int | None = None,
        weighted: bool = False,
        groups: Literal["mean", "each"] | None = None,
        columns: Iterable[str] | None = None,
        bound: Literal["midpoint", "lower", "upper", "both"] = "midpoint",
        pos_label: Any = None,
        higher_is_better: bool | None = None,
        validate_args: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**of_metrics(kwargs, measures))
        check_choice("state", state, *_STATES)
        check_choice("groups", groups, "mean", "each", None)
        names = checked_metric(measures, torch.empty(0), bound, columns)
        self.measures = dict(measures) if isinstance(measures, Mapping) else measures
        self.bound, self.groups = bound, groups
        self.pos_label, self.validate_args = pos_label, validate_args
        self._better = _direction(self.measures) if higher_is_better is None else higher_is_better
        self._kept = kept = _STATES[state](dtype, bits, weighted, groups is not None, names)
        _check_measures(self._several(), groups, kept)
        settings: dict[str, Any] = {"format": 1, "state": state, "dtype": str(kept.dtype)}
        settings |= {"bits": kept.bits}
        settings |= {"weighted": weighted, "grouped": groups is not None, "columns": list(names)}
        self._settings = settings | {"pos_label": pos_label}
        # older collections compare no more than the first state
        self.add_state("settings", as_bytes(self._settings), dist_reduce_fx=_first_of_same)
        counted = ("bad", torch.zeros((), dtype=torch.int64), "sum")
        for name, empty, reduction in [*kept.columns, counted]:
            self.add_state(name, empty, dist_reduce_fx=reduction)

    @property
    def higher_is_better(self) -> bool | None:
        """The given value, or the direction of the measures."""
        return self._better

    def update(
        self,
        preds: Tensor,
        target: Tensor,
        sample_weight: Any = None,
        where: Any = None,
        *,
        indexes: Any = None,
        gain: Any = None,
        gain_rejected: Any = 0,
        cost: Any = None,
        treatment: Any = None,
    ) -> None:
        """Add one batch.

        Parameters
        ----------
        preds : tensor, shape (n,)
            Scores.
        target : tensor, shape (n,)
            Labels.
        sample_weight, where : tensors, shape (n,), optional
            Weights; False for examples that do not count, such as those that a sampler repeated.
        indexes : integer tensor, shape (n,), optional
            The group of each example, for a metric with groups.
        gain, gain_rejected, cost, treatment : tensors, shape (n,), optional
            What each example brings if it is selected, and if it is not; what it costs; 1 if it was
            treated, else 0.  For a metric that keeps these columns.

        Raises
        ------
        TypeError, ValueError
            Tensors that do not fit the metric; bad values where they can be read.
        """
        check_batch(preds, target, self._kept.type_of(self))
        check_indexes(indexes, preds, self.groups is not None)
        given = {"sample_weight": sample_weight, "where": where, "gain": gain}
        given |= {"gain_rejected": gain_rejected, "cost": cost, "treatment": treatment}
        self._kept.add(self, indexes=indexes, **self._given(preds, target, **given))

    def _filter_kwargs(self, **kwargs: Any) -> Any:
        """The keywords of a collection that `update` accepts; others are dropped without notice."""
        check_names(kwargs)
        return super()._filter_kwargs(**kwargs)

    def _given(self, preds: Tensor, target: Tensor, *both: Any, **named: Any) -> dict[str, Any]:
        """The arguments for the `update` of a state."""
        given = dict(zip(("sample_weight", "where"), both, strict=False))
        given |= {"y_true": target, "y_score": preds.detach(), "pos_label": self.pos_label}
        return given | {"validate": self.validate_args, **named}

    @torch.jit.unused  # type: ignore[untyped-decorator]
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add one batch, given as to `update`, and return the measures of that batch.

        Only the batch is sorted.  Subclasses with their own `update` or `compute` use the `forward`
        of torchmetrics, which calls both.
        """
        own = type(self)
        changed = own.update is not RankingMetric.update or own.compute is not RankingMetric.compute
        if changed or self._is_synced or self.dist_sync_on_step:
            return super().forward(*args, **kwargs)
        self._unshare()
        before = self.bad
        self.update(*args, **kwargs)
        if isinstance(self._kept, KeptBuffer):
            batch: Any = self._kept.read(self, last=1, before=before)
        else:
            batch = self._kept.empty(self.bad.device).update(**self._given(*args, **kwargs))
        self._forward_cache = self._entries_of(batch.compute(self._functions()))
        return self._forward_cache

    def reset(self) -> None:
        """Forget all examples."""
        self._unshare()
        super().reset()

    def _unshare(self) -> None:
        """Replace the lists: other metrics of a collection may share them, and a reset would empty
        those that a running window keeps of the last batches.
        """
        for name, kept in self.metric_state.items():
            setattr(self, name, kept[:] if isinstance(kept, list) else kept)

    def _replicate_for_data_parallel(self) -> Any:
        """A copy for one batch on one device of ``torch.nn.DataParallel``."""
        replica = super()._replicate_for_data_parallel()
        replica.update = replica.compute = replica.forward = _refuse_replica
        return replica

    def compute(self) -> Any:
        """The measure as a tensor, or a dictionary of tensors.

        Several measures have entries by their names.  A measure that returns a record has an entry
        for each field, such as ``roc_curve_fpr``.  Lightning's ``log_dict`` takes a dictionary, its
        ``log`` does not.
        """
        return self._entries_of(self._kept.read(self).compute(self._functions()))

    def extra_repr(self) -> str:
        """The names of the measures, and the chosen options."""
        chosen = {"state": self._settings["state"], "groups": self.groups}
        usual = {"state": "buffer", "groups": None}
        changed = (f"{name}={x!r}" for name, x in chosen.items() if x != usual[name])
        return ", ".join([*self._several(), *changed])

    def _functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions of the ranking, by name."""
        several = self._several()
        if self.groups != "mean":
            return several
        means = {name: as_mean_over_groups(x) for name, x in several.items()}
        return {name: lambda x, mean=mean: mean(x).value for name, mean in means.items()}

    def _several(self) -> Mapping[str, Callable[..., Any]]:
        name = getattr(self.measures, "__name__", None) or title_of(self.measures)
        return named_measures(self.measures, name)

    def _entries_of(self, found: Mapping[str, Any]) -> Any:
        """The result of `compute` for the values of the measures."""
        entries: dict[str, Any] = {}
        for name, value in reported(found, self.bound).items():
            entries |= _entries(name, value)
        single = not isinstance(self.measures, Mapping) and entries.keys() == found.keys()
        return next(iter(entries.values())) if single else entries

    def merge_state(self, incoming_state: Any) -> None:
        """Add the examples of another metric, given as the metric or as its states.

        Raises
        ------
        ValueError
            States of other settings.
        """
        theirs = getattr(incoming_state, "metric_state", incoming_state)
        other = theirs.get("settings") if isinstance(theirs, Mapping) else None
        if other is not None and (found := settings_apart(self._settings, other)):
            raise ValueError(f"the states of the metrics do not fit: {found}")
        super().merge_state(incoming_state)
        self._update_count += 1
        self._computed = None

    def sync(
        self,
        dist_sync_fn: Callable[..., Any] | None = None,
        process_group: Any = None,
        should_sync: bool = True,
        distributed_available: Callable[[], bool] | None = None,
    ) -> None:
        """Take the states of all ranks; parameters as in ``torchmetrics.Metric.sync``.

        Raises
        ------
        ValueError
            Ranks whose metrics have other settings.
        """
        available = distributed_available or self.distributed_available_fn
        if should_sync and not self._is_synced and available():
            dtype = self._kept.type_of(self)
            if dist_sync_fn is None:
                dtype = self._agreed_type(dtype, process_group or self.process_group)
            if isinstance(self._kept, KeptBuffer):
                self._kept.fill(self, dtype)
        super().sync(dist_sync_fn, process_group, should_sync, distributed_available)

    def _agreed_type(self, dtype: Any, group: Any) -> Any:
        """The type of scores on all ranks, whose settings must agree; None without scores.

        A rank without examples has no type.
        """
        group = group_or_world(group)
        facts = {**self._settings, "version of quotakernels": quotakernels.__version__}
        own = {"dtype": str(dtype).removeprefix("torch.")} if dtype else {}
        told = agreed(facts, own, group)
        known = {rank: x["dtype"] for rank, x in enumerate(told) if x}
        check_same("dtype", known, group)
        return getattr(torch, next(iter(known.values()))) if known else None

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw values of `compute` or `forward`, by default the current value."""
        return self._plot(val, ax)

    def _apply(self, fn: Callable[[Tensor], Tensor], *args: Any, **kwargs: Any) -> Any:
        """Move the states as a module's parameters are; their types stay."""

        def moved(x: Tensor) -> Tensor:
            found = fn(x)
            return found if found.dtype == x.dtype else x.to(found.device)

        return super()._apply(moved, *args, **kwargs)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Restore all states or none; torchmetrics itself keeps a cached result and the device."""
        saved = {x: state_dict.pop(prefix + x) for x in self._defaults if prefix + x in state_dict}
        lacking = [x for x in self._defaults if x not in saved]
        if lacking:
            expected = saved or any(self._persistent.values())
            missing_keys += [prefix + x for x in lacking if strict and expected]
        elif found := settings_apart(self._settings, saved["settings"]):
            error_msgs.append(f"the state of {prefix.rstrip('.') or 'the metric'}: {found}")
        else:
            for name, value in saved.items():
                many = isinstance(value, list)
                copies = [x.detach().to(self.device) for x in (value if many else [value])]
                setattr(self, name, copies if many else copies[0])
            self._update_count, self._computed = max(self._update_count, 1), None
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


def _check_measures(
    measures: Mapping[str, Any], groups: str | None, kept: KeptBuffer | KeptHistogram
) -> None:
    """Raise for measures that need columns which are not kept or have no mean over groups, and for
    such a mean without groups.
    """
    for name, measure in measures.items():
        if measure is quotakernels.groups.entities:
            raise TypeError(
                "entities needs all examples of a group; pass them to it before a metric"
            )
        if groups == "mean":
            as_mean_over_groups(measure)
        elif groups is None and mean_over_groups(measure):
            raise ValueError(f'{name} is a mean over groups; it needs groups="mean"')
    check_measures_fit(measures.values(), kept.exact, _FOR_EXACT_SCORES)


def _refuse_replica(*_: Any, **__: Any) -> None:
    raise RuntimeError(
        "DataParallel drops its replicas after each batch, and the examples of a metric with them; "
        "update the metric outside of the module, or use DistributedDataParallel"
    )


def _direction(measures: Any) -> bool | None:
    """The direction of all measures; None if they differ."""
    known = {fact(measure, "greater_is_better") for measure in named_measures(measures).values()}
    return known.pop() if len(known) == 1 else None


def _entries(name: str, value: Any) -> dict[str, Any]:
    """The arrays of a result, by the name of the measure and those of the fields."""
    if not hasattr(value, "_fields"):
        return {name: value}
    parts = (_entries(f"{name}_{field}", getattr(value, field)) for field in value._fields)
    return {key: x for part in parts for key, x in part.items()}


Columns = list[tuple[str, Any, Any]]
"""Names, empty values and reductions: arguments of ``Metric.add_state``."""

_ABSENT = 2
"""The label, in a buffer, of an example that does not count."""
_SETTINGS_SIZE = 256
_IDS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# what a metric keeps, as tensors that it registers


class KeptHistogram:
    """The counts of a `ScoreHistogram`, and its sums with their corrections."""

    def __init__(
        self, dtype: Any, bits: int | None, weighted: bool, grouped: bool, names: tuple[str, ...]
    ):
        if grouped:
            raise ValueError("a histogram keeps no groups of examples; a buffer does")
        self.dtype, self.bits = dtype or torch.float32, bits
        self._options: dict[str, Any] = {"weighted": weighted, "columns": names}
        empty = self.empty("cpu")
        self.dtype, self.bits, self.exact = empty.like.dtype, empty.bits, empty.exact
        self.columns: Columns = [("counts", empty.counts, "sum")]
        self.columns += [(name, x, added_sums) for name, x in _sums_of(empty).items()]

    def empty(self, device: Any) -> ScoreHistogram:
        """An empty state."""
        like = torch.empty(0, dtype=self.dtype, device=device)
        return ScoreHistogram.empty(like, bits=self.bits, **self._options)

    def type_of(self, _metric: Any) -> Any:
        """The type of the scores."""
        return self.dtype

    def read(self, metric: Any) -> ScoreHistogram:
        """The state of all examples."""
        like = torch.empty(0, dtype=self.dtype, device=metric.bad.device)
        sums = {name: getattr(metric, name) for name, _, _ in self.columns[1:]}
        columns = {name.removeprefix("sums_"): x.movedim(0, -1) for name, x in sums.items()}
        return ScoreHistogram(like, metric.counts, metric.bad, columns)

    def add(self, metric: Any, indexes: None, **given: Any) -> None:  # noqa: ARG002
        """One batch more, given as to `ScoreHistogram.update`."""
        state = self.read(metric).update(**given)
        metric.counts, metric.bad = state.counts, state.bad
        for name, x in _sums_of(state).items():
            setattr(metric, name, x)


def _sums_of(state: ScoreHistogram) -> dict[str, Tensor]:
    """Sums of columns and their corrections, for `added_sums`."""
    return {f"sums_{x}": each.movedim(-1, 0).contiguous() for x, each in state.columns.items()}


class KeptBuffer:
    """The columns of a `ScoreBuffer`, each a list of batches.

    Without a type it gets that of the first batch.  Labels are called targets, because
    ``ClasswiseWrapper`` replaces the attribute ``labels`` of its metric.
    """

    bits, exact = None, True

    def __init__(
        self, dtype: Any, bits: int | None, weighted: bool, grouped: bool, names: tuple[str, ...]
    ):
        if bits is not None:
            raise ValueError("bits= is for a histogram; a buffer keeps whole scores")
        if dtype is not None:
            ScoreBuffer.empty(torch.empty(0, dtype=dtype))  # refuses what are no scores
        self.dtype, self.weighted, self.names = dtype, weighted, names
        types = {"scores": dtype, "targets": torch.uint8}
        types |= {"weights": torch.float64} if weighted else {}
        types |= {"indexes": torch.int64} if grouped else {}
        self.types = types | dict.fromkeys(names, torch.float64)
        self.columns: Columns = [(name, [], "cat") for name in self.types]

    def type_of(self, metric: Any) -> Any:
        """The type of the scores, None before any came."""
        if self.dtype is not None:
            return self.dtype
        return next((x.dtype for x in _kept(metric, "scores") if x.numel()), None)

    def read(self, metric: Any, last: int = 0, before: Any = 0) -> ScoreBuffer:
        """The state of all examples, or of the `last` batches, with `before` bad ones earlier."""
        kept = self._filled(metric, self.type_of(metric), last)
        whole = {name: torch.cat(x) if len(x) > 1 else x[0] for name, x in kept.items()}
        targets = whole.pop("targets")
        whole |= {"labels": targets == 1, "valid": targets != _ABSENT}
        bad = (metric.bad - before).to(targets.device)
        groups = (whole["indexes"],) if "indexes" in whole else ()
        return ScoreBuffer(whole["scores"][:0], (Examples.of(whole),), bad, groups)

    def add(self, metric: Any, y_true: Any, y_score: Any, indexes: Any, **data: Any) -> None:
        """One batch more, given as to `ScoreBuffer.update`."""
        dtype = self.type_of(metric) or y_score.dtype
        like = torch.empty(0, dtype=dtype, device=metric.bad.device)
        names = {"weighted": self.weighted, "column_names": self.names}
        state = SimpleNamespace(like=like, num_groups=None, **names)
        examples, bad, _ = checked_batch(state, y_true, y_score, data)
        columns = examples.named()
        codes, valid = torch.as_tensor(columns["labels"], dtype=torch.uint8), columns.get("valid")
        columns["targets"] = codes if valid is None else torch.where(valid, codes, _ABSENT)
        if indexes is not None:
            columns["indexes"] = indexes.to(torch.int64)
        for name in self.types:
            getattr(metric, name).append(columns[name])
        metric.bad = with_bad(namespace(like), metric.bad, bad)

    def fill(self, metric: Any, dtype: Any) -> None:
        """Give empty lists an empty tensor of their type, since other ranks expect one."""
        for name, pieces in self._filled(metric, dtype).items():
            setattr(metric, name, pieces)

    def _filled(self, metric: Any, dtype: Any, last: int = 0) -> dict[str, list[Tensor]]:
        """The tensors of each column, or the last few; an empty one if there are none."""
        place, types = metric.bad.device, self.types | {"scores": dtype}
        kept = {
            name: [x for x in _kept(metric, name)[-last:] if x.numel()]
            or [torch.empty(0, dtype=kind, device=place)]
            for name, kind in types.items()
        }
        several = sorted({str(x.dtype) for x in kept["scores"]})
        if len(several) > 1:  # put together after `update` had seen only some of them
            raise TypeError(
                f"the batches have scores of {' and '.join(several)}; convert preds to one of them"
            )
        return kept


def of_metrics(kwargs: dict[str, Any], measures: Any) -> dict[str, Any]:
    """The keywords; raise for options of the measure, which the metric does not have."""
    for name in kwargs.keys() & set(keywords_of(measures) or ()):
        raise TypeError(
            f"{name} is an option of the measure and not of the metric; fix it by with_options, as "
            "in hit_rate.with_options(quota=100)"
        )
    for name in kwargs.keys() & METRIC_OPTIONS.keys():
        raise TypeError(f"RankingMetric takes no {name}=; {METRIC_OPTIONS[name]}")
    return kwargs


def check_names(given: Mapping[str, Any]) -> None:
    """Raise for keywords that `update` has under another name, unless that is given too."""
    for name, own in METRIC_UPDATE.items():
        if given.get(name) is not None and given.get(own) is None:
            raise TypeError(
                f"update takes no {name}=; pass {own}=, or put metrics that take {name}= into a "
                "collection of their own"
            )


def check_batch(preds: Any, target: Any, dtype: Any) -> None:
    """Raise unless there is one list of scores, of the type that is kept, with a label for each."""
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
    if not shape or shape[1:] == (1,):
        return f"; pass {'preds[:, 0]' if shape else 'preds.reshape(-1)'}"
    one = f"pass {of_two_columns('preds')}" if shape[1:] == (2,) else "take a column"
    return f"; {one}; {METRIC_OPTIONS['num_classes']}"


def check_indexes(indexes: Any, preds: Tensor, grouped: bool) -> None:
    """Raise for groups that are not one integer for each score, or that the metric has not."""
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
    """The tensors of a column, which torchmetrics joins when it syncs."""
    kept = getattr(metric, name)
    return kept if isinstance(kept, list) else [kept]


def as_bytes(settings: dict[str, Any]) -> Tensor:
    """Settings as a tensor, so that they are kept, compared and saved with the states."""
    text = json.dumps(settings, default=str).ljust(_SETTINGS_SIZE)
    return torch.tensor(list(text.encode()), dtype=torch.uint8, device="cpu")


def settings_apart(own: dict[str, Any], other: Tensor) -> str:
    """The settings that differ from those in a tensor; empty if none do."""
    mine, theirs = (json.loads(bytes(x.tolist())) for x in (as_bytes(own), other))
    return "; ".join(
        f"{name} is {mine.get(name)!r} here and {theirs.get(name)!r} there"
        for name in {**mine, **theirs}
        if mine.get(name) != theirs.get(name)
    )


def _first_of_same(stacked: Tensor) -> Tensor:
    """One of several equal tensors."""
    return stacked[0]


_STATES: dict[str, type[KeptBuffer] | type[KeptHistogram]] = {
    "buffer": KeptBuffer,
    "histogram": KeptHistogram,
}
