"""Cosine, sine and Hartley transforms as Fourier transforms of the same length or of half of it.

With ω = e^(-2πi/n) and the Fourier transform F_k = Σ f_j ω^(jk), the modes of `modes` need

    hartley   f = x                                       X_k, X_{n-k} = (Re F_k ∓ Im F_k) / √n
    cosine2   f = x_0, x_2, .., x_3, x_1                  X_k, X_{n-k} = Re, -Im of s ω^(k/4) F_k, s² = 2/n, 1/n at 0
    cosine4   even n: f_j = (x_{2j} + i x_{n-1-2j}) u_j   X_{2k}, X_{n-1-2k} = Re, -Im of √(2/n) u_k F_k,
                                                          both for j, k < n/2 only, u_j = ω^(j/2 + 1/16)
              odd n: f_i = ±x at the angle n + 8i of 8n   X_k = (±Re F ± Im F) / √n at the index 2k + 1
    sine2     cosine2 of (-1)^j x_j, modes in reverse
    sine4     cosine4 of x in reverse, odd modes negated

(type 2: J. Makhoul, IEEE Trans. ASSP 28:27, 1980; type 4: P. Duhamel, Y. Mahieux, J. P. Petit, ICASSP 1991, 2209; for
odd n: S. C. Chan, K. L. Ho, IEE Proc. F 137:433, 1990). Of real numbers, half the spectrum is kept. All but those of
type 2 are their own inverses. Errors are of the order of eps log n.

So each of them is three steps, given here as tables: numbers move to other places (`Moved`) or in pairs become complex
ones (`Paired`), a Fourier transform, and back by the one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Moved:
    """A step that moves numbers: number j is multiplied by factors[j] and goes to places[j]. Both arrays are (n,)."""

    places: np.ndarray
    factors: np.ndarray


@dataclass(frozen=True, eq=False)
class Paired:
    """A step between complex number k and the real numbers at places[0, k] and places[1, k]. places: (2, h). factors:
    (4, h).

    To make a complex number, its real part is the two real numbers times factors[0:2, k], added up, and its imaginary
    part is the two times factors[2:4, k]. The other way round, the first real number is the real and the imaginary part
    times factors[0:2, k], added up, and the second one is the two parts times factors[2:4, k]. Where both places are
    the same, there is no second number."""

    places: np.ndarray
    factors: np.ndarray


@dataclass(frozen=True, eq=False)
class Recipe:
    """The three steps of a transform. kind: of the Fourier transform, as `core.Fourier` calls it. length: its
    length."""

    before: Moved | Paired
    kind: str
    length: int
    after: Moved | Paired


def recipe(kind: str, n: int, back: bool) -> Recipe:
    """How the transform that `modes.Axis` calls `kind` is made, from n cells to modes or back."""
    if kind == "hartley":
        return _hartley(n)
    sine = kind.startswith("sine")
    if kind.endswith("4"):
        return _odd_4(n, sine) if n % 2 else _even_4(n, sine)
    return _back_2(n, sine) if back else _forward_2(n, sine)


def _hartley(n: int) -> Recipe:
    k = np.arange(n // 2 + 1)
    one = np.full(len(k), n**-0.5)
    places = np.stack([k, (n - k) % n])
    return Recipe(Moved(np.arange(n), np.ones(n)), "real", n, Paired(places, np.stack([one, -one, one, one])))


def _order_2(n: int, sine: bool) -> Moved:
    """The step that puts even cells first, and then odd ones from the last to the first."""
    j = np.arange(n)
    return Moved(np.where(j % 2, n - 1 - j // 2, j // 2), np.where(j % 2, -1.0, 1.0) if sine else np.ones(n))


def _modes_2(n: int, sine: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(places, cosines, sines) of s ω^(k/4); the place n, which is not one, is replaced by the first of its pair."""
    k = np.arange(n // 2 + 1)
    scale = np.where(k, (2.0 / n) ** 0.5, n**-0.5)
    places = np.stack([k, np.where(k, n - k, 0)])
    angle = np.pi / (2 * n) * k
    return n - 1 - places if sine else places, scale * np.cos(angle), -scale * np.sin(angle)


def _forward_2(n: int, sine: bool) -> Recipe:
    places, c, s = _modes_2(n, sine)
    return Recipe(_order_2(n, sine), "real", n, Paired(places, np.stack([c, -s, -s, -c])))


def _back_2(n: int, sine: bool) -> Recipe:
    places, c, s = _modes_2(n, sine)
    factors = np.where(places[0] == places[1], [c, 0 * c, 0 * c, 0 * c], np.stack([c, -s, -s, -c]) / 2)
    there = _order_2(n, sine)
    here = np.argsort(there.places)
    return Recipe(Paired(places, factors), "back", n, Moved(here, there.factors[here]))


def _even_4(n: int, sine: bool) -> Recipe:
    k = np.arange(n // 2)
    places = np.stack([2 * k, n - 1 - 2 * k])
    angle = np.pi / (8 * n) * (8 * k + 1)
    c, s, scale = np.cos(angle), -np.sin(angle), (2.0 / n) ** 0.5
    before = np.stack([-s, c, c, s] if sine else [c, -s, s, c])
    after = scale * np.stack([c, -s, s, c] if sine else [c, -s, -s, -c])
    return Recipe(Paired(places, before), "complex", n // 2, Paired(places, after))


def _odd_4(n: int, sine: bool) -> Recipe:
    # angles in units of 2π/8n, in which cell j lies at 2j + 1
    angle = (n + 8 * np.arange(n)) % (8 * n)
    quarter, rest = np.divmod(angle, 2 * n)
    cell = np.where(quarter % 2, 2 * n - rest, rest) // 2
    places, factors = np.empty(n, np.int64), np.empty(n)
    places[cell] = np.arange(n)
    factors[cell] = np.where((quarter == 1) | (quarter == 2), -1.0, 1.0)
    mode = np.arange(n)
    index = (2 * mode + 1) % n
    mirrored = 2 * index > n  # where not this entry of the spectrum is kept, but its conjugate
    size = n**-0.5 * np.where(sine & (mode % 2 == 1), -1.0, 1.0)
    real = size * np.where((2 * mode + 1) % 8 % 6 == 1, 1.0, -1.0)  # cos(π/4 (2k + 1)), but for √½
    imaginary = size * np.where((2 * mode + 1) % 8 < 4, 1.0, -1.0) * np.where(mirrored, -1.0, 1.0)
    pairs = np.full((2, n // 2 + 1), (n - 1) // 2)
    pairs[0, index[~mirrored]] = mode[~mirrored]
    pairs[1, (n - index)[mirrored]] = mode[mirrored]
    after = np.stack([real[pairs[0]], imaginary[pairs[0]], real[pairs[1]], imaginary[pairs[1]]])
    return Recipe(Moved(*(a[::-1] if sine else a for a in (places, factors))), "real", n, Paired(pairs, after))
