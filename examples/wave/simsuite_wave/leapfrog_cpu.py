"""A step of leapfrog on a CPU, rows shared out among threads."""

from simsuite.parallel_for import kernel, parallel_for


@parallel_for
def rows(begin, end, u, w, ax, ay):
    for j in range(begin + 1, end + 1):
        for i in range(1, u.shape[1] - 1):
            du = ax * (u[j, i - 1] - 2 * u[j, i] + u[j, i + 1]) + ay * (u[j - 1, i] - 2 * u[j, i] + u[j + 1, i])
            w[j, i] = 2 * u[j, i] - w[j, i] + du


@kernel
def leapfrog(u, w, ax, ay):
    rows(u.shape[0] - 2, (u, w, ax, ay))
