"""Frames through a pipe into ffmpeg, which makes a video of them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from simsuite.errors import PackageMissing, SimsuiteError, UsageError

SUFFIXES = (".mp4", ".gif")
_QUALITY = "14"  # of H.264, at which flat colours are right within some units of 255
_CONVERTED = "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int"
_BT709 = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"]


def ffmpeg() -> str:
    """The program: in the search path, else that of the package imageio-ffmpeg. Raises PackageMissing."""
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    if importlib.util.find_spec("imageio_ffmpeg") is not None:
        import imageio_ffmpeg

        with contextlib.suppress(RuntimeError):  # it has no program for this machine
            return str(imageio_ffmpeg.get_ffmpeg_exe())
    raise PackageMissing(
        "videos need ffmpeg, which is not installed: pip install 'simsuite[video]', or install the package ffmpeg of "
        "the system"
    )


class Sink(Protocol):
    """Takes frames, each uint8 of (height, width, 3), in contiguous memory."""

    def __call__(self, frame: np.ndarray) -> None: ...


@contextlib.contextmanager
def encoder(path: Path, width: int, height: int, rate: float, palette: np.ndarray) -> Iterator[Sink]:
    """A sink of frames; the video is at `path` when all have been written, and nothing new is there if that fails.

    width, height: of a frame, both even. rate: frames a second. palette: [256, 3], the colours of a .gif.

    Raises UsageError for another suffix or a file that cannot be written, PackageMissing without ffmpeg, and
    SimsuiteError with its words where ffmpeg fails.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"cannot make a video {path}: its name must end in {' or '.join(SUFFIXES)}")
    program = ffmpeg()
    if not os.access(path.parent, os.W_OK) or path.is_dir():
        raise UsageError(f"cannot write {path}: there is no such directory, or it cannot be written to")
    size = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-framerate", f"{rate:.6g}"]
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".video-") as place:
        made = Path(place) / f"video{suffix}"
        command = [program, "-hide_banner", "-loglevel", "error", "-nostdin", "-y", *size, "-i", "pipe:0"]
        if suffix == ".gif":
            command += [*_palette(Path(place) / "palette.png", palette), str(made)]
        else:
            command += ["-c:v", "libx264", "-preset", "veryfast", "-crf", _QUALITY]
            command += ["-vf", f"{_CONVERTED},format=yuv420p", *_BT709]
            command += ["-movflags", "+faststart", str(made)]
        with tempfile.TemporaryFile() as said:
            _encode = _encoding(command, said.fileno())
            with _encode as sink:
                yield sink
            code = _encode.code
            if code != 0 or not made.is_file():
                said.seek(0)
                words = said.read().decode("utf-8", "replace").strip() or f"exit code {code}"
                raise SimsuiteError(f"ffmpeg could not make {path}: {words}")
        try:
            os.replace(made, path)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def _palette(path: Path, colours: np.ndarray) -> list[str]:
    """Write the palette as a picture of 16 by 16 pixels; the options by which it is used."""
    from PIL import Image

    Image.fromarray(np.ascontiguousarray(colours.reshape(16, 16, 3), np.uint8)).save(path)
    return ["-i", str(path), "-lavfi", "paletteuse=dither=none"]


class _encoding:
    """A running ffmpeg. code: its exit status, when it has ended."""

    def __init__(self, command: list[str], said: int) -> None:
        self._command, self._said = command, said
        self.code = -1

    def __enter__(self) -> Sink:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._said
        )
        return self._write

    def _write(self, frame: np.ndarray) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its exit status and its words tell why
            self._process.stdin.write(frame.data)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._process.kill()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self.code = self._process.wait()
