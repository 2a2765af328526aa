"""Measures of ranked retrieval: success, reciprocal rank, DCG and NDCG of each list."""

from quotakernels.measures.retrieval.ranked import dcg, ndcg, reciprocal_rank, success
from quotakernels.measures.roc_pr.precision_recall import expected_average_precision

__all__ = ["dcg", "expected_average_precision", "ndcg", "reciprocal_rank", "success"]
