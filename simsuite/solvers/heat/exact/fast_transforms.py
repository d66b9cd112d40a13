"""Fast transforms to the modes of `modes` on the host, by SciPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.fft


def fast_transform(kind: str) -> Callable[[np.ndarray, np.ndarray, int, bool], None] | None:
    """A function (field, out, axis, back) that transforms to the modes of a kind along an axis, or back from them; None
    if there is no such transform.

    kind: as `modes.Axis` calls it."""
    if kind == "hartley":
        return _hartley
    if not kind:
        return None
    transform = {
        ("cosine", False): scipy.fft.dct,
        ("cosine", True): scipy.fft.idct,
        ("sine", False): scipy.fft.dst,
        ("sine", True): scipy.fft.idst,
    }
    name, number = kind[:-1], int(kind[-1])

    def apply(field: np.ndarray, out: np.ndarray, axis: int, back: bool) -> None:
        out[...] = transform[name, back](field, type=number, axis=axis, norm="ortho", workers=-1)

    return apply


def _hartley(field: np.ndarray, out: np.ndarray, axis: int, back: bool) -> None:
    """The real part of the Fourier transform minus its imaginary part. This transform is its own inverse."""
    n = field.shape[axis]
    spectrum = np.moveaxis(scipy.fft.rfft(field, axis=axis, norm="ortho", workers=-1), axis, 0)
    modes = np.moveaxis(out, axis, 0)
    half = len(spectrum)
    modes[:half] = spectrum.real - spectrum.imag
    modes[half:] = (spectrum.real + spectrum.imag)[n - half : 0 : -1]
