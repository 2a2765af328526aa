"""Measures of ranked retrieval: success, reciprocal rank, DCG and NDCG of each list."""

from quotakernels.measures.public import (
    dcg,
    expected_average_precision,
    ndcg,
    reciprocal_rank,
    success,
)

__all__ = ["dcg", "expected_average_precision", "ndcg", "reciprocal_rank", "success"]
