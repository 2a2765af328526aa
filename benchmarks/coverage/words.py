"""What the page says of each kind of interval and test."""

ABOUT = """\
# Coverage

This page is made of a stored run by `python -m benchmarks.coverage report`; change
`benchmarks/coverage`, not it.

A 95 % interval should hold the true value in 95 of 100 data sets, and a test at 5 % find a
difference where there is none in 5. Here data sets are drawn again and again from populations whose
true values are known, and what holds is counted. Scores are normal, those of positives higher by a
shift; tied ones are ratings in steps of 1. The number of positives is left to chance, as it is in
life. The hit rate is that of the best tenth. [How sure is it](uncertainty.md#which-interval) tells
which interval to take.
"""
BOOTSTRAP = ""
CLOSED_FORMS = ""
GROUPS = ""
FINITE_LIST = ""
DIFFERENCES = ""
LEVELS = ""
BANDS = ""
OPTIMUM = ""
FOLDS = ""
FOLD_LEVELS = ""
