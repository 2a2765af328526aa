"""What the command says of data sets of known populations is true, and never contradicts itself."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from benchmarks.coverage import claims
from benchmarks.coverage.claims import judged
from benchmarks.coverage.populations import POPULATIONS
from benchmarks.coverage.truthful import Counts, counted

RARE, UNLIKELY = 1e-3, 1e-2
"""Of so improbable a number of false claims it is not chance that made them: about one population,
and about all together.
"""


def is_chance(false: int, of: int, share: float, rare: float) -> bool:
    """Whether so many, or more, are not too improbable."""
    fewer = sum(math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(false))
    return 1 - fewer > rare


def too_often(found: dict[str, Counts], replications: int) -> dict[tuple[str, str], str]:
    """The claims that are false too often of a population, or of all in which they were made.

    An interval may be false in 8% of the times it was given.  Any other claim may be false in 5% of
    the data sets, as all that is said of models that are equally good is false.
    """
    shares = {}
    for claim in {x for counts in found.values() for x in counts}:
        is_interval = claim.replace(" again", "") in claims.INTERVALS
        share, all_false, all_of = 0.08 if is_interval else 0.05, 0, 0
        if claim.startswith(("contradiction", "unknown")):
            share = 0.0
        for name in (x for x, counts in found.items() if claim in counts):
            made, false = found[name][claim]
            of = made if is_interval else replications
            if not is_chance(false, of, share, RARE):
                shares[name, claim] = f"{false} of {of}"
            all_false, all_of = all_false + false, all_of + of
        if not is_chance(all_false, all_of, share, UNLIKELY):
            shares["all", claim] = f"{all_false} of {all_of}"
    return shares


def test_each_sentence_claims_something_or_nothing():
    """A new sentence goes into the list that says what it claims."""
    parts = (*claims.QUESTIONS, "nothing", "tests")
    answers = [x for x in claims.SENTENCES if x.partition(".")[0] in parts]
    claimed = [x for x in claims.CLAIMS if x not in claims.PARTS]
    listed = Counter([*claimed, *claims.DOUBTS, *claims.FACTS, *claims.PARTS])
    assert set(answers) == set(listed)
    assert max(listed.values()) == 1


FALSE = """rows.parquet
500 rows, 100 positive (label), prevalence 20%

Which model should fill my quota? {verdict}.
Take the first 50 rows by m0: 25 (95% interval 18.1 to 31.9) are positive (label), a hit rate of \
50.0% (the best of 2 here; expect {expected} on new data).
m1 finds 24 and a random choice 10.

How sure is the order of the models? {sure}.
m0 finds 1 more than m1 in 50 places (95% interval -7.9 to 9.9, p {p}).{doubt}

At quota 50
model  found  hit rate    95% interval  lift    AUC
───────────────────────────────────────────────────
m0        25     50.0%  36.2% to 63.8%   2.5  0.700
m1        24     48.0%  34.6% to 62.7%   2.4  0.690
"""
RIGHT = {
    "verdict": "m0, but that is not certain",
    "expected": "49.5%",
    "sure": "Not sure: the models cannot be told apart at this quota",
    "p": "= 0.83",
    "doubt": "",
}
SEEN = {
    "contradiction: verdict, and how sure": {"verdict": "m0"},
    "which: one model": {"verdict": "m0"},
    "sure.best": {"sure": "Sure that m0 is the best"},
    "contradiction: random choice, and a model": {"verdict": "None: a random choice does better"},
    "which.random_is_better": {"verdict": "None: a random choice does better"},
    "contradiction: p, and its interval": {"p": "= 0.012"},
    "contradiction: p, and who may be as good": {"p": "= 0.012"},
    "contradiction: expected, and the interval": {"expected": "70%"},
    "contradiction: expected, and the mean of all": {"expected": "40.0%"},
    "contradiction: no better than random, and the interval": {
        "doubt": "\nIt may be no better than a random choice."
    },
    "unknown sentence: It is the cheapest.": {"doubt": "\nIt is the cheapest."},
}


@pytest.mark.parametrize("claim", SEEN)
def test_false_pages_are_noticed(claim: str):
    truth = POPULATIONS["two alike"].truth
    right = judged(FALSE.format(**RIGHT), truth, tested=True)
    assert [x for x, false in right.items() if false] == []
    assert judged(FALSE.format(**RIGHT | SEEN[claim]), truth, tested=True)[claim]


def test_what_the_command_says_is_true_and_nothing_contradicts_it():
    assert too_often({name: counted(name, range(1)) for name in POPULATIONS}, 1) == {}


@pytest.mark.full
def test_false_claims_are_rare():
    found = {name: counted(name, range(1, 21)) for name in POPULATIONS}
    assert too_often(found, 20) == {}
