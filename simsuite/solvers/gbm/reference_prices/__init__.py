"""Exact prices, Greeks and laws, read from the scenario alone, to verify results against."""
