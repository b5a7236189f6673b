"""Simulation: model, state and inputs in, next state out; time is an argument, state a value.

Elastic arms with their motors' currents and smooth friction (docs/simulation.md), and plants:
simulated arms with motors, friction, sensors, delays and faults (docs/plants.md).
"""

from geared_dynamics.simulation.elastic import (
    ElasticRates,
    ElasticState,
    elastic_rates,
    elastic_step,
)
from geared_dynamics.simulation.mujoco import to_mjcf
from geared_dynamics.simulation.plants import (
    Command,
    Faults,
    Measurement,
    Plant,
    PlantSettings,
    PlantState,
)
from geared_dynamics.simulation.run import ElasticRun, simulate_elastic

__all__ = [
    "Command",
    "ElasticRates",
    "ElasticRun",
    "ElasticState",
    "Faults",
    "Measurement",
    "Plant",
    "PlantSettings",
    "PlantState",
    "elastic_rates",
    "elastic_step",
    "simulate_elastic",
    "to_mjcf",
]
