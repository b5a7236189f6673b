"""Simulation: model, state and inputs in, next state out; time is an argument, state a value.

Elastic arms with their motors' currents and smooth friction. Schemes, and how they were
chosen: docs/simulation.md.
"""

from geared_dynamics.simulation.elastic import (
    ElasticRates,
    ElasticState,
    elastic_rates,
    elastic_step,
)
from geared_dynamics.simulation.run import ElasticRun, simulate_elastic

__all__ = [
    "ElasticRates",
    "ElasticRun",
    "ElasticState",
    "elastic_rates",
    "elastic_step",
    "simulate_elastic",
]
