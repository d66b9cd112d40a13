"""The explicit stepper: forward Euler in time, 5-point finite volumes in space.

    ρc ∂T/∂t = ∇·(k∇T) + q   on nx × ny cells of size Δx × Δy, T at cell centres

    T' = T + Δt·dT/dt        with dT/dt as in `operator`, c = 1/(ρc) there multiplied by Δt first

The scheme has order 2 in space and 1 in time. It is stable for Δt·λ ≤ 2 with λ the operator's largest eigenvalue, for
which Gershgorin's circles give a bound; with constant coefficients that is Δt ≤ 1/(2α(1/Δx² + 1/Δy²)) (Morton & Mayers,
Numerical Solution of Partial Differential Equations, 2nd ed., 2005, section 3.1). Cells beside an edge of fixed
temperature conduct over half a cell only, and so lose heat at up to 3/2 of the rate that this bound assumes. With
`dt = "auto"` steps are a little shorter, so that each new temperature is a mean of old ones (maximum principle).

With constant coefficients and no sources:

    T'[y,x] = T + rx·(((T[y,x-1] - T) + (T[y,x+1] - T)) + q·((T[y-1,x] - T) + (T[y+1,x] - T))),
    rx = αΔt/Δx², q = Δx²/Δy², α = k/(ρc),

with the differences across edges taken from affine ghosts (see `edges`) at the beginning of the step. A mode with
eigenvalue λ of the 5-point operator is multiplied by exactly 1 - Δtλ a step.

The sum is formed from differences, so that a uniform field stays exactly uniform, and what leaves one cell enters its
neighbour; with a precomputed centre coefficient 1 - 2rx(1 + q) the energy would drift by a rounding error each step. No
sum has two products in it, so there is one way only to contract it into fused multiply-adds: all kernels of a device
agree bit for bit.

Ledger: each edge point adds up rx or rx·q times its difference, that is the rise in temperature that the flux through
it caused (see `ledger`); times ρcΔxΔy that is the energy which came in there, joules per metre of depth."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot
from simsuite.scenario.heat import HeatRun
from simsuite.solvers.heat.arguments import Mesh
from simsuite.solvers.heat.explicit import arguments as structs
from simsuite.solvers.heat.explicit.explicit_error import explicit_error
from simsuite.solvers.heat.explicit.general import general_variants, kinds, pack_coefficients, why_not
from simsuite.solvers.heat.explicit.launches_nvrtc import BlockedSteps
from simsuite.solvers.heat.explicit.resident import resident_variants
from simsuite.solvers.heat.explicit.streamed import streamed_variants
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.compensated import State, is_compensated
from simsuite.solvers.heat.operator.edge_table import EdgeTable
from simsuite.solvers.heat.operator.ledger import Ledger
from simsuite.solvers.heat.operator.operator import OPERATOR, Operator, block_for
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.heat.stepper_record import (
    SAFETY,
    VARYING,
    KindOfWork,
    StepperRecord,
    Trial,
    Usual,
    Work,
    bytes_of_fields,
    longer,
)
from simsuite.solvers.kernel_choice import kernel_of, made_or_not
from simsuite.solvers.structs import packed
from simsuite.solvers.table import ROWS

# Up to so many cells, Numba's kernel works from the cache and is faster than programs that stream the field.
FEW_CELLS = 1 << 20
# so many times ROWS steps are recorded at once where all are alike, since a step takes less time than a launch on small
# grids
MANY = 8


def is_plain(made: Discretisation) -> bool:
    """Whether the kernels for constant coefficients apply, whose ledger is a rise in temperature, K."""
    return made.uniform and not made.sources and not made.nonlinear


def mesh_ratios(made: Discretisation, dt: float) -> tuple[float, float]:
    """rx and q of constant coefficients; where conductivities differ along x and y, q has their ratio as well."""
    c, kx, ky = (float(a.flat[0]) for a in (made.inverse_capacity, made.kx, made.ky))
    return kx * c * dt / made.dx**2, (ky / kx) * (made.dx / made.dy) ** 2


def mesh_of(made: Discretisation, edges: EdgeTable, ledger: Ledger) -> tuple[Any, ...]:
    """A `Mesh` as kernels take it."""
    _, q = mesh_ratios(made, 1.0)
    partial, wrapped = ledger.partial, {"wrap_x": made.wrap_x, "wrap_y": made.wrap_y}
    return tuple(Mesh(edges=edges.flat, ledger=partial, q=edges.dtype.type(q), **wrapped))


class PlainSteps:
    """Steps with constant coefficients; the arguments of the kernels are

    T, out: field before and after, (ny, nx), or (2, ny, nx) where steps are compensated (see `compensated`). mesh: a
    `Mesh`. at: where the row of its edge table begins. rx: mesh ratio. Kernels that take several steps a launch also
    get how far apart the table's rows are, and how many steps to take.

    choice: which kernels to use, "auto", "numba" or "nvrtc"."""

    operator = None

    def __init__(
        self, made: Discretisation, clock: Clock, backend: Backend, dtype: Any, start: Snapshot, choice: str
    ) -> None:
        self._made, self._dtype, self._backend = made, np.dtype(dtype), backend
        self.ledger = Ledger(backend, start.arrays)
        self.edges = EdgeTable(made, clock, backend, dtype)
        self._wrap = (made.wrap_x, made.wrap_y)
        self._mesh = mesh_of(made, self.edges, self.ledger)
        self._choice, self._compensated = choice, is_compensated(start.arrays)
        self.chosen = {"kernel": kernel_of(choice, backend)}
        self._blocked: BlockedSteps | None = None

    def prepare(self, fields: Sequence[Any]) -> None:
        """Get the kernels, after trying which are the fastest here. fields: two arrays; the second one is
        overwritten."""
        made, backend = self._made, self._backend
        shape, compensated = (made.ny, made.nx), self._compensated
        kernel, extent, block, self._few = backend.kernels(__name__).choose(*shape, compensated)
        self._numba = backend.launcher(kernel, extent, block)
        if self.chosen["kernel"] == "nvrtc":
            grid, processors = (shape, self._dtype), backend.processors
            moving = not self.edges.steady
            variants = resident_variants(*grid, *self._wrap, moving, processors, processors, compensated)
            # otherwise the variants that exchange cells are the fastest by far
            if not (variants and variants[0].exchanging):
                if not variants and self._choice == "auto" and made.ny * made.nx < FEW_CELLS:
                    self.chosen = {"kernel": "numba"}
                    return
                variants = [*variants, *streamed_variants(*grid, *self._wrap, processors, compensated)]
            about = f"explicit {grid} periodic {self._wrap} moving {moving}"
            nowhere = backend.zeros(self.edges.points, self._dtype)  # trials book heat here
            edges = packed(backend, structs.Edges(self.edges.flat, nowhere, stride=0), self._dtype)
            harmless = (edges, np.int64(0), self._packed_mesh(), self._dtype.type(0.1))
            whole = (2, *shape) if compensated else shape
            make = functools.partial(BlockedSteps, backend, whole, self._dtype, about, variants, fields, harmless)
            self._structs = self._packed_edges(), self._packed_mesh()
            self._blocked, self.chosen = made_or_not(make, self._choice, self.chosen)

    def _packed_edges(self) -> np.ndarray:
        table = self.edges
        own = structs.Edges(table.flat, self.ledger.partial, stride=table.at(1))
        return packed(self._backend, own, self._dtype)

    def _packed_mesh(self) -> np.ndarray:
        _, q = mesh_ratios(self._made, 1.0)
        return packed(self._backend, structs.Mesh(*self._wrap, q), self._dtype)

    def begin(self, step: int, n: int) -> None:
        """Queue the evaluation of what depends on time, for n steps."""
        self.edges.fill(step, n)

    @property
    def span(self) -> int:
        """How many steps may be recorded at once, beginning with a step whose number is a multiple of that."""
        return _span(self._blocked, self.edges.steady)

    def launches(self, step: int, count: int) -> int:
        """How many launches it takes to take `count` steps from number `step` on."""
        return sum(1 for _ in _stretches(step, count, self._blocked, self._few))

    def launch(self, states: list[State], now: int, step: int, count: int, dt: float) -> None:
        """Queue `count` steps from number `step` on. The field before them is states[now]."""
        rx, _ = mesh_ratios(self._made, dt)
        for k, n in _stretches(step, count, self._blocked, self._few):
            self._launch(states[now].whole, states[1 - now].whole, k, n, rx)
            self.ledger.fold(step + k + n)
            now = 1 - now

    def _launch(self, T: Any, out: Any, k: int, n: int, rx: float) -> None:
        """Queue n steps from T to out, the first of them with row k of the edge table."""
        table = self.edges
        if self._blocked and self._blocked.takes(n):
            edges, mesh = self._structs
            self._blocked(T, out, n, edges, np.int64(table.at(k)), mesh, self._dtype.type(rx))
        else:
            several = (table.at(1) - table.at(0), n) if self._few > 1 else ()
            self._numba(T, out, self._mesh, table.at(k), self._dtype.type(rx), *several)


class GeneralSteps:
    """Steps for all problems, with any coefficients and sources. The arguments of the kernel are the fields before and
    after, the operator's (`Plate`, and where the row of the edge table begins) and dt.

    Kernels that take several steps a launch book as well, and also get the ledger, how far apart the edge table's rows
    are, and how many steps to take.

    choice: which kernels to use, "auto", "numba" or "nvrtc"."""

    def __init__(
        self, made: Discretisation, clock: Clock, backend: Backend, dtype: Any, start: Snapshot, choice: str
    ) -> None:
        self.operator = Operator(made, clock, backend, dtype, start.arrays)
        self.ledger, self.edges = self.operator.ledger, self.operator.edges
        self._choice, self._compensated = choice, is_compensated(start.arrays)
        reason = why_not(made, self.operator.sources.terms)
        kernel = kernel_of(choice, backend)
        self.chosen = {"kernel": kernel if reason is None else "numba"}
        if reason is not None and choice == "nvrtc":
            self.chosen["kernel_note"] = f"one step a launch: {reason}"
        kernels = backend.kernels(OPERATOR)
        self._few, kernel = 1, kernels.step
        if self.operator.constant:
            kernel, self._few = kernels.choose_constant(made.ny, made.nx, self._compensated)
        self._numba = backend.launcher(kernel, (made.nx, made.ny), block_for(made))
        self._blocked: BlockedSteps | None = None

    def prepare(self, fields: Sequence[Any]) -> None:
        """Get the kernels, after trying which are the fastest here. fields: two arrays; the second one is
        overwritten."""
        if self.chosen["kernel"] == "nvrtc":
            o = self.operator
            made, backend = o.made, o.backend
            variants = general_variants(made, o.dtype, o.sources.terms, backend.processors, self._compensated)
            shape = (2, made.ny, made.nx) if self._compensated else (made.ny, made.nx)
            about = f"general {o.dtype} {made.ny} {made.nx} periodic {o.wrap} moving {not self.edges.steady}"

            def make() -> BlockedSteps:
                self._packed = pack_coefficients(o, variants[0])
                self._coefficients = backend.view(self._packed)
                nowhere = backend.zeros(o.entries, o.dtype)  # trials book heat here
                harmless = self._program_arguments(self._packed_structs(nowhere), 0, 0.0)
                self._structs = self._packed_structs(self.ledger.partial)
                return BlockedSteps(backend, shape, o.dtype, about, variants, fields, harmless)

            self._blocked, self.chosen = made_or_not(make, self._choice, self.chosen)

    def begin(self, step: int, n: int) -> None:
        """Queue the evaluation of what depends on time, for n steps."""
        self.operator.begin(step, n)

    @property
    def span(self) -> int:
        """How many steps may be recorded at once, beginning with a step whose number is a multiple of that."""
        return _span(self._blocked, self.edges.steady and all(self.operator.made.static))

    def launches(self, step: int, count: int) -> int:
        """How many launches it takes to take `count` steps from number `step` on. Each launch leads from one field to
        the other."""
        return sum(1 for _ in _stretches(step, count, self._blocked, self._few))

    def launch(self, states: list[State], now: int, step: int, count: int, dt: float) -> None:
        """Queue `count` steps from number `step` on. The field before them is states[now]."""
        for k, n in _stretches(step, count, self._blocked, self._few):
            before, after = states[now], states[1 - now]
            if self._blocked and self._blocked.takes(n):
                self._blocked(before.whole, after.whole, n, *self._program_arguments(self._structs, k, dt))
                self.operator.sources.book(k, n, dt, self.ledger.partial, self.operator.made.edges.size)
            else:
                self._step(before, after, k, n, dt)
            self.ledger.fold(step + k + n)
            now = 1 - now

    def _step(self, before: State, after: State, k: int, n: int, dt: float) -> None:
        """Queue n steps, at most as many as the kernel takes in a launch. The first one uses row k of the edge
        table."""
        o, table = self.operator, self.edges
        h, at = o.dtype.type(dt), table.at(k)
        if self._few > 1:
            several = (table.at(1) - table.at(0), n)
            self._numba(before.T, after.T, o.plate, at, h, self.ledger.partial, *several)
        else:
            o.refresh(before.T, k)
            o.book(before.T, k, dt, dt, dt)
            self._numba(before.whole, after.whole, o.plate, at, h)

    def _packed_structs(self, ledger: Any) -> tuple[np.ndarray, ...]:
        """The structs of the plate, its edges and its sources, packed for the program."""
        o = self.operator
        xs, ys, edges = o.sources.x_table, o.sources.y_table, self.edges
        groups = (
            structs.Plate(self._coefficients, o.gx, o.made.inverse_capacity.flat[0], *o.alike),
            structs.Edges(edges.flat, ledger, stride=edges.at(1)),
            structs.Sources(xs.flat, ys.flat, xs.offset(1), ys.offset(1)),
        )
        return tuple(packed(o.backend, group, o.dtype) for group in groups)

    def _program_arguments(self, packed_structs: Sequence[np.ndarray], k: int, dt: float) -> tuple[Any, ...]:
        """The arguments that the program gets after the size of the fields, for steps from row k of the tables on."""
        plate, edges, sources = packed_structs
        xs, ys = self.operator.sources.x_table, self.operator.sources.y_table
        at, x_at, y_at = map(np.int64, (self.edges.at(k), xs.offset(k), ys.offset(k)))
        return plate, edges, at, sources, x_at, y_at, self.operator.dtype.type(dt)


def _stretches(step: int, count: int, blocked: BlockedSteps | None, few: int) -> Iterator[tuple[int, int]]:
    """The first step and the number of steps of each launch. The deepest kernel is launched as often as possible, and
    another one, of at most `few` steps, takes the other steps.

    A launch ends where the ledger is folded and rows of tables begin anew."""
    k = 0
    while k < count:
        left = min(count - k, ROWS - (step + k) % ROWS)
        n = min(blocked.variant.depth if blocked else few, left)
        if blocked and not blocked.takes(n):
            n = min(few, left)
        yield k, n
        k += n


def _span(blocked: BlockedSteps | None, steady: bool) -> int:
    """How many steps may be recorded at once, see `PlainSteps.span`. steady: whether tables have one row only, which
    serves all steps."""
    return MANY * ROWS if blocked and steady else ROWS


class ExplicitStepper(FieldStepper):
    """Advances the field of `start` on `backend`."""

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        clock: Clock,
        backend: Backend,
        start: Snapshot,
        choice: str = "auto",
    ) -> None:
        dtype = start.arrays["temperature"].dtype
        self._steps: PlainSteps | GeneralSteps
        if is_plain(made) and not wanted.rate:
            self._steps = PlainSteps(made, clock, backend, dtype, start, choice)
        else:
            self._steps = GeneralSteps(made, clock, backend, dtype, start, choice)
        super().__init__(made, wanted, clock, backend, start, self._steps)
        self._steps.prepare([state.whole for state in self.states])
        self.chosen = self._steps.chosen
        if not made.sources:  # these kernels are loaded when they are first launched
            self._record_spans()

    def _record_spans(self) -> None:
        """Record stretches of steps as the loop will ask for them, before the run begins. Small grids would have to
        wait for that later."""
        span, dt, most = self._steps.span, self.clock.dt(self.step), self.clock.equal_steps(self.step)
        counts = [ROWS << k for k in range((span // ROWS).bit_length())] if span > ROWS else []
        for count, now in itertools.product(counts, range(2)):
            if count <= most:
                launches = functools.partial(self._steps.launch, self.states, now, 0, count, dt)
                self.recorder.prepare((count, now, dt, 0), launches)

    def advance(self, n: int) -> None:
        self.check_end(n)
        while n > 0:
            span = self._steps.span
            count = min(n, span - self.step % span, self.clock.equal_steps(self.step))
            dt = self.clock.dt(self.step)
            self._steps.begin(self.step, count)
            key = (count, self.now, dt, self.step % ROWS)
            launches = functools.partial(self._steps.launch, self.states, self.now, self.step, count, dt)
            self.recorder.replay(key, launches)
            self.now = (self.now + self._steps.launches(self.step, count)) % 2
            self.step += count
            n -= count


_HOLE = [{"shape": "circle", "center": [4.0, 4.0], "radius": 2.0, "temperature": 1.0}]
PLAIN = KindOfWork("explicit steps with constant coefficients", Usual(0.4, 0.3), Usual(0.6, 0.0007), Trial(64, 0.1))
GENERAL = KindOfWork(
    "explicit steps with coefficients that vary", Usual(1.0, 0.7), Usual(4.0, 0.002), Trial(64, 0.1, VARYING)
)
CHANGING = KindOfWork(
    "explicit steps one by one", Usual(6.0, 3.0), Usual(8.0, 0.02), Trial(16, 0.1, {**VARYING, "region": _HOLE})
)


def _work(steps: int, stages: int, made: Discretisation, rate_wanted: bool) -> list[Work]:
    cells = made.nx * made.ny
    if is_plain(made) and not rate_wanted:
        return [Work(PLAIN.name, cells, steps)]
    changing = not all(made.static) or made.nonlinear or made.any_held
    return [Work((CHANGING if changing else GENERAL).name, cells, steps * longer(made))]


def _device_bytes(made: Discretisation, plain: bool, run: HeatRun) -> int:
    programs = run.kernel != "numba" and run.device != "cpu" and made.law is None and not run.compensated
    general = 6 + (kinds(made) if programs else 0)
    return bytes_of_fields(made, (2 if plain else general) + (2 if run.compensated else 0))


RECORD = StepperRecord(
    name="explicit",
    words="explicit Euler",
    order_in_time=1,
    make=lambda of: ExplicitStepper(of.made, of.wanted, of.clock, of.backend, of.start, of.kernel),
    kinds=(PLAIN, GENERAL, CHANGING),
    work=_work,
    device_bytes=_device_bytes,
    bound=lambda limits: limits.stable,
    automatic=lambda limits: min(SAFETY * limits.safe, limits.monotone),
    error_bound=explicit_error,
    has_plain_kernels=True,
    chooses_kernel=True,
)
