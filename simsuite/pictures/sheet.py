"""The page that all pictures are drawn on: size, type, colours, header, and text that does not collide.

Made with Matplotlib's objects alone, without pyplot or rcParams: nothing global changes, threads do not meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Annotation, Text
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from matplotlib.transforms import Bbox

from simsuite.pictures.look import COLOURS as COLOURS
from simsuite.pictures.look import GREY, INK, WARNING, WIDTH, Look
from simsuite.pictures.look import PALE as PALE
from simsuite.pictures.recording import Recording, thinned

DPI = 200
SMALL, NORMAL, LARGE = 7.5, 8.5, 12.0
_MARGIN = 0.12  # inches
_COLUMNS = 6  # of a key, at most
AWAY = 5  # points between the end of a curve and its name
LIGHT = Look()


class Subject(Protocol):
    """What a sheet needs to know of the run or document that it shows."""

    @property
    def title(self) -> str:
        """What the sheet is headed."""

    @property
    def finished(self) -> bool:
        """Whether it is complete; what is not is marked."""


class Sheet:
    """One figure. `later` collects what can only be placed when the layout is known."""

    def __init__(self, subject: Subject, height: float, subtitle: str, width: float = WIDTH) -> None:
        self.figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained")
        self.canvas = FigureCanvasAgg(self.figure)
        self._later: list[Callable[[], None]] = []
        self._key: list[Artist] = []
        state = subject.state if isinstance(subject, Recording) else "" if subject.finished else "unfinished"
        self._title = self._write(" ".join(subject.title.split()), LARGE, INK, weight="bold")
        self._state = self._write(state, LARGE, WARNING, weight="bold", horizontalalignment="right")
        failure = subject.failure.get("error", "") if isinstance(subject, Recording) else ""
        self._subtitle = self._write(failure or subtitle, NORMAL, WARNING if failure else GREY)

    def _write(self, text: str, size: float, colour: str, **style: Any) -> Text:
        return self.figure.text(
            0, 1, text, size=size, color=colour, va="top", parse_math=False, in_layout=False, **style
        )

    def _place_header(self, scale: float) -> None:
        """Place title, state and subtitle, cut to the width of the sheet, and leave the rest to the axes. scale: of the
        type."""
        width, height = self.figure.get_size_inches()
        left, room = _MARGIN / width, width - 2 * _MARGIN
        self._state.set_position((1 - left, 1 - 0.16 * scale / height))
        self._title.set_position((left, 1 - 0.16 * scale / height))
        self._subtitle.set_position((left, 1 - 0.405 * scale / height))
        state = self._state.get_window_extent().width / DPI + 0.2 if self._state.get_text() else 0.0
        fit(self._title, room - state)
        fit(self._subtitle, room)
        below = (0, 0, 1, 1 - 0.62 * scale / height)
        engine = ConstrainedLayoutEngine(rect=below, w_pad=_MARGIN, h_pad=_MARGIN, wspace=0.03, hspace=0.03)
        self.figure.set_layout_engine(engine)

    def explain(self, handles: Sequence[Artist]) -> None:
        """Say below all panels what lines and marks mean. handles: one for each, with its label."""
        self._key.extend(handles)

    def _place_key(self, scale: float) -> None:
        """Write the key, in as many columns as there is room for. scale: of the type, by which it will grow."""
        room = self.figure.get_figwidth() * self.figure.dpi - 2 * _MARGIN * DPI
        for columns in range(min(len(self._key), _COLUMNS), 0, -1):
            legend = self.figure.legend(
                handles=self._key,
                loc="outside lower left",
                ncols=columns,
                fontsize=SMALL,
                frameon=False,
                labelcolor=INK,
            )
            if columns == 1 or legend.get_window_extent().width * scale <= room:
                return
            legend.remove()

    def later(self, place: Callable[[], None]) -> None:
        """Call `place` when the axes have their final positions; it must not change them."""
        self._later.append(place)

    def laid_out(self, look: Look = LIGHT) -> Figure:
        """The figure with its look, when everything is in its final place. To be called once."""
        self.figure.set_size_inches(
            look.width if look.size else self.figure.get_figwidth(), self.figure.get_figheight()
        )
        self._place_key(look.type_scale)
        look.apply(self.figure)
        self._place_header(look.type_scale)
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        for place in self._later:
            place()
        for ax in self.figure.axes:
            self._fit_title(ax)
        return self.figure

    def _fit_title(self, ax: Axes) -> None:
        """Cut the title of a panel short where it would reach beyond the page."""
        title = next(t for t in ax.get_children() if isinstance(t, Text) and t.get_text() == ax.get_title(loc="left"))
        if title.get_text() and "\n" not in title.get_text():
            begin = title.get_window_extent().x0
            fit(title, (self.figure.bbox.x1 - begin) / DPI - _MARGIN / 2)

    def save(self, path: Path, look: Look = LIGHT) -> None:
        """Write the picture in the format that the suffix names."""
        figure = self.laid_out(look)
        kind = path.suffix.lower().removeprefix(".")
        stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        figure.savefig(path, format=kind, dpi=DPI, metadata=stamp, facecolor=figure.get_facecolor())


def fit(text: Text, inches: float) -> None:
    """Cut `text` short until it is at most that wide."""
    words = text.get_text()
    width = text.get_window_extent().width / DPI
    while width > inches and len(words) > 2:
        words = words[: min(len(words) - 1, int(len(words) * inches / width))].rstrip()
        text.set_text(words + "…")
        width = text.get_window_extent().width / DPI


def tidy(ax: Axes, title: str, xlabel: str, ylabel: str, box: bool = False) -> None:
    """Give a panel the look that all panels have in common. box: whether it has a frame on all four sides, as maps
    have.
    """
    ax.set_title(title, loc="left", size=NORMAL, color=INK, pad=5, parse_math=False)
    ax.set_xlabel(xlabel, size=SMALL + 0.5, color=INK, parse_math=False)
    ax.set_ylabel(ylabel, size=SMALL + 0.5, color=INK, parse_math=False)
    ax.tick_params(labelsize=SMALL, width=0.6, length=3, color=GREY, labelcolor=INK)
    ax.tick_params(which="minor", labelsize=SMALL, width=0.4, length=1.8, color=GREY)
    for name, spine in ax.spines.items():
        spine.set(linewidth=0.6, color=GREY, visible=box or name in ("left", "bottom"))
    for axis, n in ((ax.xaxis, 5), (ax.yaxis, 5)):
        if axis.get_scale() == "linear":
            axis.set_major_locator(MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]))
            axis.set_major_formatter(numbers())
            axis.get_offset_text().set(size=SMALL, color=INK)


def draw_bar(ax: Axes, image: Any, label: str, width: float, extend: str = "neither") -> Colorbar:
    """Draw a colour bar at the right of `ax`, as high as `ax` and with the share `width` of its width. extend: at which
    ends it has an arrow.
    """
    beside = ax.inset_axes((1 + width, 0, width, 1))
    bar = ax.figure.colorbar(image, cax=beside, extend=extend, extendfrac=0.04)
    bar.outline.set(linewidth=0.6, edgecolor=GREY)
    bar.ax.yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
    bar.formatter = numbers()
    bar.ax.tick_params(labelsize=SMALL, width=0.6, length=3, color=GREY, labelcolor=INK)
    bar.ax.yaxis.get_offset_text().set(size=SMALL, color=INK, horizontalalignment="left")
    bar.set_label(label, size=SMALL + 0.5, color=INK, parse_math=False)
    return bar


def numbers() -> ScalarFormatter:
    """A formatter of tick labels without offsets, with powers of ten only where there would be many digits."""
    formatter = ScalarFormatter(useOffset=False, useMathText=True)
    formatter.set_powerlimits((-3, 5))
    return formatter


def draw_line(ax: Axes, x: np.ndarray, y: np.ndarray, colour: str, **style: Any) -> None:
    """Draw a line through the finite points, thinned to what can be seen; a single point becomes a dot."""
    good = np.isfinite(y)
    x, y = thinned(x[good], y[good])
    style = {"linewidth": 1.3, "solid_capstyle": "round", **style}
    if len(x) == 1:
        style |= {"marker": "o", "markersize": 4}
    ax.plot(x, y, color=colour, **style)


def label_ends(sheet: Sheet, ax: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write names at the right of lines, (y of the end, name, colour), moved apart where they would overlap. In a video
    they follow lines with these names as labels (`video.scene.Names`)."""
    texts = [
        ax.annotate(
            name,
            (1.0, y),
            xytext=(AWAY, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            size=SMALL,
            color=colour,
            parse_math=False,
            annotation_clip=False,
        )
        for y, name, colour in ends
    ]
    sheet.later(lambda: move_apart(sheet, ax, texts))


def move_apart(sheet: Sheet, ax: Axes, texts: Sequence[Annotation]) -> None:
    """Move texts up and down as little as possible, so that no two overlap and none leaves the axes. Where there is no
    room for all, some of them are left out, alike in their order.
    """
    if not texts:
        return
    # by the renderer of now: texts remember the last one, which was for another resolution before a video begins
    boxes = [text.get_window_extent(sheet.canvas.get_renderer()) for text in texts]
    gap = max(box.height for box in boxes) * 1.05
    fitting = max(1, int((ax.get_window_extent().height + gap / 2) / gap))
    if len(texts) > fitting:
        order = sorted(range(len(texts)), key=lambda i: boxes[i].y0)
        kept = {order[k] for k in np.linspace(0, len(texts) - 1, fitting).round().astype(int)}
        for i, text in enumerate(texts):
            text.set_visible(i in kept)
        move_apart(sheet, ax, [texts[i] for i in sorted(kept)])
        return
    order = sorted(range(len(texts)), key=lambda i: round(boxes[i].y0, 1))  # of those at one height the first is lower
    wanted = np.array([(boxes[i].y0 + boxes[i].y1) / 2 for i in order])
    room = ax.get_window_extent()
    low, high = room.y0 + gap / 4, max(room.y1 - gap / 4, room.y0 + gap / 4 + gap * (len(texts) - 1))
    shift = gap * np.arange(len(texts))
    placed = np.clip(_increasing(wanted - shift), low, high - shift[-1]) + shift
    for i, before, after in zip(order, wanted, placed):
        texts[i].xyann = (AWAY, (after - before) * 72 / sheet.figure.dpi)


def _increasing(values: np.ndarray) -> np.ndarray:
    """The nearest sequence that does not decrease, in the sense of least squares (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((float(value), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (b, n), (a, m) = pools.pop(), pools.pop()
            pools.append(((a * m + b * n) / (m + n), m + n))
    return np.concatenate([np.full(n, mean) for mean, n in pools])


def free_of(box: Bbox, taken: Sequence[Bbox], within: Bbox) -> bool:
    """Whether `box` lies inside `within` and touches none of `taken`."""
    inside = within.x0 <= box.x0 and box.x1 <= within.x1 and within.y0 <= box.y0 and box.y1 <= within.y1
    return inside and not any(box.overlaps(other) for other in taken)
