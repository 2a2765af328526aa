"""ROC and precision-recall space: curves, areas, hulls, dominance and costs."""
