"""simsuite's own kernels on the problems of the roads, and what the device could do at most: rates a second."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.bench import effort as heat_effort
from simsuite.bench.findings import Row
from simsuite.bench.gbm import effort as gbm_effort
from simsuite.bench.gbm.rates import Device, rate_rows
from simsuite.bench.gbm.units import measure_units
from simsuite.bench.linear.products import product_rows
from simsuite.bench.machine import Machine
from simsuite.bench.rates import explicit_rates
from simsuite.core import Backend

PRECISION = "float32"
HEAT_BYTES = 2 * 4  # a point is read and written once


def best_of(problem: str, backend: Backend, machine: Machine, size: int) -> Row:
    """The rate of simsuite's own kernel for a problem of this size, and of the limit of a GPU: for heat the pass over
    the memory that a step takes at least, unless several are done in one; for paths the units that make random numbers;
    for products the multipliers. None on a CPU, whose caches hold the plate."""
    quick = heat_effort.QUICK
    if problem == "heat":
        row = _first(explicit_rates(backend, machine, quick, (size,), (PRECISION,)), backend)
        wall = machine.copy / HEAT_BYTES if backend.compiles else None
        return {"rate": row.get("rate"), "limit": wall, "limited_by": "one pass over the memory"}
    if problem == "gbm":
        patience = gbm_effort.QUICK.patience
        units = measure_units(backend, patience)
        row = next(rate_rows(Device(backend, machine, units, patience), gbm_effort.QUICK, (size,), (PRECISION,)))
        limit = min(row["limits"].values()) if row.get("limits") else None
        return {"rate": row.get("kernel_rate"), "limit": limit, "limited_by": row.get("limited_by", "")}
    rows = list(product_rows(backend, machine, quick.patience, ((size,) * 3,), (PRECISION,)))
    rate = max((row["flops"] for row in rows if "flops" in row and row["kernel"] == "auto"), default=None)
    return {"rate": rate, "limit": 2 * machine.fma[PRECISION], "limited_by": "multiplications and additions"}


def _first(rows: Iterator[Row], backend: Backend) -> Row:
    """The row of the plate of constant material by the kernel that runs take by themselves."""
    wanted = "nvrtc" if backend.compiles else "numba"
    return next(row for row in rows if row["kernel"] == wanted and row["material"] == "constant")
