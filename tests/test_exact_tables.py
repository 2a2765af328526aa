"""The exact reference of tables, impacts and charts: worked numbers, one count against another.

``EL`` is Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for End
Users", 2016; ``PW`` is Powers, "Visualization of Tradeoff in Evaluation", 2015.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import exact as ex
import numpy as np
import pytest
from exact import charts, confusion, impact
from exact.small_tables import rankings

pytestmark = pytest.mark.full

F = Fraction
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(20)
# EL section 7.3: impacts in thousands of dollars, and the two tests of Table 7.
IMPACTS = (0, F("-7.9"), -13, 0)
ANTI_CCP = confusion.table_from_rates(F(1, 2), F(".67"), F(".05"))
RF = confusion.table_from_rates(F(1, 2), F(".69"), F(".15"))


def rounded(values, digits=3):
    return [round(float(value), digits) for value in values]


# Relations


def test_area_under_kappa_is_the_integral():
    for ranking in rankings(4):
        negatives, total = ex.roc_curve(ranking)[-1].fp, 0.0
        for a, b in pairwise(ex.roc_curve(ranking)):
            for x, w in zip(NODES, NODE_WEIGHTS, strict=True):
                quota = a.fp + a.tp + F((1 + x) / 2) * (b.fp + b.tp - a.fp - a.tp)
                kappa = confusion.cohen_kappa(confusion.table_at_quota(ranking, quota))
                total += float(w * float(kappa) / 2 * float((b.fp - a.fp) / negatives))
        assert charts.auk(ranking) == pytest.approx(total, abs=1e-12)


# Eiland & Liebrock: worked numbers


def test_eiland_and_liebrock_blood_tests():
    assert rounded(impact.outcome_impact(ANTI_CCP, IMPACTS)) == [-0.549, -3.352, -1.950]
    assert rounded(impact.outcome_impact(RF, IMPACTS)) == [-1.411, -3.474, -2.442]
