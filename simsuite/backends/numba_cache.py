"""How Numba keeps what it has compiled: a sealed file for each function and signature.

Numba's own cache has an index file and numbered data files for each function. A damaged one aborts the process, and two
processes that compile a function for different types at once may give the same number to both. Here the name of a file
follows from the function, the types, and the CPU or GPU, and the file says again what it is for.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from simsuite.backends.cache_files import read_sealed, write_sealed

_CPU, _CUDA = "numba.core", "numba.cuda.core"


class Missing:
    """Functions that are called with the file name of a kernel. Code that asks for kernels sets them.

    tell: the kernel is not in the cache and will be compiled, unless it is there when this function returns.
    found: a kernel of which that was told is in the cache now.
    """

    tell: Callable[[str], None] = staticmethod(lambda name: None)
    found: Callable[[str], None] = staticmethod(lambda name: None)


@contextlib.contextmanager
def caching_in(directory: Path, cuda: bool) -> Iterator[None]:
    """A context in which functions that are decorated with `cache=True` are kept in a directory, in sealed files. cuda:
    whether that applies to kernels of GPUs, too.

    Numba asks for the place, and makes the cache of a function, when the function is decorated, so those of other
    packages stay where they are.
    """
    changed: list[tuple[ModuleType, str, object]] = []
    for package in (_CPU, *([_CUDA] if cuda else [])):  # the import of numba.cuda takes long
        with contextlib.suppress(ImportError):
            config, caching = (importlib.import_module(f"{package}.{name}") for name in ("config", "caching"))
            changed += [
                (config, "CACHE_DIR", str(directory)),
                (caching, "IndexDataCacheFile", _sealed(caching.IndexDataCacheFile)),
            ]
    before = [getattr(module, name) for module, name, _ in changed]
    for module, name, value in changed:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(changed, before, strict=True):
            setattr(module, name, value)


@functools.cache
def _sealed(files: type) -> type:
    """The class that takes the place of Numba's `IndexDataCacheFile`."""
    return files if issubclass(files, _Sealed) else type("SealedFiles", (_Sealed, files), {})


class _Sealed:
    """What Numba's caches ask of their files: keys are (types, target, hashes of the function's code)."""

    _cache_path: str
    _index_name: str
    _version: str
    _dump: Callable[[object], bytes]

    def save(self, key: object, data: object) -> None:
        whole, path = pickle.dumps(self._identity(key)) + self._dump(data), self._path(key)
        write_sealed(path, whole)
        Missing.found(path.name)

    def load(self, key: object) -> object:
        path = self._path(key)
        kept = self._kept(path, key)
        if kept is None:
            Missing.tell(path.name)
            kept = self._kept(path, key)
            if kept is not None:
                Missing.found(path.name)
        return None if kept is None else pickle.loads(kept)

    def _kept(self, path: Path, key: object) -> bytes | None:
        """The pickled function that a file holds; None if it is not this one."""
        whole, identity = read_sealed(path), pickle.dumps(self._identity(key))
        return whole[len(identity) :] if whole is not None and whole.startswith(identity) else None

    def _identity(self, key: object) -> tuple[str, str]:
        """What a file is named after, and what it says that it is for. The time of the function's source file is left
        out, since the directory is named after the contents of the sources."""
        return repr(key), self._version

    def _path(self, key: object) -> Path:
        name = hashlib.sha256(repr(self._identity(key)).encode()).hexdigest()[:20]
        return Path(self._cache_path) / f"{self._index_name.removesuffix('.nbi')}.{name}.kernel"
