"""Every road from Python to CUDA, on the same three problems: a step of the heat equation, Monte Carlo paths, and a
product of matrices, each by NumPy, Numba, CuPy, PyCUDA, CUDA Python and PyTorch, in a file that reads like a lesson.

These are text book kernels, made to be read and compared, not simsuite's own: `simsuite bench routes` times them beside
those, and docs/routes.md says which road to take when. `open_road(problem, name)` is the function of a road; all of
them take and give arrays of any library that are in the memory of the current GPU (`arrays`, `exchange`), and work on
its default stream.
"""

from simsuite.routes.roads import ROADS, Road, open_road, roads_of

__all__ = ["ROADS", "Road", "open_road", "roads_of"]
