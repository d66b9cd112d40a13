"""Payoffs of paths of geometric Brownian motion, by every road.

    log S(k + 1) = log S(k) + (rate - volatility^2 / 2) dt + volatility sqrt(dt) Z(k),    Z(k) independent normals,

is the solution of dS / S = rate dt + volatility dW at the ends of steps, without an error of the step (P. Glasserman,
Monte Carlo Methods in Financial Engineering, section 3.2.1). The payoff is that of a call on the last price, for which
the formula of Black and Scholes holds, or on the mean of all prices, for which there is none.

Each module has `payoffs(contract, seed, out)`, which fills `out`, an array of any library, with the discounted payoff
of a path each, and returns it. The price is the mean of `out`; its standard deviation over the root of the number of
paths is the standard error. Roads that say Philox have the same random numbers, path by path; others have their own.
"""
