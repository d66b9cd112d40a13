"""What a run found, in lines of text and with units: for the terminal, for tables and for reports."""
