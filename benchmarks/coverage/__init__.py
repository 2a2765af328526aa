"""How often intervals hold the true value, and tests reject what is true, by simulation.

``python -m benchmarks.coverage`` simulates, and ``python -m benchmarks.coverage report`` writes the
documents' page of a stored run.  Each kind of interval or test is a function of a population and a
draw of it.
"""
