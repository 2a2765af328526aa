"""The version of the library, by itself so that every module may have it."""

__version__ = "0.1.0"
