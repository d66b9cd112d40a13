"""The law of the prices: growth, volatility, schemes, jumps and dividends."""
