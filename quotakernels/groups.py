"""Groups of examples: their counts, the mean over them, and what each gets of one quota."""

from quotakernels.measures.at_quota.selection_by_group import selection_by_group
from quotakernels.measures.by_group import group_counts, group_mean

__all__ = ["group_counts", "group_mean", "selection_by_group"]
