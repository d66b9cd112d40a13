"""Arrays of one library as arrays of another, without a copy: the same address, the other's type.

Three ways are in use. The CUDA array interface (`__cuda_array_interface__`) is an attribute with address, shape and
type, which Numba, CuPy, PyCUDA and PyTorch all have; it says nothing of who frees the memory, so the new array keeps a
reference to the old one. DLPack (`__dlpack__`) hands over a capsule that owns the memory, and takes the stream on which
the reader will work, so that the giver can make it wait; CuPy, PyTorch and `cuda.core` have it. Where a library has
neither for its input, there is an object that holds an address: CuPy's `UnownedMemory`, PyCUDA's `PointerHolderBase`,
`Buffer.from_handle` of `cuda.core`. All of them share the device's primary context. None waits for work that is queued
on another stream: who changes stream has to wait for an event.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simsuite.errors import UsageError
from simsuite.routes.arrays import REALS, address_of, c_strides, checked, dtype_of, shape_of

if TYPE_CHECKING:
    import cupy

LIBRARIES = ("cupy", "numba", "pycuda", "torch", "cuda.core")


# Any: arrays of five libraries, none of which has to be installed.
def shared(array: Any, library: str, shape: Sequence[int] | None = None, dtype: Any = None) -> Any:
    """`array` as an array of `library`, one of LIBRARIES, at the same address. The memory stays as long as either is
    there. shape, dtype: of a `cuda.core.Buffer`, which holds bytes. Raises UsageError, DeviceError for an array that
    cannot be passed on, ImportError where the library is not installed."""
    if library not in LIBRARIES:
        raise UsageError(f"there is no way to arrays of {library!r}; there is one to each of {', '.join(LIBRARIES)}")
    if type(array).__module__.startswith("cuda.core"):
        if shape is None or dtype is None:
            raise UsageError("a Buffer holds bytes: shape and dtype have to be said")
        array = buffer_as_cupy(array, shape, dtype)
    checked(array, None, ("int8", "uint8", "int32", "uint32", "int64", "uint64", *REALS))
    return _TO[library](array)


def memory_as_cupy(address: int, shape: Sequence[int], dtype: Any, free: Callable[[], object]) -> cupy.ndarray:
    """An array of CuPy's over memory that nobody else will free. free: is called when the last array over it goes."""
    return _over(address, shape, dtype, _Owner(free))


def buffer_as_cupy(buffer: Any, shape: Sequence[int], dtype: Any) -> cupy.ndarray:
    """An array of CuPy's over a `Buffer` of `cuda.core`, which stays as long as the array."""
    if int(np.prod(shape)) * np.dtype(dtype).itemsize > buffer.size:
        raise UsageError(f"a buffer of {buffer.size} bytes is too small for the shape {tuple(shape)}")
    return _over(int(buffer.handle), shape, dtype, buffer)


class _Owner:
    """Calls a function when nothing refers to it any more."""

    def __init__(self, free: Callable[[], object]) -> None:
        self._free = free

    def __del__(self) -> None:
        self._free()


def _over(address: int, shape: Sequence[int], dtype: Any, owner: object) -> cupy.ndarray:
    import cupy

    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = cupy.cuda.UnownedMemory(address, size, owner)
    return cupy.ndarray(tuple(shape), dtype, cupy.cuda.MemoryPointer(memory, 0))


def _to_cupy(array: Any) -> Any:
    return importlib.import_module("cupy").asarray(array)


def _to_numba(array: Any) -> Any:
    return importlib.import_module("numba.cuda").as_cuda_array(array, sync=False)


def _to_pycuda(array: Any) -> Any:
    """A GPUArray; `base` is what it keeps alive."""
    importlib.import_module("pycuda.autoprimaryctx")
    shape, dtype = shape_of(array), dtype_of(array)
    make = importlib.import_module("pycuda.gpuarray").GPUArray
    return make(shape, dtype, base=array, gpudata=address_of(array), strides=c_strides(shape, dtype.itemsize))


def _to_torch(array: Any) -> Any:
    """A tensor. PyTorch reads the array interface, and keeps a reference to its giver."""
    return importlib.import_module("torch").as_tensor(array, device="cuda")


def _to_core(array: Any) -> Any:
    """A Buffer of bytes; `owner` is what it keeps alive."""
    size = int(np.prod(shape_of(array))) * dtype_of(array).itemsize
    return importlib.import_module("cuda.core").Buffer.from_handle(address_of(array), size, owner=array)


_TO: dict[str, Callable[[Any], Any]] = {
    "cupy": _to_cupy,
    "numba": _to_numba,
    "pycuda": _to_pycuda,
    "torch": _to_torch,
    "cuda.core": _to_core,
}
