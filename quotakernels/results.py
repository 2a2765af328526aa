"""What functions return: named tuples whose fields are arrays, and an `Evaluation`, with what it
holds.
"""

import importlib as _importlib
import typing as _typing

from quotakernels.inference.bands import CurveBand
from quotakernels.inference.best_cuts import BestCutInterval
from quotakernels.inference.bootstrapping import BootstrapResult
from quotakernels.inference.comparing import Comparison
from quotakernels.inference.delong import AucCovariance, AucInterval, DelongTest
from quotakernels.inference.folds import FoldSummary, FoldTest
from quotakernels.inference.hit_rates import HitRateInterval
from quotakernels.inference.selections import SelectionComparison
from quotakernels.inference.voting import Vote
from quotakernels.measures._unsorted import RankingAtQuota
from quotakernels.measures.at_quota.curves import Curve
from quotakernels.measures.at_quota.hit_rate import LiftTable
from quotakernels.measures.at_quota.selection import QuotaThreshold
from quotakernels.measures.by_group import GroupCounts, GroupMean, SelectionByGroup
from quotakernels.measures.charts import Chart, ChartLine, ChartPoints
from quotakernels.measures.gains import QuotaImpact
from quotakernels.measures.multiclass import OneVsRest
from quotakernels.measures.over_quotas.areas import PemAreas
from quotakernels.measures.over_quotas.summary import Marks, Summary
from quotakernels.measures.roc_pr.costs import OperatingPoint
from quotakernels.measures.roc_pr.curves import PrCurve, RocCurve
from quotakernels.measures.roc_pr.dominance import Regions
from quotakernels.measures.roc_pr.hull import Mixture, RocHull
from quotakernels.measures.roc_pr.operating import CurvePoint, DetCurve
from quotakernels.measures.roc_pr.points import PrPoints, RocPoints
from quotakernels.measures.tables.best_cut import BestBoundary, BestCut, CutTables
from quotakernels.measures.tables.impact import ClassImpact, Impact, OutcomeImpact

if _typing.TYPE_CHECKING:
    from quotakernels.evaluation.answers import Answer
    from quotakernels.evaluation.evaluation import Evaluation
    from quotakernels.evaluation.results import (
        Differences,
        GainResults,
        GroupResults,
        GroupValues,
        Segment,
        Values,
    )
    from quotakernels.evaluation.settings import Quota, Settings
    from quotakernels.evaluation.tables import Table

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

__all__ = [
    "Answer",
    "AucCovariance",
    "AucInterval",
    "BestBoundary",
    "BestCut",
    "BestCutInterval",
    "BootstrapResult",
    "Chart",
    "ChartLine",
    "ChartPoints",
    "ClassImpact",
    "Comparison",
    "Curve",
    "CurveBand",
    "CurvePoint",
    "CutTables",
    "DelongTest",
    "DetCurve",
    "Differences",
    "Evaluation",
    "FoldSummary",
    "FoldTest",
    "GainResults",
    "GroupCounts",
    "GroupMean",
    "GroupResults",
    "GroupValues",
    "HitRateInterval",
    "Impact",
    "LiftTable",
    "Marks",
    "Mixture",
    "OneVsRest",
    "OperatingPoint",
    "OutcomeImpact",
    "PemAreas",
    "PrCurve",
    "PrPoints",
    "Quota",
    "QuotaImpact",
    "QuotaThreshold",
    "RankingAtQuota",
    "Regions",
    "RocCurve",
    "RocHull",
    "RocPoints",
    "Segment",
    "SelectionByGroup",
    "SelectionComparison",
    "Settings",
    "Summary",
    "Table",
    "Values",
    "Vote",
]
