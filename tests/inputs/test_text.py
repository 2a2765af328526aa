"""Numbers as people read them: one value, one text."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quotakernels._text import digits, fixed, formatted, money, number, percent, plain
from quotakernels.ops import STANDARD_ONLY

FORMS = (digits, fixed(1), fixed(4), money, number, percent, plain)
TYPES = (float, np.float64, np.float32, np.asarray)
VALUES = (0, 1, 3, 2.5, 116.15, 116.25, 0.35, 1.005, 0.125, 73.4940, 1e-3, 123456.7, 16777216.0)


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_one_text_in_every_type(form: Callable[[Any], str]):
    for value in VALUES:
        several = {form(kind(x)) for kind in TYPES for x in (value, -value)}
        assert len({x.lstrip("-") for x in several}) == 1, (value, several)
    for value in (Fraction(233, 2), Decimal("116.5"), np.float16(116.5)):
        assert form(value) == form(116.5)
    for value in (3, np.int8(3), np.uint64(3), np.asarray(3), True + 2):
        assert form(value) == form(3.0)


@pytest.mark.skipif(STANDARD_ONLY, reason="no library of arrays is needed for this")
@pytest.mark.parametrize("library", ["jax.numpy", "torch"])
def test_arrays_of_other_libraries(library: str):
    xp = pytest.importorskip(library)
    for value in (116.15, 0.35):
        assert fixed(1)(xp.asarray(value, dtype=xp.float32)) == fixed(1)(value)


def test_sums_in_other_orders_are_the_same_text():
    """One ends below a half, one above it."""
    sums = (0.1 + 0.2 + 0.05, 0.05 + 0.2 + 0.1, 0.35, np.float64(0.35), np.nextafter(0.35, 1))
    assert len(set(sums)) > 1
    assert len({number(x) for x in sums}) == 1
    below, above = (np.nextafter(116.15, x) for x in (0, 1e3))
    assert number(below) == number(above) == number(116.15)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (number(1234567), "1,234,567"),
        (number(1234.56), "1,234.6"),
        (number(2.0), "2"),
        (number(1.15), "1.2"),
        (number(1.25), "1.2"),
        (number(0.04), "0.04"),
        (number(0.998), "1"),
        (number(-1e-12), "0"),
        (percent(0.953), "95.3%"),
        (percent(0.00123), "0.12%"),
        (percent(3 / 350), "0.86%"),
        (percent(0), "0.0%"),
        (percent(float("nan")), "undefined"),
        (money(-0.0), "0.00"),
        (money(999.99), "999.99"),
        (money(-1234.56), "-1,235"),
        (money(0.01234), "0.0123"),
        (plain(2**53), "9007199254740992"),
        (plain(0.1 + 0.2), "0.3"),
        (digits(27.31597), "27.32"),
        (digits(9999.4), "9,999"),
        (digits(-9999.6), "-10,000"),
        (digits(22416.25), "22,416"),
        (digits(1e15), "1e+15"),
        (formatted(1e300, ".3g"), "1e+300"),
        (formatted(float("inf"), ".3f"), "inf"),
        (formatted(-1e-9, ".3f"), "0.000"),
    ],
)
def test_forms(text: str, wanted: str):
    assert text == wanted
