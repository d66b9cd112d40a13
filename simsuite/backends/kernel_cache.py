"""Where compiled kernels are kept between runs.

Numba recompiles a cached function when its own file changes, but not when a function or constant that it takes from
another module does. So the caches lie in a directory named after all sources that kernels can be made of; those of
plug-ins in one below it, named after the sources of the plug-in as well.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import hashlib
import importlib
import importlib.util
import logging
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from simsuite.backends.cache_files import write_whole
from simsuite.backends.numba_cache import caching_in
from simsuite.errors import DeviceError

PACKAGE = Path(__file__).parents[1]
UNUSED = 60 * 86400.0  # seconds, after which compiled kernels of another version are removed
# how many modules made of templates are kept in memory: the same expressions come back with every grid and stepper
KEPT = 256
_SOURCES = (
    "elementary_functions.py",
    "parallel_for.py",
    "rng.py",
    "sobol/*.py",
    "solvers/**/*.py",
    "solvers/**/*.cu*",
    "bench/**/*_c*.py",
)
_LOG = logging.getLogger("simsuite")
_CACHE = re.compile("[0-9a-f]{16}")  # names of caches, see `fingerprint`
_IMPORT = re.compile(r"^from simsuite\.solvers\.expression_placeholders import .*$", re.MULTILINE)


def import_kernels(module: str, functions: Mapping[str, str] | None = None) -> ModuleType:
    """The module, with its functions cached in the right place. functions: where it is a template, see
    `solvers.expression_placeholders`, the text of each function that it calls."""
    with caching_in(_directory_for(module), cuda=module.endswith("_cuda")):
        return _written(module, tuple((functions or {}).values())) if functions else importlib.import_module(module)


def _directory_for(module: str) -> Path:
    """Where kernels of a module are kept: those of other packages in a directory named after the sources of theirs."""
    top = module.partition(".")[0]
    if top == PACKAGE.name or (spec := importlib.util.find_spec(top)) is None:
        return cache_directory()
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    sources = [path for folder in folders for glob in ("*.py", "*.cu*") for path in folder.rglob(glob)]
    if not folders and spec.origin is not None:
        sources = [Path(spec.origin)]
    return cache_directory() / f"{top}_{fingerprint(sorted(sources))}"


@functools.lru_cache(KEPT)
def _written(template: str, functions: tuple[str, ...]) -> ModuleType:
    """The module that a template becomes with these functions. Its text is a file in the cache, since Numba keeps only
    what it compiles of files, under their names."""
    source = importlib.util.find_spec(template)
    assert source is not None
    assert source.origin is not None
    text = _IMPORT.sub(lambda _: "\n\n".join(functions), Path(source.origin).read_text(encoding="utf-8"), count=1)
    name = f"{template.rpartition('.')[2]}_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    module = sys.modules[f"simsuite_written.{name}"] = ModuleType(f"simsuite_written.{name}")
    module.__file__ = str(_file(f"{name}.py", text.encode()))
    exec(compile(text, module.__file__, "exec"), module.__dict__)  # written from the checked tree of an expression
    return module


def _file(name: str, data: bytes) -> Path:
    """A file of this name that holds these bytes: in the cache, or where it cannot be written, in a directory of this
    process."""
    for directory in (cache_directory, private_directory):
        path = directory() / name
        if _holds(path, data):
            return path
        write_whole(path, data)
        if _holds(path, data):
            return path
    raise DeviceError(
        f"no kernels can be made: neither {cache_directory()} nor {private_directory()} can be written to"
    )


def _holds(path: Path, data: bytes) -> bool:
    with contextlib.suppress(OSError):
        return path.read_bytes() == data
    return False


def fingerprint(sources: Iterable[Path]) -> str:
    """A name for the present contents of some files, which changes with any of them."""
    digest = hashlib.sha256()
    for path in sources:
        text = path.read_bytes()
        digest.update(f"{path.name} {len(text)} ".encode() + text)
    return digest.hexdigest()[:16]


@functools.cache
def cache_directory() -> Path:
    """The directory of compiled kernels: the usual one, or one for this process alone where that cannot be written
    to."""
    name = Path("simsuite") / fingerprint(sorted({path for glob in _SOURCES for path in PACKAGE.glob(glob)}))
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    directory = Path(home) / name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if os.access(directory, os.W_OK):
            _forget_unused(directory)
            return directory
        why = os.strerror(errno.EACCES)
    except OSError as e:
        why = e.strerror or str(e)
    _LOG.warning("kernels are compiled anew in every run: %s cannot be written to (%s); set NUMBA_CACHE_DIR", home, why)
    return private_directory()


def _forget_unused(directory: Path) -> None:
    """Note that the directory is in use, and remove the directories beside it, of other versions of simsuite, that no
    process has used for UNUSED seconds."""
    with contextlib.suppress(OSError):
        os.utime(directory)
        for other in directory.parent.iterdir():
            if _CACHE.fullmatch(other.name) and time.time() - other.stat().st_mtime > UNUSED:
                shutil.rmtree(other, ignore_errors=True)


@functools.cache
def private_directory() -> Path:
    """A directory that is removed when this process ends."""
    directory = tempfile.TemporaryDirectory(prefix="simsuite-")
    atexit.register(directory.cleanup)
    return Path(directory.name)
