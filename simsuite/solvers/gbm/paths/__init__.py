"""Time steps of paths: the stepper, the launches of its kernels and what these read."""
