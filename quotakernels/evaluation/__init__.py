"""Models evaluated together: every measure, intervals and tests, and what to do, in words.

`evaluate` computes; an `Evaluation` holds the results, which the command prints and the page shows.
"""
