"""Measures of ranked retrieval: success, reciprocal rank, DCG and NDCG of each list."""

from quotakernels.measures.public import (
    dcg as dcg,
    expected_average_precision as expected_average_precision,
    ndcg as ndcg,
    normalized_pr_auc as normalized_pr_auc,
    pr_gain_auc as pr_gain_auc,
    pr_gain_curve as pr_gain_curve,
    reciprocal_rank as reciprocal_rank,
    success as success,
)

__all__ = [name for name in dir() if not name.startswith("_")]
