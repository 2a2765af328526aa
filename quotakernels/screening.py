"""Screening: early recognition of the few that count, and the work that a ranking saves."""

from quotakernels.measures.public import (
    bedroc as bedroc,
    log_auc as log_auc,
    normalized_enrichment_factor as normalized_enrichment_factor,
    rie as rie,
    roc_enrichment as roc_enrichment,
    work_saved_over_sampling as work_saved_over_sampling,
)

__all__ = [name for name in dir() if not name.startswith("_")]
