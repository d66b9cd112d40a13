"""Pictures made of half blocks: a character shows two points, one above the other, in two colours."""

from __future__ import annotations

import numpy as np

from simsuite.cli.terminals.colours import NONE, Depth, paint

RESET = "\033[0m"


def lines_of(colours: np.ndarray, depth: Depth) -> list[str]:
    """Lines of text for an array of colours, NONE among them. colours: (2 * lines, columns), from the top."""
    return [_line(upper, lower, depth) for upper, lower in zip(colours[::2].tolist(), colours[1::2].tolist())]


def _line(upper: list[int], lower: list[int], depth: Depth) -> str:
    text, before = [], (NONE, NONE)
    for above, below in zip(upper, lower):
        if above == below:
            character, now = " ", (before[0], below)  # a space shows what is behind it alone
        elif above == NONE:
            character, now = "▄", (below, NONE)
        else:
            character, now = "▀", (above, below)
        if now != before:
            changed = [paint(n, depth, behind) for n, b, behind in zip(now, before, (False, True)) if n != b]
            text.append(f"\033[{';'.join(changed)}m")
            before = now
        text.append(character)
    return "".join(text) + (RESET if before != (NONE, NONE) else "")
