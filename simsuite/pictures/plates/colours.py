"""The colours of temperatures.

Plasma, which is perceptually uniform (S. van der Walt and N. Smith, 2015): equal steps in temperature look equally
large. Its dark end is a saturated blue, of lightness L* = 19 without the darkest 6 %, so the cold half of a plate shows
its structure, and text and lines in black are told from it; inferno and magma begin with a fifth of colours that no
one tells from black. From blue to yellow lightness only grows: it prints in grey, and colour-blind readers see it.
"""

from __future__ import annotations

import functools

import matplotlib
import numpy as np
from matplotlib.colors import Colormap, ListedColormap

_DARKEST = 0.06  # the share of plasma that is left out at its dark end
LEVELS = 256


@functools.cache
def temperature_colours() -> Colormap:
    """From the coldest to the hottest."""
    given = np.asarray(matplotlib.colormaps["plasma"](np.arange(LEVELS)))[:, :3]
    at, wanted = np.linspace(0.0, 1.0, LEVELS), np.linspace(_DARKEST, 1.0, LEVELS)
    return ListedColormap(np.stack([np.interp(wanted, at, part) for part in given.T], axis=1), "temperature")


def colour_table() -> np.ndarray:
    """[256, 3] red, green and blue from 0 to 255, from the coldest to the hottest, for what draws maps without
    Matplotlib."""
    colours = temperature_colours()(np.arange(LEVELS))
    return np.asarray(np.rint(255 * colours[:, :3]), np.uint8)
