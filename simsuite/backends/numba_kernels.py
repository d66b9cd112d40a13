"""Kernels that Numba compiles, for the backends that run them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType

from simsuite.backends.kernel_cache import import_kernels
from simsuite.backends.numba_cache import Missing


class NumbaKernels:
    """The part of a backend that imports kernels, and announces once that some of them have to be compiled."""

    dialect: str
    device_name: str
    announce: Callable[[str], None]

    def kernels(self, module: str, functions: Mapping[str, str] | None = None) -> ModuleType:
        """See `core.Backend.kernels`."""
        Missing.tell, Missing.found = self.missing, self.found
        return import_kernels(f"{module}_{self.dialect}", functions)

    def missing(self, name: str) -> None:
        """See `Missing.tell`."""
        self._tell_of_compiling()

    def found(self, name: str) -> None:
        """See `Missing.found`."""

    @functools.cached_property
    def _tell_of_compiling(self) -> Callable[[], None]:
        return functools.cache(
            lambda: self.announce(f"compiling kernels for {self.device_name} that no run has needed before")
        )
