"""Bridges to training frameworks, each of which imports its own."""
