"""The colours of temperature maps as a table, for what draws maps without Matplotlib."""

from __future__ import annotations

import matplotlib
import numpy as np


def colour_table() -> np.ndarray:
    """[256, 3] red, green and blue from 0 to 255, from the lowest to the highest value: those of `simsuite plot`."""
    colours = matplotlib.colormaps["inferno"](np.arange(256))
    return np.asarray(np.rint(255 * colours[:, :3]), np.uint8)
