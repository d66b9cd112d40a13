"""The gallery: for each scenario in `scenarios` its picture, what it shows, what it finds, and the file itself."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from PIL import Image

import simsuite
from simsuite.summaries.lines import summary_lines

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
THEMES = ("light", "dark")
COLOURS = 256  # of a picture, which keeps its file small
WIDTH, THUMBNAIL = 1400, 560  # pixels
OF_ONE_BUILD = ("took", "device", "results")  # lines of a summary that say nothing of the scenario
HEAD = """# Gallery

Every scenario that comes with simsuite, run on a CPU when this page was made. `simsuite plot SCENARIO` draws a scenario
before it is run; [](../running.md) says what else can be drawn of a run.

"""


def files(kept: Path, drawn: Collection[str] | None = None) -> dict[str, str | bytes]:
    """The pages and pictures of the gallery by name. kept: a directory for runs and pictures, so that what has not
    changed is not made again. drawn: names of the scenarios that are run; default: all. Others have no picture."""
    found: dict[str, str | bytes] = {}
    cards = []
    for path in sorted(SCENARIOS.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        title = tomllib.loads(text)["title"]
        paragraphs = opening(text)
        shown = drawn is None or path.stem in drawn
        summary = ""
        if shown:
            made = _made(path, kept)
            summary = (made / "summary.txt").read_text(encoding="utf-8")
            found |= {f"gallery/{path.stem}_{file.name}": file.read_bytes() for file in sorted(made.glob("*.png"))}
        found[f"gallery/{path.stem}.md"] = _page(path.name, title, text, paragraphs, summary)
        found[f"gallery/{path.name}"] = text
        cards.append(_card(path.stem, title, _first_sentence(paragraphs), shown))
    found["gallery/index.md"] = HEAD + "\n".join(["::::::{container} gallery", *cards, "::::::", ""])
    return found


def opening(text: str) -> list[str]:
    """The comment that a scenario opens with, as paragraphs of Markdown: what is indented in it is a block of code."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" "))
    found: list[str] = []
    indented = False
    for line in lines:
        was, indented = indented, line.startswith("    ")
        if not line.strip():
            found.append("")
        elif found and found[-1] and was == indented:
            found[-1] += "\n" + line
        else:
            found.append(line)
    return [part if part.startswith("    ") else _plain(part) for part in found if part]


def _plain(text: str) -> str:
    """Words in which no character has a meaning in Markdown."""
    return re.sub(r"([\\*_<>\[\]|#`^$])", r"\\\1", text)


def _first_sentence(paragraphs: list[str]) -> str:
    text = " ".join(next((part for part in paragraphs if not part.startswith("    ")), "").split())
    return re.split(r"(?<=[.?])\s|(?<=:)$", text)[0]


def _page(name: str, title: str, text: str, paragraphs: list[str], summary: str) -> str:
    stem = name.removesuffix(".toml")
    lines = [f"# {title}", "", "\n\n".join(paragraphs), ""]
    if summary:
        lines += [_pictures(stem, title), "", "## What it finds", "", "```text", summary, "```", ""]
    lines += ["## The scenario", "", "```bash"]
    lines += [f"simsuite run scenarios/{name}", f"simsuite plot runs/{stem}", "```", ""]
    lines += [f"The file is [scenarios/{name}]({name}):", "", "```toml", text.rstrip("\n"), "```", ""]
    return "\n".join(lines)


def _pictures(stem: str, title: str, kind: str = "") -> str:
    """The picture for a light page and that for a dark one, of which a page shows one."""
    words = "Picture of the run: " + re.sub(r"[\[\]]", "", title)
    return "\n".join(f"![{words}]({stem}_{theme}{kind}.png){{.only-{theme}}}" for theme in THEMES)


def _card(stem: str, title: str, sentence: str, shown: bool) -> str:
    picture = [_pictures(stem, title, "_small"), ""] if shown else []
    return "\n".join([":::::{container} card", *picture, f"[{title}]({stem}.md)", "", sentence, ":::::", ""])


def _made(path: Path, kept: Path) -> Path:
    """The directory with what is made of a scenario: `light.png`, `dark.png`, small ones, `summary.txt`."""
    code = hashlib.sha256(path.read_bytes() + _sources()).hexdigest()[:16]
    place = kept / f"{path.stem}-{code}"
    if not (place / "summary.txt").exists():
        run = simsuite.run(path, device="cpu", directory=place / "run")
        for theme in THEMES:
            picture = run.plot(place / "run" / f"{theme}.png", theme=theme)
            with Image.open(picture) as image:
                for name, width in ((theme, WIDTH), (f"{theme}_small", THUMBNAIL)):
                    (place / f"{name}.png").write_bytes(_small(image, width))
        shutil.rmtree(place / "run")
        lines = [line for line in summary_lines(run.summary) if line.split()[0] not in OF_ONE_BUILD]
        (place / "summary.txt").write_text("\n".join(lines), encoding="utf-8")
    return place


def _small(image: Image.Image, width: int) -> bytes:
    height = image.height * width // image.width
    written = io.BytesIO()
    resized = image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    resized.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "png", optimize=True)
    return written.getvalue()


@cache
def _sources() -> bytes:
    """A digest of simsuite itself: pictures of another version are made again."""
    digest = hashlib.sha256()
    for path in _python_files(Path(simsuite.__file__).parent):
        digest.update(path.read_bytes())
    return digest.digest()


def _python_files(directory: Path) -> Iterator[Path]:
    yield from sorted(directory.rglob("*.py"))
