"""Paths from Sobol points by a Brownian bridge."""
