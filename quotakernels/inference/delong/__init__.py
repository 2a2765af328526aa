"""Closed-form intervals and tests of AUC, PEM and Gini."""
