"""What tests look for in a picture: its texts and where they stand, and how well colours are told from each other."""

from __future__ import annotations

import itertools

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

HEAT = """solver = "heat"
title = "Board"
units = "degC"
grid = {nx = 40, ny = 24, lx = 0.08, ly = 0.048, thickness = 0.002}
material = {conductivity = 20.0, density = 2000.0, specific_heat = 900.0}
region = [{shape = "rectangle", x = [0.01, 0.04], y = [0.01, 0.03], conductivity = 80.0},
          {shape = "polygon", points = [[0.05, 0.03], [0.07, 0.03], [0.06, 0.045]], conductivity = 5.0}]
source = [{name = "chip", shape = "circle", center = [0.02, 0.02], radius = 0.006, watts = 3.0}]
initial = {temperature = 20.0}
boundary = {left = {kind = "temperature", value = 20.0}, bottom = {kind = "convection", h = 50.0, ambient = 20.0}}
probe = [{name = "chip", x = 0.02, y = 0.02}, {name = "corner", x = 0.0, y = 0.0}, {name = "rim", x = 0.079, y = 0.02}]
time = {end = 60.0, stepper = "explicit"}
output = {frames = 7, samples = 13}
"""
BOOK = """solver = "gbm"
title = "Book"
market = {rate = 0.03, correlation = [[1.0, 0.5], [0.5, 1.0]]}
time = {end = 1.0, steps = 12}
paths = {count = 16384}
asset = [{name = "shares", spot = 100.0, volatility = 0.25, holding = 3.0},
         {name = "metal", spot = 40.0, volatility = 0.4, holding = -2.0}]
option = [{name = "call", style = "european", asset = "shares", payoff = "call", strike = 100.0, holding = -4.0},
          {name = "put", style = "european", asset = "metal", payoff = "put", strike = 35.0, holding = 1.0},
          {name = "asian", style = "asian", asset = "shares", payoff = "call", strike = 100.0}]
output = {frames = 5, risk = {levels = [0.95, 0.99]}, exposure = true, store_paths = 8}
"""
SYSTEM = """solver = "linear"
title = "Driven"
[system]
kind = "continuous"
matrix = [[-2.0, 0.0], [1.0, -1.0]]
input_matrix = [[1.0], [0.0]]
input = ["sin(t)"]
noise_matrix = [[2.0], [0.0]]
[initial]
state = [3.0, 0.0]
copies = 500
[time]
steps = 50
dt = 0.1
[names]
state = ["speed", "sensor"]
input = ["push"]
[analysis]
bode = true
[output]
frames = 26
"""


def texts_of(figure: Figure) -> list[tuple[str, Bbox]]:
    """All texts that are seen, each with its box in pixels. Numbers at an axis beyond its limits are not."""
    figure.draw_without_rendering()
    found: list[Text] = [t for t in figure.texts if t.get_text()]
    for legend in figure.legends:
        found += legend.get_texts()
    for ax in _axes(figure):
        found += [*ax.texts, ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label]
        found += [ax.xaxis.get_offset_text(), ax.yaxis.get_offset_text()] if ax.axison else []
        for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            low, high = sorted(limits)
            for tick in axis.get_major_ticks() if ax.axison else []:
                if low <= tick.get_loc() <= high:
                    found += [label for label in (tick.label1, tick.label2) if label.get_visible()]
    seen = [t for t in found if t.get_visible() and t.get_text().strip()]
    return [(t.get_text(), t.get_window_extent()) for t in seen]


def _axes(figure: Figure) -> list[Axes]:
    found: list[Artist] = figure.findobj(Axes)
    return [ax for ax in found if isinstance(ax, Axes) and ax.get_visible()]


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes overlap by more than a pixel."""
    boxes = [(name, box.padded(-1.0)) for name, box in texts_of(figure)]
    return [(a, b) for (a, first), (b, second) in itertools.combinations(boxes, 2) if first.overlaps(second)]


def cut(figure: Figure) -> list[str]:
    """Texts that are not wholly on the page."""
    page = figure.bbox
    return [
        name
        for name, box in texts_of(figure)
        if not (box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1)
    ]


def unlabelled(figure: Figure) -> list[Axes]:
    """Panels without a title or a name at an axis."""
    named = [ax for ax in figure.axes if ax.axison and ax.get_subplotspec() is not None]
    return [ax for ax in named if not (ax.get_title(loc="left") or ax.get_ylabel()) or not ax.get_xlabel()]


def lightness(colours: np.ndarray) -> np.ndarray:
    """L* of CIELAB of sRGB colours [n, 3], for white of D65."""
    return np.where((y := luminance(colours)) > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)


def luminance(colours: np.ndarray) -> np.ndarray:
    """Relative luminance of sRGB colours (IEC 61966-2-1)."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def contrast(first: object, second: object) -> float:
    """The ratio of contrast of two colours (WCAG 2.1, relative luminance)."""
    a, b = (float(luminance(np.array(to_rgb(c)))) for c in (first, second))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
