"""A step of leapfrog on a GPU, a thread for each point."""

from numba import cuda


@cuda.jit(cache=True)
def leapfrog(u, w, ax, ay):
    i, j = cuda.grid(2)
    if 0 < i < u.shape[1] - 1 and 0 < j < u.shape[0] - 1:
        du = ax * (u[j, i - 1] - 2 * u[j, i] + u[j, i + 1]) + ay * (u[j - 1, i] - 2 * u[j, i] + u[j + 1, i])
        w[j, i] = 2 * u[j, i] - w[j, i] + du
