"""What standard errors leave out: jumps and extremes that no path has come upon, and rounding."""
