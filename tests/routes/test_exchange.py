"""Arrays of one library as arrays of another: the same address, each way, and clear words where that cannot be."""

import gc

import numpy as np
import pytest

from simsuite.errors import DeviceError, UsageError
from simsuite.routes.arrays import address_of
from simsuite.routes.exchange import LIBRARIES, shared

SHAPE, DTYPE = (3, 5), np.float32


@pytest.fixture
def libraries(cuda):
    """The function that makes an array of a library; cuda: a GPU is there."""

    def make(library):
        import cupy

        array = cupy.arange(15, dtype=DTYPE).reshape(SHAPE)
        if library == "cupy":
            return array
        if library == "numba":
            from numba import cuda

            return cuda.to_device(array.get())
        if library == "torch":
            torch = pytest.importorskip("torch")
            return torch.arange(15, dtype=torch.float32, device="cuda").reshape(SHAPE)
        if library == "pycuda":
            pytest.importorskip("pycuda")
            import pycuda.autoprimaryctx
            from pycuda.gpuarray import to_gpu

            assert pycuda.autoprimaryctx
            return to_gpu(array.get())
        from cuda.core import Device

        device = Device()
        device.set_current()
        buffer = device.allocate(array.nbytes, stream=device.default_stream)
        cupy.cuda.runtime.memcpy(int(buffer.handle), array.data.ptr, array.nbytes, 3)
        return buffer

    return make


def where(array):
    return int(array.handle) if hasattr(array, "handle") else address_of(array)


def numbers(array):
    import cupy

    if hasattr(array, "handle"):
        array = shared(array, "cupy", SHAPE, DTYPE)
    return cupy.asarray(array).get()


@pytest.mark.gpu
@pytest.mark.parametrize("target", LIBRARIES)
@pytest.mark.parametrize("source", LIBRARIES)
def test_each_library_reads_each_other_in_place(source, target, libraries):
    given = libraries(source)
    if target in ("torch", "pycuda"):
        pytest.importorskip(target)
    expected = numbers(given)
    np.testing.assert_array_equal(expected, np.arange(15).reshape(SHAPE))
    found = shared(given, target, SHAPE, DTYPE) if source == "cuda.core" else shared(given, target)
    assert where(found) == where(given)
    np.testing.assert_array_equal(numbers(found), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("target", LIBRARIES)
def test_the_memory_stays_while_either_is_there(target, cuda):
    """The pool does not hand the memory out again while the other library's array lives, and does after it."""
    import cupy

    assert cuda
    if target in ("torch", "pycuda"):
        pytest.importorskip(target)
    shape = (1024, 3001)  # so large that no other free block would do
    given = cupy.zeros(shape)
    address = address_of(given)
    found = shared(given, target)
    del given
    gc.collect()
    other = cupy.empty(shape)
    assert where(found) == address != address_of(other)
    del found
    gc.collect()
    assert address_of(cupy.empty(shape)) == address


@pytest.mark.gpu
def test_what_cannot_be_shared(libraries):
    import cupy

    with pytest.raises(UsageError, match="no way to arrays of 'jax'; there is one to each of cupy, numba, "):
        shared(libraries("cupy"), "jax")
    with pytest.raises(DeviceError, match=r"a numpy\.ndarray is not in the memory of a GPU"):
        shared(np.zeros(3), "cupy")
    with pytest.raises(UsageError, match="strides"):
        shared(cupy.zeros((4, 4)).T[1:], "numba")
    with pytest.raises(UsageError, match="a Buffer holds bytes: shape and dtype have to be said"):
        shared(libraries("cuda.core"), "cupy")
    with pytest.raises(UsageError, match="a buffer of 60 bytes is too small for the shape"):
        shared(libraries("cuda.core"), "cupy", (4, 5), DTYPE)


@pytest.mark.gpu
def test_tensors_that_cannot_be_shared(cuda):
    torch = pytest.importorskip("torch")
    assert cuda
    with pytest.raises(DeviceError, match=r"a torch\.Tensor is not in the memory of a GPU.*tensor.cuda"):
        shared(torch.zeros(3), "cupy")
    with pytest.raises(UsageError, match=r"a torch\.Tensor cannot be passed on: .*requires grad"):
        shared(torch.zeros(3, device="cuda", requires_grad=True), "cupy")


@pytest.mark.gpu
def test_memory_of_another_gpu_is_refused(cuda):
    import cupy

    assert cuda
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one GPU")
    with cupy.cuda.Device(1):
        other = cupy.zeros(3)
    with cupy.cuda.Device(0), pytest.raises(DeviceError, match="in the memory of GPU 1; kernels are launched on 0"):
        shared(other, "numba")


def test_arrays_on_the_host_are_refused_without_a_gpu():
    with pytest.raises(DeviceError, match=r"a numpy\.ndarray is not in the memory of a GPU"):
        shared(np.zeros(3), "numba")
    with pytest.raises(UsageError, match="no way to arrays of 'tensorflow'"):
        shared(np.zeros(3), "tensorflow")
