"""Rates of steps: of explicit ones for every kernel, precision and material, then of the other steppers.

A step has to read the temperature and write it once, and to read all other data that differ from cell to cell; at the
copy rate this takes a time that only a kernel with several steps a pass can beat, or one whose grid stays in a cache
(the one-pass limit). The arithmetic limit is the rate if the device executed the scheme's instructions and nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simsuite.bench.checking import explicit_deviation, stepper_deviation
from simsuite.bench.effort import Effort
from simsuite.bench.machine import Machine
from simsuite.bench.plates import MATERIALS, Plate, fitting, kernels_for, started
from simsuite.bench.timing import seconds
from simsuite.core import Backend
from simsuite.errors import DeviceError, ScenarioError

Row = dict[str, Any]

# The numbers a cell that one step a pass has to move: T, its result, and conductances of two faces and the capacity. A
# source is an expression, and moves nothing.
WORDS = {"constant": 2, "variable": 5, "heated": 2}
# The fewest instructions a cell that the scheme takes. Constant: w + e, s + n, fused with -2T each, fused with each
# other, fused with T. Variable: two differences and two products for two of the faces, which serve the neighbours too;
# the differences of these fluxes along x and y, their sum, and fused with T. Heated: one more, where the source is a
# product of what stands in tables.
OPERATIONS = {"constant": 6, "variable": 8, "heated": 7}
TABLE = 64  # A unit of work has so many steps, as many as a recorded graph.
# (stepper, material, edges): the exact stepper is timed with edges that allow fast transforms and with others.
STEPPERS = (
    ("rkl2", "constant", "mixed"),
    ("rkl2", "variable", "mixed"),
    ("adi", "variable", "mixed"),
    ("exact", "constant", "cold"),
    ("exact", "constant", "open"),
)


def default_sizes(effort: Effort, machine: Machine) -> tuple[int, ...]:
    """The sizes whose passes over memory are short enough on this device; the smallest in any case."""
    fits = [n for n in effort.sizes if 2 * 8 * n * n / machine.copy <= effort.longest_pass]
    return tuple(fits or effort.sizes[:1])


def explicit_rates(
    backend: Backend, machine: Machine, effort: Effort, sizes: Sequence[int], precisions: Sequence[str]
) -> Iterator[Row]:
    """A row for each plate, in turn, as it is measured."""
    for n in sizes:
        for material in MATERIALS:
            for precision in precisions:
                for kernel in kernels_for(backend):
                    plate = Plate(n, precision, material, kernel)
                    yield _name(plate) | _measured(backend, machine, effort, plate)


def _name(plate: Plate) -> Row:
    return {
        "stepper": plate.stepper,
        "kernel": plate.kernel,
        "material": plate.material,
        "precision": plate.precision,
        "edges": plate.edges,
        "n": plate.n,
    }


def _measured(backend: Backend, machine: Machine, effort: Effort, plate: Plate) -> Row:
    try:
        problem = fitting(backend, plate)
        stepper = started(problem, backend, plate.start())
    except (DeviceError, ScenarioError) as reason:
        return {"skipped": str(reason)}
    off = explicit_deviation(backend, plate, stepper)
    row = {"largest_error": off.error, "error_limit": off.limit, "right": off.right}
    if not off.right:
        return row
    stepper.advance(-stepper.step % TABLE)  # Go on to a multiple of TABLE steps, where graphs of a run begin.
    unit = TABLE if TABLE * plate.n**2 * _bytes(plate) <= effort.patience.most * machine.copy else 1
    first = -(-effort.long // unit) if plate.n <= effort.small else 1
    step, units = seconds(backend, lambda k: stepper.advance(unit * k), effort.patience, first)
    return row | {"steps": unit * units} | _rate(machine, plate, step / unit)


def _bytes(plate: Plate) -> int:
    return WORDS[plate.material] * np.dtype(plate.precision).itemsize


def _rate(machine: Machine, plate: Plate, step: float) -> Row:
    """The row that follows from the seconds of one step."""
    cells = plate.n * plate.n
    nbytes = _bytes(plate)
    wall = machine.copy / nbytes
    limit = machine.fma[plate.precision] / OPERATIONS[plate.material]
    return {
        "microseconds_per_step": step * 1e6,
        "rate": cells / step,
        "bytes_per_cell": nbytes,
        "bytes_per_second": nbytes * cells / step,
        "one_pass_limit": wall,
        "fraction_of_one_pass": cells / step / wall,
        "operations_per_cell": OPERATIONS[plate.material],
        "arithmetic_limit": limit,
        "fraction_of_arithmetic": cells / step / limit,
    }


def stepper_rates(
    backend: Backend, machine: Machine, effort: Effort, sizes: Sequence[int], precisions: Sequence[str]
) -> Iterator[Row]:
    """A row for each stepper, precision and size: the seconds of an adi or exact step, or an rkl2 stage, and how many
    numbers a cell could be moved in that time.
    """
    sizes = [n for n in sizes if n <= effort.steppers]
    for stepper, material, edges in STEPPERS if sizes else ():
        for precision in precisions:
            off = stepper_deviation(backend, Plate(0, precision, material, stepper=stepper, edges=edges))
            checked = {"largest_error": off.error, "error_limit": off.limit, "right": off.right}
            for n in sizes:
                plate = Plate(n, precision, material, stepper=stepper, edges=edges)
                yield _name(plate) | checked | (_step_of(backend, machine, effort, plate) if off.right else {})


def _step_of(backend: Backend, machine: Machine, effort: Effort, plate: Plate) -> Row:
    try:
        problem = fitting(backend, plate)
    except DeviceError as reason:
        return {"skipped": str(reason)}
    run = started(problem, backend, plate.start())
    stages = max(1, problem.plan.stages)
    step = seconds(backend, run.advance, effort.patience)[0] / stages
    words = step * machine.copy / (plate.n**2 * np.dtype(plate.precision).itemsize)
    return {"stages": stages, "microseconds_per_step": step * 1e6, "words_per_cell": words}
