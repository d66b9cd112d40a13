"""Panels on linear systems: inputs, means of a batch with their bands, and how its states are distributed."""
