"""Kernels in C++ launched on tensors of PyTorch: what the operators for PyTorch have in common."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from simsuite.routes.arrays import checked
from simsuite.routes.exchange import shared

if TYPE_CHECKING:
    import torch

C_TYPES = {"float32": "float", "float64": "double"}


@functools.cache
def _function(source: Path, name: str) -> Any:  # Any: CuPy has no type for a compiled function
    text = source.read_text(encoding="utf-8")
    return cupy.RawModule(code=text, options=("-std=c++17",), name_expressions=(name,)).get_function(name)


def kernel(source: Path, name: str, blocks: Sequence[int], threads: Sequence[int]) -> Callable[..., None]:
    """A function that launches the kernel of this name, on the stream that PyTorch works on. Its arguments are
    contiguous tensors on the current device, of which the address is passed, and numbers of NumPy's of the types that
    the kernel declares. Raises UsageError and DeviceError for tensors that a kernel cannot take."""
    import torch

    function = _function(source, name)

    def launch(*arguments: Any) -> None:
        passed = [_address(a) if isinstance(a, torch.Tensor) else a for a in arguments]
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            function(tuple(blocks), tuple(threads), tuple(passed))

    return launch


def tensor_of(array: Any, dimensions: int) -> torch.Tensor:
    """An array of any library as a tensor at the same address; a tensor as it is, with its derivatives. Raises
    UsageError and DeviceError for what a kernel cannot take."""
    import torch

    tensor = array if isinstance(array, torch.Tensor) else shared(array, "torch")
    checked(tensor.detach(), dimensions)
    return tensor


def real_of(tensor: torch.Tensor) -> str:
    """The name in C++ of the type of a tensor's numbers, which has to be float32 or float64."""
    return C_TYPES[str(checked(tensor.detach(), None).dtype).removeprefix("torch.")]


def _address(tensor: torch.Tensor) -> Any:
    checked(tensor.detach(), None)
    return np.uint64(tensor.data_ptr())
