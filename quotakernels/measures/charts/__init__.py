"""Powers' charts, lines in them and the area under kappa."""
