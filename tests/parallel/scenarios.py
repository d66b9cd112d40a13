"""Scenarios that processes share, each with something else that they have to put together."""

from __future__ import annotations

_MARKET = """
solver = "gbm"
[run]
device = "cpu"
precision = "{precision}"
[market]
rate = 0.05
[[asset]]
name = "A"
spot = 100.0
volatility = 0.2
holding = 2.0
[time]
end = 1.0
steps = {steps}
{more_time}
"""
_CALL = """
[[option]]
name = "call"
style = "european"
payoff = "call"
strike = 100.0
greeks = {greeks}
control_variate = {greeks}
"""
_BUMPED = """
[[option]]
name = "bumped"
style = "american"
payoff = "put"
strike = 100.0
exercise = 3
greeks = "bumped"
holding = 2.0
"""
_AMERICAN = """
[[option]]
name = "put"
style = "american"
payoff = "put"
strike = 100.0
exercise = 5
"""


def _scenario(
    paths: str, options: str, steps: int = 5, output: str = "", precision: str = "float64", more_time: str = ""
) -> str:
    market = _MARKET.format(precision=precision, steps=steps, more_time=more_time)
    return f"{market}\n[paths]\n{paths}\n[output]\n{output}\n{options}"


_WITHOUT = _CALL.format(greeks="false")
_LINEAR = """
solver = "linear"
[run]
device = "cpu"
precision = "{precision}"
[system]
{system}
[initial]
state = {{random = "normal", batch = {batch}}}
[time]
steps = {steps}
dt = 0.01
method = "{method}"
{more}
[output]
frames = 5
checkpoint_every = 70
"""
_DENSE = 'kind = "discrete"\nmatrix = {generator = "random_stable", size = 6}\noutput_matrix = [[1, 0, 0, 0, 0, 2]]'
_STIRRED = f"{_DENSE}\nnoise_matrix = [[1, 0, 0], [0, 2, 0], [0, 0, 0.5], [1, 0, 0], [0, 1, 0], [0, 0, 1]]"
_STABLE = 'kind = "discrete"\nmatrix = {generator = "random_stable", size = 30}'
_DRIVEN = 'kind = "continuous"\nmatrix = {generator = "springs", masses = 3, stiffness = 400.0, damping = 0.05}'
_DRIVEN += '\ninput_matrix = [[0], [0], [0], [1], [0], [0.5]]\ninput = ["where(t < 1.5, 1, 2)"]'
_SERIES = 'kind = "continuous"\nmatrix = {generator = "heat1d", points = 40, format = "csr"}'


def _linear(
    system: str, batch: int, method: str = "step", more: str = "", steps: int = 300, precision: str = "float64"
) -> str:
    return _LINEAR.format(system=system, batch=batch, method=method, more=more, steps=steps, precision=precision)


