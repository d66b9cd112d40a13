"""Where compiled kernels are kept between runs.

Numba recompiles a cached function when its own file changes, but not when a function or constant that it takes from
another module does. So the caches lie in a directory named after all sources that kernels can be made of.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).parents[1]


def import_kernels(module: str) -> ModuleType:
    """The module, with its functions cached in the right place."""
    with _caching_in(cache_directory()):
        return importlib.import_module(module)


def fingerprint(sources: Iterable[Path]) -> str:
    """Names one state of some files."""
    digest = hashlib.sha256()
    for path in sources:
        text = path.read_bytes()
        digest.update(f"{path.name} {len(text)} ".encode() + text)
    return digest.hexdigest()[:16]


def write_whole(path: Path, data: bytes) -> None:
    """A file in the cache, whole or not at all, whoever else is writing it."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)


@functools.cache
def cache_directory() -> Path:
    """The usual place, or, where that cannot be written to, one for this process alone."""
    shared = [PACKAGE / "elementary.py", PACKAGE / "rng.py", *PACKAGE.glob("sobol/*.py")]
    name = Path("simsuite") / fingerprint(
        sorted([*shared, *PACKAGE.glob("solvers/**/*.py"), *PACKAGE.glob("solvers/**/*.cu*")])
    )
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    with contextlib.suppress(OSError):
        (Path(home) / name).mkdir(parents=True, exist_ok=True)
        if os.access(Path(home) / name, os.W_OK):
            return Path(home) / name
    return Path(tempfile.mkdtemp(prefix="simsuite-"))


@contextlib.contextmanager
def _caching_in(directory: Path) -> Iterator[None]:
    """Numba asks for the place when a function is decorated, so that other packages' functions stay where they are."""
    configs: list[Any] = []
    for name in ("numba.core.config", "numba.cuda.core.config"):
        with contextlib.suppress(ImportError):
            configs.append(importlib.import_module(name))
    before = [config.CACHE_DIR for config in configs]
    for config in configs:
        config.CACHE_DIR = str(directory)
    try:
        yield
    finally:
        for config, value in zip(configs, before):
            config.CACHE_DIR = value
