"""Any measures of rankings as a metric of ``torchmetrics``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import quotakernels
from quotakernels.inputs.keywords import check_flag, flagged, show_value
from quotakernels.measures._facts import own_direction, refuse_arms
from quotakernels.measures.by_group import (
    MeanOverGroups,
    as_mean_over_groups,
    check_complete,
    mean_over_groups,
    needs_costs,
)
from quotakernels.states import ScoreBuffer
from quotakernels.states._compute import check_bounded, check_measures

try:
    import torch
    import torchmetrics
except ImportError as error:
    raise ImportError(
        'this needs torchmetrics; install it by pip install "quotakernels[torchmetrics]"',
        name=error.name,
    ) from error

from quotakernels.adapters._metric_states import (
    KeptBuffer,
    KeptHistogram,
    as_bytes,
    check_batch,
    check_cost,
    check_indexes,
    check_names,
    differences,
    first,
    of_metrics,
)
from quotakernels.adapters._outputs import check_bound, reported
from quotakernels.adapters._torch_group import agreed, check_same, group_or_world

__all__ = ["RankingMetric"]

Tensor: TypeAlias = Any
_EXACT = (
    'make the metric with state="buffer", or with dtype=torch.bfloat16 or torch.float16 for scores '
    "of that type"
)
_GROUPS = (None, "mean", "each")
_KINDS: dict[str, type[KeptBuffer] | type[KeptHistogram]] = {
    "buffer": KeptBuffer,
    "histogram": KeptHistogram,
}


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
        As `ScoreBuffer.compute` takes them: `roc_auc`, ``partial(hit_rate, quota=100)``.
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
    costs : bool, optional
        Whether batches come with `cost`, what each example costs, for measures at a budget.  By
        default as the measures need it.  Only a buffer keeps costs, in 8 more bytes per example.
    bound : {"midpoint", "lower", "upper", "both"}
        Which number to report for two bounds.  The exact value is at most half their distance from
        the midpoint.  ``"both"`` gives two entries.
    pos_label : optional
        As `rank` takes it.
    higher_is_better : bool, optional
        The attribute of the metric.  By default as its measures say, or None if these differ or say
        nothing.
    validate_args : bool
        Whether bad values raise if they can be read; otherwise they make the results NaN.
    timeout : float
        How many seconds to wait for other ranks.
    **kwargs
        Of ``torchmetrics.Metric``.

    Raises
    ------
    TypeError
        Measures that cannot be called, that lack an option such as their quota, or that have no
        mean over groups although `groups` asks for one; a dtype that scores cannot have.
    ValueError
        No measures, another `state`, `bound` or `groups`, or `bits`, `groups`, `costs` or a measure
        that the state refuses.

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
        costs: bool | None = None,
        bound: Literal["midpoint", "lower", "upper", "both"] = "midpoint",
        pos_label: Any = None,
        higher_is_better: bool | None = None,
        validate_args: bool = True,
        timeout: float = 60.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**of_metrics(kwargs, measures))
        _check_choices(state, bound, groups)
        self.measures, self.bound, self.groups = _checked(measures), bound, groups
        self._priced = _keeps_costs(self._several(), costs)
        self.pos_label, self.validate_args, self.timeout = pos_label, validate_args, timeout
        self._better = _direction(self.measures) if higher_is_better is None else higher_is_better
        self._kept = kept = _KINDS[state](dtype, bits, weighted, groups is not None, self._priced)
        _check_measures(self._several(), groups, kept)
        settings = {"format": 1, "state": state, "dtype": str(kept.dtype), "bits": kept.bits}
        settings |= {"weighted": weighted, "grouped": groups is not None, "costs": self._priced}
        self._settings = settings | {"pos_label": pos_label}
        columns = [
            ("settings", as_bytes(self._settings), first),  # older collections compare no more
            *kept.columns,
            ("bad", torch.zeros((), dtype=torch.int64), "sum"),
        ]
        for name, empty, reduction in columns:
            self.add_state(name, empty, dist_reduce_fx=reduction)

    @property
    def higher_is_better(self) -> bool | None:
        """As it was given, or as the measures say."""
        return self._better

    def update(
        self,
        preds: Tensor,
        target: Tensor,
        sample_weight: Any = None,
        where: Any = None,
        *,
        indexes: Any = None,
        cost: Any = None,
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
        cost : tensor, shape (n,), optional
            What each example costs if it is selected, for a metric that keeps costs.

        Raises
        ------
        TypeError, ValueError
            Tensors that do not fit the metric; bad values where they can be read.
        """
        check_batch(preds, target, self._kept.type_of(self))
        check_indexes(indexes, preds, self.groups is not None)
        check_cost(cost, self._priced)
        columns, options = self._given(preds, target, sample_weight, where)
        if self.groups is not None:
            options["indexes"] = indexes
        if self._priced:
            options["cost"] = cost
        self._kept.add(self, *columns, **options)

    def _filter_kwargs(self, **kwargs: Any) -> Any:
        """What `update` takes of a collection's keywords, which drops all others without a word."""
        check_names(kwargs)
        return super()._filter_kwargs(**kwargs)

    def _given(
        self, preds: Tensor, target: Tensor, sample_weight: Any = None, where: Any = None, **_: Any
    ) -> Any:
        """What the `update` of a state takes."""
        options = {"pos_label": self.pos_label, "validate": self.validate_args}
        options |= {"sample_weight": sample_weight, "where": where}
        return (target, preds.detach()), options

    @torch.jit.unused  # type: ignore[untyped-decorator]
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add one batch, given as to `update`, and return the measures of that batch.

        It sorts nothing but the batch.  Subclasses with an `update` or `compute` of their own get
        the `forward` of torchmetrics, which calls both.
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
            columns, options = self._given(*args, **kwargs)
            batch = ScoreBuffer.empty(columns[1]).update(*columns, **options)
        self._forward_cache = self._entries_of(self._kept.of_batch(batch, self._functions()))
        return self._forward_cache

    def reset(self) -> None:
        """Forget all examples."""
        self._unshare()
        super().reset()

    def _unshare(self) -> None:
        """Take lists of its own: other metrics of a collection may share them, and a running window
        keeps those of the last batches, which a reset would empty.
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
        """The names of the measures, and what was chosen besides."""
        chosen = {"state": self._settings["state"], "groups": self.groups}
        usual = {"state": "buffer", "groups": None}
        changed = (f"{name}={x!r}" for name, x in chosen.items() if x != usual[name])
        return ", ".join([*self._several(), *changed])

    def _functions(self) -> Mapping[str, Callable[..., Any]]:
        """What is computed of the ranking, by name."""
        several = self._several()
        if self.groups != "mean":
            return several
        means = {name: as_mean_over_groups(x) for name, x in several.items()}
        return {name: functools.partial(_value, mean) for name, mean in means.items()}

    def _several(self) -> Mapping[str, Callable[..., Any]]:
        several = isinstance(self.measures, Mapping)
        return self.measures if several else {_name_of(self.measures): self.measures}

    def _entries_of(self, found: Mapping[str, Any]) -> Any:
        """What `compute` returns for the values of the measures."""
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
        if other is not None and (found := differences(self._settings, other)):
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
        TimeoutError
            Ranks ended or did not arrive; their numbers are named.
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
        """The type of all ranks' scores, once the ranks have the same settings; None of no scores.

        A rank without examples has no type of its own.
        """
        group = group_or_world(group)
        facts = {**self._settings, "version of quotakernels": quotakernels.__version__}
        own = {"dtype": str(dtype).removeprefix("torch.")} if dtype else {}
        told = agreed(facts, own, group, self.timeout)
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
        elif found := differences(self._settings, saved["settings"]):
            error_msgs.append(f"the state of {prefix.rstrip('.') or 'the metric'}: {found}")
        else:
            self._restore(saved)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def _restore(self, saved: dict[str, Any]) -> None:
        for name, value in saved.items():
            many = isinstance(value, list)
            copies = [x.detach().to(self.device) for x in (value if many else [value])]
            setattr(self, name, copies if many else copies[0])
        self._update_count = max(self._update_count, 1)
        self._computed = None


def _check_choices(state: Any, bound: Any, groups: Any) -> None:
    if state not in _KINDS:
        raise ValueError(f'state must be "buffer" or "histogram"; got {show_value(state)}')
    check_bound(bound)
    if groups not in _GROUPS:
        raise ValueError(f'groups must be "mean", "each" or None; got {show_value(groups)}')


def _refuse_replica(*_: Any, **__: Any) -> None:
    raise RuntimeError(
        "DataParallel drops its replicas after each batch, and the examples of a metric with them; "
        "update the metric outside of the module, or use DistributedDataParallel"
    )


def _checked(measures: Any) -> Any:
    refuse_arms(measures, "a metric")
    if callable(measures):
        return measures
    if not isinstance(measures, Mapping) or not all(map(callable, measures.values())):
        raise TypeError(
            "measures must be a function of a Ranking or a mapping from names to such functions; "
            f"got {show_value(measures)}"
        )
    if not measures:
        raise ValueError("measures must name at least one measure; got an empty mapping")
    return dict(measures)


def _check_measures(
    measures: Mapping[str, Any], groups: str | None, kept: KeptBuffer | KeptHistogram
) -> None:
    """Raise for measures that need more than is kept, that have no mean over groups, or are one
    where there are no groups.
    """
    for name, measure in measures.items():
        if groups == "mean":
            as_mean_over_groups(measure)
        elif groups is None and mean_over_groups(measure):
            raise ValueError(f'{name} is a mean over groups; it needs groups="mean"')
        else:
            check_measures(measure, torch.empty(0))
        check_complete(measure)
        if isinstance(kept, KeptHistogram) and not kept.exact:
            check_bounded(measure, {}, _EXACT)


def _keeps_costs(measures: Mapping[str, Any], costs: bool | None) -> bool:
    """As it was asked for, or where a measure needs them."""
    needs = next(filter(None, map(needs_costs, measures.values())), "")
    if costs is None:
        return bool(needs)
    check_flag("costs", costs)
    if needs and not costs:
        raise ValueError(f"{needs} needs what each example costs, and costs=False keeps none")
    return costs


def _value(mean: MeanOverGroups, ranking: Any) -> Any:
    return mean(ranking).value


def _direction(measures: Any) -> bool | None:
    """What all of the measures say, None if they differ."""
    several = measures.values() if isinstance(measures, Mapping) else [measures]
    known = {own_direction(measure) for measure in several}
    return known.pop() if len(known) == 1 else None


def _name_of(measure: Any) -> str:
    while isinstance(measure, functools.partial) and not hasattr(measure, "__name__"):
        measure = measure.func
    return getattr(measure, "__name__", "value")


def _entries(name: str, value: Any) -> dict[str, Any]:
    """The arrays of a result, by the name of the measure and those of the fields."""
    if not hasattr(value, "_fields"):
        return {name: value}
    parts = (_entries(f"{name}_{field}", getattr(value, field)) for field in value._fields)
    return {key: x for part in parts for key, x in part.items()}
