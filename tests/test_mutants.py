"""The script that changes the library to see whether tests notice."""

from __future__ import annotations

import difflib

import mutants
import pytest


@pytest.mark.full
@pytest.mark.parametrize("only", ["ranking.py", "measures/at_quota.py", "inference/hit_rates.py"])
def test_each_change_is_one_place_of_a_file_that_still_compiles(only: str):
    count, tried = mutants.sampled(only, 20, 0)
    assert count > len(tried) == 20
    assert len(set(tried)) == 20
    for mutant in tried:
        before = (mutants.ROOT / mutant.path).read_text("utf-8").splitlines()
        after = mutants.source_of(mutant).splitlines()
        compile("\n".join(after), mutant.path, "exec")
        edits = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        (place,) = [x for x in edits if x[0] != "equal"]
        assert place[1] == mutant.line - 1


def test_what_was_decided_is_still_in_the_library():
    gone = [
        (path, line)
        for path, line in mutants.DECIDED
        if line not in {x[0].change for x in mutants.changes_of(mutants.ROOT / path)}
    ]
    assert gone == [], "DECIDED of tests/mutants.py has lines that moved or went: move or drop them"
