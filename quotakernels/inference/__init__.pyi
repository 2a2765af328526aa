# Written by docs/tools/stubs.py; do not edit.
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, Union, Unpack, overload
from quotakernels._types import A, ArrayOf, Number, NumberOf, Numbers, T, TiePolicy, WhenShort

from quotakernels.inference.areas import auc_covariance as auc_covariance
from quotakernels.inference.areas import delong_test as delong_test
from quotakernels.inference.areas import delong_test_unpaired as delong_test_unpaired
from quotakernels.inference.bands import best_cut_interval as best_cut_interval
from quotakernels.inference.bands import curve_band as curve_band
from quotakernels.inference.hit_rates import compare_selections as compare_selections
from quotakernels.inference.areas import AucInterval
from quotakernels.inference.bootstrapping import BootstrapResult
from quotakernels.inference.comparing import Comparison
from quotakernels.inference.folds import FoldSummary
from quotakernels.inference.folds import FoldTest
from quotakernels.inference.hit_rates import HitRateInterval
from quotakernels.measures._measure import Measure
from quotakernels.measures.public import MeasureOptions
from quotakernels.ranking import Ranking
from quotakernels.measures.public import ValueMeasure
from quotakernels.inference.comparing import Vote
R = TypeVar("R", covariant=True)
class RecordMeasure(Protocol[R]):
    @property
    def headline(self) -> str: ...
    def __call__(self, ranking: Ranking[BootstrapResult], /) -> R: ...

class AsAucInterval(Measure):
    @overload
    def __call__(self, ranking: Ranking[T], *, measure: Union[Literal['roc_auc', 'gini', 'pem'], Measure] = 'roc_auc', confidence_level: float = 0.95, method: Literal['logit', 'wald'] = 'logit') -> AucInterval[T]: ...
    @overload
    def __call__(self, y_true: ArrayOf[A], y_score: ArrayOf[A], *, measure: Union[Literal['roc_auc', 'gini', 'pem'], Measure] = 'roc_auc', confidence_level: float = 0.95, method: Literal['logit', 'wald'] = 'logit', sample_weight: ArrayOf[A] | None = None, where: ArrayOf[A] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, groups: ArrayOf[Any] | None = None, num_groups: int | None = None) -> AucInterval[A]: ...
auc_interval: AsAucInterval
class AsAveragePrecisionInterval(Measure):
    @overload
    def __call__(self, ranking: Ranking[T], *, measure: Literal['average_precision', 'average_hit_rate'] | Measure = 'average_precision', confidence_level: float = 0.95) -> AucInterval[T]: ...
    @overload
    def __call__(self, y_true: ArrayOf[A], y_score: ArrayOf[A], *, measure: Literal['average_precision', 'average_hit_rate'] | Measure = 'average_precision', confidence_level: float = 0.95, sample_weight: ArrayOf[A] | None = None, where: ArrayOf[A] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, groups: ArrayOf[Any] | None = None, num_groups: int | None = None) -> AucInterval[A]: ...
