"""Linear systems for tests, their runs on the CPU, and what these should come to."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.linalg import expm

from simsuite.backends.cpu import CpuBackend
from simsuite.expressions import Expression
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.generators.heat1d import heat1d
from simsuite.solvers.linear.generators.markov import markov
from simsuite.solvers.linear.generators.random_stable import random_stable
from simsuite.solvers.linear.generators.springs import springs
from simsuite.solvers.linear.inputs.input_values import Inputs
from simsuite.solvers.linear.powers import powers
from simsuite.solvers.linear.powers.power import PowerStepper
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.linear.stepping import observed

EPS = 2.0**-53


def scenario(A, state, steps, dt=1.0, method="power", tolerance=None, **more):
    time = {"steps": steps, "dt": dt, "method": method, **({} if tolerance is None else {"tolerance": tolerance})}
    matrix = A if isinstance(A, dict) else np.asarray(A).tolist()
    system = {"kind": "discrete", "matrix": matrix, **more.pop("system", {})}
    return {
        "solver": "linear",
        "system": system,
        "initial": {"state": state if isinstance(state, dict) else np.asarray(state).tolist()},
        "time": time,
        "output": {"frames": 2},
        **more,
    }


def problem(*args, decided=None, **more):
    return LinearProblem.from_scenario(LinearScenario.model_validate(scenario(*args, **more)), Path("."), None, decided)


def begun(p, start=None):
    return p.stepper(CpuBackend(), start or p.initial())


def advanced(p, *blocks, start=None):
    stepper = begun(p, start)
    for n in blocks:
        stepper.advance(n)
    with stepper.snapshot() as snapshot:
        return snapshot


def last(p):
    return advanced(p, p.clock.end).arrays["state"]


def inputs(*texts, dt=1.0, ahead=False):
    return Inputs(tuple(Expression.parse(text, ("t",)) for text in texts), dt, ahead)


def stepped(A, X, B, U, kind=np.longdouble):
    """The states after each step."""
    A, X, B = (np.asarray(M, kind) for M in (A, X, B))
    states = [X]
    for u in np.asarray(U, kind).T:
        states.append(A @ states[-1] + (B @ u)[:, None])
    return states


def exact(A, X, k, b=None):
    """A^k X + (1 + A + .. ) b in fractions."""
    A, X = ([[Fraction(float(v)) for v in row] for row in M] for M in (A, X))
    b = [Fraction(0)] * len(A) if b is None else [Fraction(float(v)) for v in b]
    for _ in range(k):
        X = [[sum(a * x for a, x in zip(row, column)) + s for column in zip(*X)] for row, s in zip(A, b)]
    return np.array([[float(v) for v in row] for row in X])


def extended(A, X, k):
    """A^k X in extended precision, 2000 times finer than float64."""
    P, X = np.asarray(A, np.longdouble), np.asarray(X, np.longdouble)
    while k:
        if k & 1:
            X = P @ X
        P, k = P @ P, k >> 1
    return X


def off(found, wanted):
    return float(np.linalg.norm((found - wanted).astype(float)) / np.linalg.norm(wanted.astype(float)))


def cut_in_two(backend, p, wanted, tolerance):
    """A run by powers, and one that goes on from its middle: what is wanted, a function of the step, and equal bits."""
    stepper, half = p.stepper(backend, p.initial()), p.clock.end // 2 + 1
    stepper.advance(half)
    with stepper.snapshot() as there:
        assert off(there.arrays["state"], wanted(half)) < tolerance
        rest = PowerStepper(backend, there, p.system, stepper._stops, stepper._powers, "auto")
    found = []
    for s in (stepper, rest):
        s.advance(p.clock.end - half)
        found.append(backend.to_host(s.state["state"]))
    np.testing.assert_array_equal(*found)
    assert off(found[0], wanted(p.clock.end)) < tolerance


def orthogonal(n, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]


def grcar(n):
    """Of a radius of 1: far from normal, its powers grow by orders before they do not."""
    A = sum(np.eye(n, k=j) for j in range(4)) - np.eye(n, k=-1)
    return A / np.max(np.abs(np.linalg.eigvals(A)))


NORMAL = {  # or close to it, or balanced by units
    "rotation": [[math.cos(0.1), -math.sin(0.1)], [math.sin(0.1), math.cos(0.1)]],
    "orthogonal": orthogonal(60),
    "random_stable": random_stable(40, 1.0, 1, False),
    "markov": markov(50, 0.3, 0.35, False).toarray(),
    "springs": expm(springs(15, 1.0, 400.0, 0.01).toarray() * 0.01),
    "stiff springs": expm(springs(15, 1.0, 1e6, 0.0).toarray() * 0.01),
    "heat1d": expm(heat1d(40, 1.0, 1.0).toarray() * 1e-5),
    "growing": 1.0005 * orthogonal(20),
}
FAR = {  # from normal
    "grcar": grcar(30),
    "modes at a small angle": orthogonal(2) @ np.array([[0.9999, 100.0], [0.0, 0.99]]) @ orthogonal(2).T,
    "rotations that feed each other": np.block(
        [[orthogonal(2), np.eye(2)], [np.zeros((2, 2)), orthogonal(2)]],
    ),
}


def without_workspaces(monkeypatch):
    """As if products held nothing but matrices: what they fill up, and work with, is much more than those of tests."""
    for module in (powers, observed):
        monkeypatch.setattr(module, "product_entries", lambda n, p: 2 * n * p)
    monkeypatch.setattr(powers, "held_entries", lambda n, p: n * p)


def few_threads(backend, monkeypatch):
    """For products in the simulator, where a thread is one of Python."""
    kernels = backend.kernels("simsuite.solvers.matmul.product")
    few = {"PIECE": 2, "PADDED": (2, 3), "VECTOR_BLOCK": (2, 1), "FLAT_BLOCK": (4, 1)}
    for name, value in few.items():
        monkeypatch.setattr(kernels, name, value)
