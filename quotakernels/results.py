"""What functions return: named tuples whose fields are arrays, and an `Evaluation`, with what it
holds.
"""

import importlib as _importlib
import typing as _typing

from quotakernels.inference.bands import BestCutInterval as BestCutInterval, CurveBand as CurveBand
from quotakernels.inference.bootstrapping import BootstrapResult as BootstrapResult
from quotakernels.inference.comparing import Comparison as Comparison
from quotakernels.inference.comparing import JointTest as JointTest
from quotakernels.inference.areas import AucCovariance as AucCovariance, AucInterval as AucInterval
from quotakernels.inference.areas import DelongTest as DelongTest
from quotakernels.inference.folds import FoldSummary as FoldSummary, FoldTest as FoldTest
from quotakernels.inference.hit_rates import Interval as Interval
from quotakernels.inference.hit_rates import SelectionComparison as SelectionComparison
from quotakernels.inference.planning import SampleSize as SampleSize
from quotakernels.inference.published import TableComparison as TableComparison
from quotakernels.inference.voting import MeasureCorrelations as MeasureCorrelations, Vote as Vote
from quotakernels.measures._measure import RankingAtQuota as RankingAtQuota
from quotakernels.measures.at_quota import Curve as Curve, LiftTable as LiftTable
from quotakernels.measures.by_group import Entities as Entities, GroupCounts as GroupCounts
from quotakernels.measures.by_group import GroupMean as GroupMean
from quotakernels.measures.by_group import SelectionByGroup as SelectionByGroup
from quotakernels.measures.charts import Chart as Chart, ChartLine as ChartLine
from quotakernels.measures.charts import ChartPoints as ChartPoints
from quotakernels.measures.decisions import (
    BrierCurve as BrierCurve,
    CostCurve as CostCurve,
    DecisionCurve as DecisionCurve,
    MaximumProfit as MaximumProfit,
)
from quotakernels.measures.dominance import Regions as Regions
from quotakernels.measures.gains import QuotaImpact as QuotaImpact
from quotakernels.measures.hull import Mixture as Mixture, OperatingPoint as OperatingPoint
from quotakernels.measures.hull import RocHull as RocHull
from quotakernels.measures.multiclass import OneVsRest as OneVsRest
from quotakernels.measures.operating import CurvePoint as CurvePoint, DetCurve as DetCurve
from quotakernels.measures.operating import KolmogorovSmirnov as KolmogorovSmirnov
from quotakernels.measures.over_quotas import Marks as Marks, PemAreas as PemAreas
from quotakernels.measures.over_quotas import Summary as Summary
from quotakernels.measures.roc_pr import PrCurve as PrCurve, PrGainCurve as PrGainCurve
from quotakernels.measures.roc_pr import PrPoints as PrPoints
from quotakernels.measures.roc_pr import RocCurve as RocCurve, RocPoints as RocPoints
from quotakernels.measures.selection import QuotaThreshold as QuotaThreshold
from quotakernels.measures.tables.best_cut import BestBoundary as BestBoundary, BestCut as BestCut
from quotakernels.measures.tables.best_cut import CutTables as CutTables
from quotakernels.measures.tables.rates import ClassImpact as ClassImpact, Impact as Impact
from quotakernels.measures.tables.rates import OutcomeImpact as OutcomeImpact

if _typing.TYPE_CHECKING:
    from quotakernels.evaluation.answers import Answer as Answer
    from quotakernels.evaluation.evaluation import Evaluation as Evaluation
    from quotakernels.evaluation.results import (
        Differences as Differences,
        GainResults as GainResults,
        GroupResults as GroupResults,
        GroupValues as GroupValues,
        Segment as Segment,
        Values as Values,
    )
    from quotakernels.evaluation.settings import Quota as Quota, Settings as Settings
    from quotakernels.evaluation.tables import Table as Table

else:  # the application loads when it is first asked for

    def __getattr__(name: str) -> _typing.Any:
        if name not in _OF_EVALUATIONS:
            raise AttributeError(f"module 'quotakernels.results' has no attribute {name!r}")
        module = _importlib.import_module(f"quotakernels.evaluation.{_OF_EVALUATIONS[name]}")
        globals()[name] = found = getattr(module, name)
        return found


_OF_EVALUATIONS = {
    "Answer": "answers",
    "Differences": "results",
    "Evaluation": "evaluation",
    "GainResults": "results",
    "GroupResults": "results",
    "GroupValues": "results",
    "Quota": "settings",
    "Segment": "results",
    "Settings": "settings",
    "Table": "tables",
    "Values": "results",
}

__all__ = [x for x in sorted({*dir(), *_OF_EVALUATIONS}) if not x.startswith("_")]
