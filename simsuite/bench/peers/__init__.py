"""Other libraries that take the same steps, each in a file of its own, run beside simsuite when they are installed.

All take the same explicit steps of a plate with constant diffusivity whose edges are held at 0 half a cell outside the
outermost centres. They are written as users of each library would write them, and are checked like simsuite's own
kernels.
"""

from simsuite.bench.peers.cupy_fused import CUPY_FUSED
from simsuite.bench.peers.devito_operator import DEVITO
from simsuite.bench.peers.jax_loop import JAX
from simsuite.bench.peers.peer import Peer, Running
from simsuite.bench.peers.pypde import PY_PDE
from simsuite.bench.peers.slices import CUPY_SLICES, NUMPY_SLICES
from simsuite.bench.peers.torch_compiled import TORCH

PEERS = (NUMPY_SLICES, CUPY_SLICES, CUPY_FUSED, TORCH, JAX, PY_PDE, DEVITO)

__all__ = ["PEERS", "Peer", "Running"]
