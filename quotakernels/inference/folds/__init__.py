"""Cross-validation: what the folds say together."""
