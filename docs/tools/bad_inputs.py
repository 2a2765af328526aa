"""Run the whole table of bad and extreme input: ``python docs/tools/bad_inputs.py [--write]``.

Prints every case of which something else comes than must, and the totals beside those of other
libraries; with ``--write`` docs/checks.md shows the totals.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "docs" / "experiments")]

import exact as ex  # noqa: E402
from _pages import replaced, table  # noqa: E402
from backends import available  # noqa: E402
from bad_inputs import INPUTS, OPTIONS, Input  # noqa: E402
from bad_outcomes import WAYS, Way, judge, judge_option, quiet  # noqa: E402

PAGE = ROOT / "docs" / "checks.md"
SECTION = "bad inputs"
COUNTED = [way for way in WAYS if way.mode.name != "torch-compile"]
"""It traces every refused call anew, which is slow; the tests run a sample of it."""
OUTCOMES = ("as defined", "refuses what is defined", "a number that is not defined or wrong")

# this library


def whole_table(way: Way) -> tuple[int, int]:
    """How many cases there are in one way, and how many of them fail, which are printed."""
    inputs = [case for case in INPUTS if way.takes(case)]
    failures = [x for case in inputs for x in judge(way, case)]
    failures += [x for case in OPTIONS for x in judge_option(way, case)]
    for x in failures:
        print(f"{x.way}: {x.call}, {x.case}: {x.found}", file=sys.stderr)
    return sum(len(way.calls(case)) for case in inputs) + len(OPTIONS), len(failures)


# other libraries


def _scikit_learn() -> dict[str, Callable[..., Any]]:
    from sklearn import metrics

    return {
        "roc_auc": lambda y, s, w: metrics.roc_auc_score(y, s, sample_weight=w),
        "average_precision": lambda y, s, w: metrics.average_precision_score(y, s, sample_weight=w),
    }


def _torchmetrics() -> dict[str, Callable[..., Any]]:
    import torch
    from torchmetrics.functional import classification, retrieval_precision

    def of(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        def measure(y: Any, s: Any, _: Any) -> Any:
            return function(torch.tensor(s), torch.tensor(y), **options)

        return measure

    return {
        "roc_auc": of(classification.binary_auroc),
        "average_precision": of(classification.binary_average_precision),
        "hit_rate": of(retrieval_precision, top_k=2),
    }


def _metrax() -> dict[str, Callable[..., Any]]:
    import jax.numpy as jnp
    import metrax

    def roc_auc(y: Any, s: Any, w: Any) -> Any:
        given = {"predictions": jnp.asarray(s), "labels": jnp.asarray(y)}
        if w is not None:
            given["sample_weights"] = jnp.asarray(w)
        return metrax.AUCROC.from_model_output(**given).compute()

    return {"roc_auc": roc_auc}


PEERS = {
    "scikit-learn": ("sklearn", _scikit_learn),
    "torchmetrics": ("torchmetrics", _torchmetrics),
    "metrax": ("metrax", _metrax),
}
EXACT: dict[str, Callable[[Any], Any]] = {
    "roc_auc": ex.roc_auc,
    "average_precision": ex.average_precision,
    "hit_rate": lambda groups: ex.hit_rate(groups, 2) if ex.total_weight(groups) >= 2 else None,
}
PLAIN = Input("", "", "fine", "", {}, {})


def _takes(library: str, case: Input) -> bool:
    """Whether a library has all of the arguments of a case."""
    named = set(case.given)
    if "where" in named or case.about == "forms":
        return False
    if library == "metrax":  # its arrays are float32
        return not case.wide
    return library != "torchmetrics" or "sample_weight" not in named


def _number(measure: Callable[..., Any], case: Input) -> float | None:
    """What a library makes of a case; None for an error, NaN, and what is no number."""
    given = case.arguments()
    try:
        with quiet():
            found = np.asarray(
                measure(given["y_true"], given["y_score"], given.get("sample_weight"))
            )
    except Exception:  # of any kind
        return None
    return float(found.real) if found.ndim == 0 and np.isfinite(found) else None


def _exact(name: str, case: Input) -> float | None:
    """The exact value; None where it is undefined, and for a case that is not fine."""
    if case.outcome != "fine" and not case.meant:
        return None
    rows = (case if case.outcome == "fine" else PLAIN).rows()
    value = EXACT[name](rows.groups)
    return None if value is None else float(value)


def _outcome(measure: Callable[..., Any], name: str, case: Input) -> str:
    """One of the `OUTCOMES`."""
    number, exact = _number(measure, case), _exact(name, case)
    if number is None:
        return OUTCOMES[1] if exact is not None and case.outcome == "fine" else OUTCOMES[0]
    right = exact is not None and abs(number - exact) <= 1e-6
    return OUTCOMES[0] if right else OUTCOMES[2]


def peer_totals(name: str) -> Counter[str]:
    """How often each of the outcomes comes."""
    measures = PEERS[name][1]()
    return Counter(
        _outcome(measure, called, case)
        for called, measure in measures.items()
        for case in INPUTS
        if _takes(name, case)
    )


# the page


def page_section() -> str:
    """The totals, as Markdown."""
    ways = {way: whole_table(way) for way in COUNTED if available(way.mode.library)}
    ours = table(("way", "cases", "not as they must be"), [(w, *x) for w, x in ways.items()])
    rows = []
    for name, (module, _) in PEERS.items():
        if available(module):
            totals = peer_totals(name)
            rows.append((name, sum(totals.values()), *(totals[x] for x in OUTCOMES)))
    return f"{ours}\n\n{table(('library', 'cases', *OUTCOMES), rows)}"


if __name__ == "__main__":
    body = page_section()
    print(body)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(replaced(PAGE.read_text("utf-8"), SECTION, body), encoding="utf-8")
