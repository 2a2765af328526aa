"""Bridges to other frameworks, one module for each; none is imported here."""