_HEAT = """
solver = "heat"
units = "K"
[run]
device = "cpu"
precision = "{precision}"
[grid]
nx = 13
ny = {ny}
lx = 1.0
ly = 2.0
[material]
diffusivity = 1e-2
[initial]
temperature = "exp(-((x-0.5)**2+(y-0.7)**2)/0.1)"
[boundary]
left = {{kind = "temperature", value = "1+sin(3*y)+t"}}
right = [{{kind = "flux", value = 0.3, to = 1.1}}, {{kind = "convection", h = 0.4, ambient = 2.0, from = 1.1}}]
{ends}
[time]
end = 0.3
dt = 0.001
stepper = "explicit"
[output]
frames = 5
samples = 9
checkpoint_every = 50
[[probe]]
name = "between slabs"
x = 0.3
y = 1.0
[[probe]]
name = "corner"
x = 0.0
y = 2.0
[[probe]]
name = "low"
x = 0.9
y = 0.01
"""
_OPEN = 'bottom = {kind = "convection", h = 0.5, ambient = 0.2}\ntop = {kind = "temperature", value = "x"}'
_RING = 'bottom = {kind = "periodic"}\ntop = {kind = "periodic"}'
_MATERIALS = """
solver = "heat"
units = "K"
[run]
device = "cpu"
[grid]
nx = 17
ny = 41
lx = 1.0
ly = 2.0
[material]
conductivity = "1+0.5*sin(3*x)*y"
density = 2.0
specific_heat = "50+x"
[[region]]
shape = "circle"
center = [0.5, 1.02]
radius = 0.2
temperature = 3.0
[[region]]
shape = "rectangle"
x = [0.0, 0.5]
y = [0.2, 0.4]
conductivity = 5.0
[[source]]
power = "10*exp(-((x-0.4)**2+(y-1.5)**2)/0.05)"
[initial]
temperature = "1+exp(-((x-0.5)**2+(y-0.7)**2)/0.1)"
[boundary]
left = {kind = "temperature", value = 1.5}
right = {kind = "radiation", emissivity = 0.9, ambient = 300.0}
bottom = {kind = "convection", h = 0.5, ambient = 0.2}
top = {kind = "temperature", value = "x+1"}
[time]
end = 2.0
stepper = "explicit"
dt = 0.01
steady_tolerance = 20.0
[output]
frames = 5
samples = 9
checkpoint_every = 50
"""
SCENARIOS = {
    # several batches, the last one smaller; checkpoints amid them; more paths stored than a process makes
    "batches": _scenario(
        "count = 7002\nantithetic = true\nbatch = 4096",
        _CALL.format(greeks="true"),
        output="frames = 3\nstore_paths = 3000\ncheckpoint_every = 3\nexposure = true\nrisk = {levels = [0.95]}",
    ),
    # one batch, whose rows are written as time goes by, and whose checkpoints have paths that are under way
    "one batch": _scenario(
        "count = 5000", _AMERICAN, steps=10, output="frames = 6\ncheckpoint_every = 3", precision="float32"
    ),
    "fewer groups": _scenario("count = 1500", _WITHOUT, output="frames = 2\ncheckpoint_every = 1"),
    "sobol": _scenario('count = 16480\nsampling = "sobol"\nreplicates = 4\nbatch = 4096', _CALL.format(greeks="true")),
    "target": _scenario("count = 200000\ntarget_standard_error = 0.1\nbatch = 5120", _WITHOUT),
    "multilevel": _scenario(
        "count = 300000\ntarget_standard_error = 0.1\nmultilevel = true",
        _WITHOUT,
        steps=8,
        output="store_paths = 1500\ncheckpoint_every = 2",
        more_time='scheme = "euler"',
    ),
    "columns": _linear(_DENSE, 7),
    "few columns": _linear(_SERIES, 3),
    "noise": _linear(_STIRRED, 7),
    # rows of A in place of columns: sizes that do not divide, noise, more processes than rows, products of a series
    "rows": _linear(_STABLE.replace("30", "45"), 1, steps=150),
    "rows and noise": _linear(_STIRRED, 1, precision="float32"),
    "rows and inputs": _linear(_DRIVEN, 1),
    "rows of a series": _linear(_SERIES, 1, steps=150),
    "fewer rows": _linear('kind = "discrete"\nmatrix = {generator = "rotation", angle = 0.01}', 1, steps=150),
    "powers of rows": _linear(_STABLE, 1, "power"),
    "powers of rows and inputs": _linear(_DRIVEN, 1, "power"),
    "steps after powers of rows": _linear(_STABLE.replace("30", "60"), 1, "auto", "tolerance = 1e-15", steps=16000),
    "powers": _linear(_STABLE, 9, "power"),
    "powers and inputs": _linear(_DRIVEN, 5, "power"),
    "modes": _linear(_STABLE, 7, "spectral", precision="float32"),
    "modes in continuous time": _linear(_DRIVEN.replace("where(t < 1.5, 1, 2)", "1.5"), 3, "spectral"),
    # powers are tried first, and lose too much
    "modes after powers": _linear(_STABLE, 40, "auto", "tolerance = 1e-15", steps=3000),
    "slabs": _HEAT.format(precision="float64", ny=37, ends=_OPEN),
    "ring": _HEAT.format(precision="float32c", ny=37, ends=_RING),
    "thin slabs": _HEAT.format(precision="float32", ny=5, ends=_RING),
    "materials": _MATERIALS,
    # paths of several markets
    "bumped": _scenario("count = 9002\nbatch = 4096\nantithetic = true", _BUMPED, output="checkpoint_every = 3"),
}
