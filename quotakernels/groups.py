"""Groups of examples: their counts, the mean over them, and what each gets of one quota."""

from quotakernels.measures.public import (
    entities as entities,
    group_counts as group_counts,
    group_mean as group_mean,
    selection_by_group as selection_by_group,
)

__all__ = [name for name in dir() if not name.startswith("_")]
