"""Who loads programs in CUDA C++ onto a GPU and launches their kernels: CuPy, CUDA Python (cuda.core), or PyCUDA.

Memory, and the code that is loaded, are the same for each of them, and so are the bits of all results; what differs is
what a launch costs the host. All work in the primary context of the device and in one stream: nothing is copied, and
kernels of one may follow those of another.
"""

from simsuite.backends.loaders.loader import LOADERS, Loaded, Loader, Shape
from simsuite.backends.loaders.opening import installed_loaders, open_loader

__all__ = ["LOADERS", "Loaded", "Loader", "Shape", "installed_loaders", "open_loader"]
