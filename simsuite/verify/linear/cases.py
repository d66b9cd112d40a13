"""The systems on which the linear solver is verified, as data: their solutions are known in closed form."""

from __future__ import annotations

import cmath
import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from simsuite.verify.linear import propagators
from simsuite.verify.linear.exact_exponentials import multiply
from simsuite.verify.linear.runs import Case
from simsuite.words import counted

CLOSED, JORDAN, PERMUTED, INPUT = "closed form", "Jordan block", "permutation", "input"
HOLDS = ("zero", "first")
BATCHES = (1, 2, 31, 33)


def cases(quick: bool) -> list[Case]:
    """All cases. quick: whether fewer sizes are included."""
    return [*motion_cases(), *jordan_cases(), *permutation_cases(quick), *input_cases()]


def columns(n: int, m: int, seed: int = 1) -> np.ndarray:
    """m states of n components, uniform in 1/1024 .. 1 in steps of 1/1024, so that all have a part in every mode."""
    return np.random.default_rng(seed).integers(1, 1025, (n, m)) / 1024.0


def at_steps(propagator: propagators.Propagator, dt: float) -> propagators.Propagator:
    """exp(A t) as a function of the number of steps."""
    return lambda k: propagator(k * dt)


def generated(name: str, **parameters: Any) -> dict[str, Any]:
    return {"matrix": {"generator": name, **parameters}}


def motion_cases() -> list[Case]:
    """Cases of generated systems."""
    found = [
        Case(
            "rotation, 10 000 steps",
            CLOSED,
            generated("rotation", angle=0.1),
            10_000,
            columns(2, 3),
            propagators.rotation(0.1),
            kept=np.eye(2),
        ),
        _continuous("rotation in time", propagators.rotation, {"angle": 2.0}, "rotation", 1000, 0.01, columns(2, 3)),
        # Every sine is a column of its own, and has to decay at its own rate.
        _continuous(
            "heat1d, its modes", propagators.heat1d, HEAT, "heat1d", 40, 2e-3, propagators.sines(HEAT["points"])
        ),
        _continuous("rc_ladder, discharged", propagators.rc_ladder, LADDER, "rc_ladder", 60, 1e-3, columns(8, 2)),
        Case(
            "lattice walk, sparse",
            CLOSED,
            generated("lattice_walk", **LATTICE),
            300,
            columns(35, 3),
            propagators.lattice_walk(**LATTICE),
            kept=np.ones(35),
        ),
        _continuous(
            "springs, sparse, by series",
            lambda format, **given: propagators.springs(**given),
            SPRINGS | {"format": "csr"},
            "springs",
            100,
            0.1,
            columns(12, 2),
        ),
        Case(
            "quantum walk",
            CLOSED,
            generated("quantum_walk", sites=11),
            500,
            np.eye(22)[:, :2],
            propagators.quantum_walk(11),
            kept=np.eye(22),
        ),
        Case(
            "rabi, complex",
            CLOSED,
            {"matrix": [[0.0, -0.5j * RABI], [-0.5j * RABI, -1j * DETUNING]]},
            500,
            columns(2, 3) + 1j * columns(2, 3, 2),
            at_steps(propagators.rabi(RABI, DETUNING), 0.05),
            0.05,
            kept=np.eye(2),
        ),
        Case("leslie", CLOSED, generated("leslie", **LESLIE), 30, columns(3, 2), _population()),
    ]
    for name, damping in {"undamped": 0.0, "damped": 0.05, "critically damped": 2.0, "overdamped": 5.0}.items():
        # For one mass between two springs w is 1: the damping of 2 is critical, and the matrix defective.
        masses, stiffness = (1, 0.5) if damping >= 2 else (6, 1.0)
        given = {"masses": masses, "mass": 1.0, "stiffness": stiffness, "damping": damping}
        start = columns(2 * masses, 2)
        case = _continuous(f"springs, {name}", propagators.springs, given, "springs", 100, 0.1, start)
        found.append(case if damping else dataclasses.replace(case, kept=_energy(masses, 1.0, stiffness)))
    for kind, dt, steps in (("discrete", None, 1500), ("continuous", 0.8, 1500)):
        exact = propagators.markov(12, UP, DOWN, dt is not None)
        start = np.eye(12)[:, [0, 7]]
        system = generated("markov", states=12, up=UP, down=DOWN)
        propagator = exact if dt is None else at_steps(exact, dt)
        found.append(Case(f"markov, {kind}", CLOSED, system, steps, start, propagator, dt, kept=np.ones(12)))
    return found


RABI, DETUNING = 2.0, 1.5
HEAT: dict[str, Any] = {"points": 12, "length": 2.0, "diffusivity": 0.5}
LADDER: dict[str, Any] = {"sections": 8, "resistance": 1e3, "capacitance": 1e-6}
SPRINGS: dict[str, Any] = {"masses": 6, "mass": 1.0, "stiffness": 1.0, "damping": 0.05}
LATTICE: dict[str, Any] = {"nx": 7, "ny": 5, "move": 0.2}
UP, DOWN = 0.3, 0.35  # The probabilities of going up and down for a walker on 12 states.
LESLIE: dict[str, Any] = {"fecundity": [0.0, 1.25, 3.0], "survival": [0.5, 0.25]}


