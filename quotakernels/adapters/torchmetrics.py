"""Any measures of rankings as a metric of ``torchmetrics``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import quotakernels
from quotakernels.states._compute import Bounds

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
    differences,
    first,
)
from quotakernels.adapters._torch_group import agreed, group_or_world

__all__ = ["RankingMetric"]

Tensor: TypeAlias = Any
_KINDS: dict[str, type[KeptBuffer] | type[KeptHistogram]] = {
    "histogram": KeptHistogram,
    "buffer": KeptBuffer,
}


class RankingMetric(torchmetrics.Metric):  # type: ignore[misc]
    """One or several measures of all predictions, as a metric of ``torchmetrics``.

    What has been seen is kept as in a `ScoreHistogram`, of a fixed size, or as in a `ScoreBuffer`,
    which holds every example.  `update` reads no value on an accelerator and so does not wait for
    it.  The states are saved with a module (``metric.persistent(False)`` leaves them out), and
    metrics in a ``MetricCollection`` whose states are the same share them.

    Where ``torch.distributed`` runs, `compute` is of what all ranks have seen: before torchmetrics
    gathers the states, the ranks compare their settings.  Ranks may have different numbers of
    examples, or none.

    Parameters
    ----------
    measures : callable, or a mapping from names to callables
        Functions of a `Ranking`, such as `roc_auc`, or ``functools.partial`` of one, as in
        ``partial(hit_rate, quota=100)``.
    state : {"histogram", "buffer"}
        What is kept.  A histogram of float16 or bfloat16 scores is exact; one of wider scores has
        certified bounds of the measures that do not fall where the ROC curve rises, and refuses
        the others when they are computed.
    dtype : torch.dtype
        The type of the scores.
    bits : int, optional
        Of a histogram, as in `ScoreHistogram.empty`.
    weighted : bool
        Whether batches may come with sample weights.
    bound : {"lower", "upper"}, optional
        Take one of two bounds, where a logger wants one number.
    pos_label : optional
        The label of the positives, as in `rank`.
    higher_is_better : bool
        What the metric says of itself.
    validate_args : bool
        Whether bad values raise where they can be read; else they make the results NaN.
    timeout : float
        Seconds for which other ranks are waited for.
    **kwargs
        Of ``torchmetrics.Metric``.

    Raises
    ------
    TypeError
        Measures that cannot be called, or a type that scores do not have.
    ValueError
        No measures, another `state` or `bound`, or `bits` that the state refuses.

    Notes
    -----
    The states keep their types whatever a module around the metric is converted to.  A histogram
    of 16 bits takes a megabyte.

    Examples
    --------
    >>> from functools import partial
    >>> import torch
    >>> from quotakernels import hit_rate, roc_auc
    >>> from quotakernels.adapters.torchmetrics import RankingMetric
    >>> metric = RankingMetric({"top2": partial(hit_rate, quota=2), "auc": roc_auc}, state="buffer")
    >>> metric.update(torch.tensor([0.9, 0.8]), torch.tensor([1, 0]))
    >>> metric.update(torch.tensor([0.7, 0.2]), torch.tensor([1, 0]))
    >>> print({name: value.item() for name, value in metric.compute().items()})
    {'top2': 0.5, 'auc': 0.75}
    """

    is_differentiable = False
    full_state_update = False
    _update_count: int

    def __init__(
        self,
        measures: Callable[..., Any] | Mapping[str, Callable[..., Any]],
        *,
        state: Literal["histogram", "buffer"] = "histogram",
        dtype: Any = torch.float32,
        bits: int | None = None,
        weighted: bool = False,
        bound: Literal["lower", "upper"] | None = None,
        pos_label: Any = None,
        higher_is_better: bool = True,
        validate_args: bool = True,
        timeout: float = 60.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if state not in _KINDS:
            raise ValueError(f'state must be "histogram" or "buffer"; got {state!r}')
        if bound not in (None, "lower", "upper"):
            raise ValueError(f'bound must be "lower", "upper" or None; got {bound!r}')
        self.measures, self.bound = _checked(measures), bound
        self.pos_label, self.validate_args, self.timeout = pos_label, validate_args, timeout
        self._better = higher_is_better
        self._kept = _KINDS[state](dtype, weighted, bits)
        settings = {"format": 1, "state": state, "dtype": str(dtype), "bits": self._kept.bits}
        self._settings = settings | {"weighted": weighted, "pos_label": pos_label}
        bad = torch.zeros((), dtype=torch.int64)
        columns = [
            ("settings", as_bytes(self._settings), first),  # older collections compare no more
            *self._kept.columns,
            ("bad", bad, "sum"),
        ]
        for name, empty, reduction in columns:
            self.add_state(name, empty, dist_reduce_fx=reduction, persistent=True)

    @property
    def higher_is_better(self) -> bool:
        """As it was given."""
        return self._better

    def update(
        self, preds: Tensor, target: Tensor, sample_weight: Any = None, where: Any = None
    ) -> None:
        """Add one batch.

        Parameters
        ----------
        preds : tensor, shape (n,)
            Scores.
        target : tensor, shape (n,)
            Labels.
        sample_weight, where : tensors, shape (n,), optional
            Weights, and which examples count, such as not those that a sampler repeated.

        Raises
        ------
        TypeError, ValueError
            Tensors that do not fit the metric; bad values where they can be read.
        """
        if not isinstance(preds, torch.Tensor):
            raise TypeError(f"preds must be a tensor; got {type(preds).__name__}")
        if preds.ndim != 1:
            raise ValueError(
                f"preds must have shape (n,), one score of each example; got {tuple(preds.shape)}"
            )
        self._kept.add(
            self,
            target,
            preds.detach(),
            sample_weight=sample_weight,
            where=where,
            pos_label=self.pos_label,
            validate=self.validate_args,
        )

    def compute(self) -> Any:
        """The measure as a tensor, or a dictionary of tensors.

        Several measures have entries by their names.  What a measure returns as a record has an
        entry for each field, such as ``roc_auc_lower`` and ``roc_auc_upper`` of bounds.
        """
        state = self._kept.read(self)
        if isinstance(self.measures, Mapping):
            found = state.compute(self.measures)
        else:
            found = {_name_of(self.measures): state.compute(self.measures)}
        entries: dict[str, Any] = {}
        for name, value in found.items():
            one_of_two = bool(self.bound) and isinstance(value, Bounds)
            entries |= _entries(name, getattr(value, str(self.bound)) if one_of_two else value)
        single = not isinstance(self.measures, Mapping) and entries.keys() == found.keys()
        return next(iter(entries.values())) if single else entries

    def merge_state(self, incoming_state: Any) -> None:
        """Add what another metric has seen, given as the metric or as its states.

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
            Ranks that ended or did not come, by number.
        ValueError
            Ranks whose metrics have other settings.
        """
        available = distributed_available or self.distributed_available_fn
        if should_sync and not self._is_synced and available():
            if isinstance(self._kept, KeptBuffer):
                self._kept.fill(self)
            if dist_sync_fn is None:
                facts = {**self._settings, "version of quotakernels": quotakernels.__version__}
                agreed(facts, {}, group_or_world(process_group or self.process_group), self.timeout)
        super().sync(dist_sync_fn, process_group, should_sync, distributed_available)

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw values of `compute` or `forward`, by default the present one."""
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


def _checked(measures: Any) -> Any:
    if callable(measures):
        return measures
    if not isinstance(measures, Mapping) or not all(map(callable, measures.values())):
        raise TypeError(
            "measures must be a function of a Ranking or a mapping from names to such functions; "
            f"got {measures!r}"
        )
    if not measures:
        raise ValueError("measures must name at least one measure; got an empty mapping")
    return dict(measures)


def _name_of(measure: Any) -> str:
    while isinstance(measure, functools.partial):
        measure = measure.func
    return getattr(measure, "__name__", "value")


def _entries(name: str, value: Any) -> dict[str, Any]:
    """The arrays of a result, by the name of the measure and those of the fields."""
    if not hasattr(value, "_fields"):
        return {name: value}
    parts = (_entries(f"{name}_{field}", getattr(value, field)) for field in value._fields)
    return {key: x for part in parts for key, x in part.items()}
