"""Terminals: their colours, their screens, and lines that fit them."""
