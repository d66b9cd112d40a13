"""Videos of panels: what stands still is drawn once, what moves is drawn over it for each frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from simsuite.pictures.look import INK, Look
from simsuite.pictures.sheet import AWAY, NORMAL, Sheet, move_apart

MOST_FRAMES = 1000  # Of more, some are left out.
_DPI = 140  # of videos; the sheet is 8.4 inches wide
_BAR = 0.006  # the height of the bar that shows how far the video is, as a share of the page's


@dataclass(frozen=True)
class Scene:
    """sheet: with all axes, whose limits are final. moving: the artists that change from frame to frame, and others
    that stand before them. move: puts them where they are in a frame, by its number. stamp: the time of a frame, in
    words. frames: the numbers of those that are shown."""

    sheet: Sheet
    moving: Sequence[Artist]
    move: Callable[[int], None]
    stamp: Callable[[int], str]
    frames: Sequence[int]


class Film:
    """The frames of a scene, each uint8 [height, width, 3] with even sides."""

    def __init__(self, scene: Scene, look: Look) -> None:
        self._scene, sheet = scene, scene.sheet
        figure = sheet.figure
        self._stamp = figure.text(
            0.985, 1 - 0.405 / figure.get_figheight(), "", size=NORMAL, color=INK, in_layout=False
        )
        self._stamp.set(horizontalalignment="right", verticalalignment="top", weight="bold", parse_math=False)
        self._bar = Rectangle((0, 0), 0.0, _BAR, transform=figure.transFigure, facecolor=INK)
        self._bar.set_in_layout(False)
        figure.add_artist(self._bar)
        self._moving = [*sorted(scene.moving, key=lambda artist: artist.get_zorder()), self._stamp, self._bar]
        for artist in self._moving:
            artist.set_animated(True)
        sheet.laid_out(look)
        figure.set_dpi(_DPI)
        sheet.canvas.draw()
        self._still = sheet.canvas.copy_from_bbox(figure.bbox)
        height, width = np.asarray(sheet.canvas.buffer_rgba()).shape[:2]
        self.height, self.width = height - height % 2, width - width % 2

    @property
    def palette(self) -> np.ndarray:
        """256 colours that the last frame has, the most frequent ones, and the rest of them greys."""
        last = self._drawn(len(self._scene.frames) - 1)
        found, counts = np.unique(last.reshape(-1, 3), axis=0, return_counts=True)
        common = found[np.argsort(-counts)][:224]
        greys = np.linspace(0, 255, 256 - len(common)).round()[:, np.newaxis].repeat(3, axis=1)
        return np.concatenate([common, greys.astype(np.uint8)])

    def frames(self) -> Iterator[np.ndarray]:
        for i in range(len(self._scene.frames)):
            yield self._drawn(i)

    def _drawn(self, i: int) -> np.ndarray:
        scene, canvas = self._scene, self._scene.sheet.canvas
        frame = scene.frames[i]
        canvas.restore_region(self._still)
        scene.move(frame)
        self._stamp.set_text(scene.stamp(frame))
        self._bar.set_width(i / max(len(scene.frames) - 1, 1))
        renderer = canvas.get_renderer()
        for artist in self._moving:
            artist.draw(renderer)
        return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[: self.height, : self.width, :3])


class Curtain:
    """Shows of some artists in one panel what lies to the left of a place along the horizontal axis."""

    def __init__(self, artists: Sequence[Artist]) -> None:
        self.artists = [artist for artist in artists if artist.axes is not None]

    def open_to(self, x: float) -> None:
        for artist in self.artists:
            ax = artist.axes
            assert ax is not None
            panel = ax.get_window_extent()
            end = float(ax.transData.transform((x, ax.get_ylim()[0]))[0])
            artist.set_clip_path(None)
            artist.set_clip_box(Bbox.from_extents(panel.x0 - 2, panel.y0 - 2, max(end, panel.x0 - 1), panel.y1 + 2))


class Names:
    """The names that `label_ends` wrote in one panel, which go with the ends of their curves as these grow.

    curves: x, ascending, and y of the curve of each name; texts without a curve stay where they are."""

    def __init__(self, sheet: Sheet, ax: Axes, curves: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
        texts = [text for text in ax.texts if isinstance(text, Annotation) and text.get_text() in curves]
        self._sheet, self._ax, self._curves = sheet, ax, curves
        # in the order of their last values, so that those which begin at one point stand in this order there
        self.artists: list[Annotation] = sorted(texts, key=lambda text: self._curve(text)[1][-1])

    def _curve(self, text: Annotation) -> tuple[np.ndarray, np.ndarray]:
        return self._curves[text.get_text()]

    def move_to(self, x: float) -> None:
        shown = []
        for text in self.artists:
            y = float(np.interp(x, *self._curve(text)))
            text.set_visible(bool(np.isfinite(self._ax.transData.transform((x, y))).all()))
            if text.get_visible():
                text.xy, text.xycoords, text.xyann = (x, y), "data", (AWAY, 0)
                shown.append(text)
        move_apart(self._sheet, self._ax, shown)


def named_curves(ax: Axes) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The lines of a panel that have a name as their label."""
    return {str(line.get_label()): (np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in ax.lines}


def evenly(frames: int) -> list[int]:
    """The numbers of so many frames, or of MOST_FRAMES of them, the first and the last among them."""
    return np.unique(np.linspace(0, frames - 1, min(frames, MOST_FRAMES)).round().astype(int)).tolist()
