"""The loader that a run asks for."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from simsuite.backends.install import GPU_PACKAGES
from simsuite.backends.loaders.cuda_core_loader import CudaCoreLoader
from simsuite.backends.loaders.cupy_loader import CupyLoader
from simsuite.backends.loaders.loader import LOADERS, Loader
from simsuite.backends.loaders.pycuda_loader import PyCudaLoader
from simsuite.errors import DeviceError

_INSTALLED_BY = {"cuda-core": GPU_PACKAGES, "pycuda": "pip install 'simsuite[pycuda]', which needs the CUDA toolkit"}


def open_loader(name: str, cupy: ModuleType, device: int) -> Loader:
    """The loader of this name, or for "auto" the one whose launches cost the host the least, on a device of CuPy's.
    Raises DeviceError where its library is missing or does not work."""
    chosen = LOADERS[0] if name == "auto" else name
    try:
        if chosen == "cuda-core":
            return CudaCoreLoader(cupy, device)
        if chosen == "pycuda":
            return PyCudaLoader(cupy, device)
    except ImportError as e:
        raise DeviceError(f'run.loader = "{name}" needs a package: {_INSTALLED_BY[chosen]} ({e})') from None
    except Exception as e:  # each library has errors of its own
        raise DeviceError(f'run.loader = "{name}" cannot be used on cuda:{device}: {e}') from e
    return CupyLoader(cupy)


def installed_loaders() -> list[str]:
    """The loaders whose libraries are installed, by name."""
    packages = {"cupy": "cupy", "cuda-core": "cuda.core", "pycuda": "pycuda"}

    def there(package: str) -> bool:
        try:
            return importlib.util.find_spec(package) is not None
        except ImportError:
            return False

    return [name for name in LOADERS if there(packages[name])]
