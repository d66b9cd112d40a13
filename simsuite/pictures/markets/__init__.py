"""Panels on Monte Carlo runs: densities, sensitivities, and prices over the number of paths."""
