"""What functions return: named tuples whose fields are arrays, and an `Evaluation`, with what it
holds.
"""

from quotakernels.evaluation.answers import Answer
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.groups import GroupResults, GroupValues
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Differences, GainResults, Values
from quotakernels.evaluation.segments import Segment
from quotakernels.evaluation.settings import Settings
from quotakernels.evaluation.tables import Table
from quotakernels.inference.comparison.compare import Comparison
from quotakernels.inference.comparison.selections import SelectionComparison
from quotakernels.inference.comparison.voting import Vote
from quotakernels.inference.delong.covariance import AucCovariance
from quotakernels.inference.delong.difference import DelongTest
from quotakernels.inference.delong.interval import AucInterval
from quotakernels.inference.folds.cross_validation import FoldSummary, FoldTest
from quotakernels.inference.proportions.hit_rate import HitRateInterval
from quotakernels.inference.resampling.bands import CurveBand
from quotakernels.inference.resampling.best_cut import BestCutInterval
from quotakernels.inference.resampling.bootstrap import BootstrapResult
from quotakernels.measures._unsorted import RankingAtQuota
from quotakernels.measures.at_quota.curves import Curve
from quotakernels.measures.at_quota.hit_rate import LiftTable
from quotakernels.measures.at_quota.selection import QuotaThreshold
from quotakernels.measures.at_quota.selection_by_group import SelectionByGroup
from quotakernels.measures.by_group import GroupCounts, GroupMean
from quotakernels.measures.charts.lines import ChartLine
from quotakernels.measures.charts.powers import Chart, ChartPoints
from quotakernels.measures.gains._kinds import QuotaImpact
from quotakernels.measures.multiclass import OneVsRest
from quotakernels.measures.over_quotas.areas import PemAreas
from quotakernels.measures.over_quotas.marks import Marks
from quotakernels.measures.over_quotas.summary import Summary
from quotakernels.measures.roc_pr.costs import OperatingPoint
from quotakernels.measures.roc_pr.dominance import Regions
from quotakernels.measures.roc_pr.family import Mixture
from quotakernels.measures.roc_pr.hull import RocHull
from quotakernels.measures.roc_pr.operating import CurvePoint, DetCurve
from quotakernels.measures.roc_pr.points import PrPoints, RocPoints
from quotakernels.measures.roc_pr.precision_recall import PrCurve
from quotakernels.measures.roc_pr.roc import RocCurve
from quotakernels.measures.tables.best_cut import BestCut
from quotakernels.measures.tables.boundary import BestBoundary, CutTables
from quotakernels.measures.tables.impact import ClassImpact, Impact, OutcomeImpact

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
