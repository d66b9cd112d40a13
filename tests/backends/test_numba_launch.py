"""Launches by the driver with packed arguments, against what NumPy makes of the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simsuite.backends.numba_launch import Groups, NumbaLaunch, _flatten, _format
from simsuite.core import Backend
from simsuite.errors import DeviceError


def test_buffers_have_eight_bytes_an_argument() -> None:
    """As the driver is told one address after another."""
    import struct

    from numba.core import types

    both = [types.float32, types.int32, types.uint8, types.boolean, types.float64, types.int64]
    text = _format([*both, types.UniTuple(types.float32, 3), types.Array(types.float32, 2, "C")])
    assert text is not None
    assert struct.calcsize(f"<{text}") == 8 * (len(both) + 3 + 5 + 4)
    packed = struct.pack(
        f"<{text}", 1.5, -7, 200, True, -2.25, -(2**40), *(0.5, 1.0, 2.0), 0, 0, 6, 4, 2**63, *range(4)
    )
    words = [packed[i : i + 8] for i in range(0, len(packed), 8)]
    assert np.frombuffer(words[0][:4], np.float32) == 1.5
    assert np.frombuffer(words[1][:4], np.int32) == -7
    assert (words[2][0], words[3][0]) == (200, 1)
    assert np.frombuffer(words[4], np.float64) == -2.25
    assert np.frombuffer(words[5], np.int64) == -(2**40)
    assert np.frombuffer(words[13], np.uint64) == 2**63
    assert _format([types.complex128]) is None


class View:
    """As much of one of Numba's device arrays as a launch looks at."""

    _numba_type_ = ""

    def __init__(self, kind: str, address: int) -> None:
        self._numba_type_, self.size, self.dtype, self.shape, self.strides = kind, 6, np.dtype(float), (6,), (8,)
        self.address, self.looks = address, 0

    @property
    def device_ctypes_pointer(self) -> Any:
        self.looks += 1
        return SimpleNamespace(value=self.address)


def test_groups_of_arguments_are_looked_at_once() -> None:
    def flat(*arguments: Any) -> tuple[list[Any], list[Any]]:
        types: list[Any] = []
        values: list[Any] = []
        assert _flatten(arguments, types, values, groups)
        return types, values

    groups: Groups = {}
    first, second, other = View("one", 1 << 20), View("one", 1 << 21), View("another", 1 << 22)
    group, numbers = (first, True, (second, 3)), (1.5, np.float32(2.5))
    types, values = flat(group, numbers, 7)
    words = [(0, 0, 6, 8, view.address, 6, 8) for view in (first, second)]
    assert values == [*words[0], True, *words[1], 3, 1.5, 2.5, 7]
    assert flat(group, numbers, 7) == (types, values)
    assert set(groups) == {id(group), id(group[2])}, "numbers are other ones in every launch"
    assert (first.looks, second.looks) == (1, 1)
    assert flat((second, False, (first, 4)), numbers, 7)[0] == types
    assert flat((other, True, (second, 3)), numbers, 7)[0] != types
    assert flat((first, 1, (second, 3)), numbers, 7)[0] != types
    for _ in range(100):
        flat((first, 2))
    assert len(groups) <= 32, "or arrays that nobody needs would be kept"
    assert flat(group, numbers, 7) == (types, values)


def mixed_kernel() -> Any:
    from numba import cuda as numba_cuda

    @numba_cuda.jit
    def mixed(out, a, cells, group, f, d, minus, yes, numbers):
        i, j = numba_cuda.grid(2)
        if i < out.shape[1] and j < out.shape[0]:
            more = numbers[0] + 2 * numbers[1] if yes else numbers[0]
            out[j, i] = a[j, i] * f + d * cells[j, i, 1] + group[1] * group[0][i] + minus + more

    return mixed


@pytest.mark.gpu
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize(("ny", "nx"), [(1, 1), (2, 1), (31, 33), (33, 31)])
def test_arguments_of_all_types_arrive(cuda: Backend, real: Callable[..., Any], ny: int, nx: int) -> None:
    """More than once, as the first launch is Numba's, with other numbers, other arrays, and arrays of other layouts."""
    random = np.random.default_rng()
    launch = cuda.launcher(mixed_kernel(), (nx, ny), (min(nx, 32), min(ny, 8)))
    assert isinstance(launch, NumbaLaunch)
    for turn in range(6):
        a, cells = random.random((ny, 2 * nx)).astype(real), random.integers(-9, 9, (ny, nx, 3))
        flags = random.integers(0, 2, nx).astype(bool)
        f, d, n, minus = real(random.random()), random.random(), int(random.integers(2**40)), np.int32(-turn)
        yes, numbers = bool(turn % 2), (random.random(), random.random())
        kept = [cuda.array(each) for each in (np.zeros((ny, nx)), a, cells, flags)]
        views = [cuda.view(kept[0]), cuda.view(kept[1][:, ::2]), cuda.view(kept[2]), cuda.view(kept[3])]
        of_a = a[:, :nx] if turn > 3 else a[:, ::2]
        if turn > 3:  # another type: contiguous
            kept.append(cuda.array(np.ascontiguousarray(of_a)))
            views[1] = cuda.view(kept[-1])
        launch(*views[:3], (views[3], n), f, d, minus, yes, numbers)
        more = numbers[0] + 2 * numbers[1] if yes else numbers[0]
        expected = of_a.astype(float) * float(f) + d * cells[:, :, 1] + n * flags + float(minus) + more
        assert cuda.to_host(kept[0]) == pytest.approx(expected, rel=1e-13, abs=1e-5 if real is np.float32 else 1e-12)
    assert len([made for made in launch._known.values() if made]) == len(launch._known)


@pytest.mark.gpu
def test_a_launch_that_fails_is_an_error_of_the_device(cuda: Backend) -> None:
    from numba import cuda as numba_cuda

    @numba_cuda.jit
    def nothing(out):
        out[0] = 1.0

    launch = cuda.launcher(nothing, (1,), (1,))
    array = cuda.array(np.zeros(1))
    launch(cuda.view(array))
    launch._how = (1, 1, 1, 4096, 1, 1, *launch._how[6:])  # more threads than a block can have
    launch._known.clear()
    launch._by_numba = lambda *_: None
    launch(cuda.view(array))
    with pytest.raises(DeviceError, match="nothing cannot be launched"):
        launch(cuda.view(array))
