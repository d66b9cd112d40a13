"""u_tt = c² (u_xx + u_yy), u = 0 at the edges, by leapfrog, (u⁺ - 2u + u⁻)/dt² = c² Δ_h u: order 2 in space and time.

Stable for c dt √(1/dx² + 1/dy²) ≤ 1 (Courant, Friedrichs and Lewy, Math. Ann. 100, 1928). The energy between two steps,
½ ‖(u - u⁻)/dt‖² - ½ c² <Δ_h u, u⁻>, stays as it is.
"""

from types import MappingProxyType

import numpy as np

from simsuite.core import Clock, Image, Layout, Series, Snapshot, Variable
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.common import frame_mistakes
from simsuite.solvers.equal_steps import EqualSteps
from simsuite.solvers.schedule import frame_steps


class WaveProblem(EqualSteps):
    solver, rate_unit = "wave", "cell-steps/s"
    method = MappingProxyType({"stepper": "leapfrog", "precision": "float64"})

    @classmethod
    def from_scenario(cls, model, base, device=None, decided=None):
        return cls(model)

    def __init__(self, model):
        grid, self.c, end, dt = model.grid, model.medium.speed, model.time.end, model.time.dt
        self.dx, self.dy = grid.lx / grid.nx, grid.ly / grid.ny
        largest = 1 / (self.c * np.hypot(1 / self.dx, 1 / self.dy))
        if dt != "auto" and dt > largest * (1 + 1e-12):
            help = f"the largest stable dt is {largest:g} s"
            raise ScenarioError([Mistake(("time", "dt"), "is unstable on this grid", help)])
        steps = int(np.ceil(end / (0.9 * largest if dt == "auto" else dt) * (1 - 1e-12)))
        self.dt = end / steps
        if wrong := frame_mistakes(model.output, steps, self.dt, end, "s"):
            raise ScenarioError(wrong)
        frames = frame_steps(model.output, steps, self.dt)
        self.clock = Clock(frames, tuple(end * (k / steps) for k in frames))
        self.x, self.y = (np.linspace(0, length, n + 1) for length, n in ((grid.lx, grid.nx), (grid.ly, grid.ny)))
        self.u = np.zeros((len(self.y), len(self.x)))
        self.u[1:-1, 1:-1] = model.initial.displacement(x=self.x[None, 1:-1], y=self.y[1:-1, None])
        variables = (
            *(Variable(name, (name,), attrs={"units": "m"}, values=getattr(self, name)) for name in "yx"),
            Variable("displacement", ("time", "y", "x"), attrs={"units": "m"}),
            Variable("energy", ("time",), attrs={"units": "m4 s-2", "long_name": "energy over density"}),
        )
        series = (Series("time", Variable("time", ("time",), attrs={"units": "s", "axis": "T"}), frames),)
        image = Image("displacement", (0.0, 0.0), (self.dx, self.dy))
        self.layout = Layout({"y": len(self.y), "x": len(self.x)}, series, variables, image)

    def _force(self, u):
        """c² Δ_h u, 0 at the edges."""
        f, inner = np.zeros_like(u), u[1:-1, 1:-1]
        f[1:-1, 1:-1] = (u[1:-1, 2:] - 2 * inner + u[1:-1, :-2]) / self.dx**2
        f[1:-1, 1:-1] += (u[2:, 1:-1] - 2 * inner + u[:-2, 1:-1]) / self.dy**2
        return self.c**2 * f

    def initial(self):
        return Snapshot(0, {"displacement": self.u, "before": self.u + 0.5 * self.dt**2 * self._force(self.u)})

    def stepper(self, backend, start):
        return Leapfrog(backend, start, *((self.c * self.dt / h) ** 2 for h in (self.dx, self.dy)))

    def work(self, step):
        return float(step * (len(self.x) - 1) * (len(self.y) - 1))

    def rows(self, series, observed):
        u, before = observed.arrays["displacement"], observed.arrays["before"]
        energy = np.sum(((u - before) / self.dt) ** 2 - self._force(u) * before) * self.dx * self.dy / 2
        return {"time": np.array(self.clock.time(observed.step)), "displacement": u, "energy": energy}

    def results(self, observed):
        u, row = observed.arrays["displacement"], self.rows("time", observed)
        return {"displacement": {"min": float(u.min()), "max": float(u.max())}, "energy": float(row["energy"])}

    def device_bytes(self):
        return 2 * self.u.nbytes


class Leapfrog:
    """Two arrays take turns as u and u⁻, which becomes u⁺. ax, ay: (c dt/dx)² and (c dt/dy)²."""

    def __init__(self, backend, start, ax, ay):
        self.step, self.chosen, self._backend, self._a = start.step, {"kernel": "numba"}, backend, (ax, ay)
        self._arrays = [backend.array(start.arrays[name]) for name in ("displacement", "before")]
        ny, nx = self._arrays[0].shape
        self._launch = backend.launcher(backend.kernels("simsuite_wave.leapfrog").leapfrog, (nx, ny), (32, 8))

    def advance(self, n):
        for _ in range(n):
            self._launch(*map(self._backend.view, self._arrays), *self._a)
            self._arrays.reverse()
        self.step += n

    @property
    def state(self):
        return dict(zip(("displacement", "before"), self._arrays))

    def snapshot(self):
        return self._backend.stage(self.step, self.state)

    def observe(self, series):
        return self.snapshot()
