"""`simsuite watch`: a run in the terminal, drawn with characters."""
