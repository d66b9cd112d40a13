"""CUDA Python: `cuda.core` loads programs. Their kernels are launched by the driver's function in `cuda.bindings`,
since the launches of `cuda.core` take no structs as arguments."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from simsuite.backends.loaders.driver_launch import driver_launch
from simsuite.backends.loaders.loader import Launch, Shape
from simsuite.errors import DeviceError

if TYPE_CHECKING:
    from cupy.cuda import Stream

_WITHOUT_ASKING = 48 * 1024  # bytes of shared memory that a launch may take without setting an attribute


class CudaCoreLoader:
    name = "cuda-core"
    compiler: str | None = None
    notes: Sequence[str] = ()

    def __init__(self, cupy: ModuleType, device: int) -> None:
        from cuda.core import Device

        self._device = device
        Device(device).set_current()  # the primary context, which is CuPy's, too
        self.stream: Stream = cupy.cuda.Stream(non_blocking=True)

    def compile(self, text: str, arch: str) -> bytes:
        raise NotImplementedError

    def load(self, code: bytes) -> CudaCoreModule:
        return CudaCoreModule(code, self._device, self.stream)


class CudaCoreModule:
    def __init__(self, code: bytes, device: int, stream: Stream) -> None:
        from cuda.core import ObjectCode

        self._device, self._stream = device, stream
        self._code = ObjectCode.from_cubin(code)

    def launcher(self, kernel: str, shape: Shape) -> Launch:
        from cuda.bindings import driver

        found = self._code.get_kernel(kernel)
        if shape.shared_bytes > _WITHOUT_ASKING:
            name = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            (status,) = driver.cuKernelSetAttribute(name, shape.shared_bytes, found.handle, self._device)
            if status != driver.CUresult.CUDA_SUCCESS:
                raise DeviceError(f"{kernel} cannot have {shape.shared_bytes} bytes of shared memory: {status.name}")
        status, function = driver.cuKernelGetFunction(found.handle)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise DeviceError(f"{kernel} cannot be loaded: {status.name}")
        launch = driver_launch(kernel, int(function), shape, self._stream.ptr)
        launch.kernel = found  # type: ignore[attr-defined]  # its code stays loaded as long as this
        return launch
