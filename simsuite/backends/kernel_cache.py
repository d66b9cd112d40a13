"""Where compiled kernels are kept between runs.

Numba recompiles a cached function when its own file changes, but not when a function or constant that it takes from
another module does. So the caches lie in a directory named after all sources that kernels can be made of.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).parents[1]
KEPT = 256  # modules made of templates: the same expressions come back with every grid, stepper and test
_IMPORT = re.compile(r"^from simsuite\.solvers\.unwritten import .*$", re.MULTILINE)


def import_kernels(module: str, functions: Mapping[str, str] | None = None) -> ModuleType:
    """The module, with its functions cached in the right place. functions: where it is a template, see
    `solvers.unwritten`, the text of each function that it calls."""
    with _caching_in(cache_directory()):
        return _written(module, tuple((functions or {}).values())) if functions else importlib.import_module(module)


@functools.lru_cache(KEPT)
def _written(template: str, functions: tuple[str, ...]) -> ModuleType:
    """The module that a template becomes with these functions. It is a file in the cache, beside which Numba keeps what
    is compiled of it for as long as it does not change."""
    source = importlib.util.find_spec(template)
    assert source is not None
    assert source.origin is not None
    text = _IMPORT.sub(lambda _: "\n\n".join(functions), Path(source.origin).read_text(encoding="utf-8"), count=1)
    name = f"{template.rpartition('.')[2]}_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    path = cache_directory() / f"{name}.py"
    if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text:
        write_whole(path, text.encode())
    spec = importlib.util.spec_from_file_location(f"simsuite_written.{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    shared = [*(PACKAGE / f"{name}.py" for name in ("elementary", "parallel_for", "rng")), *PACKAGE.glob("sobol/*.py")]
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
