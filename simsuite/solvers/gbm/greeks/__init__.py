"""Derivatives of option prices by the market: pathwise, and by likelihood ratios."""
