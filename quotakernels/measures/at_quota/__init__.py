"""Measures of the best examples that fill one quota."""
