"""Rankings and scores from other frameworks, one module for each; none is imported here."""
