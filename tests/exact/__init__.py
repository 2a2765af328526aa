"""Exact reference for the measures: plain Python and ``Fraction``, straight from the sums.

Nothing here is fast or clever, and nothing is shared with the library: it is what the library is
compared with. ``None`` stands for "undefined". Sequences are Python sequences (of an array, pass
``.tolist()``); every number is converted exactly, so ``0.1`` means the float, not one tenth.

``AR`` is Arbel & Rokach, "Classifier Evaluation under Limited Resources", ``DG`` is
Davis & Goadrich, "The Relationship Between Precision-Recall and ROC Curves".

Measures of one table have common names: they stay in their modules, ``confusion`` (two classes),
``classes`` (K classes), ``impact``, ``charts`` and ``retrieval``.
"""

from . import charts, classes, confusion, impact, operating, retrieval
from .at_quota import (
    LiftBin,
    QuotaThreshold,
    SelectionByGroup,
    T,
    cuts,
    hit_rate,
    lift,
    lift_table,
    pearson,
    pearson_signed_square,
    qrecall,
    quota_threshold,
    select,
    selection_by_group,
    signed_root,
)
from .costs import (
    OperatingPoint,
    best_operating_point,
    expected_cost,
    h_measure,
    h_measure_float,
    iso_performance_slope,
    prevalence_of,
    real_beta,
)
from .envelope import Region, best_regions
from .large import (
    large_average_hit_rate,
    large_average_qrecall,
    large_hit_rate,
    large_pearson,
    large_pem,
    large_pem_areas,
    large_qrecall,
    large_roc_auc,
)
from .points import interpolate_pr, pr_to_roc, roc_to_pr
from .pr import (
    achievable_pr_auc,
    achievable_pr_curve,
    average_precision,
    average_precision_over_orders,
    dominates_pr,
    expected_average_precision,
    pr_auc_exact,
    pr_auc_trapezoid,
    pr_curve,
    pr_pieces,
)
from .roc import (
    HullVertex,
    Mixture,
    area,
    at_thresholds,
    dominates_roc,
    family_hull,
    groups_from_points,
    hull_groups,
    mixture,
    partial_auc,
    roc_curve,
    roc_hull,
    roc_hull_auc,
)
from .small_cases import cases, ordered_cases, weighted_cases, without_ties
from .summary import (
    area_of_hit_rate,
    average_hit_rate,
    average_qrecall,
    chance_average_hit_rate,
    chance_average_qrecall,
    gini,
    integral,
    mean_hit_rate,
    normalized_mark,
    optimum,
    pem,
    pem_areas,
    roc_auc,
)
from .table import (
    Group,
    Number,
    groups,
    groups_from_counts,
    total_count,
    total_positive_weight,
    total_weight,
)
