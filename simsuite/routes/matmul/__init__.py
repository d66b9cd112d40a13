"""The product of two matrices, C = A B, by every road.

C[i, j] is the sum over k of A[i, k] B[k, j]: 2 m k n operations on m k + k n numbers. Read from memory for each
operation, these numbers would set the pace; so a block of threads fetches a tile of A and of B into shared memory, from
which every number is used many times, and each thread keeps a square of sums in registers, so that shared memory is not
the limit either (the hierarchy of V. Volkov and J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC'08).
What is left is the rate of multiplication and addition itself, which only cuBLAS comes close to.

Each module has `product(a, b)`, which returns C as a new array of its own library; a and b may be arrays of any.
"""
