"""The payoffs of options, as expressions in what is kept of a path."""
