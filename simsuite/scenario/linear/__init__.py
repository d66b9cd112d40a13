"""Scenario files with ``solver = "linear"``: X_{k+1} = A X_k + B u_k, or dX/dt = A X + B u."""

from simsuite.scenario.linear.scenario import (
    Initial,
    LinearScenario,
    MatrixFile,
    RandomState,
    System,
    Time,
    UnitStates,
)

__all__ = ["Initial", "LinearScenario", "MatrixFile", "RandomState", "System", "Time", "UnitStates"]
