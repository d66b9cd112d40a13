"""Measured rates beside what the machine can do: ``python -m simsuite.bench.heat``."""
