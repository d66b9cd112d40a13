"""A row of equal resistors from a voltage source to an open end, a capacitor to ground behind each of them.

u ──R──┬──R──┬── .. ──R──┬        R C dV_i/dt = V_{i-1} - 2 V_i + V_{i+1},  i = 1 .. n,
       C     C           C        V_0 = u, V_{n+1} = V_n
       ┴     ┴           ┴
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from simsuite.solvers.linear.generators.bands import tridiagonal


def rc_ladder(sections: int, resistance: float, capacitance: float) -> csr_array:
    """The matrix A, in 1/s, for a state of the capacitors' voltages.

    Exact: its eigenvalues are -4/(R C) sin^2(pi (2k - 1)/(2(2n + 1))) with eigenvectors sin(pi (2k - 1) i/(2n + 1)), k,
    i = 1 .. n: the ladder is half of one with 2n capacitors and a source at both ends, and symmetric modes need no
    current in the middle. With a constant voltage u every capacitor tends to u. The integral over time of u - V_i is u
    R C (n i - i (i - 1)/2), by Elmore's delay: W. C. Elmore, J. Applied Physics 19 (1948) 55-63.
    """
    diagonal = np.full(sections, -2.0)
    diagonal[-1] = -1.0
    time = np.float64(resistance * capacitance)
    return tridiagonal(1.0 / time, diagonal / time, 1.0 / time)


def voltage_source(sections: int, resistance: float, capacitance: float) -> np.ndarray:
    """The matrix B, in 1/s, of the voltage source, which acts on the first capacitor through the first resistor."""
    B = np.zeros((sections, 1))
    B[0] = 1.0
    return B / (resistance * capacitance)
