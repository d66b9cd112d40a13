"""Errors that standard errors leave out: those from jumps and extremes that no path has come upon, and from
rounding."""
