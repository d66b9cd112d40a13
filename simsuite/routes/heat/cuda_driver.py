"""The heat step by the driver's own functions, through CUDA Python's `cuda.bindings`: what all other roads end in.

NVRTC compiles the text to machine code for the device's architecture; a module loads it into the context that is
current, the device's primary one; `cuLaunchKernel` takes numbers of blocks and threads, shared memory, a stream, and
the arguments as values with the C types that the kernel declares. Each function returns its status first, and nothing
is raised: every call has to be checked. A launch takes some 6 microseconds, most of it Python's.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from cuda.bindings import driver, nvrtc

from simsuite.errors import DeviceError
from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of
from simsuite.routes.exchange import memory_as_cupy

THREADS = (64, 4)
TYPES = {"float32": (b"step<float>", ctypes.c_float), "float64": (b"step<double>", ctypes.c_double)}


def succeed(returned):
    """What a function of the driver or of NVRTC returned, without the status; raises DeviceError if it failed."""
    status, *values = returned
    if status.value != 0:
        raise DeviceError(f"CUDA: {status.name}")
    return values[0] if len(values) == 1 else values


@functools.cache
def load(source, name, device):
    """The driver's handle of a kernel: the text in the file `source` compiled for `device`, as the template `name`."""
    attributes = driver.CUdevice_attribute
    major = succeed(driver.cuDeviceGetAttribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = succeed(driver.cuDeviceGetAttribute(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    program = succeed(nvrtc.nvrtcCreateProgram(source.read_bytes(), source.name.encode(), 0, [], []))
    succeed(nvrtc.nvrtcAddNameExpression(program, name))
    options = [f"-arch=sm_{major}{minor}".encode(), b"-std=c++17"]
    succeed(nvrtc.nvrtcCompileProgram(program, len(options), options))
    code = b" " * succeed(nvrtc.nvrtcGetCUBINSize(program))
    succeed(nvrtc.nvrtcGetCUBIN(program, code))
    module = succeed(driver.cuModuleLoadData(code))
    return succeed(driver.cuModuleGetFunction(module, succeed(nvrtc.nvrtcGetLoweredName(program, name))))


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, seen as an array of CuPy's; edges keep their values."""
    (ny, nx), dtype = shape_of(checked(u, 2)), dtype_of(u)
    name, real = TYPES[dtype.name]
    function = load(Path(__file__).with_name("step.cu"), name, int(succeed(driver.cuCtxGetDevice())))
    here, there = (int(succeed(driver.cuMemAlloc(nx * ny * dtype.itemsize))) for _ in range(2))
    succeed(driver.cuMemcpyDtoDAsync(here, address_of(u), nx * ny * dtype.itemsize, 0))
    blocks, c_types = (-(-nx // THREADS[0]), -(-ny // THREADS[1]), 1), (ctypes.c_void_p,) * 2 + (ctypes.c_int,) * 2
    for _ in range(steps):
        arguments = (here, there, nx, ny, rx, ry), (*c_types, real, real)
        succeed(driver.cuLaunchKernel(function, *blocks, *THREADS, 1, 0, 0, arguments, 0))
        here, there = there, here
    succeed(driver.cuMemFree(there))  # waits for the device
    return memory_as_cupy(here, (ny, nx), dtype, lambda: driver.cuMemFree(here))
