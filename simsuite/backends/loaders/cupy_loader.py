"""CuPy loads programs, and its bindings of the driver launch their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from simsuite.backends.loaders.arguments import Arguments
from simsuite.backends.loaders.driver_launch import driver_launch
from simsuite.backends.loaders.loader import Launch, Passed, Shape

if TYPE_CHECKING:
    from cupy.cuda import Stream

_MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_WITHOUT_ASKING = 48 * 1024  # bytes of shared memory that a launch may take without setting that attribute


class CupyLoader:
    name = "cupy"
    compiler: str | None = None
    notes: Sequence[str] = ()

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self.stream: Stream = cupy.cuda.Stream(non_blocking=True)

    def compile(self, text: str, arch: str) -> bytes:
        raise NotImplementedError

    def load(self, code: bytes) -> CupyModule:
        return CupyModule(self._cupy, code, self.stream)


class CupyModule:
    def __init__(self, cupy: ModuleType, code: bytes, stream: Stream) -> None:
        self._stream = stream
        self._module = cupy.cuda.function.Module()
        self._module.load(code)

    def launcher(self, kernel: str, shape: Shape) -> Launch:
        from cupy_backends.cuda.api import driver

        function, buffer = self._module.get_function(kernel), Arguments()
        if shape.shared_bytes > _WITHOUT_ASKING:
            driver.funcSetAttribute(function.ptr, _MOST_SHARED, shape.shared_bytes)
        if shape.waits_for == "launches":  # what CuPy's bindings cannot ask for
            return driver_launch(kernel, function.ptr, shape, self._stream.ptr)
        how = (function.ptr, *shape.grid, shape.threads, 1, 1, shape.shared_bytes, self._stream.ptr)
        together, no_more = shape.waits_for == "blocks", () if shape.waits_for == "blocks" else (0,)
        queue = driver.launchCooperativeKernel if together else driver.launchKernel

        def launch(arguments: list[Passed]) -> None:
            buffer.write(arguments)
            queue(*how, buffer.places, *no_more)

        launch.function = function  # type: ignore[attr-defined]  # its module stays loaded as long as this
        return launch
