"""Measures of ranked retrieval: what a reader of each list finds, and how soon."""
