"""The bootstrap: intervals, bands around curves, and the best cut."""
