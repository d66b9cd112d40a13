"""The version of a GPU's driver, which is stored with results."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from simsuite.backends import open_backend
from simsuite.backends.cuda import CudaBackend
from simsuite.capabilities import Driven
from simsuite.conditions import versions
from simsuite.core import Backend

LINUX = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 UTC\nGCC version: gcc 12.2.0"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.211  Release Build"


@pytest.mark.parametrize(
    ("number", "module", "said"),
    [
        (13000, LINUX, "CUDA 13.0, 580.95.05"),
        (12080, OPEN, "CUDA 12.8, 570.211"),
        (12090, None, "CUDA 12.9"),
        (12090, "strange", "CUDA 12.9"),
    ],
)
def test_both_versions_are_told(number: int, module: str | None, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path, *how: str) -> str:
        assert str(path) == "/proc/driver/nvidia/version"
        if module is None:
            raise FileNotFoundError(path)
        return module

    monkeypatch.setattr(Path, "read_text", read)
    runtime = SimpleNamespace(driverGetVersion=lambda: number)
    backend = SimpleNamespace(_cupy=SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    assert CudaBackend.driver.fget(backend) == said  # type: ignore[attr-defined]


def test_a_cpu_has_none() -> None:
    backend = open_backend("cpu")
    assert not isinstance(backend, Driven)
    assert "driver" not in versions(backend)
    assert {"numba", "numpy"} <= versions(backend).keys()


@pytest.mark.gpu
def test_a_gpu_has_one(cuda: Backend) -> None:
    assert versions(cuda)["driver"].startswith("CUDA 1")
