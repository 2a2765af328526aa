"""Makes passengers.csv: invented passengers of invented flights, and the scores of two models.

What a passenger carries is drawn with a probability that the model `risk` knows but for noise.  Two
of the origins have more to find, and `risk` rises from day to day although nothing else does.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

FLIGHTS, DAYS = 24, 6
ORIGINS = {"Arden": -2.6, "Borel": -2.2, "Calla": -3.2, "Dorn": -2.9}


def passengers(seed: int = 18) -> list[tuple[object, ...]]:
    """A row for each passenger: day, flight, origin, both scores, and what was found."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[object, ...]] = []
    for flight in range(FLIGHTS):
        day, origin = flight * DAYS // FLIGHTS, list(ORIGINS)[flight % len(ORIGINS)]
        size = int(rng.integers(15, 60))
        odds = ORIGINS[origin] + rng.normal(scale=1.5, size=size)
        carried = rng.random(size) < 1 / (1 + np.exp(-odds))
        risk = odds + rng.normal(scale=0.8, size=size) + 0.3 * day
        rule = np.round(odds + rng.normal(scale=2.0, size=size))
        named = f"2026-03-{day + 2:02}", f"F{flight + 1:02}", origin
        found = zip(
            risk.round(2).tolist(), rule.astype(int).tolist(), carried.tolist(), strict=True
        )
        rows += [(*named, *scores, int(label)) for *scores, label in found]
    return rows


if __name__ == "__main__":
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("day", "flight", "origin", "risk", "rule", "carried"))
        writer.writerows(passengers())
