"""Why targets are missed: what was found by profiles."""

from __future__ import annotations

from typing import NamedTuple


class Miss(NamedTuple):
    """A target that is missed, and the figures of all machines."""

    text: str
    target: str
    figures: list[float]

    @property
    def at_least(self) -> bool:
        """Whether more is better."""
        return self.target.startswith("≥")


class Reason(NamedTuple):
    """Why some targets are missed, by a pattern of their texts."""

    what: str
    pattern: str
    why: str


REASONS = (
    Reason(
        "six measures / `np.sort`",
        r"^NumPy, AUC \+|^summary, uniform",
        "groups with positives take 27 %, sums 21 %",
    ),
    Reason(
        "AUC-PR, hull / `np.sort`",
        r"^exact AUC-PR|ROC hull",
        "logarithms; several passes over points",
    ),
    Reason("`select` / `np.sort`", r"quota, select", "writing each score's share"),
    Reason(
        "scikit-learn / six measures",
        r"scikit-learn's (roc|AUC)",
        "the slow sort alone reaches 8",
    ),
    Reason("torchmetrics / six measures", r"^PyTorch CPU|CPU tensors", "with a slow sort"),
    Reason("Metrax / six measures", r"metrax", "sorting takes half of it"),
    Reason("one batch / a loop", r"lists$", "with a slow sort"),
    Reason("bootstrap / scikit-learn", r"bootstrap", "five measures of each resample"),
    Reason(
        "one call, 1000 scores",
        r"one call|many ties",
        "`pr_auc` and `summary` make 300 NumPy calls",
    ),
    Reason("update / `np.bincount`", r"bincount", "copying the bins; holds for 10⁷ scores"),
    Reason("weights, memory / scores", r"memory", "the columns take seven"),
    Reason("PyTorch, launches", r"^PyTorch, ", "each call makes its columns"),
    Reason(
        "XLA, temporaries; lines; compiling",
        r"^XLA, ",
        "the hull's edges and loop; exact weighted sums",
    ),
    Reason("PyTorch, GPU / sort", r"^torch-gpu.*own sort", "108 launches, mostly 64-bit columns"),
    Reason("CuPy / sort", r"^cupy", "few native operations"),
    Reason(
        "torchmetrics, GPU / six measures", r"^torch-gpu.*torchmetrics", "it computes AUC alone"
    ),
)
