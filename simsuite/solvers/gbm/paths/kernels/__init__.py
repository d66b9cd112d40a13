"""Kernels that step paths: for the CPU, for GPUs by Numba, and in CUDA C++."""
