"""Scenario files with ``solver = "heat"``: ρc ∂T/∂t = ∇·(k∇T) + q on a rectangle. SI units."""

from simsuite.scenario.heat.boundary import (
    EDGES,
    Boundary,
    Condition,
    Convection,
    Edge,
    Flux,
    Insulated,
    Periodic,
    Radiation,
    Segment,
    Temperature,
)
from simsuite.scenario.heat.grid import Grid
from simsuite.scenario.heat.material import ArrayRef, Coefficient, ImageRef, Material, Part, is_image
from simsuite.scenario.heat.region import Circle, Mask, Polygon, Rectangle, Region
from simsuite.scenario.heat.scenario import HeatRun, HeatScenario, Initial, Probe, Reference
from simsuite.scenario.heat.source import Source
from simsuite.scenario.heat.time import STEPPERS, Time

__all__ = [
    "EDGES",
    "STEPPERS",
    "ArrayRef",
    "Boundary",
    "Circle",
    "Coefficient",
    "Condition",
    "Convection",
    "Edge",
    "Flux",
    "Grid",
    "HeatRun",
    "HeatScenario",
    "ImageRef",
    "Initial",
    "Insulated",
    "Mask",
    "Material",
    "Part",
    "Periodic",
    "Polygon",
    "Probe",
    "Radiation",
    "Rectangle",
    "Reference",
    "Region",
    "Segment",
    "Source",
    "Temperature",
    "Time",
    "is_image",
]