def _continuous(
    name: str,
    motion: Callable[..., propagators.Propagator],
    parameters: dict[str, Any],
    generator: str,
    steps: int,
    dt: float,
    start: np.ndarray,
) -> Case:
    propagator = at_steps(motion(**parameters), dt)
    return Case(name, CLOSED, generated(generator, **parameters), steps, start, propagator, dt)


def _energy(masses: int, mass: float, stiffness: float) -> np.ndarray:
    """The quadratic form mass/2 v.v + stiffness/2 (sum of squared extensions of the masses + 1 springs)."""
    extensions = np.eye(masses + 1, masses) - np.eye(masses + 1, masses, k=-1)
    zero = np.zeros((masses, masses))
    return np.block([[stiffness / 2 * extensions.T @ extensions, zero], [zero, mass / 2 * np.eye(masses)]])


def _population() -> propagators.Propagator:
    """The propagator of a population, by products of fractions: the young in the first row, survivors below the
    diagonal.
    """
    one = [
        [Fraction(f) for f in LESLIE["fecundity"]],
        [Fraction(LESLIE["survival"][0]), Fraction(0), Fraction(0)],
        [Fraction(0), Fraction(LESLIE["survival"][1]), Fraction(0)],
    ]
    powers = [[[Fraction(int(i == j)) for j in range(3)] for i in range(3)]]

    def at(k: float) -> np.ndarray:
        while len(powers) <= k:
            powers.append(multiply(one, powers[-1]))
        return np.array([[float(a) for a in row] for row in powers[int(k)]])

    return at


def jordan_cases() -> list[Case]:
    """Cases of defective matrices, most of them with powers that are whole numbers: there rounding cannot hide an
    error.
    """
    found = []
    for eigenvalue, size, steps in ((0.0, 6, 4), (0.0, 6, 9), (1.0, 5, 60), (-1.0, 4, 150), (0.5, 3, 12), (2.0, 4, 12)):
        found.append(_jordan(eigenvalue, size, steps, True))
    return [*found, _jordan(0.9, 4, 60, False), _jordan(-0.7, 3, 40, False)]


def _jordan(eigenvalue: float, size: int, steps: int, whole: bool) -> Case:
    A = eigenvalue * np.eye(size) + np.eye(size, k=1)
    name = f"eigenvalue {eigenvalue:g}, {size} x {size}, {steps} steps"
    propagator = propagators.jordan(eigenvalue, size)
    return Case(name, JORDAN, {"matrix": A.tolist()}, steps, np.eye(size), propagator, whole=whole)


def permutation_cases(quick: bool) -> list[Case]:
    """Cases of signed permutations, of all sizes close to those of tiles, in every batch, the larger ones observed
    through a matrix C that is not square: every bit must be right.
    """
    return [_permutation(n, m) for n in ((1, 2, 33) if quick else (1, 2, 7, 31, 32, 33, 64, 65, 100)) for m in BATCHES]


def _permutation(n: int, m: int) -> Case:
    rng = np.random.default_rng(n)
    target, sign = rng.permutation(n), rng.choice([-1.0, 1.0], n)
    if n == 2:
        target = np.array([1, 0])
    A = np.zeros((n, n))
    A[target, np.arange(n)] = sign

    @functools.cache
    def at(k: float) -> np.ndarray:
        place, signs = np.arange(n), np.ones(n)
        for _ in range(int(k)):
            signs = signs * sign[place]
            place = target[place]
        P = np.zeros((n, n))
        P[place, np.arange(n)] = signs
        return P

    observed = None if n < 31 else rng.integers(-3, 4, (5, n)).astype(np.float64)
    name = f"{n} x {n}, {counted(m, 'column')}" + ("" if observed is None else ", 5 observed")
    system = {"matrix": A.tolist()}
    return Case(name, PERMUTED, system, 131, columns(n, m), at, whole=True, observed=observed)


def input_cases() -> list[Case]:
    """Cases with inputs, constant or moving, held over each step or interpolated linearly."""
    return [_switched_on(), _pulsed(), *map(_ramp, HOLDS), *map(_swing, HOLDS), _lag(), _turning()]


def _switched_on() -> Case:
    """A ladder of capacitors on a constant voltage: each tends to that voltage, and differs from it by what has not
    decayed.
    """
    dt, volts = 2e-3, 5.0
    exact = at_steps(propagators.rc_ladder(**LADDER), dt)
    ones = np.ones(LADDER["sections"])

    def forced(k: int) -> np.ndarray:
        voltages: np.ndarray = volts * (ones - exact(k) @ ones)
        return voltages

    system = {**generated("rc_ladder", **LADDER), "input": [volts]}
    return Case("ladder, switched on", INPUT, system, 80, columns(8, 3), exact, dt, forced, volts)


