"""Names of what expressions about a path are made of.

``last<a>``: price of asset a at the end, in units of its spot. ``noise<a>``: y there (dynamics.py). ``kept<f>``: what
functional number f found. ``first<a>``: the spot, 1 in its own units; a name only until derivatives have been taken.
"""

from __future__ import annotations


def last(asset: int) -> str:
    return f"last{asset}"


def noise(asset: int) -> str:
    return f"noise{asset}"


def kept(functional: int) -> str:
    return f"kept{functional}"


def first(asset: int) -> str:
    return f"first{asset}"


def number(name: str, of: str) -> int | None:
    """Which asset or functional a variable is about, if it is `of` this kind, such as "last"."""
    digits = name.removeprefix(of)
    return int(digits) if digits != name and digits.isdigit() else None
