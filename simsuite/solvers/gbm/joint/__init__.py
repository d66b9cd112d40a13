"""Payoffs in several markets at once, on paths that are made of the same random numbers."""
