"""cuFFT and cuBLAS on the compute stream of a GPU, so that their work can be recorded in graphs: nothing is allocated
when it is queued, and the same plan gives the same bits every time.

cuFFT is called through CuPy. CuPy refuses cuBLAS while a stream is captured, since it might allocate workspace then;
here it is given its own, and is called directly.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from simsuite.backends.address import address
from simsuite.backends.install import GPU_PACKAGES
from simsuite.core import DeviceArray
from simsuite.errors import DeviceError, LibraryMissing

if TYPE_CHECKING:
    import numpy.typing as npt

WORKSPACE = 32 << 20  # bytes: as much as cuBLAS itself takes on an H100
_MISSING = "{} is not installed: " + GPU_PACKAGES


class CuFft:
    """cuFFT, called through CuPy. allocating: a context in which the compute stream is the current one and a lack of
    memory becomes a DeviceError."""

    name = "cuFFT"

    def __init__(self, allocating: Callable[[], AbstractContextManager[None]]) -> None:
        try:
            from cupy.cuda import cufft
        except ImportError:
            raise LibraryMissing(_MISSING.format(self.name)) from None
        self._cufft, self._allocating = cufft, allocating

    def plan(self, kind: str, rows: int, n: int, dtype: npt.DTypeLike) -> Callable[[DeviceArray, DeviceArray], None]:
        double = np.dtype(dtype) == np.float64
        names = {"real": ("R2C", "D2Z"), "back": ("C2R", "Z2D"), "complex": ("C2C", "Z2Z")}
        number = getattr(self._cufft, f"CUFFT_{names[kind][double]}")
        try:
            with self._allocating():
                plan = self._cufft.Plan1d(n, number, rows)
        except self._cufft.CuFFTError as e:
            raise DeviceError(f"{self.name} cannot transform {rows} rows of {n} numbers: {e}") from None

        def queue(source: DeviceArray, target: DeviceArray) -> None:
            with self._allocating():
                plan.fft(source, target, self._cufft.CUFFT_FORWARD)

        return queue


class CuBlas:
    """cuBLAS, called directly. stream: the compute stream's address. An object has to be made in a context in which
    memory is allocated on that stream."""

    name = "cuBLAS"

    def __init__(self, cupy: ModuleType, stream: int) -> None:
        self._library = _load()
        handle = ctypes.c_void_p()
        self._check(self._library.cublasCreate_v2(ctypes.byref(handle)))
        self._handle = handle
        weakref.finalize(self, self._library.cublasDestroy_v2, handle).atexit = False
        self._workspace = cupy.empty(WORKSPACE, np.uint8)
        self._check(self._library.cublasSetStream_v2(handle, stream))
        # The workspace is set after the stream, since setting the stream resets it.
        self._check(self._library.cublasSetWorkspace_v2(handle, self._workspace.data.ptr, WORKSPACE))

    def multiply(self, A: DeviceArray, B: DeviceArray, out: DeviceArray) -> None:
        (first, second), operations, sizes, leading = columnwise(A, B, out)
        places = tuple(a.data.ptr for a in (first, second, out))
        self._gemm(out.dtype, operations, sizes, leading, places, 0)

    def multiply_add(self, A: DeviceArray, B: DeviceArray, out: DeviceArray, add: bool) -> None:
        (n, p), m = A.shape, B.shape[1]
        places = tuple(map(address, (B, A, out)))
        self._gemm(out.dtype, (0, 0), (m, n, p), (m, p, m), places, int(add))

    def _gemm(
        self,
        dtype: npt.DTypeLike,
        operations: tuple[int, int],
        sizes: tuple[int, int, int],
        leading: tuple[int, int, int],
        places: tuple[int, ...],
        add: int,
    ) -> None:
        double = dtype == np.float64
        real = ctypes.c_double if double else ctypes.c_float
        gemm = self._library.cublasDgemm_v2 if double else self._library.cublasSgemm_v2
        one, also = ctypes.byref(real(1)), ctypes.byref(real(add))
        (a, b, c), (lda, ldb, ldc) = places, leading
        self._check(gemm(self._handle, *operations, *sizes, one, a, lda, b, ldb, also, c, ldc))

    def _check(self, status: int) -> None:
        if status:
            raise DeviceError(f"{self.name} failed with status {status}")


def columnwise(
    A: DeviceArray, B: DeviceArray, out: DeviceArray
) -> tuple[tuple[DeviceArray, DeviceArray], tuple[int, int], tuple[int, int, int], tuple[int, int, int]]:
    """The product out = A B as a library has to be asked for it that takes arrays to be stored column by column:
    ((first, second), operations, (m, n, k), leading dimensions). operations: for each factor, 0 if it is used as stored
    and 1 if transposed."""
    if out.flags.f_contiguous:
        first, second, target = A, B, out
    else:
        first, second, target = B.T, A.T, out.T
    operations = tuple(int(not a.flags.f_contiguous) for a in (first, second))
    leading = tuple(a.shape[op] for a, op in zip((first, second), operations))
    (m, k), n = first.shape, second.shape[1]
    return (first, second), (operations[0], operations[1]), (m, n, k), (leading[0], leading[1], target.shape[0])


def _load() -> ctypes.CDLL:
    """cuBLAS with the types of the functions that are used here. CuPy finds it in the same way."""
    try:
        from cuda import pathfinder
    except ImportError:
        raise LibraryMissing(_MISSING.format(CuBlas.name)) from None
    try:
        path = pathfinder.load_nvidia_dynamic_lib("cublas").abs_path
    except pathfinder.DynamicLibNotFoundError:
        raise LibraryMissing(_MISSING.format(CuBlas.name)) from None
    library = ctypes.CDLL(path)
    address, number = ctypes.c_void_p, ctypes.c_int
    matrix = (address, number)
    gemm: list[type] = [address, *[number] * 5, address, *matrix, *matrix, address, *matrix]
    arguments: dict[str, list[type]] = {
        "cublasCreate_v2": [address],
        "cublasDestroy_v2": [address],
        "cublasSetStream_v2": [address, address],
        "cublasSetWorkspace_v2": [address, address, ctypes.c_size_t],
        "cublasDgemm_v2": gemm,
        "cublasSgemm_v2": gemm,
    }
    for name, types in arguments.items():
        getattr(library, name).argtypes = types
    return library
