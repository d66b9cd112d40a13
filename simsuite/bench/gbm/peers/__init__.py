"""Other ways to compute the price of the same Asian option, each in a file of its own, run beside simsuite when they
are installed.

All compute the mean over 252 fixings on plain paths, written as users of each library would, and their prices are
checked like simsuite's own.
"""

from simsuite.bench.gbm.peers.jax_loop import JAX
from simsuite.bench.gbm.peers.peer import Asian, Peer
from simsuite.bench.gbm.peers.quantlib_engine import QUANTLIB
from simsuite.bench.gbm.peers.torch_compiled import TORCH
from simsuite.bench.gbm.peers.vectorised import CUPY, NUMPY

PEERS = (NUMPY, CUPY, TORCH, JAX, QUANTLIB)

__all__ = ["PEERS", "Asian", "Peer"]
