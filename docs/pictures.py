"""Draws docs/images/pictures.png: every kind of picture of every scenario that comes with simsuite, on one sheet.

python docs/pictures.py [DIRECTORY]     # with the runs, default: a new one, which takes some minutes
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

import simsuite
from simsuite.errors import UsageError
from simsuite.io.reading import open_results
from simsuite.pictures.choices.sheets import NAMES
from simsuite.pictures.look import Look
from simsuite.pictures.recording import Recording
from simsuite.pictures.video.animation import SCENES
from simsuite.pictures.video.scene import Film
from simsuite.plotting import draw_path

ROOT = Path(__file__).parents[1]
WIDTH, COLUMNS, GAP = 300, 6, 4  # pixels of a picture, pictures in a row, pixels between them
COLOURS = 128  # of the sheet, which keeps its file small


def pictures(place: Path) -> list[Path]:
    """Run all scenarios in `place`, as far as they have not been, and draw all that can be drawn of them."""
    found = []
    for scenario in sorted((ROOT / "scenarios").glob("*.toml")):
        directory = place / scenario.stem
        simsuite.run(scenario, device="cpu", directory=directory)
        path = place / f"{scenario.stem}_preview.png"
        draw_path([scenario], path)
        found.append(path)
        for name in ("", *NAMES):
            path = place / f"{scenario.stem}_{name or 'overview'}.png"
            try:
                draw_path([directory], path, [name] if name else [])
            except UsageError:  # which says that this run has no such thing
                continue
            found.append(path)
        found += stills(directory, place / f"{scenario.stem}_video.png")
    return found


def stills(directory: Path, path: Path) -> list[Path]:
    """Draw a frame from the middle of the video of a run; nothing of a plate, whose frames are fields."""
    with open_results(directory / "results.h5") as file:
        run = Recording(directory, file)
        if run.solver not in SCENES:
            return []
        frames = list(Film(SCENES[run.solver](run, run.solver), Look("light")).frames())
        Image.fromarray(frames[len(frames) // 2]).save(path)
    return [path]


def contact_sheet(paths: list[Path], target: Path) -> None:
    """Put small pictures side by side: each into the column that is the shortest so far."""
    small = []
    for path in paths:
        with Image.open(path) as image:
            small.append(image.convert("RGB").resize((WIDTH, image.height * WIDTH // image.width), Image.LANCZOS))
    ends = [GAP] * COLUMNS
    places = []
    for image in small:
        column = ends.index(min(ends))
        places.append((GAP + column * (WIDTH + GAP), ends[column]))
        ends[column] += image.height + GAP
    sheet = Image.new("RGB", (GAP + COLUMNS * (WIDTH + GAP), max(ends)), "#d8d8d8")
    for image, at in zip(small, places):
        sheet.paste(image, at)
    sheet.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        given = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        contact_sheet(pictures(given), ROOT / "docs" / "images" / "pictures.png")
