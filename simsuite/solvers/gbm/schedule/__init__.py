"""The schedule of a run: which time steps of which paths each step of the run makes; batches, frames and levels."""
