"""Monte Carlo by PyCUDA's `SourceModule`, with a kernel whose type, payoff and block size are filled in by Python.

The template around the text that other roads compile instantiates it for one type and one payoff, with bounds on the
block that let the compiler plan registers. `no_extern_c` lets the text hold templates. nvcc has to be installed; PyCUDA
keeps what it compiled on disk. Payoffs are written where `out` lies, whichever library made it: only its address is
passed.
"""

from __future__ import annotations

import functools
from pathlib import Path
from string import Template

import pycuda.autoprimaryctx  # noqa: F401
from pycuda.compiler import SourceModule

from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of

THREADS = 128
TEXT = Template("""
$functions
extern "C" __global__ void __launch_bounds__($threads)
run($real* out, int n, $real spot, $real strike, $real drift, $real deviation, $real discount, int steps,
    unsigned long long seed) {
  const int i = blockIdx.x * $threads + threadIdx.x;
  if (i < n) out[i] = Path<$real, $asian>(i, seed, spot, strike, drift, deviation, discount, steps).payoff;
}
""")


@functools.cache
def _run(real, letter, asian):
    functions = Path(__file__).with_name("paths.cu").read_text(encoding="utf-8")
    text = TEXT.substitute(functions=functions, real=real, asian=str(asian).lower(), threads=THREADS)
    run = SourceModule(text, options=["-std=c++17"], no_extern_c=True).get_function("run")
    return run.prepare(f"Pi{5 * letter}iQ")


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    (n,), dtype = shape_of(checked(out, 1)), dtype_of(out)
    run = _run(*(("float", "f") if dtype.itemsize == 4 else ("double", "d")), contract.asian)
    market = (contract.spot, contract.strike, contract.drift, contract.deviation, contract.discount)
    if n:
        run.prepared_call((-(-n // THREADS), 1), (THREADS, 1, 1), address_of(out), n, *market, contract.steps, seed)
    return out
