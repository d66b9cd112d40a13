"""Which step of a run is which time step of which paths: batches, frames, levels."""
