"""Monte Carlo by CuPy's `RawModule`: a template with a type and a flag, compiled by NVRTC for the combinations named.

`paths<float, false>` is a name like any other: what does not depend on the path is decided by the compiler, so that the
kernel for the last price has no exponential in its loop. Arguments have to have the very types that the kernel
declares.
"""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import cupy
import numpy as np

from simsuite.routes.arrays import checked

THREADS = 128
NAMES = {
    (dtype, asian): f"paths<{real}, {str(asian).lower()}>"
    for (dtype, real), asian in itertools.product((("float32", "float"), ("float64", "double")), (False, True))
}


@functools.cache
def _module():
    text = Path(__file__).with_name("paths.cu").read_text(encoding="utf-8")
    return cupy.RawModule(code=text, options=("-std=c++17",), name_expressions=tuple(NAMES.values()))


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    view = cupy.asarray(checked(out, 1))
    kernel, real = _module().get_function(NAMES[view.dtype.name, contract.asian]), view.dtype.type
    market = (contract.spot, contract.strike, contract.drift, contract.deviation, contract.discount)
    numbers = (*map(real, market), np.int32(contract.steps), np.uint64(seed))
    kernel((-(-view.size // THREADS),), (THREADS,), (view, np.int32(view.size), *numbers))
    return out
