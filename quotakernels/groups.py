"""Groups of examples: their counts, the mean over them, and what each gets of one quota."""

from quotakernels.measures.public import group_counts, group_mean, selection_by_group

__all__ = ["group_counts", "group_mean", "selection_by_group"]
