"""What the roads ask of an array that another library has made: that it lies in the memory of the current GPU, in C
order, with numbers that a kernel can take. An array that does not is refused with what is wrong and how to mend it,
before an address reaches a kernel, which would write wherever it points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simsuite.errors import DeviceError, UsageError

if TYPE_CHECKING:
    from simsuite.backends.address import OnDevice

Array = TypeVar("Array")
REALS = ("float32", "float64")


def checked(array: Array, dimensions: int | None, dtypes: Sequence[str] = REALS) -> Array:
    """`array` itself, if kernels can take it: in the memory of the current GPU, in C order, with so many dimensions, or
    any number of them (None), and one of these types. Raises DeviceError for an array elsewhere, UsageError for one of
    another form."""
    interface = _interface(array)
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    if dtype.name not in dtypes:
        raise UsageError(f"{_name(array)} has numbers of type {dtype.name}; the kernel takes {' or '.join(dtypes)}")
    if dimensions is not None and len(shape) != dimensions:
        raise UsageError(f"{_name(array)} has the shape {shape}; {dimensions} dimensions are needed")
    strides = interface.get("strides")
    if strides is not None and tuple(strides) != c_strides(shape, dtype.itemsize) and 0 not in shape:
        raise UsageError(
            f"{_name(array)} of shape {shape} has strides {tuple(strides)}, not those of an array in C order; pass a "
            f"contiguous copy of it"
        )
    if 0 not in shape and not is_simulated(array):
        _check_device(array, interface["data"][0])
    return array


# Any: an array of any library, and one of Numba's, which has no types.
def as_numba(array: Any, dimensions: int) -> Any:
    """`array` as an array of Numba's at the same address, if kernels can take it (`checked`). In Numba's simulator,
    where there is no other memory than the host's, the simulator's array itself."""
    checked(array, dimensions)
    if is_simulated(array):
        return array
    from numba import cuda

    return cuda.as_cuda_array(array, sync=False)


def is_simulated(array: object) -> bool:
    """Whether an array is one of Numba's simulator, made by `cuda.to_device` with NUMBA_ENABLE_CUDASIM=1."""
    return type(array).__name__ == "FakeCUDAArray"


def on_host(array: np.ndarray, dimensions: int) -> np.ndarray:
    """`array`, if it is one of NumPy's with so many dimensions and real numbers. Raises UsageError if it is not."""
    if not isinstance(array, np.ndarray):
        raise UsageError(f"{_name(array)} is not an array of NumPy's, which this road works on")
    if array.ndim != dimensions or array.dtype.name not in REALS:
        raise UsageError(
            f"an array of {dimensions} dimensions and type {' or '.join(REALS)} is needed, not {array.ndim} and "
            f"{array.dtype.name}"
        )
    return array


def shape_of(array: OnDevice) -> tuple[int, ...]:
    """The shape of an array on the device."""
    return tuple(_interface(array)["shape"])


def dtype_of(array: OnDevice) -> np.dtype:
    """The type of the numbers of an array on the device, as NumPy has it."""
    return np.dtype(_interface(array)["typestr"])


def address_of(array: OnDevice) -> int:
    """The address of the first number of an array on the device."""
    return int(_interface(array)["data"][0])


def c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """The strides in bytes of an array of this shape in C order."""
    return tuple(itemsize * int(np.prod(shape[d + 1 :], dtype=np.int64)) for d in range(len(shape)))


def _interface(array: object) -> dict:
    """The CUDA array interface of an array, version 2 or 3; of one of the simulator NumPy's, which is like it."""
    try:
        if is_simulated(array):
            return array.__array__().__array_interface__  # type: ignore[attr-defined]
        found = getattr(array, "__cuda_array_interface__", None)
    except (AttributeError, TypeError, RuntimeError) as e:  # PyTorch's tensors that need a gradient
        raise UsageError(f"{_name(array)} cannot be passed on: {e}") from e
    if found is None:
        raise DeviceError(
            f"{_name(array)} is not in the memory of a GPU, or does not say where; cupy.asarray(array) copies an array "
            f"there, tensor.cuda() a tensor"
        )
    return found


def _check_device(array: object, address: int) -> None:
    """Raises DeviceError if an address is not in the memory of the current GPU. The runtime is asked where it is: to
    the driver's function for that, cuda.bindings 13.3 answers 0 for every GPU."""
    from cuda.bindings import driver, runtime

    nothing_current, here = driver.cuCtxGetDevice()
    status, found = runtime.cudaPointerGetAttributes(address)
    if status != runtime.cudaError_t.cudaSuccess or found.type == runtime.cudaMemoryType.cudaMemoryTypeUnregistered:
        raise DeviceError(f"{_name(array)} lies at {address:#x}, where the driver knows no memory of a GPU")
    if nothing_current != driver.CUresult.CUDA_SUCCESS:  # a new thread, such as that in which PyTorch goes backward
        _, context = driver.cuDevicePrimaryCtxRetain(found.device)
        driver.cuCtxSetCurrent(context)
    elif found.device != int(here):
        raise DeviceError(f"{_name(array)} is in the memory of GPU {found.device}; kernels are launched on {int(here)}")


def _name(array: object) -> str:
    kind = type(array)
    return f"a {kind.__module__.partition('.')[0]}.{kind.__name__}"
