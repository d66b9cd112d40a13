"""What all parts may know of the other processes of a run: no MPI, and nothing that imports it."""
