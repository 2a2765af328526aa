"""The record of an evaluation, with what each model has by name."""

from __future__ import annotations

import json
from typing import Any

BEST_CUT = ("threshold", "quota", "fraction", "brings", "per_place", "expected")


def by_model(record: Any) -> Any:
    """A record, or its JSON, with values by model, quota and measure."""
    record = json.loads(record) if isinstance(record, str) else record
    models: dict[str, Any] = {name: {"score": name} for name in record["models"]}
    for row in record.pop("values"):
        target, measure = models[row["model"]], row["measure"]
        at = "budget" if "budget" in row else "quota"
        if row[at] is not None:
            target = target.setdefault(f"{at}s", {}).setdefault(row[at], {})
        elif measure in BEST_CUT and row["group"] is None:
            target = target.setdefault("best_cut", {})
        if row["group"] is not None:
            target = target.setdefault("groups", {}).setdefault(row["group"], {})
        target[measure] = row["value"]
        if row["lower"] is not None:
            kind = "bounds" if row["value"] is None else "intervals"
            target.setdefault(kind, {})[measure] = [row["lower"], row["upper"]]
    return {**record, "models": list(models.values())}
