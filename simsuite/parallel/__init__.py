"""A run that several processes share: they are started by MPI, one a GPU or a share of the cores.

The first process leads: it runs the scenario as a single process does (`execution.py`), owns files, terminal and exit
code, and decides. The others follow (`follower.py`): whatever the leader asks of its stepper, they ask of theirs.
Solvers see none of this: they cut a state into parts and join parts again (`capabilities.Divisible`), and their
steppers get a `Communicator`.
"""
