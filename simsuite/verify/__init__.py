"""Proof that the solvers are right: studies of convergence, closed ledgers, published answers, CPU against GPU."""
