"""The roads to CUDA (`simsuite.routes`), timed beside simsuite's own kernels and the limits of the device."""
