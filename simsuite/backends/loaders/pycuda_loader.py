"""PyCUDA, in the primary context of the device, so that its kernels work on CuPy's memory.

PyCUDA takes streams only as objects of its own, so it makes the stream, and CuPy uses that. It can ask neither for
cooperative launches nor for launches that begin early: kernels that need one of them are loaded and launched as by
CuPy's loader.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import subprocess
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from simsuite.backends.loaders.arguments import Arguments
from simsuite.backends.loaders.cupy_loader import CupyModule
from simsuite.backends.loaders.loader import Launch, Passed, Shape

if TYPE_CHECKING:
    from cupy.cuda import Stream

_WITHOUT_ASKING = 48 * 1024  # bytes of shared memory that a launch may take without setting an attribute


@functools.cache
def _enter(device: int) -> None:
    """Make the primary context of the device PyCUDA's current one, until the process ends."""
    from pycuda import driver

    driver.init()
    context = driver.Device(device).retain_primary_context()
    context.push()

    def leave() -> None:
        with contextlib.suppress(driver.Error):
            context.pop()

    atexit.register(leave)


def _version_of(nvcc: str) -> str:
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return f"nvcc {said.splitlines()[-1]}"


class PyCudaLoader:
    name = "pycuda"

    def __init__(self, cupy: ModuleType, device: int) -> None:
        from pycuda import driver

        _enter(device)
        self._cupy, self._driver = cupy, driver
        self._stream = driver.Stream()
        self.stream: Stream = cupy.cuda.ExternalStream(self._stream.handle)
        nvcc = shutil.which("nvcc")
        self._nvcc = nvcc
        self.compiler: str | None = None if nvcc is None else _version_of(nvcc)
        self.notes: Sequence[str] = [
            f"PyCUDA loads machine code {'of NVRTC, as there is no nvcc' if nvcc is None else f'that {nvcc} compiles'}",
            "PyCUDA has no cooperative launches, and none that begin before the one before has ended: CuPy's loader "
            "launches kernels that need them",
        ]

    def compile(self, text: str, arch: str) -> bytes:
        from pycuda.compiler import compile

        # As NVRTC is asked to do it: products and sums are not fused, and subnormal numbers are kept.
        options = ["-std=c++17", "-fmad=false", "-ftz=false"]
        return bytes(compile(text, self._nvcc, options, arch=arch, no_extern_c=True, cache_dir=False))

    def load(self, code: bytes) -> PyCudaModule:
        return PyCudaModule(self, code)


class PyCudaModule:
    def __init__(self, loader: PyCudaLoader, code: bytes) -> None:
        self._loader, self._code = loader, code
        self._module = loader._driver.module_from_buffer(code)

    @functools.cached_property
    def _by_cupy(self) -> CupyModule:
        return CupyModule(self._loader._cupy, self._code, self._loader.stream)

    def launcher(self, kernel: str, shape: Shape) -> Launch:
        if shape.waits_for:
            return self._by_cupy.launcher(kernel, shape)
        driver, stream, buffer = self._loader._driver, self._loader._stream, Arguments()
        function = self._module.get_function(kernel)
        if shape.shared_bytes > _WITHOUT_ASKING:
            function.set_attribute(driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shape.shared_bytes)
        queue, block = function._launch_kernel, (shape.threads, 1, 1)

        def launch(arguments: list[Passed]) -> None:
            queue(shape.grid, block, buffer.packed(arguments), shape.shared_bytes, stream)

        return launch
