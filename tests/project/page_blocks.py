"""The blocks of code of a page of the documents, and a reader who does what they say, one after the other.

- A block whose first line is `# NAME.EXT` (after one with `#!`) is a file of that name, in whatever language, and is
  written; `# add to NAME.EXT` is added to the end of the file.
- A block called `console` is run: lines of `simsuite` alone within this process, others by bash, beside the files. Each
  has to end with 0, unless its block asks for exit codes itself (`$?`).
- A block called `python` without a name of a file is executed, all of a page in one namespace.
- A block called `text` after one of these is what it prints: lines of standard error and output, in their order,
  without those before and after; `...` stands for lines in the middle that are left out. Words have to be the same;
  `number` says how close numbers have to be, and VARYING which lines differ from machine to machine.
- All others (`toml` without a name, `bash`) are not for the reader; `test_docs_examples` says what becomes of them.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from PIL import Image
from running import call

from simsuite.pictures.look import COLOURS, GREY, INK

LIMIT = 300  # seconds that no block comes near
RELATIVE = 1e-4  # of numbers: other processors round, and so choose steps, differently
ROUNDING = 1e-8  # What is less says nothing on other processors.
NUMBER = r"[-+]?\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?"

VARYING = {
    r"^\s*(took|time  |memory|device|process|begun|last |threads) ": "times, sizes and the machine",
    r"(running|killed|stopped|ended|checkpoint) (at|before) step": "when it was stopped",
    r"^profile:": "times",
    r"^runs/\S+ +(complete|stopped|killed|running) ": "ages and sizes",
    r"^(heat|linear|gbm) (complete|stopped)": "how many steps follow from their errors, which follow rounding",
    r"^\s*(time error|taken again) ": "the same",
    r"^\s*(residual|steady residual|abscissa_error|steady_state_error) ": "rounding",
}
"""Lines of which only the words up to there are compared, with why the rest is not the same everywhere."""


@dataclass(frozen=True)
class Block:
    """language: as the fence has it. text: its lines. line: where it begins in the page."""

    language: str
    text: str
    line: int

    @property
    def file(self) -> str:
        """The name of the file that it is, or is added to; "" if it is none."""
        found = re.match(r"(?:#!.*\n)?# (?:add to )?([\w-]+\.(?:toml|csv|py|sh))$", self.text, re.MULTILINE)
        return found[1] if found else ""

    @property
    def is_addition(self) -> bool:
        return bool(self.file) and self.text.startswith("# add to ")


def blocks_of(text: str) -> list[Block]:
    """All blocks of a page, in order."""
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(block[1], block[2], text[: block.start()].count("\n") + 1) for block in found]


def write_files(blocks: list[Block], folder: Path) -> None:
    """Write those that are files."""
    for block in blocks:
        if block.file:
            with (folder / block.file).open("a" if block.is_addition else "w", encoding="utf-8") as file:
                file.write(("\n" if block.is_addition else "") + block.text)


def plain_commands(block: Block) -> list[list[str]]:
    """The words of each line after `simsuite`, or nothing if there is more than such lines."""
    if not re.fullmatch(r"(simsuite [^|&;<>$`*\n]*\n)+", re.sub(r"\s+#.*", "", block.text.replace("\\\n", " "))):
        return []
    if "cudasim" in block.text:  # Numba takes simulator or GPU once a process
        return []
    return [shlex.split(line, comments=True)[1:] for line in block.text.replace("\\\n", " ").splitlines()]


def run_shell(block: Block, folder: Path) -> str:
    """What bash prints, standard error among it; `simsuite` and `python` are those of the tests."""
    commands = folder.parent / f"{folder.name}_bin"
    if not commands.exists():
        commands.mkdir()
        for name, module in (("simsuite", "-m simsuite"), ("python", "")):
            (commands / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n', encoding="utf-8")
            (commands / name).chmod(0o755)
    paths = {"PATH": f"{commands}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    strict = "" if "$?" in block.text else "set -e\n"
    process = subprocess.Popen(
        ["bash", "-c", strict + block.text],
        cwd=folder,
        env=os.environ | paths,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=LIMIT)
    finally:  # with what it has started and left behind
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, f"{block.text}\n{printed}"
    return printed


def follow(blocks: list[Block], folder: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[Block, str]]:
    """Do what a page says, in `folder`, which has to be the current one. Returns each block of output, `text` after
    what was run, with what was printed there."""
    namespace: dict[str, Any] = {"__name__": "page"}
    outputs, printed = [], None
    for block in blocks:
        if block.language == "text" and printed is not None and not block.file:
            outputs.append((block, printed))
            continue
        printed = None
        if block.file:
            write_files([block], folder)
        elif block.language == "console":
            commands = plain_commands(block)
            printed = "".join(run_here(words, capsys) for words in commands) if commands else run_shell(block, folder)
        elif block.language == "python":
            printed = run_python(block, namespace)
    return outputs


def run_here(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    done = call(capsys, *words)
    assert done.returncode == 0, f"simsuite {shlex.join(words)}\n{done.stdout}{done.stderr}"
    return done.stderr + done.stdout


def run_python(block: Block, namespace: dict[str, Any]) -> str:
    code = compile("\n" * block.line + block.text, "page", "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def difference(shown: str, printed: str) -> str:
    """What a page shows that is not printed; "" if all of it is."""
    there, place = [line.rstrip() for line in printed.splitlines() if line.strip()], 0
    for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE):
        wanted = [line.rstrip() for line in part.splitlines() if line.strip()]
        fits = (at for at in range(place, len(there) - len(wanted) + 1) if matches(wanted, there[at:]))
        found = next(fits, None)
        if found is None:
            return f"this is shown:\n{part}\nand this is printed:\n{printed}"
        place = found + len(wanted)
    return ""


def matches(wanted: list[str], there: list[str]) -> bool:
    return all(same_line(line, other) for line, other in zip(wanted, there))


def same_line(shown: str, printed: str) -> bool:
    """Whether words are the same, and numbers close to each other; of lines that vary their beginning."""
    for pattern in VARYING:
        start, other = re.search(pattern, shown), re.search(pattern, printed)
        if start and other:
            return shown[: start.end()].split() == printed[: other.end()].split()
    words = re.split(NUMBER, shown), re.split(NUMBER, printed)
    numbers = zip(re.findall(NUMBER, shown), re.findall(NUMBER, printed))
    return [w.split() for w in words[0]] == [w.split() for w in words[1]] and all(number(*pair) for pair in numbers)


def number(shown: str, printed: str) -> bool:
    """Whether two numbers are the same to RELATIVE, or to two of the last digit that is shown, or both rounding."""
    digits, _, exponent = shown.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])) if "." in digits or exponent else 0.0
    return math.isclose(float(shown), float(printed), rel_tol=RELATIVE, abs_tol=max(2 * unit, ROUNDING))


def pictures_of(text: str) -> list[Path]:
    """The pictures of tutorials that a page shows: small copies of those that its commands draw."""
    return [ROOT / "docs" / "images" / "tutorials" / name for name in re.findall(r"images/tutorials/([\w.]+)\)", text)]


def small(picture: Path) -> Image.Image:
    """A copy of a picture for a page: 840 pixels wide, of 256 colours, white and those of lines among them."""
    with Image.open(picture) as image:
        copy = image.convert("RGB").resize((840, round(image.height * 840 / image.width)), Image.Resampling.LANCZOS)
    lines = [list(bytes.fromhex(colour[1:])) for colour in ("#ffffff", INK, GREY, *COLOURS)]
    left = 256 - len(lines)
    others = copy.quantize(left, Image.Quantize.MEDIANCUT).getpalette()[: 3 * left]  # Pillow 10 pads it
    palette = np.concatenate([lines, np.reshape(others, (-1, 3))]).astype(np.float32)
    colours, places = np.unique(np.asarray(copy).reshape(-1, 3), axis=0, return_inverse=True)
    nearest = ((palette**2).sum(axis=1) - 2 * colours.astype(np.float32) @ palette.T).argmin(axis=1)
    small = Image.fromarray(nearest[places].reshape(copy.height, copy.width).astype(np.uint8), "P")
    small.putpalette(palette.astype(np.uint8).tobytes())
    return small


def unlike(shown: Path, drawn: Path) -> float:
    """How far the small copy of a picture that was drawn is from the one that is shown: the mean over pixels and
    colours, of 255; infinite if they have other sizes."""
    with Image.open(shown) as image:
        pages = np.asarray(image.convert("RGB"), dtype=float)
    new = np.asarray(small(drawn).convert("RGB"), dtype=float)
    return float(abs(pages - new).mean()) if pages.shape == new.shape else math.inf
