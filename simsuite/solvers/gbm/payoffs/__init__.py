"""What options pay, as expressions in what is kept of a path."""
