"""`simsuite sweep`: its options, what it says while it runs, and what it prints."""
