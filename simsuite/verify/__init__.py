"""Verification of the solvers: studies of convergence, closed ledgers, published answers, CPU against GPU."""
