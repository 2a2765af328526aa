"""The measures, each a pure function of the table of a ranking."""
