"""Exact sums over paths, histograms and sketches, and the estimates and intervals made of them."""
