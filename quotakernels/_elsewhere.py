"""Names known from elsewhere: what to call here, or that it is not offered."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

_PREDICTIONS = "tables.confusion_table_from_predictions(y_true, y_pred)"
_KS = "points.kolmogorov_smirnov(y_true, y_score).value"
_RECALL = "recall(y_true, y_score, threshold=t)"
_SPECIFICITY = "tables.true_negative_rate(y_true, y_score, threshold=t)"
_FALL_OUT = "tables.false_positive_rate(y_true, y_score, threshold=t)"
_MISS_RATE = "tables.false_negative_rate(y_true, y_score, threshold=t)"
_GAINS = "qrecall_curve(y_true, y_score)"
_UPLIFT = "uplift.auuc(y_true, y_score, treatment=treated)"
_QINI = "uplift.qini_coefficient(y_true, y_score, treatment=treated)"
_RR = "retrieval.reciprocal_rank(y_true, y_score), and group_mean of it"
_RANKED = {
    "auroc": "roc_auc",
    "average_precision": "average_precision",
    "precision_recall_curve": "pr_curve",
    "roc": "roc_curve",
}
_AVERAGED = ("auroc", "average_precision")  # by default over classes, as one_vs_rest does
_DECIDED = {
    "accuracy": "accuracy",
    "cohen_kappa": "tables.cohen_kappa",
    "f1_score": "f_score",
    "fbeta_score": "f_score.with_options(beta=2)",
    "matthews_corrcoef": "matthews_corrcoef",
    "precision": "precision",
    "recall": "recall",
    "specificity": "tables.true_negative_rate",
}
"""What the functions of torchmetrics are called here, which have their task before their name."""
_ONE_CLASS = "tables.confusion_table_from_predictions(y_true == c, y_pred == c)"
_AT_K = {
    "auroc": "roc_auc(y_true, y_score)",
    "average_precision": "expected_average_precision(y_true, y_score, quota=k)",
    "fall_out": "qrecall(1 - y_true, y_score, quota=k)",
    "hit_rate": "retrieval.success(y_true, y_score, quota=k)",
    "map": "expected_average_precision(y_true, y_score, quota=k)",
    "mrr": "retrieval.reciprocal_rank(y_true, y_score, quota=k)",
    "normalized_dcg": "retrieval.ndcg(None, y_score, gain=y_true, quota=k)",
    "precision": "hit_rate(y_true, y_score, quota=k)",
    "r_precision": "hit_rate(y_true, y_score, quota=sum(y_true))",
    "recall": "qrecall(y_true, y_score, quota=k)",
    "reciprocal_rank": "retrieval.reciprocal_rank(y_true, y_score, quota=k)",
}
"""Likewise of its metrics of retrieval, which are means over lists."""

INSTEAD = {
    "accuracy_ratio": "gini(y_true, y_score)",
    "accuracy_score": f"accuracy({_PREDICTIONS})",
    "Accuracy": "accuracy(y_true, y_score, threshold=t)",
    "AveragePrecision": "average_precision(y_true, y_score)",
    "Precision": "precision(y_true, y_score, threshold=t)",
    "Recall": _RECALL,
    "auc": "roc_auc(y_true, y_score), and pr_auc for the precision-recall curve",
    "aucroc": "roc_auc(y_true, y_score)",
    "aucpr": "pr_auc(y_true, y_score)",
    "auprc": "pr_auc(y_true, y_score)",
    "auuc_score": _UPLIFT,
    "auqc": "uplift.auuc(y_true, y_score, treatment=treated, curve='qini')",
    "auroc": "roc_auc(y_true, y_score)",
    "average_precision_at_k": "expected_average_precision(y_true, y_score, quota=k)",
    "average_precision_score": "average_precision(y_true, y_score)",
    "balanced_accuracy": f"(informedness({_PREDICTIONS}) + 1) / 2",
    "balanced_accuracy_score": f"(informedness({_PREDICTIONS}) + 1) / 2",
    "bootstrap_ci": "bootstrap(roc_auc, y_true, y_score)",
    "class_likelihood_ratios": (
        f"tables.positive_likelihood_ratio({_PREDICTIONS}), and tables.negative_likelihood_ratio"
    ),
    "classification_report": f"{_PREDICTIONS}, and measures of that table",
    "cohen_kappa_score": f"tables.cohen_kappa({_PREDICTIONS})",
    "confusion_matrix": _PREDICTIONS,
    "cumulative_gain": _GAINS,
    "cumulative_gain_curve": _GAINS,
    "cumulative_gains": _GAINS,
    "cumulative_gains_curve": _GAINS,
    "dcg_at_k": "retrieval.dcg(None, y_score, gain=y_true, quota=k)",
    "dcg_score": "retrieval.dcg(None, y_score, gain=y_true)",
    "decile_table": "lift_table(y_true, y_score)",
    "delong": "inference.delong_test(y_true, [y_score, y_score_b])",
    "f1": f"f_score({_PREDICTIONS})",
    "f1_score": f"f_score({_PREDICTIONS})",
    "fall_out": _FALL_OUT,
    "fbeta_score": f"f_score({_PREDICTIONS}, beta=2)",
    "fnr": _MISS_RATE,
    "fpr": _FALL_OUT,
    "gain_chart": _GAINS,
    "gain_curve": _GAINS,
    "gains_chart": _GAINS,
    "gains_table": "lift_table(y_true, y_score)",
    "gini_coefficient": "gini(y_true, y_score)",
    "gini_score": "gini(y_true, y_score)",
    "hit_rate_at_k": "hit_rate(y_true, y_score, quota=k)",
    "kappa": f"tables.cohen_kappa({_PREDICTIONS})",
    "ks": _KS,
    "ks_score": _KS,
    "ks_statistic": _KS,
    "lift_at_k": "lift(y_true, y_score, quota=k)",
    "lift_chart": "lift_curve(y_true, y_score)",
    "lift_score": "lift(y_true, y_score, fraction=0.1)",
    "matthews_corr_coef": f"matthews_corrcoef({_PREDICTIONS})",
    "mcc": f"matthews_corrcoef({_PREDICTIONS})",
    "mcnemar": "inference.compare_selections(y_true, [y_score, y_score_b], quota=k)",
    "mean_average_precision": "average_precision(y_true, y_score), and the mean of its values",
    "mean_reciprocal_rank": _RR,
    "miss_rate": _MISS_RATE,
    "mrr": _RR,
    "mutual_info_score": f"tables.mutual_information({_PREDICTIONS})",
    "ndcg_at_k": "retrieval.ndcg(None, y_score, gain=y_true, quota=k)",
    "ndcg_score": "retrieval.ndcg(None, y_score, gain=y_true)",
    "npv": "tables.inverse_precision(y_true, y_score, threshold=t)",
    "ppv": "precision(y_true, y_score, threshold=t)",
    "precision_at_k": "hit_rate(y_true, y_score, quota=k)",
    "precision_recall_curve": "pr_curve(y_true, y_score)",
    "precision_score": f"precision({_PREDICTIONS})",
    "qini_auc_score": _QINI,
    "qini_score": _QINI,
    "r_precision": "hit_rate(y_true, y_score, quota=sum(y_true))",
    "recall_at_k": "qrecall(y_true, y_score, quota=k)",
    "recall_score": f"recall({_PREDICTIONS})",
    "retrieval_metric": "group_mean(roc_auc, y_true, y_score, groups=groups)",
    "roc": "roc_curve(y_true, y_score)",
    "roc_auc_score": "roc_auc(y_true, y_score)",
    "sensitivity": _RECALL,
    "specificity": _SPECIFICITY,
    "tnr": _SPECIFICITY,
    "tpr": _RECALL,
    "uplift_at_k": "uplift.uplift_at_quota(y_true, y_score, treatment=treated, quota=k)",
    "uplift_auc_score": _UPLIFT,
    "youden_index": f"informedness({_PREDICTIONS})",
    "youden_j": f"informedness({_PREDICTIONS})",
    "zero_one_loss": f"tables.misclassification_rate({_PREDICTIONS})",
    **dict.fromkeys(
        ("binary_confusion_matrix", "binary_stat_scores"),
        "confusion_table(y_true, y_score, threshold=0.5)",
    ),
    "binary_eer": "points.equal_error_rate(y_true, y_score).value",
    "binary_precision_at_fixed_recall": "points.precision_at(y_true, y_score, recall=0.8).value",
    "binary_recall_at_fixed_precision": "points.recall_at(y_true, y_score, precision=0.8).value",
    **{f"binary_{x}": f"{ours}(y_true, y_score)" for x, ours in _RANKED.items()},
    **{f"binary_{x}": f"{ours}(y_true, y_score, threshold=0.5)" for x, ours in _DECIDED.items()},
    **{
        f"multiclass_{x}": f"one_vs_rest({ours}, y_class, class_scores{average})"
        for x, ours in _RANKED.items()
        for average in ["" if x in _AVERAGED else ", average=None"]
    },
    **{
        f"multilabel_{x}": f"{ours}(y_true, y_score), and both with a row for each label"
        for x, ours in _RANKED.items()
    },
    **{
        f"{task}_{x}": f"{ours}({_ONE_CLASS}), and so for each class c"
        for task in ("multiclass", "multilabel")
        for x, ours in _DECIDED.items()
    },
    **{f"retrieval_{x}": f"{call}, and group_mean of it" for x, call in _AT_K.items()},
}
"""What to call, by the name that something has elsewhere."""

ADAPTERS = {
    "compute": "flax.RankingMetric",
    "cross_val_score": "sklearn.SCORERS",
    "cross_validate": "sklearn.SCORERS",
    "from_model_output": "flax.RankingMetric",
    "make_scorer": "sklearn.scorer",
    "merge": "flax.RankingMetric",
    "metric": "torchmetrics.RankingMetric",
    "metric_collection": "torchmetrics.RankingMetric",
    "RankingMetric": "torchmetrics.RankingMetric",
}
"""What makes measures into those of another library, by the names of that library."""

_PROBABILITIES = "it judges probabilities; measures here depend on the order of the scores"
_CURVES = "curves take no groups; pr_curve is of one list"
_CLASSES = "it is about the k best classes of each example; hit_rate takes the k best examples"

NOT_OFFERED = {
    "brier_score": _PROBABILITIES,
    "brier_score_loss": _PROBABILITIES,
    "calibration_curve": _PROBABILITIES,
    "calibration_error": _PROBABILITIES,
    "cross_entropy": _PROBABILITIES,
    "expected_calibration_error": _PROBABILITIES,
    "jaccard": "f_score puts models into the same order",
    "jaccard_score": "f_score puts models into the same order",
    **dict.fromkeys(("hinge_loss", "binary_hinge_loss"), _PROBABILITIES),
    "log_loss": _PROBABILITIES,
    "retrieval_precision_recall_curve": _CURVES,
    "top_k_accuracy": _CLASSES,
    "top_k_accuracy_score": _CLASSES,
}
"""Why not, and what is near it, by the name that something has elsewhere."""

_DECISIONS = ("y_pred", "pred", "preds", "prediction", "predictions", "y_hat", "yhat")
_SCORES = (*_DECISIONS, "y_prob", "y_proba", "proba", "probas_pred", "score", "scores", "y_scores")
_KEYWORDS = {
    **dict.fromkeys(_SCORES, "y_score"),
    **dict.fromkeys(("labels", "target", "targets", "y"), "y_true"),
    **dict.fromkeys(("k", "top_k", "n"), "quota"),
    **dict.fromkeys(("top", "percent", "percentage", "share"), "fraction"),
    **dict.fromkeys(("weight", "weights"), "sample_weight"),
    **dict.fromkeys(("indexes", "segments", "qid"), "groups"),
    **dict.fromkeys(("seed", "rng", "random_seed", "generator"), "random_state"),
    **dict.fromkeys(("n_bootstraps", "n_bootstrap", "n_boot", "num_bootstraps"), "n_resamples"),
    **dict.fromkeys(("confidence", "level"), "confidence_level"),
    "mask": "where",
}
"""Keywords of other libraries: what is meant here."""


def keyword_hint(keyword: str, known: Iterable[str]) -> str:
    """What a message adds about a keyword that is none of those that are known."""
    names = list(known)
    if keyword in _DECISIONS and "threshold" in names:
        return f"; for decisions use {_PREDICTIONS}"
    if keyword == "threshold" and {"quota", "y_true"} <= set(names):
        return "; precision, recall and confusion_table take a threshold"
    if keyword == "ignore_index" and "where" in names:
        return "; pass where=y_true != ignore_index"
    if keyword in ("num_classes", "num_labels", "multi_class") and "y_score" in names:
        return "; one_vs_rest is for several classes, and leading axes are for several labels"
    if keyword == "alpha" and "confidence_level" in names:
        return "; pass confidence_level=1 - alpha"
    if keyword in ("groups", "num_groups") and "y_true" in names:
        alone = "call it with one group's examples, or with where=groups == id"
        return "; pass per= or by=" if "per" in names else f"; {alone}"
    if keyword in ("groups", "sample_weight", "cost") and "response_method" in names:
        return f"; it comes with the examples, after set_score_request({keyword}=True)"
    meant = [x for x in [_KEYWORDS.get(keyword)] if x in names]
    meant = meant or difflib.get_close_matches(keyword, names, n=1)
    return f"; did you mean {meant[0]!r}?" if meant else ""


def hint(name: str) -> str | None:
    """What to do who looks for `name`, a function or a class; None if nobody is known to."""
    known = [*INSTEAD, *ADAPTERS, *NOT_OFFERED]
    if name not in known:  # BinaryAUROC is binary_auroc, and NDCGAtK ndcg_at_k
        name = {x.replace("_", ""): x for x in known}.get(name.replace("_", "").lower(), name)
    if name in INSTEAD:
        return f"use {INSTEAD[name]}"
    if name in ADAPTERS:
        return f"use quotakernels.adapters.{ADAPTERS[name]}"
    return f"it is not offered: {NOT_OFFERED[name]}" if name in NOT_OFFERED else None


def absent(name: str, families: Mapping[str, Iterable[str]], importing: bool) -> Exception:
    """The error for a name that the top of the package lacks; a family may have it.

    To an import that of an attribute would tell nothing: Python has words of its own for it.
    """
    found = hint(name)
    for family, names in families.items():
        if name in names:
            found = f"use quotakernels.{family}.{name}"
    if found is None:
        return AttributeError(f"module 'quotakernels' has no attribute {name!r}")
    if importing:
        return ImportError(f"cannot import name {name!r} from 'quotakernels'; {found}", name=name)
    return AttributeError(f"quotakernels has no {name}; {found}")


def nearest(name: str, measures: list[str]) -> str | None:
    """Which of the measures is meant by a name that is none of them, or why none is."""
    ours = hint(name.removeprefix("neg_")) or ""
    called = re.match(r"use (?:\w+\.)*(\w+)\(", ours)
    meant = [x for x in measures if called and called[1] == x]
    if ours and not meant:
        return ours
    meant = meant or difflib.get_close_matches(name, measures)
    return f"did you mean {' or '.join(meant)}?" if meant else None
