"""How much faster several processes are than one: measured here, and predicted for more than there are here."""
