"""Plants: simulated arms that take commands and give measurements.

Two engines move them: MuJoCo, with every rotor a body, and our own equations. How they
compare: docs/plants.md.
"""

from geared_dynamics.simulation.plants.plant import Plant
from geared_dynamics.simulation.plants.settings import Faults, PlantSettings
from geared_dynamics.simulation.plants.values import Command, Measurement, PlantState

__all__ = ["Command", "Faults", "Measurement", "Plant", "PlantSettings", "PlantState"]
