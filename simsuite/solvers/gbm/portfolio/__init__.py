"""Risk and exposure of the portfolio of all holdings."""