def _pulsed() -> Case:
    """The system T x' = u - x, where u = 1 in the first quarter of each period: the state is the sum of what remains of
    all pulses.
    """
    T, dt, steps, period, on = 0.75, 0.125, 400, 8.0, 2.0

    def exact(k: float) -> np.ndarray:
        return np.array([[math.exp(-k * dt / T)]])

    def forced(k: int) -> np.ndarray:
        t = k * dt
        begins = [i * period for i in range(math.ceil(t / period))]
        pulses = [(begin, min(begin + on, t)) for begin in begins]
        return np.array([sum(-math.expm1((a - b) / T) * math.exp((b - t) / T) for a, b in pulses)])

    system = {"matrix": [[-1 / T]], "input_matrix": [[1 / T]], "input": [f"t % {period} < {on}"]}
    return Case("lag, pulses", INPUT, system, steps, columns(1, 3), exact, dt, forced, 1.0)


def _ramp(hold: str) -> Case:
    """The system x'' = u with u = t, whose matrix is singular. If u is held, v_k = dt^2 k (k - 1)/2 and x_k = dt^3 (k -
    1) k (2k - 1)/12; if it is interpolated, which is exact, v is t^2/2 and x is t^3/6.
    """
    dt, steps = 0.125, 40

    def forced(k: int) -> np.ndarray:
        if hold == "first":
            return np.array([(k * dt) ** 3 / 6, (k * dt) ** 2 / 2])
        return np.array([dt**3 * (k - 1) * k * (2 * k - 1) / 12, dt**2 * k * (k - 1) / 2])

    def exact(k: float) -> np.ndarray:
        return np.array([[1.0, k * dt], [0.0, 1.0]])

    system = {"matrix": [[0.0, 1.0], [0.0, 0.0]], "input_matrix": [[0.0], [1.0]], "input": ["t"], "hold": hold}
    name = f"double integrator, u = t, hold {hold}"
    return Case(name, INPUT, system, steps, columns(2, 2), exact, dt, forced, steps * dt)


def _swing(hold: str) -> Case:
    """The system x'' + 4 x = u with u = cos(t), held or interpolated linearly: a driven oscillator, solved by its
    complex amplitude z = v + 2 i x, for which z' = 2 i z + u.
    """
    dt, steps, w = 0.1, 200, 2.0
    turn = cmath.exp(1j * w * dt)
    gain = (turn - 1) / (1j * w)  # the response to u that is constant over a step
    # the response to u that grows from 0 to 1 over a step
    later = (turn - 1 - 1j * w * dt) / (1j * w) ** 2 / dt if hold == "first" else 0.0

    def forced(k: int) -> np.ndarray:
        z = (gain - later) * _held(turn, dt, k) + later * _held(turn, dt, k, ahead=1)
        return np.array([z.imag / w, z.real])

    def exact(k: float) -> np.ndarray:
        c, s = math.cos(w * k * dt), math.sin(w * k * dt)
        return np.array([[c, s / w], [-w * s, c]])

    system = {"matrix": [[0.0, 1.0], [-4.0, 0.0]], "input_matrix": [[0.0], [1.0]], "input": ["cos(t)"], "hold": hold}
    name = f"oscillator, u = cos(t), hold {hold}"
    return Case(name, INPUT, system, steps, columns(2, 3), exact, dt, forced, 1.0)


def _lag() -> Case:
    """The system x' = -3 x + 2 u_1 - u_2, where u_1 = cos(t) is held and u_2 = 4 constant: a state of one component,
    and two inputs.
    """
    dt, steps, rate = 0.05, 150, 3.0
    decay = math.exp(-rate * dt)
    gain = -math.expm1(-rate * dt) / rate

    def forced(k: int) -> np.ndarray:
        moving = (2 * gain * _held(decay, dt, k)).real
        return np.array([moving - 4 / rate * -math.expm1(-rate * k * dt)])

    def exact(k: float) -> np.ndarray:
        return np.array([[math.exp(-rate * k * dt)]])

    system = {"matrix": [[-rate]], "input_matrix": [[2.0, -1.0]], "input": ["cos(t)", 4.0]}
    return Case("lag, two inputs", INPUT, system, steps, columns(1, 33), exact, dt, forced, math.hypot(1.0, 4.0))


def _turning() -> Case:
    """A discrete rotation that is driven along x by cos(t), one second a step."""
    angle, steps = 0.3, 500
    turn = cmath.exp(1j * angle)

    def forced(k: int) -> np.ndarray:
        z = _held(turn, 1.0, k)
        return np.array([z.real, z.imag])

    system = {**generated("rotation", angle=angle), "input_matrix": [[1.0], [0.0]], "input": ["cos(t)"]}
    start, exact = columns(2, 2), propagators.rotation(angle)
    return Case("rotation, u = cos(t)", INPUT, system, steps, start, exact, None, forced, 1.0)


def _held(factor: complex, dt: float, k: int, ahead: int = 0) -> complex:
    """The sum over j < k of factor^(k - 1 - j) cos((j + ahead) dt), by geometric series."""
    ways: Sequence[complex] = (cmath.exp(1j * dt), cmath.exp(-1j * dt))
    return sum(((way**k - factor**k) / (way - factor) * way**ahead for way in ways), 0j) / 2
