"""Names of the variables in expressions about a path.

``last<a>``: price of asset a at the end, in units of its spot. ``noise<a>``: the noise y there (dynamics.py).
``kept<f>``: what functional number f found. ``first<a>``: the spot, 1 in its own units; it is a name only until
derivatives have been taken.
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
    """The number of the asset or functional that a variable is about, if the variable is `of` this kind, such as
    "last"; None otherwise."""
    digits = name.removeprefix(of)
    return int(digits) if digits != name and digits.isdigit() else None
