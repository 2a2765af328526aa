"""Intervals of the hit rate."""