average_precision_interval: AsAveragePrecisionInterval
@overload
def bootstrap(measure: ValueMeasure, y_true: Any, y_score: Mapping[str, Any], *, n_resamples: int = 1000, confidence_level: float = 0.95, method: Literal['expanded', 'bca', 'percentile', 'basic'] = 'expanded', stratified: bool = False, clusters: Any = None, poisson: bool = False, random_state: Any = None, max_memory: int = 1073741824, progress: bool | Callable[[int, int], None] | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, **options: Unpack[MeasureOptions]) -> dict[str, BootstrapResult]: ...
@overload
def bootstrap(measure: ValueMeasure, y_true: Any, y_score: Any, *, n_resamples: int = 1000, confidence_level: float = 0.95, method: Literal['expanded', 'bca', 'percentile', 'basic'] = 'expanded', stratified: bool = False, clusters: Any = None, poisson: bool = False, random_state: Any = None, max_memory: int = 1073741824, progress: bool | Callable[[int, int], None] | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, **options: Unpack[MeasureOptions]) -> BootstrapResult: ...
@overload
def bootstrap(measure: RecordMeasure[R], y_true: Any, y_score: Any, *, n_resamples: int = 1000, confidence_level: float = 0.95, method: Literal['expanded', 'bca', 'percentile', 'basic'] = 'expanded', stratified: bool = False, clusters: Any = None, poisson: bool = False, random_state: Any = None, max_memory: int = 1073741824, progress: bool | Callable[[int, int], None] | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, **options: Unpack[MeasureOptions]) -> R: ...
@overload
def bootstrap(measure: Callable[..., Any] | Mapping[Any, Any], y_true: Any, y_score: Any, *, n_resamples: int = 1000, confidence_level: float = 0.95, method: Literal['expanded', 'bca', 'percentile', 'basic'] = 'expanded', stratified: bool = False, clusters: Any = None, poisson: bool = False, random_state: Any = None, max_memory: int = 1073741824, progress: bool | Callable[[int, int], None] | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, **options: Unpack[MeasureOptions]) -> Any: ...
def compare(measure: Any, y_true: Any, models: Any, *, test: Literal['bootstrap', 'permutation', 'delong', 'score'] | None = None, greater_is_better: bool | None = None, n_resamples: int = 2000, confidence_level: float = 0.95, stratified: bool = False, clusters: Any = None, random_state: Any = None, max_memory: int = 1073741824, progress: bool | Callable[[int, int], None] | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, method: Any = ..., **options: Unpack[MeasureOptions]) -> Comparison: ...
def vote(measure: Any, y_true: Any, models: Any, *, voters: int | None = None, greater_is_better: bool | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, method: Any = ..., **options: Unpack[MeasureOptions]) -> Vote: ...
@overload
def fold_summary(measure: ValueMeasure, y_true: Any, y_score: Any, folds: Any, *, pooled: bool = False, confidence_level: float = 0.95, n_train: float | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, method: Any = ..., **options: Unpack[MeasureOptions]) -> FoldSummary: ...
@overload
def fold_summary(measure: Callable[..., Any] | Mapping[Any, Any], y_true: Any, y_score: Any, folds: Any, *, pooled: bool = False, confidence_level: float = 0.95, n_train: float | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, method: Any = ..., **options: Unpack[MeasureOptions]) -> Any: ...
@overload
def fold_test(measure: ValueMeasure, y_true: Any, models: Any, folds: Any, *, confidence_level: float = 0.95, n_train: float | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, method: Any = ..., **options: Unpack[MeasureOptions]) -> FoldTest: ...
@overload
def fold_test(measure: Callable[..., Any] | Mapping[Any, Any], y_true: Any, models: Any, folds: Any, *, confidence_level: float = 0.95, n_train: float | None = None, sample_weight: ArrayOf[Any] | None = None, where: ArrayOf[Any] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, gain: ArrayOf[Any] | None = None, gain_rejected: NumberOf[Any] = 0, groups: ArrayOf[Any] | None = None, num_groups: int | None = None, cost: ArrayOf[Any] | None = None, treatment: ArrayOf[Any] | None = None, method: Any = ..., **options: Unpack[MeasureOptions]) -> Any: ...
class AsHitRateInterval(Measure):
    @overload
    def __call__(self, ranking: Ranking[T], *, quota: Number, population: Number | None = None, when_short: WhenShort | None = None, confidence_level: float = 0.95, method: Literal['score', 'wilson', 'exact'] = 'score') -> HitRateInterval[T]: ...
    @overload
    def __call__(self, ranking: Ranking[T], *, fraction: Number, population: Number | None = None, confidence_level: float = 0.95, method: Literal['score', 'wilson', 'exact'] = 'score') -> HitRateInterval[T]: ...
    @overload
    def __call__(self, y_true: ArrayOf[A], y_score: ArrayOf[A], *, quota: NumberOf[A], population: NumberOf[A] | None = None, when_short: WhenShort | None = None, confidence_level: float = 0.95, method: Literal['score', 'wilson', 'exact'] = 'score', sample_weight: ArrayOf[A] | None = None, where: ArrayOf[A] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, groups: ArrayOf[Any] | None = None, num_groups: int | None = None) -> HitRateInterval[A]: ...
    @overload
    def __call__(self, y_true: ArrayOf[A], y_score: ArrayOf[A], *, fraction: NumberOf[A], population: NumberOf[A] | None = None, confidence_level: float = 0.95, method: Literal['score', 'wilson', 'exact'] = 'score', sample_weight: ArrayOf[A] | None = None, where: ArrayOf[A] | None = None, pos_label: Any = None, ties: TiePolicy = 'expected', validate: bool = True, groups: ArrayOf[Any] | None = None, num_groups: int | None = None) -> HitRateInterval[A]: ...
hit_rate_interval: AsHitRateInterval
