"""Multilevel Monte Carlo: most paths with few time steps, few paths with all."""
