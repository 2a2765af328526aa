"""How sure a measure is: intervals and comparisons."""
