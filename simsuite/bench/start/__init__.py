"""Measurements of how long whole runs take, from the start of their process to the first step and to the end."""
