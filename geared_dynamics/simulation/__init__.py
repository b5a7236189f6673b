"""Simulation: model, state and inputs in, next state out; time is an argument, state a value.

Elastic arms with their motors' currents and smooth friction (docs/simulation.md), and plants:
simulated arms with motors, friction, sensors, delays and faults (docs/plants.md).
"""

from geared_dynamics.dynamics.state import Measurement as Measurement
from geared_dynamics.dynamics.state import State, replaced
from geared_dynamics.simulation.adaptive import ElasticRun, simulate_elastic
from geared_dynamics.simulation.driven_arm import (
    ElasticRates,
    elastic_rates,
    elastic_step,
)
from geared_dynamics.simulation.mjcf import to_mjcf
from geared_dynamics.simulation.plant import Plant
from geared_dynamics.simulation.plant_settings import (
    Command,
    Faults,
    PlantSettings,
)
from geared_dynamics.simulation.wall import Wall

# Former names, for one release.
ElasticState = replaced("gd.simulation.ElasticState", "gd.State(q, v, theta, vtheta, current)")
PlantState = State

__all__ = [
    "Command",
    "ElasticRates",
    "ElasticRun",
    "Faults",
    "Plant",
    "PlantSettings",
    "Wall",
    "elastic_rates",
    "elastic_step",
    "simulate_elastic",
    "to_mjcf",
]
