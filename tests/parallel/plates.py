"""Plates that processes share, by every stepper, each with data that depend on time or temperature."""

from __future__ import annotations

_PLATE = """
solver = "heat"
units = "K"
[run]
device = "cpu"
precision = "{precision}"
[grid]
nx = {nx}
ny = {ny}
lx = 1.0
ly = 2.0
[material]
conductivity = "{conductivity}"
density = 2.0
specific_heat = "50+x"
[[region]]
shape = "circle"
center = [0.5, 1.02]
radius = 0.2
temperature = 330.0
[[region]]
shape = "rectangle"
x = [0.0, 0.5]
y = [0.2, 0.4]
conductivity = 5.0
[[source]]
name = "moving_spot"
power = "5e3*exp(-((x-0.4)**2+(y-0.9*t)**2)/0.05)"
[[source]]
name = "wave"
power = "1e3*sin(3*x*y+5*t)"
[[source]]
name = "thermostat"
power = "{thermostat}"
[[source]]
name = "marked"
shape = "mask"
file = "marks.png"
power = "20*(350-T)*x"
on = [[0.3, 0.8], [1.1, 1.7]]
[initial]
temperature = "300+30*exp(-((x-0.5)**2+(y-0.7)**2)/0.1)"
[boundary]
left = {{kind = "temperature", value = "310+5*sin(3*y)+t"}}
right = {{kind = "radiation", emissivity = 0.9, ambient = "320+10*t"}}
{ends}
[time]
end = 2.0
{time}
[output]
frames = 5
samples = 9
{output}
[[probe]]
name = "between slabs"
x = 0.3
y = 1.0
[[probe]]
name = "corner"
x = 0.0
y = 2.0
"""
_OPEN = 'bottom = {kind = "convection", h = 50, ambient = "290+9*t"}\ntop = {kind = "flux", value = "500*x*t"}'
_RING = 'bottom = {kind = "periodic"}\ntop = {kind = "periodic"}'
_SMOOTH = "50*(310-T)*y"


def _plate(
    time: str,
    ends: str = _OPEN,
    nx: int = 11,
    ny: int = 23,
    conductivity: str = "1+0.01*(T-300)*y",
    precision: str = "float64",
    thermostat: str = _SMOOTH,
    output: str = "checkpoint_every = 50",
) -> str:
    return _PLATE.format(
        time=time, ends=ends, nx=nx, ny=ny, conductivity=conductivity, precision=precision, thermostat=thermostat,
        output=output,
    )  # fmt: skip


_NO_CHECKPOINT = "checkpoint_minutes = 1e5"  # but where a run is stopped: when others come depends on how fast it is
_EXPLICIT = 'stepper = "explicit"\ndt = "auto"'
_ALL_PERIODIC = """
solver = "heat"
[run]
device = "cpu"
[grid]
nx = 5
ny = {ny}
lx = 1.0
ly = 2.0
[material]
diffusivity = 1e-2
[initial]
temperature = "sin(3.141592653589793*y)"
[boundary]
bottom = {{kind = "periodic"}}
top = {{kind = "periodic"}}
[time]
end = 3.0
{time}
[output]
frames = 3
"""
_EXACT = """
solver = "heat"
[run]
device = "cpu"
precision = "float32"
[grid]
nx = {nx}
ny = {ny}
lx = 1.0
ly = 2.0
[material]
conductivity = [1.0, 3.0]
density = 2.0
specific_heat = 5.0
[initial]
temperature = "300+50*exp(-((x-0.4)**2+(y-0.9)**2)/0.1)"
[boundary]
left = {{kind = "temperature", value = "300+20*y"}}
bottom = {{kind = "convection", h = 5.0, ambient = "300+9*x"}}
top = {{kind = "flux", value = "30*sin(5*x)"}}
[[source]]
power = "100*x*y"
[time]
end = 1.0
stepper = "exact"
[output]
frames = 5
checkpoint_every = 2
"""
_HIGH = """
solver = "heat"
[run]
device = "cpu"
[grid]
nx = 4
ny = {ny}
lx = 4.0
ly = {ny}.0
[material]
conductivity = "1+0.5*sin(0.1*y)"
density = 1.0
specific_heat = 1.0
[initial]
temperature = "300+30*sin(0.7*y+x)"
[boundary]
{ends}
[time]
end = 20.0
{time}
[output]
frames = 3
samples = 12
[[probe]]
name = "between slabs"
x = 2.0
y = 4101.0
"""
PLATES = {
    "explicit": _plate(_EXPLICIT, thermostat="where(T < 315, 2e3, 0)*y"),
    "explicit ring": _plate(_EXPLICIT, _RING, precision="float32c", conductivity="1+0.5*sin(3*x)*y"),
    "rkl2": _plate('stepper = "rkl2"\ndt = 0.5'),  # more stages than halos have rows
    "rkl2 ring": _plate('stepper = "rkl2"\ndt = 0.1', _RING, precision="float32"),
    "adi": _plate('stepper = "adi"\ndt = 0.1\nsteady_tolerance = 1e-3'),
    "adi ring": _plate('stepper = "adi"\ndt = 0.1', _RING, precision="float32", conductivity="1+0.5*sin(3*x)*y"),
    "controlled": _plate("tolerance = 1e-4", output=_NO_CHECKPOINT),
    "controlled ring": _plate("tolerance = 1e-3", _RING, thermostat="max(0, 2e3*(315-T))", output=_NO_CHECKPOINT),
    # grids with fewer rows, or columns, than processes
    "one row": _ALL_PERIODIC.format(ny=1, time=""),
    "three rows": _ALL_PERIODIC.format(ny=3, time='stepper = "rkl2"\ndt = 0.5'),
    "three rows, controlled": _plate("tolerance = 1e-3", nx=2, ny=3, output=_NO_CHECKPOINT),
    "exact": _EXACT.format(nx=37, ny=70),  # more rows of modes than are summed up together, and more than twice as many
    "exact, few rows": _EXACT.format(nx=5, ny=3),
    # high slabs, whose halos are deeper, 32 and 16 rows for two and three processes
    "high": _HIGH.format(ny=8203, ends='bottom = {kind = "temperature", value = 290}', time='stepper = "explicit"'),
    "high ring": _HIGH.format(ny=8200, ends=_RING, time='stepper = "rkl2"\ndt = 5.0'),
    "few columns": _plate('stepper = "adi"\ndt = 0.1', nx=2, ny=17),
}
