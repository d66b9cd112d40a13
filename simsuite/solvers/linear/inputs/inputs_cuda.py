"""What the inputs of a linear system add, on a GPU."""

from __future__ import annotations

from numba import cuda


@cuda.jit(cache=True)
def input_bias(inputs, first, B, count, bias):
    """Compute bias[k, i] = sum_p B[i, p] inputs[first + k, p] for the first `count` rows k: what the inputs add in each
    step. If B has more columns than there are inputs, the further ones multiply the inputs of the next row.
    """
    width = inputs.shape[1]
    i, k = cuda.grid(2)
    if i < bias.shape[1] and k < count:
        total = B[i, 0] * inputs[first + k, 0]
        for p in range(1, width):
            total += B[i, p] * inputs[first + k, p]
        for p in range(width, B.shape[1]):
            total += B[i, p] * inputs[first + k + 1, p - width]
        bias[k, i] = total


@cuda.jit(cache=True)
def input_bias_by_row(inputs, first, B, places, count, bias):
    """Compute what `input_bias` does where each row of B has inputs of its own: places[i, p] is the number of the input
    that B[i, p] multiplies.
    """
    width = places.shape[1]
    i, k = cuda.grid(2)
    if i < bias.shape[1] and k < count:
        total = B[i, 0] * inputs[first + k, places[i, 0]]
        for p in range(1, width):
            total += B[i, p] * inputs[first + k, places[i, p]]
        for p in range(width, B.shape[1]):
            total += B[i, p] * inputs[first + k + 1, places[i, p - width]]
        bias[k, i] = total
