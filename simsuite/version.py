"""Versions: of the program, and of the layout of its files."""

VERSION = "0.1.0"
FORMAT_VERSION = 3
