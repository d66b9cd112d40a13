"""The wave equation as a solver of simsuite: `simsuite run wave.toml`."""

from simsuite.plugins import Solver

SOLVER = Solver(
    scenario="simsuite_wave.scenario:WaveScenario",
    problem="simsuite_wave.problem:WaveProblem",
    picture="simsuite_wave.picture:wave_figure",
)
