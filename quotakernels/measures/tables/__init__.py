"""Confusion tables and their measures, a file per family."""
