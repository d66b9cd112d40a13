"""An explicit step of the heat equation, by every road.

    v = u + rx (west - 2 u + east) + ry (south - 2 u + north),    rx = alpha dt / dx^2, ry = alpha dt / dy^2,

on the inner points of a plate u[y, x] in C order; the points on its edges keep their values. Central differences, of
second order in space, and Euler's method, of first order in time; stable for rx + ry <= 1/2 (R. D. Richtmyer and
K. W. Morton, Difference Methods for Initial-Value Problems, 2nd edition, section 8.5). A step reads and writes every
point once at least: 8 bytes in float32, 16 in float64, over the rate at which the device copies, is the least time that
one step a pass can take.

Each module has `advance(u, steps, rx, ry)`, which returns the plate after so many steps as a new array of its own
library; u, which is left as it was, may be an array of any. All work is queued on the default stream.
"""
